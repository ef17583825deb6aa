//! Functions: arenas of blocks, instructions and values.
use super::{Loc, Opcode, Ty};
use smallvec::SmallVec;

/// Index of a value.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Value(pub u32);
/// Index of an instruction.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Inst(pub u32);
/// Index of a block.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Block(pub u32);

/// Where a value comes from.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Def {
    /// Result number of an instruction.
    Result(Inst, u16),
    /// Parameter number of a block (the entry block's parameters are the function's).
    Param(Block, u16),
}

/// A value.
#[derive(Clone, Debug)]
pub struct ValueData {
    /// Type.
    pub ty: Ty,
    /// Definition.
    pub def: Def,
}

/// A branch target with the values of the target's parameters.
#[derive(Clone, PartialEq, Debug)]
pub struct Target {
    /// Block.
    pub block: Block,
    /// One value for each parameter.
    pub args: SmallVec<[Value; 4]>,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct InstData {
    /// What it does.
    pub op: Opcode,
    /// Operands.
    pub args: SmallVec<[Value; 4]>,
    /// Results.
    pub results: SmallVec<[Value; 2]>,
    /// Targets, for terminators.
    pub targets: SmallVec<[Target; 2]>,
    /// Source position.
    pub loc: Loc,
    /// Promises about the arithmetic: see [`flag`].
    pub flags: u8,
    /// Of loads and stores: which `restrict` pointer they go through.
    pub origin: Origin,
}

/// What an access's pointer comes from, as far as `restrict` tells accesses apart (C99 6.7.3.1: what a restricted
/// pointer changes is accessed through it alone).
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Origin(u8);

impl Origin {
    /// It may come from anything.
    pub const UNKNOWN: Origin = Origin(0);
    /// Some variable or parameter without `restrict`.
    pub const OTHER: Origin = Origin(u8::MAX);

    /// The restricted parameter of that number; beyond 253 of them nothing is known.
    pub fn restricted(n: usize) -> Origin {
        u8::try_from(n + 1).map_or(Origin::UNKNOWN, |n| if n == u8::MAX { Origin::UNKNOWN } else { Origin(n) })
    }

    /// Whether accesses touch different memory, if one of them writes.
    pub fn apart(self, other: Origin) -> bool {
        self != other && self != Origin::UNKNOWN && other != Origin::UNKNOWN
    }
}

/// Bits of [`InstData::flags`].
pub mod flag {
    /// The signed result does not overflow (NoSignedWrap).
    pub const NSW: u8 = 1;
    /// The unsigned result does not overflow (NoUnsignedWrap).
    pub const NUW: u8 = 2;
    /// A multiply and an add may be contracted (AllowContractFastINTEL, Fast).
    pub const CONTRACT: u8 = 4;
    /// A division may become a multiplication by the reciprocal (AllowRecip, Fast).
    pub const RECIPROCAL: u8 = 8;
}

/// Loop hints of SPIR-V (OpLoopMerge), kept on the header block.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum UnrollHint {
    /// None.
    #[default]
    None,
    /// Unroll (`opencl_unroll_hint`).
    Unroll,
    /// Unroll by this factor.
    Factor(u32),
    /// Do not unroll.
    Never,
}

/// A block: parameters, instructions, the last one a terminator.
#[derive(Clone, Debug, Default)]
pub struct BlockData {
    /// Parameters.
    pub params: Vec<Value>,
    /// Instructions in order.
    pub insts: Vec<Inst>,
    /// Unroll hint, where the block is a loop header.
    pub unroll: UnrollHint,
}

/// A function.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// Name, or empty.
    pub name: String,
    /// Result types (leaves).
    pub results: Vec<Ty>,
    /// Blocks; number 0 is the entry. Blocks without predecessors may stay until clean-up.
    pub blocks: Vec<BlockData>,
    /// Instructions.
    pub insts: Vec<InstData>,
    /// Values.
    pub values: Vec<ValueData>,
}

impl Function {
    /// The entry block.
    pub const ENTRY: Block = Block(0);

    /// Adds an empty block.
    pub fn add_block(&mut self) -> Block {
        self.blocks.push(BlockData::default());
        Block(self.blocks.len() as u32 - 1)
    }
    /// Adds a parameter to a block.
    pub fn add_param(&mut self, block: Block, ty: Ty) -> Value {
        let n = self.block(block).params.len() as u16;
        let v = self.add_value(ty, Def::Param(block, n));
        self.blocks[block.0 as usize].params.push(v);
        v
    }
    /// Makes an instruction without placing it in a block.
    pub fn make_inst(&mut self, op: Opcode, args: &[Value], results: &[Ty], loc: Loc) -> Inst {
        let inst = Inst(self.insts.len() as u32);
        self.insts.push(InstData {
            op,
            args: args.into(),
            results: SmallVec::new(),
            targets: SmallVec::new(),
            loc,
            flags: 0,
            origin: Origin::UNKNOWN,
        });
        for (i, &ty) in results.iter().enumerate() {
            let v = self.add_value(ty, Def::Result(inst, i as u16));
            self.insts[inst.0 as usize].results.push(v);
        }
        inst
    }
    /// Appends an instruction to a block.
    pub fn append(&mut self, block: Block, op: Opcode, args: &[Value], results: &[Ty], loc: Loc) -> Inst {
        let inst = self.make_inst(op, args, results, loc);
        self.blocks[block.0 as usize].insts.push(inst);
        inst
    }
    /// Adds a value.
    pub fn add_value(&mut self, ty: Ty, def: Def) -> Value {
        self.values.push(ValueData { ty, def });
        Value(self.values.len() as u32 - 1)
    }
    /// A block's data.
    pub fn block(&self, b: Block) -> &BlockData {
        &self.blocks[b.0 as usize]
    }
    /// An instruction's data.
    pub fn inst(&self, i: Inst) -> &InstData {
        &self.insts[i.0 as usize]
    }
    /// An instruction's data, to change.
    pub fn inst_mut(&mut self, i: Inst) -> &mut InstData {
        &mut self.insts[i.0 as usize]
    }
    /// A value's type.
    pub fn ty(&self, v: Value) -> Ty {
        self.values[v.0 as usize].ty
    }
    /// A value's definition.
    pub fn def(&self, v: Value) -> Def {
        self.values[v.0 as usize].def
    }
    /// The instruction that defines a value, if it is not a parameter.
    pub fn def_inst(&self, v: Value) -> Option<&InstData> {
        match self.def(v) {
            Def::Result(i, _) => Some(self.inst(i)),
            Def::Param(..) => None,
        }
    }
    /// The bits of a constant.
    pub fn as_const(&self, v: Value) -> Option<u64> {
        match self.def_inst(v)?.op {
            Opcode::Const(bits) => Some(bits),
            _ => None,
        }
    }
    /// A block's terminator.
    pub fn terminator(&self, b: Block) -> Option<Inst> {
        self.block(b).insts.last().copied().filter(|&i| self.inst(i).op.is_terminator())
    }
    /// Blocks that control can go to from `b`.
    pub fn successors(&self, b: Block) -> impl Iterator<Item = Block> + '_ {
        self.terminator(b).into_iter().flat_map(|i| self.inst(i).targets.iter().map(|t| t.block))
    }
    /// All blocks.
    pub fn block_ids(&self) -> impl Iterator<Item = Block> + use<> {
        (0..self.blocks.len() as u32).map(Block)
    }
}
