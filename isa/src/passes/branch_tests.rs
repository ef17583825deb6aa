//! Passes on branches and on what branches carry change no result.
use super::{conditions, thread, widen};
use crate::ir::{Block, Cond, Function, IBin, Loc, Opcode, Target, Ty, Value, interpret, verify_function};

const LOC: Loc = Loc { file: 0, line: 0 };

fn add(f: &mut Function, b: Block, op: Opcode, args: &[Value], ty: Ty) -> Value {
    let i = f.append(b, op, args, &[ty], LOC);
    f.inst(i).results[0]
}

fn end(f: &mut Function, b: Block, op: Opcode, args: &[Value], targets: &[(Block, &[Value])]) {
    let i = f.append(b, op, args, &[], LOC);
    f.inst_mut(i).targets = targets.iter().map(|(block, a)| Target { block: *block, args: (*a).into() }).collect();
}

fn function(results: usize) -> Function {
    Function { name: "f".into(), results: vec![Ty::I32; results], ..Function::default() }
}

/// Runs a pass and compares the results for all pairs of arguments.
fn check(before: &Function, pass: fn(&mut Function) -> bool, arguments: &[[u64; 2]]) -> Function {
    verify_function(before).expect("built right");
    let mut after = before.clone();
    assert!(pass(&mut after));
    verify_function(&after).expect("left right");
    for args in arguments {
        assert_eq!(interpret::run(before, args).0, interpret::run(&after, args).0, "arguments {args:?}");
    }
    after
}

fn small_pairs() -> Vec<[u64; 2]> {
    (0..10).flat_map(|a| (0..10).map(move |b| [a, b])).collect()
}

fn reached(f: &Function, wanted: fn(&Opcode) -> bool) -> usize {
    let cfg = crate::ir::Cfg::new(f);
    cfg.rpo.iter().filter(|&&b| f.terminator(b).is_some_and(|t| wanted(&f.inst(t).op))).count()
}

/// `if (outer == (a < 5)) if (inner == (b < 7)) return 1; return 0`.
fn nested(outer: bool, inner: bool) -> Function {
    let mut f = function(1);
    let entry = f.add_block();
    let (a, b) = (f.add_param(entry, Ty::I32), f.add_param(entry, Ty::I32));
    let [second, yes, no] = [(); 3].map(|()| f.add_block());
    let five = add(&mut f, entry, Opcode::Const(5), &[], Ty::I32);
    let seven = add(&mut f, entry, Opcode::Const(7), &[], Ty::I32);
    let first = add(&mut f, entry, Opcode::ICmp(Cond::ULt), &[a, five], Ty::Bool);
    let order = |sense: bool, on: Block| if sense { [on, no] } else { [no, on] };
    let [x, y] = order(outer, second);
    end(&mut f, entry, Opcode::Branch, &[first], &[(x, &[]), (y, &[])]);
    let last = add(&mut f, second, Opcode::ICmp(Cond::ULt), &[b, seven], Ty::Bool);
    let [x, y] = order(inner, yes);
    end(&mut f, second, Opcode::Branch, &[last], &[(x, &[]), (y, &[])]);
    for (block, k) in [(yes, 1), (no, 0)] {
        let v = add(&mut f, block, Opcode::Const(k), &[], Ty::I32);
        end(&mut f, block, Opcode::Return, &[v], &[]);
    }
    f
}

#[test]
fn nested_conditions_become_one() {
    for (outer, inner) in [(true, true), (true, false), (false, true), (false, false)] {
        let after = check(&nested(outer, inner), conditions::run, &small_pairs());
        assert_eq!(reached(&after, |op| *op == Opcode::Branch), 1);
    }
}

/// `k = a < 5 ? 0 : 3; x = a < 5 ? a : b; return k == 0 ? x + 1 : x * 3`, with branches.
#[test]
fn known_decisions_are_not_taken_again() {
    let mut f = function(1);
    let entry = f.add_block();
    let (a, b) = (f.add_param(entry, Ty::I32), f.add_param(entry, Ty::I32));
    let [left, right, middle, plus, times] = [(); 5].map(|()| f.add_block());
    let [zero, one, three, five] = [0, 1, 3, 5].map(|k| add(&mut f, entry, Opcode::Const(k), &[], Ty::I32));
    let small = add(&mut f, entry, Opcode::ICmp(Cond::ULt), &[a, five], Ty::Bool);
    end(&mut f, entry, Opcode::Branch, &[small], &[(left, &[]), (right, &[])]);
    end(&mut f, left, Opcode::Jump, &[], &[(middle, &[zero, a])]);
    end(&mut f, right, Opcode::Jump, &[], &[(middle, &[three, b])]);
    let (k, x) = (f.add_param(middle, Ty::I32), f.add_param(middle, Ty::I32));
    let first = add(&mut f, middle, Opcode::ICmp(Cond::Eq), &[k, zero], Ty::Bool);
    end(&mut f, middle, Opcode::Branch, &[first], &[(plus, &[]), (times, &[])]);
    let sum = add(&mut f, plus, Opcode::IBin(IBin::Add), &[x, one], Ty::I32);
    end(&mut f, plus, Opcode::Return, &[sum], &[]);
    let product = add(&mut f, times, Opcode::IBin(IBin::Mul), &[x, three], Ty::I32);
    end(&mut f, times, Opcode::Return, &[product], &[]);
    let after = check(&f, thread::run, &small_pairs());
    assert_eq!(reached(&after, |op| *op == Opcode::Branch), 1);
}

/// `for (uint i = (uint)start; i < n; i = (uint)(i + step64)) s += i; return s`, `start` and `step64` of 64 bits.
#[test]
fn counters_cut_from_wide_sums_are_carried_wide() {
    let mut f = function(1);
    let entry = f.add_block();
    let (start, n) = (f.add_param(entry, Ty::I64), f.add_param(entry, Ty::I32));
    let [header, body, exit] = [(); 3].map(|()| f.add_block());
    let zero = add(&mut f, entry, Opcode::Const(0), &[], Ty::I32);
    let step = add(&mut f, entry, Opcode::Const((1 << 32) + 3), &[], Ty::I64);
    let first = add(&mut f, entry, Opcode::Trunc, &[start], Ty::I32);
    end(&mut f, entry, Opcode::Jump, &[], &[(header, &[first, zero])]);
    let (i, s) = (f.add_param(header, Ty::I32), f.add_param(header, Ty::I32));
    let test = add(&mut f, header, Opcode::ICmp(Cond::ULt), &[i, n], Ty::Bool);
    end(&mut f, header, Opcode::Branch, &[test], &[(body, &[]), (exit, &[])]);
    let sum = add(&mut f, body, Opcode::IBin(IBin::Add), &[s, i], Ty::I32);
    let wide = add(&mut f, body, Opcode::Zext, &[i], Ty::I64);
    let next = add(&mut f, body, Opcode::IBin(IBin::Add), &[wide, step], Ty::I64);
    let cut = add(&mut f, body, Opcode::Trunc, &[next], Ty::I32);
    end(&mut f, body, Opcode::Jump, &[], &[(header, &[cut, sum])]);
    end(&mut f, exit, Opcode::Return, &[s], &[]);
    let starts = [0, 1, 2, (7 << 32) + 1, u64::MAX - 3, u64::from(u32::MAX)];
    let arguments: Vec<[u64; 2]> = starts.iter().flat_map(|&a| [0, 1, 5, 30].map(|n| [a, n])).collect();
    let after = check(&f, widen::run, &arguments);
    assert_eq!(after.ty(after.block(header).params[0]), Ty::I64);
}
