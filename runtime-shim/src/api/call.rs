//! What the calls that enqueue transfers have in common.
use super::layout::{Block, bytes, fill_lines, move_lines};
use super::{Wait, buffer_of, queue_of, same_context};
use crate::cl::*;
use crate::error::{Result, ensure};
use crate::model::command::{Done, Resource};
use crate::model::{Engine, MemObject, Queue, handle};
use std::sync::Arc;

/// A call that enqueues: its queue, and its wait list with the place for the event.
pub struct Call {
    pub queue: Arc<Queue>,
    wait: Wait,
}

/// Where bytes go, which says what that takes and what it occupies.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Way {
    ToDevice,
    FromDevice,
    OnDevice,
    OnHost,
}

/// The memory objects that must live until a command ends.
type Keep = Vec<Arc<MemObject>>;

impl Call {
    /// Checks the queue and the wait list.
    pub unsafe fn new(queue: Raw, count: u32, events: *const Raw, event: *mut Raw) -> Result<Call> {
        let queue = queue_of(queue)?;
        let wait = Wait::new(&queue.context, count, events, event)?;
        Ok(Call { queue, wait })
    }

    /// A buffer that the command uses.
    pub fn buffer(&self, raw: Raw) -> Result<Arc<MemObject>> {
        buffer_of(&self.queue, raw)
    }

    /// A memory object of any kind that the command uses.
    pub fn object(&self, raw: Raw) -> Result<Arc<MemObject>> {
        let object = handle::resolve::<MemObject>(raw)?;
        same_context(&self.queue.context, &object.context, "the memory object")?;
        Ok(object)
    }

    /// An image that the command uses.
    pub fn image(&self, raw: Raw) -> Result<Arc<MemObject>> {
        let object = self.object(raw)?;
        ensure!(object.as_image().is_some(), CL_INVALID_MEM_OBJECT, "the memory object is no image");
        Ok(object)
    }

    /// Enqueues the move of a region whose rows have `region[0]` bytes.
    ///
    /// # Safety
    /// Both blocks are valid for the region until the command ends, by what `keep` holds or by the program's promise.
    pub(super) unsafe fn transfer(
        self,
        command: u32,
        (way, blocking): (Way, bool),
        (from, to): (Block, Block),
        region: [usize; 3],
        keep: Keep,
    ) -> Result {
        let size = bytes(region);
        let link = self.queue.context.device.link;
        let (duration, resource) = match way {
            Way::ToDevice => (link.write(size), Resource::ToDevice),
            Way::FromDevice => (link.read(size), Resource::FromDevice),
            Way::OnDevice => (link.inside(size, size), Resource::Compute),
            Way::OnHost => (0, Resource::Host),
        };
        let action = Box::new(move |engine: &mut Engine| {
            move_lines(from, to, region);
            if matches!(way, Way::ToDevice | Way::OnDevice) {
                let (address, bytes) = to.extent(region);
                engine.transferred(address, bytes);
            }
            drop(keep);
            Ok(Done { duration, bytes: size as u64, launch: None })
        });
        self.wait.enqueue(&self.queue, command, resource, blocking, action)
    }

    /// Enqueues the filling of a region with a pattern that its rows are multiples of.
    ///
    /// # Safety
    /// As for [`transfer`](Self::transfer).
    pub(super) unsafe fn fill(
        self,
        command: u32,
        to: Block,
        region: [usize; 3],
        pattern: Vec<u8>,
        keep: Keep,
    ) -> Result {
        let size = bytes(region);
        let duration = self.queue.context.device.link.inside(0, size);
        let action = Box::new(move |engine: &mut Engine| {
            fill_lines(to, &pattern, region);
            let (address, bytes) = to.extent(region);
            engine.transferred(address, bytes);
            drop(keep);
            Ok(Done { duration, bytes: size as u64, launch: None })
        });
        self.wait.enqueue(&self.queue, command, Resource::Compute, false, action)
    }

    /// Enqueues what mapping and unmapping do: `size` bytes take the time of their way, but nothing moves, because the
    /// device's memory is the host's.
    pub(super) unsafe fn synchronise(
        self,
        command: u32,
        (way, blocking): (Way, bool),
        size: usize,
        keep: Keep,
    ) -> Result {
        let link = self.queue.context.device.link;
        let (duration, resource) = match way {
            Way::FromDevice => (link.read(size), Resource::FromDevice),
            _ => (link.write(size), Resource::ToDevice),
        };
        let action = Box::new(move |engine: &mut Engine| {
            if way == Way::ToDevice {
                keep.iter().for_each(|object| engine.transferred(object.address, object.size as u64));
            }
            drop(keep);
            Ok(Done { duration, bytes: size as u64, launch: None })
        });
        self.wait.enqueue(&self.queue, command, resource, blocking, action)
    }

    /// Enqueues a command that only takes its place among the others.
    pub(super) unsafe fn order(self, command: u32, run: impl FnOnce() + Send + 'static) -> Result {
        let action = Box::new(move |_: &mut _| {
            run();
            Ok(Done::default())
        });
        self.wait.enqueue(&self.queue, command, Resource::None, false, action)
    }
}

/// "if clEnqueueReadBuffer is called on buffer which has been created with CL_MEM_HOST_WRITE_ONLY or
/// CL_MEM_HOST_NO_ACCESS", and the like for writing and for images.
pub(super) fn check_host_access(object: &MemObject, read: bool, write: bool) -> Result {
    let denied = |bits: u64| object.flags & (bits | CL_MEM_HOST_NO_ACCESS) != 0;
    ensure!(!(read && denied(CL_MEM_HOST_WRITE_ONLY)), CL_INVALID_OPERATION, "the host may not read this object");
    ensure!(!(write && denied(CL_MEM_HOST_READ_ONLY)), CL_INVALID_OPERATION, "the host may not write this object");
    Ok(())
}

/// A pointer that the program must give.
pub(super) fn check_pointer<T>(pointer: *const T, what: &str) -> Result {
    ensure!(!pointer.is_null(), CL_INVALID_VALUE, "{what} is NULL");
    Ok(())
}

/// Flags of a migration: all of them are hints, because there is one device and one memory.
pub(super) fn check_migration(flags: u64) -> Result {
    let known = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    ensure!(flags & !known == 0, CL_INVALID_VALUE, "migration flags {flags:#x} are not known");
    Ok(())
}
