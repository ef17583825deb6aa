//! What execution asks of memory.
use super::Row;
use crate::program::{AccessShape, AtomicOp};

/// Which memory an access goes to, once generic addresses are resolved.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Space {
    Global,
    Constant,
    Local,
    Private,
}

/// One warp-wide memory access. Lanes outside `mask` have meaningless addresses.
#[derive(Copy, Clone, Debug)]
pub struct WarpAccess<'a, const W: usize> {
    /// Address of each lane: host address (global, constant) or byte offset (local, private).
    pub addresses: &'a [u64; W],
    /// Lanes that take part; never 0.
    pub mask: u64,
    /// Element size, count and extension.
    pub shape: AccessShape,
    /// Memory.
    pub space: Space,
    /// Index of the operation.
    pub pc: u32,
    /// The operation's flags (`program::flags`).
    pub flags: u8,
}

/// Whether an atomic's result is there already.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum AtomicReply {
    /// `out` holds the old values.
    Done,
    /// The result comes later: the engine writes it with `Warp::write_result`.
    Deferred,
}

/// Memory as execution sees it. Global and constant accesses are carried out by the implementor; local and private
/// ones are carried out by `step` itself, which only announces them (for bank conflicts and counters).
///
/// Registers of data are rows `[register][lane]`: element `e` of 1, 2 or 4 bytes is row `e`, of 8 bytes rows `2e`
/// (low) and `2e + 1`. Only lanes in the mask are read or written.
pub trait LaneMemory<const W: usize> {
    /// Reads each lane's elements into `out` (`shape.registers()` rows).
    fn load(&mut self, access: &WarpAccess<'_, W>, out: &mut [Row<W>]) -> Result<(), Fault>;
    /// Writes each lane's elements; lanes in rising order, so the highest wins where two overlap.
    fn store(&mut self, access: &WarpAccess<'_, W>, data: &[Row<W>]) -> Result<(), Fault>;
    /// Atomic on each lane's element, lanes in rising order. `data` and `compare` have 1 or 2 rows. `out` is `None`
    /// where the result is unused.
    fn atomic(
        &mut self,
        access: &WarpAccess<'_, W>,
        op: AtomicOp,
        data: &[Row<W>],
        compare: &[Row<W>],
        out: Option<&mut [Row<W>]>,
    ) -> Result<AtomicReply, Fault>;
    /// A local or private access is about to be carried out. `store` and `atomic` tell its kind.
    fn announce(&mut self, access: &WarpAccess<'_, W>, store: bool, atomic: bool);
}

/// What stops a launch.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    /// An access outside every allocation, or outside local or private memory.
    #[error("{access} of {bytes} bytes at {address:#x} in {space:?} memory is out of bounds{near}")]
    OutOfBounds {
        /// "read", "write" or "atomic".
        access: &'static str,
        /// Bytes.
        bytes: u32,
        /// Address or offset.
        address: u64,
        /// Memory.
        space: Space,
        /// Lane at fault.
        lane: u32,
        /// The nearest allocation, as text beginning with "; ", or empty.
        near: String,
    },
    /// An access not aligned to its element.
    #[error("{access} of {bytes} bytes at {address:#x} in {space:?} memory is not aligned to {align} bytes")]
    Misaligned {
        /// "read", "write" or "atomic".
        access: &'static str,
        /// Bytes.
        bytes: u32,
        /// Address or offset.
        address: u64,
        /// Memory.
        space: Space,
        /// Lane at fault.
        lane: u32,
        /// Needed alignment.
        align: u32,
    },
    /// A write to constant or read-only memory.
    #[error("write to read-only memory at {address:#x}")]
    ReadOnly {
        /// Address.
        address: u64,
        /// Lane at fault.
        lane: u32,
    },
    /// `Trap`.
    #[error("execution reached {what}")]
    Trap {
        /// What was reached.
        what: &'static str,
    },
    /// A barrier that only some work-items of the warp reach.
    #[error("barrier in divergent control flow: only some work-items of the sub-group reach it")]
    DivergentBarrier,
    /// Control flow nested deeper than the reconvergence stack.
    #[error("control flow diverges deeper than {0} levels")]
    StackOverflow(usize),
}

impl Fault {
    /// The lane at fault, where one is.
    pub fn lane(&self) -> Option<u32> {
        match self {
            Fault::OutOfBounds { lane, .. } | Fault::Misaligned { lane, .. } | Fault::ReadOnly { lane, .. } => {
                Some(*lane)
            }
            _ => None,
        }
    }
}
