//! Loop passes change no result: loops of many shapes, run before and after over many arguments.
use super::{licm, loops, rotate, uniformity, unroll};
use crate::ir::{Block, Cond, Function, IBin, Inst, Loc, Opcode, Target, Ty, Value, flag, interpret, verify_function};
use warpscope_exec::program::{LaunchConstant, Special};

const LOC: Loc = Loc { file: 0, line: 0 };

fn add(f: &mut Function, b: Block, op: Opcode, args: &[Value], ty: Ty) -> Value {
    let i = f.append(b, op, args, &[ty], LOC);
    f.inst(i).results[0]
}

fn end(f: &mut Function, b: Block, op: Opcode, args: &[Value], targets: &[(Block, &[Value])]) -> Inst {
    let i = f.append(b, op, args, &[], LOC);
    f.inst_mut(i).targets = targets.iter().map(|(block, a)| Target { block: *block, args: (*a).into() }).collect();
    i
}

/// Marks the last addition as one that does not wrap around: loops of longer steps are unrolled only then.
fn promise_no_wrap(f: &mut Function, b: Block) {
    let last = f.block(b).insts[f.block(b).insts.len() - 1];
    f.inst_mut(last).flags = flag::NSW | flag::NUW;
}

/// `for (i = start; i cond n; i += step) { if (brk && s == k) break; s = s * 3 + i; } return (s, i)`, i and n of `ty`.
fn counted_loop(ty: Ty, cond: Cond, step: i64, with_break: bool, start: Option<u64>) -> Function {
    let mut f = Function { name: "loop".into(), results: vec![ty, ty], ..Function::default() };
    let entry = f.add_block();
    let (start_param, n, k) = (f.add_param(entry, ty), f.add_param(entry, ty), f.add_param(entry, ty));
    let (header, body, next, exit) = (f.add_block(), f.add_block(), f.add_block(), f.add_block());
    let zero = add(&mut f, entry, Opcode::Const(start.unwrap_or(0)), &[], ty);
    let first = if start.is_some() { zero } else { start_param };
    end(&mut f, entry, Opcode::Jump, &[], &[(header, &[first, zero])]);
    let (i, s) = (f.add_param(header, ty), f.add_param(header, ty));
    let test = add(&mut f, header, Opcode::ICmp(cond), &[i, n], Ty::Bool);
    end(&mut f, header, Opcode::Branch, &[test], &[(body, &[]), (exit, &[s])]);
    let stop = add(&mut f, body, Opcode::ICmp(if with_break { Cond::Eq } else { Cond::Ne }), &[s, k], Ty::Bool);
    if with_break {
        end(&mut f, body, Opcode::Branch, &[stop], &[(exit, &[k]), (next, &[])]);
    } else {
        end(&mut f, body, Opcode::Jump, &[], &[(next, &[])]);
    }
    let three = add(&mut f, next, Opcode::Const(3), &[], ty);
    let t = add(&mut f, next, Opcode::IBin(IBin::Mul), &[s, three], ty);
    let s2 = add(&mut f, next, Opcode::IBin(IBin::Add), &[t, i], ty);
    let c = add(&mut f, next, Opcode::Const(crate::ir::eval::mask(step as u64, ty.bits())), &[], ty);
    let i2 = add(&mut f, next, Opcode::IBin(IBin::Add), &[i, c], ty);
    promise_no_wrap(&mut f, next);
    end(&mut f, next, Opcode::Jump, &[], &[(header, &[i2, s2])]);
    let out = f.add_param(exit, ty);
    // i is used outside directly: the passes have to close the loop.
    end(&mut f, exit, Opcode::Return, &[out, i], &[]);
    verify_function(&f).expect("built right");
    f
}

fn same(before: &Function, after: &Function, args: &[u64]) {
    assert_eq!(interpret::run(before, args).0, interpret::run(after, args).0, "arguments {args:?}");
}

fn limits(factors: &[u32]) -> unroll::UnrollLimits {
    unroll::UnrollLimits { factors: factors.to_vec(), chain_size: 100, several_exits: true, ..Default::default() }
}

/// Start, bound and break values near every edge that matters, in 8 bits so that loops wrap soon.
fn edge_arguments(step: i64) -> Vec<[u64; 3]> {
    let mut out = Vec::new();
    for start in [0u64, 1, 5, 100, 126, 127, 128, 129, 200, 250, 255] {
        for n in [0u64, 1, 2, 3, 4, 5, 7, 16, 63, 64, 65, 127, 128, 200, 254, 255] {
            out.push([start, n, 40]);
        }
    }
    let _ = step;
    out
}

fn terminates(cond: Cond, step: i64, args: &[u64; 3]) -> bool {
    let (mut i, n) = (args[0], args[1]);
    for _ in 0..2000 {
        if !crate::ir::eval::icmp(cond, 8, i, n) {
            return true;
        }
        i = (i as i64 + step) as u64 & 0xff;
    }
    false
}

#[test]
fn unrolling_keeps_results_at_every_edge() {
    for (cond, step) in [
        (Cond::SLt, 1),
        (Cond::SLt, 3),
        (Cond::SLe, 1),
        (Cond::SLe, 5),
        (Cond::ULt, 1),
        (Cond::ULt, 4),
        (Cond::ULe, 2),
        (Cond::SGt, -1),
        (Cond::SGe, -3),
        (Cond::UGt, -1),
        (Cond::UGe, -2),
        (Cond::Ne, 1),
        (Cond::Ne, -1),
    ] {
        for with_break in [false, true] {
            for start in [None, Some(0), Some(3)] {
                let before = counted_loop(Ty::I8, cond, step, with_break, start);
                for factors in [&[4][..], &[16, 4], &[2]] {
                    let mut after = before.clone();
                    assert!(unroll::run(&mut after, &limits(factors), unroll::Phase::Part), "{cond:?} {step}");
                    verify_function(&after).expect("valid after unrolling");
                    let mut rotated = after.clone();
                    assert!(rotate::run(&mut rotated));
                    verify_function(&rotated).expect("valid after rotation");
                    for args in edge_arguments(step) {
                        let args = [start.unwrap_or(args[0]), args[1], args[2]];
                        if terminates(cond, step, &args) {
                            same(&before, &after, &args);
                            same(&before, &rotated, &args);
                        }
                    }
                }
            }
        }
    }
}

/// `for (i = start; i cond n; i += step) s = s * 3 + i; return (s, i)`, all three parameters.
fn strided_loop(ty: Ty, cond: Cond) -> Function {
    let mut f = Function { name: "strided".into(), results: vec![ty, ty], ..Function::default() };
    let entry = f.add_block();
    let (start, n, step) = (f.add_param(entry, ty), f.add_param(entry, ty), f.add_param(entry, ty));
    let (header, body, exit) = (f.add_block(), f.add_block(), f.add_block());
    let zero = add(&mut f, entry, Opcode::Const(0), &[], ty);
    end(&mut f, entry, Opcode::Jump, &[], &[(header, &[start, zero])]);
    let (i, s) = (f.add_param(header, ty), f.add_param(header, ty));
    let test = add(&mut f, header, Opcode::ICmp(cond), &[i, n], Ty::Bool);
    end(&mut f, header, Opcode::Branch, &[test], &[(body, &[]), (exit, &[])]);
    let three = add(&mut f, body, Opcode::Const(3), &[], ty);
    let t = add(&mut f, body, Opcode::IBin(IBin::Mul), &[s, three], ty);
    let s2 = add(&mut f, body, Opcode::IBin(IBin::Add), &[t, i], ty);
    let i2 = add(&mut f, body, Opcode::IBin(IBin::Add), &[i, step], ty);
    promise_no_wrap(&mut f, body);
    end(&mut f, body, Opcode::Jump, &[], &[(header, &[i2, s2])]);
    end(&mut f, exit, Opcode::Return, &[s, i], &[]);
    verify_function(&f).expect("built right");
    f
}

#[test]
fn unknown_steps_are_unrolled_only_where_that_is_exact() {
    // Inclusive ends keep their loops, as with the vendor's compiler.
    for cond in [Cond::SLe, Cond::ULe] {
        let mut f = strided_loop(Ty::I16, cond);
        assert!(!unroll::run(&mut f, &limits(&[4]), unroll::Phase::Part), "{cond:?}");
    }
    for cond in [Cond::SLt, Cond::ULt] {
        let before = strided_loop(Ty::I16, cond);
        let mut after = before.clone();
        assert!(unroll::run(&mut after, &limits(&[4]), unroll::Phase::Part), "{cond:?}");
        verify_function(&after).expect("valid after unrolling");
        for start in [0u64, 1, 7, 0x7ff0, 0x7fff, 0x8000, 0xff00, 0xffff] {
            for n in [0u64, 1, 9, 100, 0x7fff, 0x8000, 0xff80, 0xffff] {
                for step in [1u64, 2, 3, 50, 0x1fff, 0x2000, 0x7fff, 0x8000, 0xffff, 0xfff0] {
                    let mut i = start;
                    let ends = (0..5000).any(|_| {
                        let done = !crate::ir::eval::icmp(cond, 16, i, n);
                        i = (i + step) & 0xffff;
                        done
                    });
                    if ends {
                        same(&before, &after, &[start, n, step]);
                    }
                }
            }
        }
    }
}

/// `i = start; do { s = s * 3 + i; t = s ^ i; i += step; } while (i cond n); return (s, i, t)`.
fn bottom_tested_loop(ty: Ty, cond: Cond, step: i64, start: Option<u64>, bound: Option<u64>) -> Function {
    let mut f = Function { name: "do".into(), results: vec![ty, ty, ty], ..Function::default() };
    let entry = f.add_block();
    let params = [f.add_param(entry, ty), f.add_param(entry, ty)];
    let (body, exit) = (f.add_block(), f.add_block());
    let known = [start, bound].map(|k| add(&mut f, entry, Opcode::Const(k.unwrap_or(0)), &[], ty));
    let zero = add(&mut f, entry, Opcode::Const(0), &[], ty);
    let first = if start.is_some() { known[0] } else { params[0] };
    let n = if bound.is_some() { known[1] } else { params[1] };
    end(&mut f, entry, Opcode::Jump, &[], &[(body, &[first, zero])]);
    let (i, s) = (f.add_param(body, ty), f.add_param(body, ty));
    let three = add(&mut f, body, Opcode::Const(3), &[], ty);
    let t = add(&mut f, body, Opcode::IBin(IBin::Mul), &[s, three], ty);
    let s2 = add(&mut f, body, Opcode::IBin(IBin::Add), &[t, i], ty);
    let other = add(&mut f, body, Opcode::IBin(IBin::Xor), &[s2, i], ty);
    let c = add(&mut f, body, Opcode::Const(crate::ir::eval::mask(step as u64, ty.bits())), &[], ty);
    let i2 = add(&mut f, body, Opcode::IBin(IBin::Add), &[i, c], ty);
    promise_no_wrap(&mut f, body);
    let test = add(&mut f, body, Opcode::ICmp(cond), &[i2, n], Ty::Bool);
    end(&mut f, body, Opcode::Branch, &[test], &[(body, &[i2, s2]), (exit, &[])]);
    end(&mut f, exit, Opcode::Return, &[s2, i2, other], &[]);
    verify_function(&f).expect("built right");
    f
}

/// Unrolls in part, rotates and folds.
fn turned(before: &Function, limits: &unroll::UnrollLimits) -> Function {
    let mut f = before.clone();
    assert!(unroll::run(&mut f, limits, unroll::Phase::Part), "{before:?}");
    verify_function(&f).expect("valid after unrolling");
    rotate::run(&mut f);
    super::fold::run(&mut f, &[]);
    super::simplify_cfg::run(&mut f);
    verify_function(&f).expect("valid after rotation");
    f
}

#[test]
fn loops_tested_at_their_end_run_once_and_are_unrolled() {
    for (cond, step) in [
        (Cond::SLt, 1),
        (Cond::SLt, 3),
        (Cond::SLe, 2),
        (Cond::SGt, -1),
        (Cond::SGe, -3),
        (Cond::ULt, 1),
        (Cond::ULe, 4),
    ] {
        let before = bottom_tested_loop(Ty::I8, cond, step, None, None);
        let after = turned(&before, &limits(&[4]));
        for [start, n, _] in edge_arguments(step) {
            // The counter promises not to wrap around.
            let signed = matches!(cond, Cond::SLt | Cond::SLe | Cond::SGt | Cond::SGe);
            let value = |v: u64| if signed { crate::ir::eval::signed(v, 8) } else { v as i64 };
            let range = if signed { -128..128 } else { 0..256 };
            let mut i = value(start) + step;
            while range.contains(&i) && crate::ir::eval::icmp(cond, 8, i as u64 & 0xff, n) {
                i += step;
            }
            if range.contains(&i) {
                same(&before, &after, &[start, n]);
            }
        }
    }
}

#[test]
fn constant_trips_leave_no_rest() {
    let limits = unroll::UnrollLimits { full_size: 0, ..limits(&[4]) };
    for trips in [5, 6, 7, 9, 31, 37, 64, 96, 129, 1000, 1001] {
        let before = bottom_tested_loop(Ty::I32, Cond::SLt, 1, Some(0), Some(trips));
        let after = turned(&before, &limits);
        same(&before, &after, &[0, 0]);
        let cfg = crate::ir::Cfg::new(&after);
        let [l] = &loops::find(&after, &cfg)[..] else { panic!("one loop for {trips} trips") };
        let tests = |&b: &Block| after.terminator(b).is_some_and(|t| after.inst(t).op == Opcode::Branch);
        assert_eq!(l.blocks.iter().filter(|b| tests(b)).count(), 1, "one test a pass for {trips} trips");
    }
}

#[test]
fn steps_that_may_wrap_around_are_left_alone() {
    for (cond, step, unrolled) in [(Cond::ULt, 1, true), (Cond::ULt, 4, false), (Cond::SLt, 3, false)] {
        let mut f = counted_loop(Ty::I32, cond, step, false, None);
        for d in &mut f.insts {
            d.flags = 0;
        }
        assert_eq!(unroll::run(&mut f, &limits(&[4]), unroll::Phase::Part), unrolled, "{cond:?} {step}");
    }
}

#[test]
fn constant_trips_are_unrolled_whole() {
    let mut f = counted_loop(Ty::I32, Cond::SLt, 1, false, Some(0));
    // Bound 7 in place of the parameter.
    let n = f.block(Function::ENTRY).params[1];
    let seven = f.make_inst(Opcode::Const(7), &[], &[Ty::I32], LOC);
    let v = f.inst(seven).results[0];
    f.blocks[0].insts.insert(0, seven);
    for b in f.block_ids() {
        for i in f.block(b).insts.clone() {
            loops::map_uses(&mut f, i, |x| if x == n { v } else { x });
        }
    }
    let before = f.clone();
    assert!(unroll::run(&mut f, &limits(&[4]), unroll::Phase::Part));
    verify_function(&f).expect("valid");
    let cfg = crate::ir::Cfg::new(&f);
    assert!(loops::find(&f, &cfg).is_empty());
    same(&before, &f, &[0, 0, 0]);
}

#[test]
fn rotation_leaves_one_branch_a_trip() {
    let before = counted_loop(Ty::I32, Cond::SLt, 1, false, Some(0));
    let mut after = before.clone();
    assert!(rotate::run(&mut after));
    verify_function(&after).expect("valid");
    for n in [0, 1, 2, 9, 100] {
        same(&before, &after, &[0, n, 0]);
    }
}

#[test]
fn invariant_code_leaves_the_loop() {
    let before = counted_loop(Ty::I32, Cond::SLt, 1, false, None);
    let mut after = before.clone();
    assert!(licm::run(&mut after));
    verify_function(&after).expect("valid");
    let steps = |f: &Function| interpret::run(f, &[0, 50, 0]);
    assert_eq!(steps(&before).0, steps(&after).0);
    assert!(steps(&after).1 < steps(&before).1);
}

#[test]
fn divergence_follows_data_control_and_loop_exits() {
    let mut f = Function { name: "u".into(), ..Function::default() };
    let entry = f.add_block();
    let (then, other, join) = (f.add_block(), f.add_block(), f.add_block());
    let id = add(&mut f, entry, Opcode::Special(Special::LocalIdX), &[], Ty::I32);
    let group = add(&mut f, entry, Opcode::Special(Special::GroupIdX), &[], Ty::I32);
    let size = add(&mut f, entry, Opcode::Launch(LaunchConstant::EnqueuedLocalSize(0)), &[], Ty::I32);
    let base = add(&mut f, entry, Opcode::IBin(IBin::Mul), &[group, size], Ty::I32);
    let gid = add(&mut f, entry, Opcode::IBin(IBin::Add), &[base, id], Ty::I32);
    let cond = add(&mut f, entry, Opcode::ICmp(Cond::SLt), &[gid, size], Ty::Bool);
    end(&mut f, entry, Opcode::Branch, &[cond], &[(then, &[]), (other, &[])]);
    let inside = add(&mut f, then, Opcode::IBin(IBin::Add), &[base, size], Ty::I32);
    end(&mut f, then, Opcode::Jump, &[], &[(join, &[inside])]);
    end(&mut f, other, Opcode::Jump, &[], &[(join, &[base])]);
    let merged = f.add_param(join, Ty::I32);
    let after = add(&mut f, join, Opcode::IBin(IBin::Add), &[base, size], Ty::I32);
    end(&mut f, join, Opcode::Return, &[], &[]);
    let u = uniformity::analyse(&f);
    assert!(u.is_uniform(base) && u.is_uniform(inside) && u.is_uniform(after));
    assert!(!u.is_uniform(gid) && !u.is_uniform(cond) && !u.is_uniform(merged));
    assert!(u.is_divergent_block(then) && u.is_divergent_block(other));
    assert!(!u.is_divergent_block(join) && !u.is_divergent_block(entry));

    // A loop that work-items leave at different times: what it computes uniformly inside differs outside.
    let mut g = Function { name: "l".into(), ..Function::default() };
    let entry = g.add_block();
    let (header, exit) = (g.add_block(), g.add_block());
    let id = add(&mut g, entry, Opcode::Special(Special::LocalIdX), &[], Ty::I32);
    let zero = add(&mut g, entry, Opcode::Const(0), &[], Ty::I32);
    end(&mut g, entry, Opcode::Jump, &[], &[(header, &[zero])]);
    let i = g.add_param(header, Ty::I32);
    let one = add(&mut g, header, Opcode::Const(1), &[], Ty::I32);
    let next = add(&mut g, header, Opcode::IBin(IBin::Add), &[i, one], Ty::I32);
    let again = add(&mut g, header, Opcode::ICmp(Cond::SLt), &[next, id], Ty::Bool);
    end(&mut g, header, Opcode::Branch, &[again], &[(header, &[next]), (exit, &[next])]);
    let out = g.add_param(exit, Ty::I32);
    end(&mut g, exit, Opcode::Return, &[], &[]);
    let u = uniformity::analyse(&g);
    assert!(!u.is_uniform(out));
    assert!(u.is_divergent_block(header) && !u.is_divergent_block(exit));
}
