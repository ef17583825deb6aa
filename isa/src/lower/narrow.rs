//! Computes the low words of 64-bit integers in 32 bits, where only they are asked for: `(int)get_global_id(0)` then
//! takes no 64-bit arithmetic.
use crate::ir::{Block, Def, Function, IBin, Inst, Opcode, Ty, Value};
use std::collections::HashMap;

/// Replaces every truncation from 64 to 32 bits whose source is low-word arithmetic.
pub(super) fn narrow(f: &mut Function) {
    let mut demanded = vec![false; f.values.len()];
    let mut work: Vec<Value> = f
        .insts
        .iter()
        .filter(|d| d.op == Opcode::Trunc && d.results.first().is_some_and(|&r| f.ty(r) == Ty::I32))
        .map(|d| d.args[0])
        .collect();
    while let Some(v) = work.pop() {
        if f.ty(v) == Ty::I64 && !std::mem::replace(&mut demanded[v.0 as usize], true) {
            work.extend(low_operands(f, v).into_iter().flatten());
        }
    }
    let whole = needed_whole(f);
    let mut low: HashMap<Value, Value> = HashMap::new();
    for b in 0..f.blocks.len() {
        let old = std::mem::take(&mut f.blocks[b].insts);
        for i in old {
            f.blocks[b].insts.push(i);
            let Some(&r) = f.inst(i).results.first() else { continue };
            if f.ty(r) == Ty::I64 && demanded[r.0 as usize] && !whole[r.0 as usize] && is_low_arithmetic(f, r) {
                let v = build(f, Block(b as u32), i, &mut low);
                low.insert(r, v);
            }
        }
    }
    for n in 0..f.insts.len() {
        let d = &f.insts[n];
        let truncates = d.op == Opcode::Trunc && d.results.first().is_some_and(|&r| f.ty(r) == Ty::I32);
        if let Some(&v) = d.args.first().and_then(|a| low.get(a)).filter(|_| truncates) {
            f.insts[n].op = Opcode::Bitcast;
            f.insts[n].args[0] = v;
        }
    }
}

/// The 64-bit values of which both words are asked for: their low words are there anyway.
fn needed_whole(f: &Function) -> Vec<bool> {
    let mut whole = vec![false; f.values.len()];
    let mut work: Vec<Value> = Vec::new();
    for &i in f.blocks.iter().flat_map(|b| &b.insts) {
        let d = f.inst(i);
        let passes_on = |&r: &Value| f.ty(r) == Ty::I64 && is_low_arithmetic(f, r);
        let cuts = d.op == Opcode::Trunc || d.results.first().is_some_and(passes_on);
        if !cuts {
            work.extend(d.args.iter().chain(d.targets.iter().flat_map(|t| &t.args)));
        }
    }
    while let Some(v) = work.pop() {
        if f.ty(v) == Ty::I64 && !std::mem::replace(&mut whole[v.0 as usize], true) && is_low_arithmetic(f, v) {
            work.extend(f.def_inst(v).map(|d| d.args.clone()).unwrap_or_default());
        }
    }
    whole
}

/// Operands whose low words make the low word of a 64-bit value; `None`: it is no such operation.
fn low_operands(f: &Function, v: Value) -> Option<Vec<Value>> {
    let d = f.def_inst(v)?;
    match d.op {
        Opcode::IBin(IBin::Add | IBin::Sub | IBin::Mul | IBin::And | IBin::Or | IBin::Xor) => Some(d.args.to_vec()),
        Opcode::IBin(IBin::Shl) if f.as_const(d.args[1]).is_some_and(|c| c < 64) => Some(vec![d.args[0]]),
        Opcode::Zext | Opcode::Sext if f.ty(d.args[0]) == Ty::I32 => Some(Vec::new()),
        Opcode::Select => Some(d.args[1..].to_vec()),
        Opcode::Const(_) => Some(Vec::new()),
        _ => None,
    }
}

fn is_low_arithmetic(f: &Function, v: Value) -> bool {
    low_operands(f, v).is_some()
}

/// The low word of the result of instruction `i`, computed behind it.
fn build(f: &mut Function, b: Block, i: Inst, low: &mut HashMap<Value, Value>) -> Value {
    let d = f.inst(i).clone();
    let word = |f: &mut Function, v: Value, low: &mut HashMap<Value, Value>| {
        if let Some(&l) = low.get(&v) {
            return l;
        }
        if let Some(bits) = f.as_const(v) {
            let c = f.append(b, Opcode::Const(bits & 0xffff_ffff), &[], &[Ty::I32], d.loc);
            return f.inst(c).results[0];
        }
        let t = f.append(b, Opcode::Trunc, &[v], &[Ty::I32], d.loc);
        f.inst(t).results[0]
    };
    let constant = |f: &mut Function, bits: u64| {
        let c = f.append(b, Opcode::Const(bits), &[], &[Ty::I32], d.loc);
        f.inst(c).results[0]
    };
    match d.op {
        Opcode::Const(bits) => constant(f, bits & 0xffff_ffff),
        Opcode::Zext | Opcode::Sext => d.args[0],
        Opcode::IBin(IBin::Shl) => {
            let count = f.as_const(d.args[1]).unwrap_or(0);
            if count >= 32 {
                return constant(f, 0);
            }
            let a = word(f, d.args[0], low);
            let c = constant(f, count);
            binary(f, b, Opcode::IBin(IBin::Shl), a, c, &d)
        }
        Opcode::IBin(op) => {
            let (x, y) = (word(f, d.args[0], low), word(f, d.args[1], low));
            // Words shifted in from above are 0 here: `low | high << 32`.
            let zero = |f: &Function, v: Value| f.as_const(v) == Some(0);
            match op {
                IBin::Add | IBin::Or | IBin::Xor if zero(f, y) => x,
                IBin::Add | IBin::Or | IBin::Xor if zero(f, x) => y,
                IBin::Sub if zero(f, y) => x,
                IBin::Mul | IBin::And if zero(f, x) || zero(f, y) => constant(f, 0),
                _ => binary(f, b, Opcode::IBin(op), x, y, &d),
            }
        }
        Opcode::Select => {
            let (x, y) = (word(f, d.args[1], low), word(f, d.args[2], low));
            let s = f.append(b, Opcode::Select, &[d.args[0], x, y], &[Ty::I32], d.loc);
            f.inst(s).results[0]
        }
        _ => unreachable!("only low-word arithmetic is built"),
    }
}

fn binary(f: &mut Function, b: Block, op: Opcode, x: Value, y: Value, d: &crate::ir::InstData) -> Value {
    let i = f.append(b, op, &[x, y], &[Ty::I32], d.loc);
    debug_assert!(matches!(f.def(f.inst(i).results[0]), Def::Result(..)));
    f.inst(i).results[0]
}
