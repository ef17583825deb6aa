//! Reading and writing device memory from the host.
use super::{Allocation, DeviceMemory, MemoryError, Region};
use std::sync::Arc;

impl DeviceMemory {
    /// Copies device memory at `address` into `out`.
    pub fn read(&self, address: u64, out: &mut [u8]) -> Result<(), MemoryError> {
        let region = self.hold(address, out.len() as u64)?;
        // SAFETY: in bounds and alive through `region`; `out` cannot overlap device memory except through memory that
        // the host program shares, for which `copy` allows overlap.
        unsafe { std::ptr::copy(pointer(address), out.as_mut_ptr(), out.len()) };
        drop(region);
        Ok(())
    }

    /// The allocation that holds the byte at `address`.
    pub fn allocation_at(&self, address: u64) -> Option<Allocation> {
        self.lock().find(address, 1).map(|region| region.facts)
    }

    /// The bytes at `address` up to a NUL or the end of the allocation.
    pub fn read_string(&self, address: u64) -> Result<Vec<u8>, MemoryError> {
        let region = self.hold(address, 1)?;
        let room = region.facts.size - (address - region.facts.address);
        // SAFETY: in bounds and alive through `region`; the device does not run meanwhile.
        let bytes = unsafe { std::slice::from_raw_parts(pointer(address), room as usize) };
        Ok(bytes.iter().copied().take_while(|&b| b != 0).collect())
    }

    /// Copies `data` to device memory at `address`.
    pub fn write(&self, address: u64, data: &[u8]) -> Result<(), MemoryError> {
        let region = self.hold(address, data.len() as u64)?;
        // SAFETY: as in `read`.
        unsafe { std::ptr::copy(data.as_ptr(), pointer(address), data.len()) };
        drop(region);
        Ok(())
    }

    /// Copies `size` bytes from device address `from` to device address `to`; the ranges may overlap.
    pub fn copy(&self, from: u64, to: u64, size: u64) -> Result<(), MemoryError> {
        let regions = (self.hold(from, size)?, self.hold(to, size)?);
        // SAFETY: both in bounds and alive through `regions`.
        unsafe { std::ptr::copy(pointer(from), pointer(to), size as usize) };
        drop(regions);
        Ok(())
    }

    /// Writes `pattern` again and again over `size` bytes; the last copy is cut short where it does not fit.
    pub fn fill(&self, address: u64, pattern: &[u8], size: u64) -> Result<(), MemoryError> {
        if pattern.is_empty() {
            return Err(MemoryError::Invalid("the fill pattern is empty"));
        }
        let region = self.hold(address, size)?;
        let (at, size) = (pointer(address), size as usize);
        let mut done = pattern.len().min(size);
        // SAFETY: everything written lies in [address, address + size), in bounds and alive through `region`; each
        // doubling copies from the part already written to the part behind it.
        unsafe {
            std::ptr::copy(pattern.as_ptr(), at, done);
            while done < size {
                let step = done.min(size - done);
                std::ptr::copy_nonoverlapping(at, at.add(done), step);
                done += step;
            }
        }
        drop(region);
        Ok(())
    }

    /// The allocation that holds the range, kept alive while it is accessed.
    fn hold(&self, address: u64, size: u64) -> Result<Arc<Region>, MemoryError> {
        if let Some(region) = self.lock().find(address, size) {
            return Ok(region.clone());
        }
        Err(MemoryError::OutOfBounds { address, size, near: self.view().near(address) })
    }
}

fn pointer(address: u64) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}
