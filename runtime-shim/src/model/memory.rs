//! Memory objects and shared virtual memory.
use super::{Context, Handle, Image};
use crate::cl::bits::{CL_MEM_ALLOC_HOST_PTR, CL_MEM_COPY_HOST_PTR, CL_MEM_USE_HOST_PTR};
use crate::cl::errors::CL_MEM_OBJECT_ALLOCATION_FAILURE;
use crate::cl::{CL_MEM_OBJECT_BUFFER, CL_MEM_OBJECT_PIPE, Raw};
use crate::error::{ClError, Result, ensure};
use crate::sync::Mutex;
use std::sync::Arc;
use warpscope_memory::device_memory::{Access, Allocation, AllocationId, MemoryError};

/// A function of the program, to be called with the handle of an object that goes.
pub type Destructor = Box<dyn FnOnce(Raw) + Send>;

/// A region that the host has mapped.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Mapping {
    /// First address.
    pub address: u64,
    /// Bytes that move.
    pub size: usize,
    /// Whether the host may have written.
    pub write: bool,
    /// Where the region begins: in bytes of a buffer, in elements of an image.
    pub origin: [usize; 3],
    /// How far it goes along each axis.
    pub region: [usize; 3],
}

impl Mapping {
    /// Whether both hold the same place.
    fn meets(&self, other: &Mapping) -> bool {
        boxes_meet(self.origin, other.origin, |axis| (self.region[axis], other.region[axis]))
    }
}

/// Whether two boxes share a place; `sizes` gives theirs along an axis.
pub fn boxes_meet(a: [usize; 3], b: [usize; 3], sizes: impl Fn(usize) -> (usize, usize)) -> bool {
    (0..3).all(|axis| {
        let (of_a, of_b) = sizes(axis);
        a[axis] < b[axis].saturating_add(of_b) && b[axis] < a[axis].saturating_add(of_a)
    })
}

/// Where the elements of an image lie.
pub enum Storage {
    /// In an allocation of its own.
    Own(AllocationId),
    /// In those of a buffer or another image.
    Shared(Arc<MemObject>),
}

/// What a memory object is.
pub enum MemKind {
    /// A buffer with an allocation of its own.
    Buffer {
        /// The allocation.
        allocation: AllocationId,
    },
    /// A region of another buffer.
    SubBuffer {
        /// The other buffer.
        parent: Arc<MemObject>,
        /// Offset in it.
        origin: usize,
    },
    /// An image.
    Image {
        /// Its format and geometry.
        image: Image,
        /// Where its elements lie.
        storage: Storage,
    },
    /// A pipe.
    Pipe {
        /// Bytes of a packet.
        packet_size: u32,
        /// Packets that it holds.
        max_packets: u32,
        /// The allocation.
        allocation: AllocationId,
    },
}

/// A memory object.
pub struct MemObject {
    pub(crate) handle: Handle,
    /// Its context.
    pub context: Arc<Context>,
    /// What it is.
    pub kind: MemKind,
    /// CL_MEM_FLAGS.
    pub flags: u64,
    /// Bytes.
    pub size: usize,
    /// Address, for host and kernels.
    pub address: u64,
    /// The host pointer of CL_MEM_USE_HOST_PTR, else 0.
    pub host_ptr: usize,
    /// The property list given at its creation, terminator included; empty if none was given.
    pub properties: Vec<u64>,
    maps: Mutex<Vec<Mapping>>,
    destructors: Mutex<Vec<Destructor>>,
}

impl From<MemoryError> for ClError {
    fn from(error: MemoryError) -> ClError {
        ClError::new(CL_MEM_OBJECT_ALLOCATION_FAILURE, error.to_string())
    }
}

impl Context {
    /// Allocates device memory, within the cap.
    pub fn allocate(&self, size: usize, align: u64) -> Result<Allocation> {
        let cap = self.device.global_memory();
        let used = self.memory.used();
        ensure!(
            used.saturating_add(size as u64) <= cap,
            CL_MEM_OBJECT_ALLOCATION_FAILURE,
            "{size} bytes asked for, but {used} of {cap} are in use (host.memory_cap limits what the device hands out)"
        );
        Ok(self.memory.allocate(size as u64, align, Access::ReadWrite)?)
    }
}

/// Alignment of allocations: that of the largest built-in type, and of the base address that the device reports.
pub(crate) const BASE_ALIGN: u64 = 4096 / 8;

/// Flags that come with the memory, not with the object that uses it.
const HOST_POINTER: u64 = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

impl MemObject {
    fn new(context: Arc<Context>, handle: Handle, kind: MemKind, flags: u64, size: usize, address: u64) -> MemObject {
        MemObject {
            handle,
            context,
            kind,
            flags,
            size,
            address,
            host_ptr: 0,
            properties: Vec::new(),
            maps: Mutex::default(),
            destructors: Mutex::default(),
        }
    }

    /// An object with memory of its own: with CL_MEM_USE_HOST_PTR the program's, else the device's.
    ///
    /// # Safety
    /// With CL_MEM_USE_HOST_PTR, `host_ptr` is and stays valid for `size` bytes.
    unsafe fn with_memory(
        context: Arc<Context>,
        flags: u64,
        size: usize,
        host_ptr: *mut u8,
        kind: impl FnOnce(AllocationId) -> MemKind,
    ) -> Result<MemObject> {
        let in_place = flags & CL_MEM_USE_HOST_PTR != 0;
        let handle = Handle::reserve()?;
        let allocation = if in_place {
            // SAFETY: the caller's promise; the object frees the registration before its end.
            unsafe { context.memory.register_host(host_ptr, size as u64, Access::ReadWrite)? }
        } else {
            context.allocate(size, BASE_ALIGN)?
        };
        let mut object = MemObject::new(context, handle, kind(allocation.id), flags, size, allocation.address);
        object.host_ptr = if in_place { host_ptr as usize } else { 0 };
        Ok(object)
    }

    /// A buffer. Pointers to host memory must be valid for `size` bytes, and with CL_MEM_USE_HOST_PTR stay so.
    ///
    /// # Safety
    /// See above.
    pub unsafe fn buffer(
        context: Arc<Context>,
        flags: u64,
        size: usize,
        host_ptr: *mut u8,
        properties: Vec<u64>,
    ) -> Result<MemObject> {
        let kind = |allocation| MemKind::Buffer { allocation };
        // SAFETY: the caller's promise.
        let mut object = unsafe { MemObject::with_memory(context, flags, size, host_ptr, kind)? };
        object.properties = properties;
        if flags & CL_MEM_COPY_HOST_PTR != 0 {
            // SAFETY: the caller's promise; the allocation is new.
            let data = unsafe { std::slice::from_raw_parts(host_ptr, size) };
            object.context.memory.write(object.address, data)?;
        }
        Ok(object)
    }

    /// An image with elements of its own; with CL_MEM_COPY_HOST_PTR it is the caller who copies them.
    ///
    /// # Safety
    /// With CL_MEM_USE_HOST_PTR, `host_ptr` is and stays valid for the image's `size` bytes.
    pub unsafe fn image(
        context: Arc<Context>,
        flags: u64,
        (image, size): (Image, usize),
        host_ptr: *mut u8,
        properties: Vec<u64>,
    ) -> Result<MemObject> {
        let kind = |allocation| MemKind::Image { image, storage: Storage::Own(allocation) };
        // SAFETY: the caller's promise.
        let mut object = unsafe { MemObject::with_memory(context, flags, size, host_ptr, kind)? };
        object.properties = properties;
        Ok(object)
    }

    /// An object that shows the memory of another one, from `offset` on.
    fn view(parent: &Arc<MemObject>, flags: u64, offset: usize, size: usize, kind: MemKind) -> Result<MemObject> {
        let flags = flags | parent.flags & HOST_POINTER;
        let (context, address) = (parent.context.clone(), parent.address + offset as u64);
        let mut object = MemObject::new(context, Handle::reserve()?, kind, flags, size, address);
        object.host_ptr = if parent.host_ptr == 0 { 0 } else { parent.host_ptr + offset };
        Ok(object)
    }

    /// A region of a buffer.
    pub fn sub_buffer(parent: Arc<MemObject>, flags: u64, origin: usize, size: usize) -> Result<MemObject> {
        MemObject::view(&parent, flags, origin, size, MemKind::SubBuffer { parent: parent.clone(), origin })
    }

    /// An image whose elements are a buffer's or another image's.
    pub fn image_of(
        parent: Arc<MemObject>,
        flags: u64,
        (image, size): (Image, usize),
        properties: Vec<u64>,
    ) -> Result<MemObject> {
        let kind = MemKind::Image { image, storage: Storage::Shared(parent.clone()) };
        let mut object = MemObject::view(&parent, flags, 0, size, kind)?;
        object.properties = properties;
        Ok(object)
    }

    /// A pipe, empty.
    pub fn pipe(context: Arc<Context>, flags: u64, packet_size: u32, max_packets: u32) -> Result<MemObject> {
        let size = packet_size as usize * max_packets as usize;
        let kind = |allocation| MemKind::Pipe { packet_size, max_packets, allocation };
        // SAFETY: there is no host pointer.
        unsafe { MemObject::with_memory(context, flags, size, std::ptr::null_mut(), kind) }
    }

    /// CL_MEM_TYPE.
    pub fn object_type(&self) -> u32 {
        match &self.kind {
            MemKind::Buffer { .. } | MemKind::SubBuffer { .. } => CL_MEM_OBJECT_BUFFER,
            MemKind::Image { image, .. } => image.kind,
            MemKind::Pipe { .. } => CL_MEM_OBJECT_PIPE,
        }
    }

    /// The image, if it is one.
    pub fn as_image(&self) -> Option<&Image> {
        if let MemKind::Image { image, .. } = &self.kind { Some(image) } else { None }
    }

    /// The memory object that it was made from (CL_MEM_ASSOCIATED_MEMOBJECT).
    pub fn parent(&self) -> Option<&Arc<MemObject>> {
        match &self.kind {
            MemKind::SubBuffer { parent, .. } | MemKind::Image { storage: Storage::Shared(parent), .. } => Some(parent),
            _ => None,
        }
    }

    /// The allocation that goes with the object.
    fn allocation(&self) -> Option<AllocationId> {
        match self.kind {
            MemKind::Buffer { allocation }
            | MemKind::Image { storage: Storage::Own(allocation), .. }
            | MemKind::Pipe { allocation, .. } => Some(allocation),
            _ => None,
        }
    }

    /// The buffer that owns the memory, and this object's offset in it.
    pub fn root(self: &Arc<Self>) -> (Arc<MemObject>, usize) {
        match &self.kind {
            MemKind::SubBuffer { parent, origin } => (parent.clone(), *origin),
            _ => (self.clone(), 0),
        }
    }

    /// Registers a mapping; `false` where a place would be mapped for writing twice.
    pub fn map(&self, mapping: Mapping) -> bool {
        let mut maps = self.maps.lock();
        let free = !mapping.write || maps.iter().all(|m| !m.write || !m.meets(&mapping));
        if free {
            maps.push(mapping);
        }
        free
    }

    /// Ends the mapping that begins at `address`.
    pub fn unmap(&self, address: u64) -> Option<Mapping> {
        let mut maps = self.maps.lock();
        let at = maps.iter().rposition(|m| m.address == address)?;
        Some(maps.remove(at))
    }

    /// How often it is mapped.
    pub fn map_count(&self) -> usize {
        self.maps.lock().len()
    }

    /// Registers a function to be called when the object goes.
    pub fn add_destructor(&self, destructor: Destructor) {
        self.destructors.lock().push(destructor);
    }
}

impl Drop for MemObject {
    fn drop(&mut self) {
        if let Some(allocation) = self.allocation() {
            // Live until here by construction.
            let _ = self.context.memory.free(allocation);
        }
        let destructors = std::mem::take(&mut *self.destructors.lock());
        // OpenCL 3.0, clSetMemObjectDestructorCallback: in the reverse order of registration.
        destructors.into_iter().rev().for_each(|run| run(self.handle.raw()));
    }
}

/// Memory from `clSVMAlloc`.
#[derive(Copy, Clone, Debug)]
pub struct SvmAllocation {
    /// The allocation.
    pub id: AllocationId,
    /// First address.
    pub address: u64,
    /// Bytes.
    pub size: usize,
}

impl SvmAllocation {
    /// Whether all of `size` bytes at `address` lie in it.
    pub fn holds(&self, address: u64, size: usize) -> bool {
        address >= self.address
            && address - self.address <= (self.size as u64).saturating_sub(size as u64)
            && size <= self.size
    }
}

impl Context {
    /// Allocates shared virtual memory.
    pub fn svm_allocate(&self, size: usize, align: u64) -> Result<u64> {
        let a = self.allocate(size, align)?;
        self.svm.lock().insert(a.address, SvmAllocation { id: a.id, address: a.address, size });
        Ok(a.address)
    }

    /// The shared allocation that holds `address`.
    pub fn svm_find(&self, address: u64) -> Option<SvmAllocation> {
        let svm = self.svm.lock();
        let found = svm.range(..=address).next_back()?.1;
        (address - found.address < found.size as u64).then_some(*found)
    }

    /// Frees shared virtual memory; `false` where `address` begins none.
    pub fn svm_free(&self, address: u64) -> bool {
        let found = self.svm.lock().remove(&address);
        found.is_some_and(|a| self.memory.free(a.id).is_ok())
    }
}
