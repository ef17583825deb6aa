//! The machine program: what lowering produces, what `exec::step` runs and what the engine charges time for.
//!
//! Conventions (they bind lowering, execution and timing alike):
//! * A register holds 32 bits of every lane. A 64-bit value takes an aligned pair, low half first; a vector of
//!   memory data takes consecutive registers. Integers of 8 and 16 bits and half floats are held zero-extended.
//! * A predicate register is one bit a lane. Booleans live in predicate registers.
//! * Global, constant and generic addresses are 64 bits (host addresses of the device memory's arena). Local and
//!   private addresses are 32-bit offsets; a generic pointer to them lies in [`LOCAL_WINDOW`] or [`PRIVATE_WINDOW`].
//! * Private memory is interleaved: word `o / 4` of lane `l` is storage word `(o / 4) * width + l`.

use crate::ops::{Op, OpClass, Ty};

/// Generic addresses `LOCAL_WINDOW + offset` refer to the work-group's local memory (4 GiB window).
pub const LOCAL_WINDOW: u64 = 0x4000_0000_0000_0000;
/// Generic addresses `PRIVATE_WINDOW + offset` refer to the work-item's private memory (4 GiB window).
pub const PRIVATE_WINDOW: u64 = 0x4000_0001_0000_0000;

/// An operand: a vector register, a uniform register, a row of the constant pool, a predicate, or nothing.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Operand(pub u16);

/// What an [`Operand`] refers to.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum OperandKind {
    /// Vector register (32 bits a lane).
    Register(u16),
    /// Uniform register (one 32-bit value a warp).
    Uniform(u16),
    /// Row of the program's constant pool, broadcast to all lanes.
    Constant(u16),
    /// Predicate register, negated or not.
    Predicate(u8, bool),
    /// No operand.
    None,
}

impl Operand {
    /// No operand (as a destination: the result is dropped).
    pub const NONE: Operand = Operand(0xffff);
    /// Vector register `r` (0..=0x3fff).
    #[inline]
    pub const fn register(r: u16) -> Operand {
        Operand(r)
    }
    /// Uniform register `u`.
    #[inline]
    pub const fn uniform(u: u16) -> Operand {
        Operand(0x4000 | u)
    }
    /// Constant row `c` (0..=0x3fff).
    #[inline]
    pub const fn constant(c: u16) -> Operand {
        Operand(0x8000 | c)
    }
    /// Predicate register `p`, inverted where `negated`.
    #[inline]
    pub const fn predicate(p: u8, negated: bool) -> Operand {
        Operand(0xc000 | p as u16 | (negated as u16) << 8)
    }
    /// What it refers to.
    #[inline]
    pub const fn kind(self) -> OperandKind {
        if self.0 == 0xffff {
            return OperandKind::None;
        }
        let i = self.0 & 0x3fff;
        match self.0 >> 14 {
            0 => OperandKind::Register(i),
            1 => OperandKind::Uniform(i),
            2 => OperandKind::Constant(i),
            _ => OperandKind::Predicate(i as u8, i & 0x100 != 0),
        }
    }
    /// Whether there is none.
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == 0xffff
    }
}

impl std::fmt::Debug for Operand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.kind() {
            OperandKind::Register(i) => write!(f, "r{i}"),
            OperandKind::Uniform(i) => write!(f, "u{i}"),
            OperandKind::Constant(i) => write!(f, "c{i}"),
            OperandKind::Predicate(p, n) => write!(f, "{}p{p}", if n { "!" } else { "" }),
            OperandKind::None => write!(f, "_"),
        }
    }
}

/// Guard of an operation: lanes in which the predicate is false do not take part.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Guard(pub u8);

impl Guard {
    /// All lanes take part.
    pub const ALWAYS: Guard = Guard(0x7f);
    /// Lanes where predicate `p` holds (or, `negated`, does not).
    #[inline]
    pub const fn new(p: u8, negated: bool) -> Guard {
        Guard(p | (negated as u8) << 7)
    }
    /// Predicate and negation, or none.
    #[inline]
    pub const fn get(self) -> Option<(u8, bool)> {
        if self.0 == 0x7f { None } else { Some((self.0 & 0x7f, self.0 & 0x80 != 0)) }
    }
}

/// Flag bits of a [`MachineOp`].
pub mod flags {
    /// Executes once for the warp: every operand and result is uniform.
    pub const UNIFORM: u8 = 1;
    /// Time only: occupies its pipe and reads and writes its registers in the scoreboard, but has no effect.
    pub const GHOST: u8 = 2;
    /// A plain access that may overlap an atomic of the same work-item: it waits for the warp's pending atomics.
    pub const AFTER_ATOMICS: u8 = 4;
    /// Volatile access.
    pub const VOLATILE: u8 = 8;
    /// Operand reuse: bit 4, 5, 6 mark source 0, 1, 2 as held in the reuse cache.
    pub const REUSE_SHIFT: u8 = 4;
}

/// How an operation's words relate to the steps of its recipe, in [`MachineOp::steps`]. They concern time only.
pub mod steps {
    /// An earlier step makes the low word of the result: this one makes the others and reads high words only.
    pub const HIGH: u8 = 1;
    /// It also waits for that low word (a carry).
    pub const AFTER_LOW: u8 = 2;
    /// Its predicate sources stand for a guard.
    pub const GUARDED: u8 = 4;
    /// Bits 4 to 7: sources 0 to 3 are read by earlier steps, not by this one.
    pub const READ_EARLIER_SHIFT: u8 = 4;
}

/// One operation of the machine program. 32 bytes.
#[derive(Copy, Clone, PartialEq, Debug)]
#[repr(C, align(32))]
pub struct MachineOp {
    /// Semantics.
    pub op: Op,
    /// Which lanes take part.
    pub guard: Guard,
    /// See [`flags`].
    pub flags: u8,
    /// First result: register, pair, vector, uniform register or predicate.
    pub dst: Operand,
    /// Second result (carry, success flag), mostly [`Operand::NONE`].
    pub dst2: Operand,
    /// Sources.
    pub src: [Operand; 4],
    /// Immediate; what it means is in the operation's table row (memory offset, look-up table, branch target …).
    pub imm: i32,
    /// Second immediate (reconvergence point, access descriptor, math function …).
    pub imm2: u32,
    /// Timing class.
    pub class: OpClass,
    /// See [`steps`].
    pub steps: u8,
}

/// No reconvergence point: the branch cannot diverge, or its paths meet only at the exit.
pub const NO_RECONVERGENCE: u32 = u32::MAX;

/// How a memory operation accesses each lane: packed in [`MachineOp::imm2`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct AccessShape {
    /// Bytes of one element: 1, 2, 4 or 8.
    pub element: u8,
    /// Elements, consecutive in memory: 1..=16, `element * count <= 16`.
    pub count: u8,
    /// Atomic operation, for atomic operations only.
    pub atomic: u8,
    /// Elements below 4 bytes are sign-extended on load (otherwise zero-extended).
    pub signed: bool,
}

impl AccessShape {
    /// Packs into an immediate.
    #[inline]
    pub const fn pack(self) -> u32 {
        self.element as u32 | (self.count as u32) << 8 | (self.atomic as u32) << 16 | (self.signed as u32) << 24
    }
    /// Unpacks an immediate.
    #[inline]
    pub const fn unpack(v: u32) -> AccessShape {
        AccessShape { element: v as u8, count: (v >> 8) as u8, atomic: (v >> 16) as u8, signed: v >> 24 & 1 != 0 }
    }
    /// Bytes a lane.
    #[inline]
    pub const fn bytes(self) -> u32 {
        self.element as u32 * self.count as u32
    }
    /// Registers that the data take.
    #[inline]
    pub const fn registers(self) -> u32 {
        let per = if self.element < 4 { 1 } else { self.element as u32 / 4 };
        per * self.count as u32
    }
}

/// A read-modify-write operation of an atomic (in [`AccessShape::atomic`]).
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum AtomicOp {
    Load,
    Store,
    Exchange,
    CompareExchange,
    Add,
    Sub,
    And,
    Or,
    Xor,
    SMin,
    SMax,
    UMin,
    UMax,
    FAdd,
    FMin,
    FMax,
    Inc,
    Dec,
}

impl AtomicOp {
    /// All, in order of their numbers.
    pub const ALL: [AtomicOp; 18] = {
        use AtomicOp::*;
        [
            Load,
            Store,
            Exchange,
            CompareExchange,
            Add,
            Sub,
            And,
            Or,
            Xor,
            SMin,
            SMax,
            UMin,
            UMax,
            FAdd,
            FMin,
            FMax,
            Inc,
            Dec,
        ]
    };
}

/// What a row of the constant pool holds; evaluated once a launch and broadcast to all lanes.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum ConstantRow {
    /// A literal.
    Immediate(u32),
    /// Word at this byte offset of the kernel's parameter block (layout: [`Parameter::offset`]).
    Parameter(u32),
    /// Word 0 (low) or 1 (high) of the address of module-scope variable `.0`.
    GlobalAddress(u32, u8),
    /// Offset in local memory of local-pointer parameter `.0`.
    LocalArgument(u32),
    /// A quantity of the launch.
    Launch(LaunchConstant),
}

/// Quantities that are the same for all work-items of a launch (OpenCL C 6.15.1); 64-bit ones as low and high word.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum LaunchConstant {
    WorkDim,
    GlobalSize {
        dim: u8,
        high: bool,
    },
    GlobalOffset {
        dim: u8,
        high: bool,
    },
    /// Enqueued (not the remainder's) work-group size.
    EnqueuedLocalSize(u8),
    NumGroups(u8),
    /// Sub-groups in a work-group of the enqueued size.
    EnqueuedNumSubGroups,
    MaxSubGroupSize,
    /// Where a private-memory or other base lies in the simulated constant bank has no value: reads as 0.
    Zero,
}

/// Values that differ between work-items or groups; read by `ReadSpecial` with the number in `imm`.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Special {
    LocalIdX,
    LocalIdY,
    LocalIdZ,
    GroupIdX,
    GroupIdY,
    GroupIdZ,
    /// Actual size of this work-group (differs in remainder groups).
    LocalSizeX,
    LocalSizeY,
    LocalSizeZ,
    SubGroupId,
    SubGroupLocalId,
    SubGroupSize,
    NumSubGroups,
    LinearLocalId,
}

impl Special {
    /// All, in order of their numbers.
    pub const ALL: [Special; 14] = {
        use Special::*;
        [
            LocalIdX,
            LocalIdY,
            LocalIdZ,
            GroupIdX,
            GroupIdY,
            GroupIdZ,
            LocalSizeX,
            LocalSizeY,
            LocalSizeZ,
            SubGroupId,
            SubGroupLocalId,
            SubGroupSize,
            NumSubGroups,
            LinearLocalId,
        ]
    };
}

/// What a kernel parameter is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ParameterKind {
    /// Pointer to global or constant memory (8 bytes in the block).
    Pointer {
        /// Whether it is in the constant address space.
        constant: bool,
    },
    /// Pointer to local memory; its size is given at launch. Takes no room in the block.
    LocalPointer {
        /// Required alignment in bytes.
        align: u32,
    },
    /// A value, copied as it is.
    Value,
}

/// A kernel parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Name in the source, or empty.
    pub name: String,
    /// OpenCL C type name, or empty where the module has none.
    pub type_name: String,
    /// Kind.
    pub kind: ParameterKind,
    /// Bytes that the argument must have.
    pub size: u32,
    /// Offset in the parameter block.
    pub offset: u32,
}

/// A source position.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Hash)]
pub struct SourceLine {
    /// Index into [`Program::files`].
    pub file: u16,
    /// Line, from 1; 0 where unknown.
    pub line: u32,
}

/// A kernel, lowered for one target and one warp width.
#[derive(Clone, Debug)]
pub struct Program {
    /// Kernel name.
    pub name: String,
    /// Lanes a warp.
    pub width: u32,
    /// The operations; execution starts at 0.
    pub ops: Vec<MachineOp>,
    /// Source position of each operation.
    pub lines: Vec<SourceLine>,
    /// Source file names.
    pub files: Vec<String>,
    /// Constant pool.
    pub constants: Vec<ConstantRow>,
    /// Byte offset of each constant row in the machine's constant bank, `u32::MAX` for literals (no read).
    pub constant_offsets: Vec<u32>,
    /// Jump tables: `Brx` takes table `imm`; entries are targets.
    pub jump_tables: Vec<Vec<u32>>,
    /// Vector registers a work-item.
    pub registers: u32,
    /// Uniform registers a warp.
    pub uniform_registers: u32,
    /// Static local memory of a group in bytes (offsets start at the machine's reserved bytes).
    pub local_bytes: u32,
    /// Private memory of a work-item in bytes, spills included.
    pub private_bytes: u32,
    /// Bytes of private memory that are register spills.
    pub spill_bytes: u32,
    /// Parameters in order.
    pub parameters: Vec<Parameter>,
    /// Bytes of the parameter block.
    pub parameter_bytes: u32,
    /// `reqd_work_group_size`.
    pub required_group_size: Option<[u32; 3]>,
    /// `intel_reqd_sub_group_size`.
    pub required_sub_group_size: Option<u32>,
    /// Returning or float atomics whose order can change results: functional mode then runs groups in order.
    pub order_sensitive: bool,
    /// Whether any barrier occurs (a group without needs no rendezvous).
    pub has_barrier: bool,
}

/// A module-scope variable.
#[derive(Clone, Debug)]
pub struct Global {
    /// Name, or empty.
    pub name: String,
    /// Where it lives: PtrGlobal, PtrConstant or PtrLocal (one for each work-group).
    pub space: Ty,
    /// Initial bytes (zeros where the module gives none); its length is the size.
    pub init: Vec<u8>,
    /// Required alignment in bytes.
    pub align: u32,
    /// Pointers inside `init`: (offset, index of the global, addend).
    pub relocations: Vec<(u32, usize, i64)>,
    /// Whether no initializer was given.
    pub uninitialised: bool,
    /// Whether it is the buffer that `printf` writes to ([`crate::printf`]): `init` covers what lies before the records.
    pub printf: bool,
}
