//! What keeps memory accesses and barriers in order when operations are scheduled.
use super::mir::{MInst, Opd, VReg};
use crate::ir::Origin;
use std::collections::HashMap;
use warpscope_exec::ops::Op;
use warpscope_exec::program::{AccessShape, flags};

/// What orders an operation beyond its registers.
#[derive(Copy, Clone, PartialEq)]
pub(super) enum Effect {
    None,
    /// Memory access: space, whether it writes, base with its version, bytes from and to.
    Access {
        space: Space,
        write: bool,
        origin: Origin,
        base: (Opd, u32),
        from: i64,
        to: i64,
    },
    /// Nothing crosses it that touches memory.
    Fence,
}

#[derive(Copy, Clone, PartialEq)]
pub(super) enum Space {
    Global,
    Local,
    Private,
    /// Any of these.
    Generic,
}

pub(super) fn effect(i: &MInst, version: &HashMap<VReg, u32>) -> Effect {
    use Op::*;
    if i.is_ghost() {
        return Effect::None;
    }
    let (space, write) = match i.op {
        LdGlobal => (Space::Global, false),
        StGlobal => (Space::Global, true),
        LdLocal => (Space::Local, false),
        StLocal => (Space::Local, true),
        LdPrivate => (Space::Private, false),
        StPrivate => (Space::Private, true),
        LdGeneric => (Space::Generic, false),
        StGeneric => (Space::Generic, true),
        AtomGlobal | AtomLocal | AtomGeneric | Bar | BarSub | MemBar => return Effect::Fence,
        // Cross-lane operations and traps keep their places among each other and the barriers.
        VoteAny | VoteAll | Ballot | ShflIdx | ShflXor | ShflUp | ShflDown | Trap | Exit => return Effect::Fence,
        _ => return Effect::None,
    };
    if i.flags & flags::VOLATILE != 0 {
        return Effect::Fence;
    }
    let base = i.src[0];
    let version = base.vreg().and_then(|v| version.get(&v)).copied().unwrap_or(0);
    let bytes = AccessShape::unpack(i.imm2).bytes() as i64;
    Effect::Access {
        space,
        write,
        origin: i.origin,
        base: (base, version),
        from: i.imm as i64,
        to: i.imm as i64 + bytes,
    }
}

/// Whether two memory effects must keep their order.
pub(super) fn ordered(a: &Effect, b: &Effect) -> bool {
    match (a, b) {
        (Effect::None, _) | (_, Effect::None) => false,
        (Effect::Fence, _) | (_, Effect::Fence) => true,
        (
            Effect::Access { space: s, write: w, origin: o, base: p, from: f, to: t },
            Effect::Access { space: s2, write: w2, origin: o2, base: p2, from: f2, to: t2 },
        ) => {
            let apart = s != s2 && *s != Space::Generic && *s2 != Space::Generic || o.apart(*o2);
            let disjoint = p == p2 && (t <= f2 || t2 <= f);
            (*w || *w2) && !apart && !disjoint
        }
    }
}
