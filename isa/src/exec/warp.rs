//! State of a warp and of its work-group, and what a step did.
use crate::program::Program;

/// A program ready to run: with the rows of its constant pool evaluated for one launch.
#[derive(Clone, Debug)]
pub struct Code<'a, const W: usize> {
    /// The program, `program.width == W`.
    pub program: &'a Program,
    /// Constant pool, broadcast.
    pub constants: &'a [Row<W>],
}

/// 32 bits of every lane.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Row<const W: usize>(pub [u32; W]);

/// An entry of the reconvergence stack: lanes that wait at `pc` until the top's lanes reach `reconvergence`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// Where these lanes go on.
    pub pc: u32,
    /// Where they meet the others ([`crate::program::NO_RECONVERGENCE`]: at the exit).
    pub reconvergence: u32,
    /// The lanes.
    pub mask: u64,
}

/// A warp's architectural state.
#[derive(Clone, Debug)]
pub struct Warp<const W: usize> {
    /// Index of the next operation.
    pub pc: u32,
    /// Lanes that execute now.
    pub active: u64,
    /// Lanes that have not ended.
    pub alive: u64,
    /// Where the current lanes meet the entry below on the stack.
    pub reconvergence: u32,
    /// Lanes that wait.
    pub stack: Vec<Divergence>,
    /// Predicate registers, one bit a lane.
    pub predicates: [u64; 16],
    /// Vector registers, then uniform registers (broadcast).
    pub rows: Vec<Row<W>>,
    /// Private memory: word `o / 4` of all lanes is row `o / 4`.
    pub private: Vec<Row<W>>,
    /// Local ids.
    pub local_id: [Row<W>; 3],
    /// Index of the warp in its work-group.
    pub sub_group: u32,
    /// Work-items in this sub-group (the last may be smaller).
    pub sub_group_size: u32,
}

/// A work-group's state.
#[derive(Clone, Debug)]
pub struct Group {
    /// Group id in each dimension.
    pub id: [u32; 3],
    /// Actual size (smaller in remainder groups).
    pub size: [u32; 3],
    /// Sub-groups.
    pub sub_groups: u32,
    /// Local memory; offset `o` of the program is byte `o - reserved` here.
    pub local: Vec<u8>,
    /// Offset of the first byte.
    pub reserved: u32,
}

/// What a step did, as far as time and the caller are concerned.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// The next operation follows.
    Next,
    /// Control went elsewhere than to the next operation.
    Jumped,
    /// A memory access was carried out or announced (the operation's guard left at least one lane).
    Access,
    /// The warp waits at a work-group barrier; `pc` is behind it.
    Barrier,
    /// A fence.
    Fence,
    /// Every lane has ended.
    Exit,
}
