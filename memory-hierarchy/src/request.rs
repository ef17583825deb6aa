//! What travels between compute units and the L2.
use crate::cache::SetIndex;

/// Sectors in a mask, from a table: a host of the architecture's baseline has no instruction for it.
#[inline(always)]
pub(crate) fn ones(sectors: u8) -> u32 {
    static ONES: [u8; 256] = {
        let mut ones = [0; 256];
        let mut mask = 1;
        while mask < 256 {
            ones[mask] = ones[mask / 2] + (mask % 2) as u8;
            mask += 1;
        }
        ones
    };
    ONES[usize::from(sectors)].into()
}

/// What a request wants.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum RequestKind {
    /// Sectors of a line, for the L1.
    Load,
    /// Sectors of a line of instructions or constants.
    Fetch,
    /// Stored data; answered when they are in the L2.
    Store,
    /// Read-modify-write whose old values are wanted.
    Atomic,
    /// Read-modify-write without a result; answered when its slice has taken it.
    Reduction,
}

impl RequestKind {
    /// Whether it is a read-modify-write.
    #[inline(always)]
    pub const fn is_atomic(self) -> bool {
        matches!(self, RequestKind::Atomic | RequestKind::Reduction)
    }
}

/// A request of a compute unit to the L2: one line or part of one.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct L2Request {
    /// Cycle at which it leaves the compute unit.
    pub at: u64,
    /// Simulated address of the line.
    pub line: u64,
    /// Lanes of the warp that it is for (atomics).
    pub lanes: u64,
    /// The requester's own mark, returned in the response. For atomics it is the engine's token.
    pub token: u32,
    /// Number among the compute unit's requests.
    pub sequence: u32,
    /// Compute unit.
    pub unit: u16,
    /// Parts of the line (32nds) that a store writes whole.
    pub written: u32,
    /// What it wants.
    pub kind: RequestKind,
    /// Sectors of the line.
    pub sectors: u8,
    /// Passes of an atomic ([`LineAccess::atomic_passes`](crate::coalescer::LineAccess::atomic_passes)).
    pub passes: u8,
    /// The requester's slot, returned in the response.
    pub slot: u16,
    /// Set by the L2: it goes with another compute unit's request for the same sectors.
    pub joined: bool,
    /// Set by the L2: the line's home slice.
    pub home: u16,
    /// Set by the L2: its address inside that, and its set in every slice.
    pub local: u64,
    pub(crate) set: SetIndex,
}

impl L2Request {
    /// Sectors that it takes to a slice: those of an atomic as often as it has passes there.
    #[inline(always)]
    pub fn passes(&self) -> u64 {
        u64::from(if self.kind.is_atomic() { u32::from(self.passes) } else { ones(self.sectors) })
    }
}

/// The L2's answer to a request.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct L2Response {
    /// Cycle at which it arrives at the compute unit's port.
    pub at: u64,
    /// The request's mark.
    pub token: u32,
    /// Compute unit.
    pub unit: u16,
    /// The request's slot.
    pub slot: u16,
    /// What was wanted.
    pub kind: RequestKind,
    /// Sectors of data that it carries; 0 for an acknowledgement.
    pub sectors: u8,
    /// Sectors of the request, with all passes.
    pub asked: u8,
    /// It only says that an atomic has left its compute unit's exit; the answer follows.
    pub left: bool,
}

/// Carries out the functional effect of atomics, in the L2's order.
pub trait AtomicSink {
    /// The lanes `request.lanes` of the warp access `request.token` take effect now, before it is answered.
    fn perform(&mut self, request: &L2Request);
}

/// Discards effects: for timing without data.
#[derive(Copy, Clone, Debug, Default)]
pub struct NoEffect;

impl AtomicSink for NoEffect {
    fn perform(&mut self, _: &L2Request) {}
}
