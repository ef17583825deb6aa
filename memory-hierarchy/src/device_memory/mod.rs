//! Device memory: allocations and their bytes.
//!
//! An allocation has a host address, which is what kernels and shared-virtual-memory pointers see, and a *simulated*
//! address, assigned in allocation order, which is all that timing ever uses. Launches work on a [`View`], a snapshot
//! of the live allocations that also keeps them alive: look-ups need no lock, and what is freed meanwhile is reused
//! only after the view is gone.

mod arena;
mod host_access;
mod span;
#[cfg(test)]
mod tests;
mod view;

use arena::{Arena, Block};
pub(crate) use span::full_mask;
pub use span::{Span, Word};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
pub use view::View;

/// Bytes that stay unallocated between two allocations, so that running over the end of one is found.
pub const GUARD: u64 = 256;
/// Simulated addresses lie below this; they are assigned upwards and start again from the bottom if it is reached.
pub const SIMULATED_SPACE: u64 = 1 << 45;
/// Simulated address of the first allocation. Below lie what is no allocation: code, constant bank, private memory.
pub const SIMULATED_BASE: u64 = 1 << 40;
/// Allocations of at least this size start at a multiple of it in simulated memory, smaller ones at multiples of 512.
const LARGE_PAGE: u64 = 2 << 20;

/// Names an allocation for its whole life; never reused.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AllocationId(u64);

/// What kernels may do with an allocation.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Access {
    /// Loads, stores and atomics.
    #[default]
    ReadWrite,
    /// Loads only; the host may write.
    ReadOnly,
}

/// Facts about an allocation. Plain data: it does not keep the allocation alive.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Allocation {
    /// Name, for [`DeviceMemory::free`].
    pub id: AllocationId,
    /// Host address: what kernels see, and a valid pointer in this process.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// Address that timing uses.
    pub simulated: u64,
    /// What kernels may do.
    pub access: Access,
}

impl Allocation {
    /// The bytes as a host pointer.
    pub fn pointer(&self) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.address as usize)
    }
    /// The allocation as an address range.
    pub fn span(&self) -> Span {
        Span::new(self)
    }
    fn contains(&self, address: u64, size: u64) -> bool {
        address >= self.address && size <= self.size && address - self.address <= self.size - size
    }
}

/// Why a request to device memory was refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MemoryError {
    /// The device is full.
    #[error("device memory is exhausted: {requested} bytes asked for, {free} of {capacity} free")]
    OutOfDeviceMemory {
        /// Bytes asked for.
        requested: u64,
        /// Bytes free.
        free: u64,
        /// Bytes in all.
        capacity: u64,
    },
    /// The host cannot back the allocation.
    #[error("the host cannot back {requested} bytes of device memory: {why}")]
    OutOfHostMemory {
        /// Bytes asked for.
        requested: u64,
        /// What the operating system said.
        why: String,
    },
    /// Size 0, a bad alignment, a null pointer or an address range that wraps round.
    #[error("invalid memory request: {0}")]
    Invalid(&'static str),
    /// A range that no single live allocation holds.
    #[error("{size} bytes at {address:#x} do not lie in one live allocation{near}")]
    OutOfBounds {
        /// First address.
        address: u64,
        /// Bytes.
        size: u64,
        /// The nearest allocation, as text beginning with "; ", or empty.
        near: String,
    },
    /// [`DeviceMemory::free`] of something that is not (or no longer) allocated.
    #[error("allocation {0:?} is not live")]
    NotLive(AllocationId),
}

/// An allocation and what backs it; the bytes go back to the arena when the last owner lets go.
#[derive(Debug)]
struct Region {
    facts: Allocation,
    /// Arena block; `None` for registered host memory, which the host program owns.
    _block: Option<Block>,
    /// The allocation that this one aliases, kept alive with it.
    _parent: Option<Arc<Region>>,
}

#[derive(Debug)]
struct State {
    arena: Option<Arc<Arena>>,
    live: BTreeMap<AllocationId, Arc<Region>>,
    /// Live allocations by host address (several may share one: aliases).
    by_address: BTreeMap<(u64, AllocationId), Arc<Region>>,
    /// Snapshot of `live`, until it changes.
    view: Option<View>,
    next_id: u64,
    next_simulated: u64,
    used: u64,
}

/// The memory of one simulated device. Shared by reference between threads.
#[derive(Debug)]
pub struct DeviceMemory {
    capacity: u64,
    state: Mutex<State>,
}

impl DeviceMemory {
    /// Memory of `capacity` bytes. Nothing is reserved on the host before the first allocation.
    pub fn new(capacity: u64) -> DeviceMemory {
        DeviceMemory {
            capacity,
            state: Mutex::new(State {
                arena: None,
                live: BTreeMap::new(),
                by_address: BTreeMap::new(),
                view: None,
                next_id: 1,
                next_simulated: SIMULATED_BASE,
                used: 0,
            }),
        }
    }

    /// Bytes that can be allocated in all.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes allocated now (registered host memory apart).
    pub fn used(&self) -> u64 {
        self.lock().used
    }

    /// Allocates `size` zeroed bytes at a multiple of `align` (a power of two).
    pub fn allocate(&self, size: u64, align: u64, access: Access) -> Result<Allocation, MemoryError> {
        if size == 0 {
            return Err(MemoryError::Invalid("the size is 0"));
        }
        if !align.is_power_of_two() {
            return Err(MemoryError::Invalid("the alignment is not a power of two"));
        }
        let mut state = self.lock();
        let free = self.capacity - state.used;
        if size > free {
            return Err(MemoryError::OutOfDeviceMemory { requested: size, free, capacity: self.capacity });
        }
        let host = |why: String| MemoryError::OutOfHostMemory { requested: size, why };
        let arena = match &state.arena {
            Some(arena) => arena.clone(),
            None => state.arena.insert(Arena::reserve(self.capacity).map_err(host)?).clone(),
        };
        let block = arena.take(size, align.max(GUARD)).map_err(host)?;
        let facts = Allocation {
            id: state.take_id(),
            address: block.address(),
            size,
            simulated: state.take_simulated(size, align),
            access,
        };
        state.used += size;
        state.insert(Region { facts, _block: Some(block), _parent: None });
        Ok(facts)
    }

    /// Makes `size` bytes of the host program's own memory accessible to kernels, in place. Memory inside a live
    /// allocation becomes an alias of it.
    ///
    /// # Safety
    /// The memory must stay valid for reads and (unless `ReadOnly`) writes until it is freed here and every view made
    /// before that is gone.
    pub unsafe fn register_host(&self, pointer: *mut u8, size: u64, access: Access) -> Result<Allocation, MemoryError> {
        let address = pointer.expose_provenance() as u64;
        if pointer.is_null() || size == 0 || address.checked_add(size).is_none() {
            return Err(MemoryError::Invalid("the host memory is null, empty or wraps round the address space"));
        }
        let mut state = self.lock();
        let parent = state.find(address, size).cloned();
        let simulated = match &parent {
            Some(p) => p.facts.simulated + (address - p.facts.address),
            // The same offset in a 256-byte granule, so that sectors fall as the host's alignment has them.
            None => state.take_simulated(size + GUARD, GUARD) + address % GUARD,
        };
        let facts = Allocation { id: state.take_id(), address, size, simulated, access };
        state.insert(Region { facts, _block: None, _parent: parent });
        Ok(facts)
    }

    /// Ends an allocation. Its bytes are reused once no view holds them any more.
    pub fn free(&self, id: AllocationId) -> Result<(), MemoryError> {
        let mut state = self.lock();
        let region = state.live.remove(&id).ok_or(MemoryError::NotLive(id))?;
        state.by_address.remove(&(region.facts.address, id));
        state.view = None;
        if region._block.is_some() {
            state.used -= region.facts.size;
        }
        Ok(())
    }

    /// The live allocation that holds `address`.
    pub fn lookup(&self, address: u64) -> Option<Allocation> {
        self.lock().find(address, 1).map(|r| r.facts)
    }

    /// A snapshot of the live allocations for a launch.
    pub fn view(&self) -> View {
        let mut state = self.lock();
        if let Some(view) = &state.view {
            return view.clone();
        }
        let view = View::new(state.by_address.values().cloned().collect());
        state.view = Some(view.clone());
        view
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is changed only after everything that can fail, so it is whole even after a panic elsewhere.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take_id(&mut self) -> AllocationId {
        self.next_id += 1;
        AllocationId(self.next_id - 1)
    }

    fn take_simulated(&mut self, size: u64, align: u64) -> u64 {
        let align = align.max(if size >= LARGE_PAGE { LARGE_PAGE } else { 512 });
        let mut start = self.next_simulated.next_multiple_of(align);
        if start.saturating_add(size) > SIMULATED_SPACE {
            start = SIMULATED_BASE.next_multiple_of(align);
        }
        self.next_simulated = start + size;
        start
    }

    fn insert(&mut self, region: Region) {
        let region = Arc::new(region);
        self.live.insert(region.facts.id, region.clone());
        self.by_address.insert((region.facts.address, region.facts.id), region);
        self.view = None;
    }

    /// The allocation that holds the whole range: the nearest one below, else (aliases may overlap) any.
    fn find(&self, address: u64, size: u64) -> Option<&Arc<Region>> {
        let below = self.by_address.range(..=(address, AllocationId(u64::MAX))).next_back()?.1;
        if below.facts.contains(address, size) {
            return Some(below);
        }
        self.by_address.values().find(|r| r.facts.contains(address, size))
    }
}
