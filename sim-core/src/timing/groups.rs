//! Work-groups resident on a compute unit, and their barriers.
use warpscope_exec::exec::Group;

/// One group slot.
#[derive(Clone, Debug)]
pub(crate) struct GroupSlot {
    pub group: Group,
    pub busy: bool,
    /// Its warps' slots.
    pub slots: Vec<u32>,
    /// Warps that have not ended.
    pub live: u32,
    /// Warps at the barrier.
    pub waiting: u32,
    /// When the last of them arrived.
    arrived: u64,
    /// When the last warp has ended, its memory instructions included.
    pub end: u64,
}

impl GroupSlot {
    pub fn new(group: Group) -> GroupSlot {
        GroupSlot { group, busy: false, slots: Vec::new(), live: 0, waiting: 0, arrived: 0, end: 0 }
    }

    /// A warp arrives at the barrier at `at`, which takes `interval` cycles for it.
    pub fn arrive(&mut self, at: u64, interval: u64) {
        self.waiting += 1;
        self.arrived = self.arrived.max(at) + interval;
    }

    /// Whether every warp that has not ended waits: then when the last arrived.
    pub fn complete(&mut self) -> Option<u64> {
        if self.waiting == 0 || self.waiting < self.live {
            return None;
        }
        self.waiting = 0;
        Some(std::mem::take(&mut self.arrived))
    }

    /// A warp has ended; its last memory instruction leaves at `at`.
    pub fn leave(&mut self, at: u64) {
        self.live -= 1;
        self.end = self.end.max(at);
        self.arrived = self.arrived.max(if self.waiting > 0 { at } else { 0 });
    }
}
