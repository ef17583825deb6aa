//! Structural checks of programs: what execution and timing take for granted.
use warpscope_exec::ops::{Op, words};
use warpscope_exec::program::{NO_RECONVERGENCE, Operand, OperandKind, Program, flags};

/// Checks that operands and targets are in range, pairs aligned, and every path defines a register before reading it.
/// Returns what is wrong, one sentence each.
pub fn verify(p: &Program) -> Vec<String> {
    let mut problems = Vec::new();
    if p.lines.len() != p.ops.len() {
        problems.push(format!("{} lines for {} operations", p.lines.len(), p.ops.len()));
    }
    if p.constant_offsets.len() != p.constants.len() {
        problems.push(format!("{} offsets for {} constants", p.constant_offsets.len(), p.constants.len()));
    }
    if p.ops.is_empty() {
        problems.push("the program is empty".into());
        return problems;
    }
    for at in 0..p.ops.len() {
        check_operands(p, at, &mut problems);
        check_control(p, at, &mut problems);
    }
    if problems.is_empty() {
        check_definitions(p, &mut problems);
    }
    problems
}

fn check_operands(p: &Program, at: usize, problems: &mut Vec<String>) {
    let op = &p.ops[at];
    let w = words(op);
    let all = [(op.dst, w.dst[0]), (op.dst2, w.dst[1])].into_iter().chain(op.src.into_iter().zip(w.src));
    for (n, (o, words)) in all.enumerate() {
        let words = words.max(1) as u32;
        let mut complain = |why: String| problems.push(format!("operation {at} ({:?}), operand {n}: {why}", op.op));
        match o.kind() {
            OperandKind::Register(r) if r as u32 + words > p.registers => {
                complain(format!("{o:?} of {words} words is beyond {} registers", p.registers));
            }
            OperandKind::Register(r) if words == 2 && r % 2 != 0 => {
                complain(format!("the pair at {o:?} is not aligned"))
            }
            OperandKind::Uniform(r) if r as u32 + words > p.uniform_registers => {
                complain(format!("{o:?} is beyond {} uniform registers", p.uniform_registers));
            }
            OperandKind::Constant(c) if c as usize + words as usize > p.constants.len() => {
                complain(format!("{o:?} is beyond the constant pool"));
            }
            OperandKind::Constant(_) if n < 2 => complain("a constant is written".into()),
            _ => {}
        }
    }
}

fn check_control(p: &Program, at: usize, problems: &mut Vec<String>) {
    let op = &p.ops[at];
    if op.flags & flags::GHOST != 0 {
        return;
    }
    let count = p.ops.len() as u32;
    let mut target = |t: u32| {
        if t >= count {
            problems.push(format!("operation {at} ({:?}) goes to {t}, beyond {count} operations", op.op));
        }
    };
    match op.op {
        Op::Bra => target(op.imm as u32),
        Op::Brx => match p.jump_tables.get(op.imm as usize) {
            Some(t) if !t.is_empty() => t.iter().for_each(|&t| target(t)),
            _ => target(u32::MAX - 1),
        },
        _ => {}
    }
    if matches!(op.op, Op::Bra | Op::Brx) && op.imm2 != NO_RECONVERGENCE {
        target(op.imm2);
    }
    let ends = matches!(op.op, Op::Bra | Op::Exit) && op.guard.get().is_none() || matches!(op.op, Op::Brx | Op::Trap);
    if at + 1 == p.ops.len() && !ends {
        problems.push(format!("execution runs over the end after operation {at} ({:?})", op.op));
    }
}

/// Registers and predicates that a state has defined: vector, uniform, then predicates.
#[derive(Clone, PartialEq)]
struct Defined(Vec<bool>);

impl Defined {
    fn slots(p: &Program, o: Operand, words: u32) -> std::ops::Range<usize> {
        let base = p.registers as usize;
        match o.kind() {
            OperandKind::Register(r) => r as usize..r as usize + words as usize,
            OperandKind::Uniform(u) => base + u as usize..base + u as usize + words as usize,
            OperandKind::Predicate(q, _) => {
                let at = base + p.uniform_registers as usize + q as usize;
                at..at + 1
            }
            _ => 0..0,
        }
    }
}

/// Forward data flow: a register counts as defined where every path to it has written it. Private and predicated
/// definitions count, because lanes that skip them do not read the result either.
fn check_definitions(p: &Program, problems: &mut Vec<String>) {
    let size = p.registers as usize + p.uniform_registers as usize + 128;
    let mut states: Vec<Option<Defined>> = vec![None; p.ops.len()];
    states[0] = Some(Defined(vec![false; size]));
    let mut work = vec![0usize];
    while let Some(at) = work.pop() {
        let mut state = states[at].clone().expect("queued operations have a state");
        let op = &p.ops[at];
        // Ghosts define for the scoreboard, which is what the operations that wait for them need.
        for (o, words) in [op.dst, op.dst2].into_iter().zip(words(op).dst) {
            for slot in Defined::slots(p, o, words.max(1) as u32) {
                state.0[slot] = true;
            }
        }
        for next in successors(p, at) {
            let changed = match &mut states[next] {
                Some(s) => {
                    let before = s.clone();
                    s.0.iter_mut().zip(&state.0).for_each(|(a, b)| *a &= b);
                    *s != before
                }
                empty => {
                    *empty = Some(state.clone());
                    true
                }
            };
            if changed {
                work.push(next);
            }
        }
    }
    for (at, state) in states.iter().enumerate() {
        let (Some(state), op) = (state, &p.ops[at]) else { continue };
        if op.flags & flags::GHOST != 0 {
            continue;
        }
        let guard = op.guard.get().map(|(q, n)| (Operand::predicate(q, n), 1));
        for (o, words) in op.src.into_iter().zip(words(op).src).chain(guard) {
            if Defined::slots(p, o, words.max(1) as u32).any(|slot| !state.0[slot]) {
                problems.push(format!("operation {at} ({:?}) reads {o:?} before it is defined", op.op));
            }
        }
    }
}

/// Operations that can follow.
fn successors(p: &Program, at: usize) -> Vec<usize> {
    let op = &p.ops[at];
    let mut next = Vec::new();
    let always = op.guard.get().is_none();
    match op.op {
        _ if op.flags & flags::GHOST != 0 => next.push(at + 1),
        Op::Bra => {
            next.push(op.imm as usize);
            if !always {
                next.push(at + 1);
            }
        }
        Op::Brx => next.extend(p.jump_tables[op.imm as usize].iter().map(|&t| t as usize)),
        Op::Exit if always => {}
        Op::Trap => {}
        _ => next.push(at + 1),
    }
    next.retain(|&n| n < p.ops.len());
    next
}
