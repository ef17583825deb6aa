//! Before selection: rewrites IR that has no direct machine form into IR that has (copies, switches).
use crate::ir::{Access, Block, Cond, Function, IBin, Inst, Loc, Opcode, Target, Ty, Value};
use smallvec::smallvec;

/// Copies up to this many bytes become straight-line loads and stores.
const STRAIGHT_COPY: u32 = 256;
/// Bytes that one iteration of a copy loop moves.
const LOOP_COPY: u32 = 64;
/// A jump table has at most this many entries for each case, plus [`TABLE_SLACK`].
const TABLE_DENSITY: u64 = 2;
const TABLE_SLACK: u64 = 4;
/// Fewer cases become compares.
const TABLE_CASES: usize = 4;

/// Rewrites every copy and every switch that is not a dense one from 0.
pub(super) fn expand(f: &mut Function) {
    // Blocks that expansion adds are visited as well, because `f.blocks` grows.
    let mut b = 0;
    while b < f.blocks.len() {
        let block = Block(b as u32);
        let copy = f.block(block).insts.iter().position(|&i| matches!(f.inst(i).op, Opcode::Copy { .. }));
        match copy {
            Some(at) => expand_copy(f, block, at),
            None => {
                if let Some(t) = f.terminator(block)
                    && let Opcode::Switch(cases) = f.inst(t).op.clone()
                {
                    expand_switch(f, block, t, &cases);
                }
                b += 1;
            }
        }
    }
}

fn constant(f: &mut Function, block: Block, ty: Ty, bits: u64, loc: Loc) -> Value {
    let i = f.append(block, Opcode::Const(bits), &[], &[ty], loc);
    f.inst(i).results[0]
}

fn binary(f: &mut Function, block: Block, op: Opcode, a: Value, b: Value, ty: Ty, loc: Loc) -> Value {
    let i = f.append(block, op, &[a, b], &[ty], loc);
    f.inst(i).results[0]
}

fn jump(f: &mut Function, block: Block, to: Block, args: &[Value], loc: Loc) {
    let i = f.append(block, Opcode::Jump, &[], &[], loc);
    f.inst_mut(i).targets = smallvec![Target { block: to, args: args.into() }];
}

/// Type of a byte offset for a pointer.
fn offset_type(pointer: Ty) -> Ty {
    if pointer.bits() == 32 { Ty::I32 } else { Ty::I64 }
}

fn offset_pointer(f: &mut Function, block: Block, pointer: Value, offset: u32, loc: Loc) -> Value {
    if offset == 0 {
        return pointer;
    }
    let ty = f.ty(pointer);
    let c = constant(f, block, offset_type(ty), offset as u64, loc);
    binary(f, block, Opcode::PtrAdd { inbounds: true }, pointer, c, ty, loc)
}

/// Appends loads and stores that copy `bytes` from `from` to `to`.
fn straight_copy(f: &mut Function, block: Block, to: Value, from: Value, bytes: u32, align: u32, loc: Loc) {
    let mut done = 0;
    while done < bytes {
        let here = if done == 0 { align } else { align.min(1 << done.trailing_zeros()) };
        let mut chunk = here.clamp(1, 16);
        while chunk > bytes - done {
            chunk /= 2;
        }
        let (ty, size) = match chunk {
            1 => (Ty::I8, 1),
            2 => (Ty::I16, 2),
            _ => (Ty::I32, 4),
        };
        let access = Access { count: (chunk / size) as u8, align: here, volatile: false };
        let source = offset_pointer(f, block, from, done, loc);
        let load = f.append(block, Opcode::Load(access), &[source], &vec![ty; access.count as usize], loc);
        let mut args = vec![offset_pointer(f, block, to, done, loc)];
        args.extend(f.inst(load).results.iter().copied());
        f.append(block, Opcode::Store(access), &args, &[], loc);
        done += chunk;
    }
}

fn expand_copy(f: &mut Function, block: Block, at: usize) {
    let insts = &mut f.blocks[block.0 as usize].insts;
    let rest = insts.split_off(at + 1);
    let copy = insts.pop().expect("the copy is at this place");
    let data = f.inst(copy).clone();
    let Opcode::Copy { bytes, align } = data.op else { return };
    let (to, from, loc) = (data.args[0], data.args[1], data.loc);
    let align = align.max(1);
    if bytes <= STRAIGHT_COPY {
        straight_copy(f, block, to, from, bytes, align, loc);
        f.blocks[block.0 as usize].insts.extend(rest);
        return;
    }
    let whole = bytes / LOOP_COPY * LOOP_COPY;
    let (body, after) = (f.add_block(), f.add_block());
    let zero = constant(f, block, Ty::I32, 0, loc);
    jump(f, block, body, &[zero], loc);
    let offset = f.add_param(body, Ty::I32);
    let pointers = [to, from].map(|p| {
        let ty = f.ty(p);
        let mut o = offset;
        if offset_type(ty) == Ty::I64 {
            let i = f.append(body, Opcode::Zext, &[offset], &[Ty::I64], loc);
            o = f.inst(i).results[0];
        }
        binary(f, body, Opcode::PtrAdd { inbounds: true }, p, o, ty, loc)
    });
    straight_copy(f, body, pointers[0], pointers[1], LOOP_COPY, align.min(LOOP_COPY), loc);
    let step = constant(f, body, Ty::I32, LOOP_COPY as u64, loc);
    let next = binary(f, body, Opcode::IBin(IBin::Add), offset, step, Ty::I32, loc);
    let end = constant(f, body, Ty::I32, whole as u64, loc);
    let more = binary(f, body, Opcode::ICmp(Cond::ULt), next, end, Ty::Bool, loc);
    let branch = f.append(body, Opcode::Branch, &[more], &[], loc);
    f.inst_mut(branch).targets =
        smallvec![Target { block: body, args: smallvec![next] }, Target { block: after, args: smallvec![] }];
    if bytes > whole {
        let pointers = [to, from].map(|p| offset_pointer(f, after, p, whole, loc));
        straight_copy(f, after, pointers[0], pointers[1], bytes - whole, align.min(LOOP_COPY), loc);
    }
    f.blocks[after.0 as usize].insts.extend(rest);
}

/// Whether a switch's cases are 0, 1, 2 … on a 32-bit value: a jump table as it stands.
pub(super) fn is_table(f: &Function, switch: Inst, cases: &[u64]) -> bool {
    f.ty(f.inst(switch).args[0]) == Ty::I32
        && cases.len() >= TABLE_CASES
        && cases.iter().enumerate().all(|(i, &c)| c == i as u64)
}

fn expand_switch(f: &mut Function, block: Block, switch: Inst, cases: &[u64]) {
    if is_table(f, switch, cases) {
        return;
    }
    let data = f.inst(switch).clone();
    f.blocks[block.0 as usize].insts.pop();
    let value = data.args[0];
    let default = data.targets[0].clone();
    let mask = if f.ty(value).bits() == 64 { u64::MAX } else { (1 << f.ty(value).bits()) - 1 };
    let mut arms: Vec<(u64, Target)> =
        cases.iter().map(|c| c & mask).zip(data.targets.iter().skip(1).cloned()).collect();
    arms.sort_by_key(|a| a.0);
    // The first of equal cases wins (a valid module has none).
    arms.dedup_by_key(|a| a.0);
    let span = match (arms.first(), arms.last()) {
        (Some(first), Some(last)) => last.0 - first.0,
        _ => {
            let i = f.append(block, Opcode::Jump, &[], &[], data.loc);
            f.inst_mut(i).targets = smallvec![default];
            return;
        }
    };
    if arms.len() >= TABLE_CASES && span < arms.len() as u64 * TABLE_DENSITY + TABLE_SLACK {
        jump_table(f, block, value, &arms, default, data.loc);
    } else {
        compare_tree(f, block, value, &arms, &default, data.loc);
    }
}

fn jump_table(f: &mut Function, block: Block, value: Value, arms: &[(u64, Target)], default: Target, loc: Loc) {
    let ty = f.ty(value);
    let first = arms[0].0;
    let span = arms[arms.len() - 1].0 - first;
    let mut index = value;
    if first != 0 {
        let c = constant(f, block, ty, first, loc);
        index = binary(f, block, Opcode::IBin(IBin::Sub), value, c, ty, loc);
    }
    let mut place = block;
    if ty == Ty::I64 {
        let c = constant(f, block, ty, span, loc);
        let inside = binary(f, block, Opcode::ICmp(Cond::ULe), index, c, Ty::Bool, loc);
        place = f.add_block();
        let branch = f.append(block, Opcode::Branch, &[inside], &[], loc);
        f.inst_mut(branch).targets = smallvec![Target { block: place, args: smallvec![] }, default.clone()];
        let i = f.append(place, Opcode::Trunc, &[index], &[Ty::I32], loc);
        index = f.inst(i).results[0];
    } else if ty != Ty::I32 {
        let i = f.append(block, Opcode::Zext, &[index], &[Ty::I32], loc);
        index = f.inst(i).results[0];
    }
    let mut targets = smallvec![default.clone()];
    let mut next = 0;
    for n in 0..=span {
        if arms[next].0 - first == n {
            targets.push(arms[next].1.clone());
            next += 1;
        } else {
            targets.push(default.clone());
        }
    }
    let switch = f.append(place, Opcode::Switch((0..=span).collect()), &[index], &[], loc);
    f.inst_mut(switch).targets = targets;
}

fn compare_tree(f: &mut Function, block: Block, value: Value, arms: &[(u64, Target)], default: &Target, loc: Loc) {
    let ty = f.ty(value);
    let branch = |f: &mut Function, cond: Cond, with: u64, yes: Target, no: Target| {
        let c = constant(f, block, ty, with, loc);
        let p = binary(f, block, Opcode::ICmp(cond), value, c, Ty::Bool, loc);
        let i = f.append(block, Opcode::Branch, &[p], &[], loc);
        f.inst_mut(i).targets = smallvec![yes, no];
    };
    match arms {
        [] => {
            let i = f.append(block, Opcode::Jump, &[], &[], loc);
            f.inst_mut(i).targets = smallvec![default.clone()];
        }
        [(case, target)] => branch(f, Cond::Eq, *case, target.clone(), default.clone()),
        [(case, target), rest @ ..] if arms.len() <= TABLE_CASES => {
            let next = f.add_block();
            branch(f, Cond::Eq, *case, target.clone(), Target { block: next, args: smallvec![] });
            compare_tree(f, next, value, rest, default, loc);
        }
        _ => {
            let (low, high) = arms.split_at(arms.len() / 2);
            let (l, h) = (f.add_block(), f.add_block());
            let to = |block| Target { block, args: smallvec![] };
            branch(f, Cond::ULt, high[0].0, to(l), to(h));
            compare_tree(f, l, value, low, default, loc);
            compare_tree(f, h, value, high, default, loc);
        }
    }
}
