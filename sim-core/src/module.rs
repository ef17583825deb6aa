//! Module-scope variables in device memory.
use crate::printf::PrintfBuffer;
use std::sync::Arc;
use warpscope_exec::ops::Ty;
use warpscope_exec::program::Global;
use warpscope_memory::device_memory::{Access, Allocation, DeviceMemory, MemoryError};

/// A module whose variables live in device memory until it is dropped.
#[derive(Debug)]
pub struct LoadedModule {
    memory: Arc<DeviceMemory>,
    addresses: Arc<Vec<u64>>,
    allocations: Vec<Allocation>,
    printf: Option<PrintfBuffer>,
}

impl LoadedModule {
    /// Allocates and initialises the module's global and constant variables; local ones get address 0. Where kernels
    /// print, a launch has room for `printf_bytes` of output.
    pub fn new(memory: &Arc<DeviceMemory>, globals: &[Global], printf_bytes: u64) -> Result<LoadedModule, MemoryError> {
        let (addresses, allocations) = (Arc::default(), Vec::new());
        let mut loaded = LoadedModule { memory: memory.clone(), addresses, allocations, printf: None };
        let mut addresses = Vec::with_capacity(globals.len());
        for global in globals {
            if global.space == Ty::PtrLocal || global.init.is_empty() {
                addresses.push(0);
                continue;
            }
            let access = if global.space == Ty::PtrConstant { Access::ReadOnly } else { Access::ReadWrite };
            let align = u64::from(global.align.max(1)).next_power_of_two();
            let room = if global.printf { printf_bytes } else { 0 };
            let allocation = memory.allocate(global.init.len() as u64 + room, align, access)?;
            if global.printf {
                let start = global.init.len() as u64;
                loaded.printf = Some(PrintfBuffer { address: allocation.address, start, limit: start + room });
            }
            addresses.push(allocation.address);
            loaded.allocations.push(allocation);
        }
        for (global, &address) in globals.iter().zip(&addresses) {
            if address == 0 {
                continue;
            }
            memory.write(address, &relocated(global, &addresses, &global.init)?)?;
        }
        if let Some(buffer) = &loaded.printf {
            buffer.reset(memory)?;
        }
        loaded.addresses = Arc::new(addresses);
        Ok(loaded)
    }

    /// Addresses by index in `Module::globals`, for [`Launch::globals`](crate::Launch::globals).
    pub fn addresses(&self) -> &Arc<Vec<u64>> {
        &self.addresses
    }

    /// Where kernels print to, for [`Launch::printf`](crate::Launch::printf).
    pub fn printf(&self) -> Option<PrintfBuffer> {
        self.printf
    }

    /// What a variable in global memory holds, with zeros for the pointers that its initializer gave it, which differ from
    /// run to run; `None` where a kernel has changed one of those.
    pub fn contents(&self, globals: &[Global], index: usize) -> Result<Option<Vec<u8>>, MemoryError> {
        let (global, address) = (&globals[index], self.addresses[index]);
        let mut bytes = vec![0; global.init.len()];
        if address == 0 {
            return Ok(Some(bytes));
        }
        self.memory.read(address, &mut bytes)?;
        if relocated(global, &self.addresses, &bytes)? != bytes {
            return Ok(None);
        }
        without_pointers(global, &mut bytes);
        Ok(Some(bytes))
    }

    /// Gives a variable the contents that [`Self::contents`] found; the pointers of its initializer stay.
    pub fn restore(&self, globals: &[Global], index: usize, bytes: &[u8]) -> Result<(), MemoryError> {
        if bytes.len() != globals[index].init.len() {
            return Err(MemoryError::Invalid("the contents of a variable have another size than the variable"));
        }
        match self.addresses[index] {
            0 => Ok(()),
            address => self.memory.write(address, &relocated(&globals[index], &self.addresses, bytes)?),
        }
    }

    /// The allocations, for those who list a device's memory.
    pub fn allocations(&self) -> &[Allocation] {
        &self.allocations
    }
}

/// Puts zeros where the initializer of a variable has pointers.
pub fn without_pointers(global: &Global, contents: &mut [u8]) {
    for &(offset, ..) in &global.relocations {
        contents.iter_mut().skip(offset as usize).take(8).for_each(|b| *b = 0);
    }
}

/// Contents of a variable with the addresses of those that it points to.
fn relocated(global: &Global, addresses: &[u64], contents: &[u8]) -> Result<Vec<u8>, MemoryError> {
    let mut bytes = contents.to_vec();
    for &(offset, target, addend) in &global.relocations {
        let pointer = addresses.get(target).copied().unwrap_or(0).wrapping_add_signed(addend);
        let place = bytes
            .get_mut(offset as usize..)
            .and_then(|rest| rest.get_mut(..8))
            .ok_or(MemoryError::Invalid("a relocation lies outside its variable"))?;
        place.copy_from_slice(&pointer.to_le_bytes());
    }
    Ok(bytes)
}

impl Drop for LoadedModule {
    fn drop(&mut self) {
        for allocation in &self.allocations {
            // Live by construction; a failure here would only mean that it is gone already.
            let _ = self.memory.free(allocation.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_placed_initialised_and_relocated() {
        let memory = Arc::new(DeviceMemory::new(1 << 20));
        let variable = |space, init: Vec<u8>, relocations| Global {
            name: String::new(),
            space,
            init,
            align: 8,
            relocations,
            uninitialised: false,
            printf: false,
        };
        let globals = [
            variable(Ty::PtrConstant, vec![1, 2, 3, 4], vec![]),
            variable(Ty::PtrLocal, vec![0; 16], vec![]),
            variable(Ty::PtrGlobal, vec![0; 16], vec![(8, 0, 2)]),
        ];
        let module = LoadedModule::new(&memory, &globals, 0).unwrap();
        let at = module.addresses().clone();
        assert_eq!(at[1], 0);
        let mut word = [0; 8];
        memory.read(at[2] + 8, &mut word).unwrap();
        assert_eq!(u64::from_le_bytes(word), at[0] + 2);
        let mut bytes = [0; 4];
        memory.read(at[0], &mut bytes).unwrap();
        assert_eq!(bytes, [1, 2, 3, 4]);
        // Contents leave out the pointer, and come back around it.
        memory.write(at[2], &7u64.to_le_bytes()).unwrap();
        let held = module.contents(&globals, 2).unwrap().expect("the pointer is as it was");
        assert_eq!(held, [7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        memory.write(at[2], &9u64.to_le_bytes()).unwrap();
        module.restore(&globals, 2, &held).unwrap();
        let mut both = [0; 16];
        memory.read(at[2], &mut both).unwrap();
        assert_eq!((both[0], u64::from_le_bytes(both[8..].try_into().unwrap())), (7, at[0] + 2));
        assert!(module.restore(&globals, 2, &[0; 8]).is_err());
        memory.write(at[2] + 8, &at[0].to_le_bytes()).unwrap();
        assert_eq!(module.contents(&globals, 2).unwrap(), None);
        drop(module);
        assert_eq!(memory.used(), 0);
    }
}
