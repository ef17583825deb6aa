//! One operation of one warp.
use super::lanes::find;
use super::semantics::{Outcome, Target, guarded, is_ghost};
use super::warp::uniform_mut;
use super::{AtomicReply, Code, Effect, Fault, Group, LaneMemory, Row, Scratch, Space, Warp, WarpAccess, private};
use crate::ops::TrapCode;
use crate::program::{AccessShape, AtomicOp, LOCAL_WINDOW, MachineOp, Operand, OperandKind, PRIVATE_WINDOW, Program};

/// Carries out the operation at `warp.pc` for its active lanes, under its guard, and moves on.
///
/// After a call the warp's `pc` may be anywhere: a path that ends at its meeting point hands over to the lanes that
/// wait, whatever the effect returned. After a fault the warp still stands at the operation.
#[inline]
pub fn step<const W: usize, M: LaneMemory<W>>(
    code: &Code<'_, W>,
    warp: &mut Warp<W>,
    group: &mut Group,
    memory: &mut M,
    scratch: &mut Scratch<W>,
) -> Result<Effect, Fault> {
    let pc = warp.pc;
    let Some(op) = code.program.ops.get(pc as usize) else {
        return Err(Fault::Trap { what: "the end of the program without an exit" });
    };
    let mask = guarded(op, warp);
    if mask == 0 || is_ghost(op) {
        warp.advance(pc + 1);
        return Ok(Effect::Next);
    }
    let outcome = code.execute.run(op, code, warp, group, scratch, mask);
    // Most operations: a branch that the host foretells well, unlike a jump through a table.
    if outcome == Outcome::Done {
        warp.advance(pc + 1);
        return Ok(Effect::Next);
    }
    let effect = match outcome {
        Outcome::Done => Effect::Next,
        Outcome::Announce(space, store) => {
            let shape = AccessShape::unpack(op.imm2);
            let addresses = &scratch.addresses;
            memory.announce(&WarpAccess { addresses, mask, shape, space, pc, flags: op.flags }, store, false);
            Effect::Access
        }
        Outcome::Load(target) => {
            load(Access { op, pc, mask, target }, code, warp, group, (memory, scratch))?;
            Effect::Access
        }
        Outcome::Store(target) => {
            store(Access { op, pc, mask, target }, code, warp, group, (memory, scratch))?;
            Effect::Access
        }
        Outcome::Atomic(target) => {
            atomic(Access { op, pc, mask, target }, code, warp, group, (memory, scratch))?;
            Effect::Access
        }
        Outcome::Branch => return warp.branch(mask, op.imm as u32, op.imm2),
        Outcome::BranchTable => return branch_table(op, code, warp, scratch, mask),
        Outcome::Exit => return Ok(warp.exit(mask)),
        Outcome::Barrier | Outcome::SubGroupBarrier if mask != warp.alive => return Err(Fault::DivergentBarrier),
        Outcome::Barrier => Effect::Barrier,
        Outcome::SubGroupBarrier | Outcome::Fence => Effect::Fence,
        Outcome::Trap => return Err(trap(op)),
    };
    warp.advance(pc + 1);
    Ok(effect)
}

#[cold]
fn trap(op: &MachineOp) -> Fault {
    const UNREACHABLE: i32 = TrapCode::Unreachable as i32;
    let what = match op.imm {
        UNREACHABLE => "a point that the program declares unreachable",
        _ => "an abort",
    };
    Fault::Trap { what }
}

fn branch_table<const W: usize>(
    op: &MachineOp,
    code: &Code<'_, W>,
    warp: &mut Warp<W>,
    scratch: &Scratch<W>,
    mask: u64,
) -> Result<Effect, Fault> {
    let Some(targets) = code.program.jump_tables.get(op.imm as usize).filter(|t| !t.is_empty()) else {
        return Err(Fault::Trap { what: "a jump table that is not there" });
    };
    let index = find([&warp.rows, &scratch.uniform, code.constants], op.src[0])[0].0;
    warp.branch_table(mask, op.imm2, |lane| targets[(index[lane] as usize).min(targets.len() - 1)])
}

/// A memory operation and the lanes that take part.
#[derive(Copy, Clone)]
struct Access<'a> {
    op: &'a MachineOp,
    pc: u32,
    mask: u64,
    target: Target,
}

impl Access<'_> {
    /// Calls `f` for each memory that the lanes address.
    #[inline(always)]
    fn each_space<const W: usize>(
        &self,
        addresses: &mut [u64; W],
        mut f: impl FnMut(WarpAccess<'_, W>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let shape = AccessShape::unpack(self.op.imm2);
        let (pc, flags) = (self.pc, self.op.flags);
        match self.target {
            Target::Known(space) => f(WarpAccess { addresses, mask: self.mask, shape, space, pc, flags }),
            Target::Generic => {
                for (space, mask) in split_windows(addresses, self.mask) {
                    if mask != 0 {
                        f(WarpAccess { addresses, mask, shape, space, pc, flags })?;
                    }
                }
                Ok(())
            }
        }
    }
}

/// Sorts generic addresses by the windows they lie in and makes offsets of those in local and private memory.
#[inline(never)]
fn split_windows<const W: usize>(addresses: &mut [u64; W], mask: u64) -> [(Space, u64); 3] {
    let (mut local, mut private) = (0, 0);
    for (i, a) in addresses.iter_mut().enumerate() {
        match *a >> 32 {
            window if window == LOCAL_WINDOW >> 32 => {
                local |= 1 << i;
                *a &= 0xffff_ffff;
            }
            window if window == PRIVATE_WINDOW >> 32 => {
                private |= 1 << i;
                *a &= 0xffff_ffff;
            }
            _ => {}
        }
    }
    [(Space::Global, mask & !local & !private), (Space::Local, mask & local), (Space::Private, mask & private)]
}

/// The row at which a destination begins; `None` where it has no rows.
#[inline(always)]
fn destination(o: Operand) -> Option<usize> {
    match o.kind() {
        OperandKind::Register(r) => Some(r as usize),
        OperandKind::Uniform(_) | OperandKind::Constant(_) | OperandKind::Predicate(..) | OperandKind::None => None,
    }
}

/// A uniform register takes the value of the first lane of `mask`.
fn put_uniform<const W: usize>(warp: &mut Warp<W>, program: &Program, dst: Operand, mask: u64, rows: &[Row<W>]) {
    if let OperandKind::Uniform(u) = dst.kind() {
        for (n, row) in rows.iter().enumerate() {
            *uniform_mut(&mut warp.rows, program.registers as usize, u as usize + n) =
                row.0[mask.trailing_zeros() as usize % W];
        }
    }
}

#[inline]
fn load<const W: usize, M: LaneMemory<W>>(
    a: Access<'_>,
    code: &Code<'_, W>,
    warp: &mut Warp<W>,
    group: &Group,
    (memory, scratch): (&mut M, &mut Scratch<W>),
) -> Result<(), Fault> {
    let count = AccessShape::unpack(a.op.imm2).registers() as usize;
    let Warp { rows, private, .. } = warp;
    let mut other;
    let out = match destination(a.op.dst) {
        Some(first) => &mut rows[first..first + count],
        None => {
            other = [Row([0; W]); 16];
            &mut other[..count]
        }
    };
    a.each_space(&mut scratch.addresses, |access| match access.space {
        Space::Global | Space::Constant => memory.load(&access, out),
        Space::Local => {
            memory.announce(&access, false, false);
            group.load(&access, out)
        }
        Space::Private => {
            memory.announce(&access, false, false);
            private::load(private, &access, out)
        }
    })?;
    if let OperandKind::Uniform(_) = a.op.dst.kind() {
        let mut loaded = [Row([0; W]); 16];
        loaded[..count].copy_from_slice(out);
        put_uniform(warp, code.program, a.op.dst, a.mask, &loaded[..count]);
    }
    Ok(())
}

#[inline]
fn store<const W: usize, M: LaneMemory<W>>(
    a: Access<'_>,
    code: &Code<'_, W>,
    warp: &mut Warp<W>,
    group: &mut Group,
    (memory, scratch): (&mut M, &mut Scratch<W>),
) -> Result<(), Fault> {
    let count = AccessShape::unpack(a.op.imm2).registers() as usize;
    if let OperandKind::Uniform(_) = a.op.src[1].kind() {
        scratch.spread(a.op.src[1], count, warp);
    }
    let Warp { rows, private, .. } = warp;
    let Scratch { addresses, uniform } = scratch;
    let data = &find([rows, uniform, code.constants], a.op.src[1])[..count];
    a.each_space(addresses, |access| match access.space {
        Space::Global | Space::Constant => memory.store(&access, data),
        Space::Local => {
            memory.announce(&access, true, false);
            group.store(&access, data)
        }
        Space::Private => {
            memory.announce(&access, true, false);
            private::store(private, &access, data)
        }
    })
}

#[inline(never)]
fn atomic<const W: usize, M: LaneMemory<W>>(
    a: Access<'_>,
    code: &Code<'_, W>,
    warp: &mut Warp<W>,
    group: &mut Group,
    (memory, scratch): (&mut M, &mut Scratch<W>),
) -> Result<(), Fault> {
    let shape = AccessShape::unpack(a.op.imm2);
    let op = AtomicOp::ALL[shape.atomic as usize % AtomicOp::ALL.len()];
    let count = shape.registers() as usize;
    let source = |n: usize| {
        let mut rows = [Row([0; W]); 2];
        if !a.op.src[n].is_none() {
            let from = find([&warp.rows, &scratch.uniform, code.constants], a.op.src[n]);
            rows[..count].copy_from_slice(&from[..count]);
        }
        rows
    };
    let (data, compare) = (source(1), source(2));
    let to = destination(a.op.dst);
    let is_uniform = matches!(a.op.dst.kind(), OperandKind::Uniform(_));
    let (mut other, mut reply) = ([Row([0; W]); 2], AtomicReply::Deferred);
    let Warp { rows, private, .. } = warp;
    a.each_space(&mut scratch.addresses, |access| {
        let out = match to {
            Some(first) => Some(&mut rows[first..first + count]),
            None => is_uniform.then_some(&mut other[..count]),
        };
        let (data, compare) = (&data[..count], &compare[..count]);
        reply = match access.space {
            Space::Global | Space::Constant => memory.atomic(&access, op, data, compare, out)?,
            Space::Local => {
                memory.announce(&access, true, true);
                group.atomic(&access, op, data, compare, out)?
            }
            Space::Private => {
                memory.announce(&access, true, true);
                private::atomic(private, &access, op, data, compare, out)?
            }
        };
        Ok(())
    })?;
    if is_uniform && reply == AtomicReply::Done {
        put_uniform(warp, code.program, a.op.dst, a.mask, &other[..count]);
    }
    Ok(())
}
