//! Memory objects and shared virtual memory.
use super::{Context, Handle};
use crate::cl::Raw;
use crate::cl::bits::{CL_MEM_ALLOC_HOST_PTR, CL_MEM_COPY_HOST_PTR, CL_MEM_USE_HOST_PTR};
use crate::cl::errors::CL_MEM_OBJECT_ALLOCATION_FAILURE;
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
    /// Bytes.
    pub size: usize,
    /// Whether the host may have written.
    pub write: bool,
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

impl MemObject {
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
        let in_place = flags & CL_MEM_USE_HOST_PTR != 0;
        let handle = Handle::reserve()?;
        let allocation = if in_place {
            // SAFETY: the caller's promise; the object frees the registration before its end.
            unsafe { context.memory.register_host(host_ptr, size as u64, Access::ReadWrite)? }
        } else {
            context.allocate(size, BASE_ALIGN)?
        };
        if flags & CL_MEM_COPY_HOST_PTR != 0 {
            // SAFETY: the caller's promise; the allocation is new.
            let data = unsafe { std::slice::from_raw_parts(host_ptr, size) };
            context.memory.write(allocation.address, data)?;
        }
        Ok(MemObject {
            handle,
            context,
            kind: MemKind::Buffer { allocation: allocation.id },
            flags,
            size,
            address: allocation.address,
            host_ptr: if in_place { host_ptr as usize } else { 0 },
            properties,
            maps: Mutex::default(),
            destructors: Mutex::default(),
        })
    }

    /// A region of a buffer.
    pub fn sub_buffer(parent: Arc<MemObject>, flags: u64, origin: usize, size: usize) -> Result<MemObject> {
        let inherited = parent.flags & (CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR);
        Ok(MemObject {
            handle: Handle::reserve()?,
            context: parent.context.clone(),
            flags: flags | inherited,
            size,
            address: parent.address + origin as u64,
            host_ptr: if parent.host_ptr == 0 { 0 } else { parent.host_ptr + origin },
            properties: Vec::new(),
            maps: Mutex::default(),
            destructors: Mutex::default(),
            kind: MemKind::SubBuffer { parent, origin },
        })
    }

    /// The buffer that owns the memory, and this object's offset in it.
    pub fn root(self: &Arc<Self>) -> (Arc<MemObject>, usize) {
        match &self.kind {
            MemKind::Buffer { .. } => (self.clone(), 0),
            MemKind::SubBuffer { parent, origin } => (parent.clone(), *origin),
        }
    }

    /// Registers a mapping.
    pub fn map(&self, mapping: Mapping) {
        self.maps.lock().push(mapping);
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
        if let MemKind::Buffer { allocation } = self.kind {
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
