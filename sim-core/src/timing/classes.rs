//! What timing derives from the class of an operation.
use super::code::{Kind, Queue, Reach};
use crate::Cause;
use warpscope_exec::ops::{OpClass, fence};
use warpscope_exec::program::MachineOp;

/// The cause that waiting for a result of this class has.
pub(super) fn cause_of_class(class: OpClass) -> Cause {
    match class {
        OpClass::LoadGlobal | OpClass::AtomicGlobal | OpClass::ReduceGlobal | OpClass::LoadPrivate => {
            Cause::LongScoreboard
        }
        OpClass::Xu
        | OpClass::Convert
        | OpClass::ReadSpecial
        | OpClass::LoadConstant
        | OpClass::LoadLocal
        | OpClass::AtomicLocal
        | OpClass::Shuffle
        | OpClass::WarpReduce
        | OpClass::StoreGlobal
        | OpClass::StoreLocal
        | OpClass::StorePrivate => Cause::ShortScoreboard,
        OpClass::Fp32
        | OpClass::Fp16
        | OpClass::Fp64
        | OpClass::IMad
        | OpClass::IMadWide
        | OpClass::IMadHigh
        | OpClass::Alu
        | OpClass::Compare
        | OpClass::Move
        | OpClass::Uniform
        | OpClass::LoadUniform
        | OpClass::Vote
        | OpClass::Branch
        | OpClass::Converge
        | OpClass::Barrier
        | OpClass::Fence
        | OpClass::Exit => Cause::Wait,
    }
}

/// What issuing an operation of this class means.
pub(super) fn kind(class: OpClass) -> Kind {
    match class {
        OpClass::LoadGlobal
        | OpClass::StoreGlobal
        | OpClass::AtomicGlobal
        | OpClass::ReduceGlobal
        | OpClass::LoadLocal
        | OpClass::StoreLocal
        | OpClass::AtomicLocal
        | OpClass::LoadPrivate
        | OpClass::StorePrivate => Kind::Memory,
        OpClass::LoadConstant | OpClass::LoadUniform => Kind::Constant,
        OpClass::Branch => Kind::Branch,
        OpClass::Barrier => Kind::Barrier,
        OpClass::Fence => Kind::Fence,
        OpClass::Exit => Kind::Exit,
        OpClass::Fp32
        | OpClass::Fp16
        | OpClass::Fp64
        | OpClass::IMad
        | OpClass::IMadWide
        | OpClass::IMadHigh
        | OpClass::Converge
        | OpClass::Alu
        | OpClass::Compare
        | OpClass::Move
        | OpClass::Xu
        | OpClass::Convert
        | OpClass::Uniform
        | OpClass::ReadSpecial
        | OpClass::Shuffle
        | OpClass::WarpReduce
        | OpClass::Vote => Kind::Plain,
    }
}

/// The queue that it goes through.
pub(super) fn queue(class: OpClass) -> Queue {
    match class {
        OpClass::LoadGlobal
        | OpClass::StoreGlobal
        | OpClass::AtomicGlobal
        | OpClass::ReduceGlobal
        | OpClass::LoadPrivate
        | OpClass::StorePrivate => Queue::Lg,
        OpClass::LoadLocal | OpClass::StoreLocal | OpClass::AtomicLocal => Queue::Mio,
        _ => Queue::None,
    }
}

/// How far it reaches; a `ghost` only takes time.
pub(super) fn reach(class: OpClass, ghost: bool) -> Reach {
    match class {
        _ if ghost => Reach::Unit,
        OpClass::LoadGlobal
        | OpClass::StoreGlobal
        | OpClass::AtomicGlobal
        | OpClass::ReduceGlobal
        | OpClass::LoadConstant
        | OpClass::LoadUniform => Reach::Machine,
        OpClass::StorePrivate => Reach::Spill,
        _ => Reach::Unit,
    }
}

/// Whether a warp can do an operation before the others of its group have arrived at the barrier in front of it.
pub(super) fn passes_barriers(class: OpClass) -> bool {
    !matches!(kind(class), Kind::Memory | Kind::Barrier | Kind::Fence | Kind::Exit)
}

/// Whether it is a fence or barrier that orders global memory.
pub(super) fn orders_global(op: &MachineOp) -> bool {
    matches!(op.class, OpClass::Barrier | OpClass::Fence) && op.imm & i32::from(fence::GLOBAL) != 0
}
