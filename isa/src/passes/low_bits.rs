//! Low bits that are the same in every trip of a loop: a counter that starts at 0 and moves by 8 is 0 in its low three
//! bits, so `i & 1` is known in each of eight copies of a body.
use crate::ir::{Cfg, Function, IBin, Inst, Opcode, Ty, eval};

/// Rounds after which nothing is concluded.
const ROUNDS: usize = 32;

/// The low `count` bits of a value are those of `bits`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Low {
    count: u32,
    bits: u64,
}

impl Low {
    const UNKNOWN: Low = Low { count: 0, bits: 0 };

    fn new(count: u32, bits: u64) -> Low {
        Low { count, bits: eval::mask(bits, count.min(64)) }
    }
    /// What both have in common.
    fn meet(self, other: Low) -> Low {
        let count = self.count.min(other.count).min((self.bits ^ other.bits).trailing_zeros());
        Low::new(count, self.bits)
    }
}

/// Makes what only known low bits decide constant; gives whether anything was.
pub fn run(f: &mut Function) -> bool {
    let cfg = Cfg::new(f);
    let Some(low) = analyse(f, &cfg) else { return false };
    let mut known: Vec<(Inst, u64)> = Vec::new();
    for &i in cfg.rpo.iter().flat_map(|&b| &f.block(b).insts) {
        let d = f.inst(i);
        let of = |n: usize| low[d.args[n].0 as usize].unwrap_or(Low::UNKNOWN);
        let constant = |n: usize| d.args.get(n).and_then(|&v| f.as_const(v));
        let value = match (&d.op, constant(1)) {
            (Opcode::IBin(IBin::And), Some(m)) if 64 - m.leading_zeros() <= of(0).count => Some(of(0).bits & m),
            (Opcode::Trunc, _) if f.ty(d.results[0]) == Ty::Bool && of(0).count > 0 => Some(of(0).bits & 1),
            _ => None,
        };
        // A constant operand makes the rest constant by folding.
        known.extend(value.filter(|_| constant(0).is_none()).map(|v| (i, v)));
    }
    for &(i, bits) in &known {
        let d = f.inst_mut(i);
        (d.op, d.flags) = (Opcode::Const(bits), 0);
        d.args.clear();
    }
    !known.is_empty()
}

/// The low bits of all integers, or `None` where they are not found soon.
fn analyse(f: &Function, cfg: &Cfg) -> Option<Vec<Option<Low>>> {
    // `None`: nothing has been said of it yet, which parameters of loops may hope for.
    let mut low: Vec<Option<Low>> = vec![None; f.values.len()];
    for &p in &f.block(Function::ENTRY).params {
        low[p.0 as usize] = Some(Low::UNKNOWN);
    }
    for _ in 0..ROUNDS {
        let mut changed = false;
        for &b in &cfg.rpo {
            for &i in &f.block(b).insts {
                let d = f.inst(i);
                for &r in &d.results {
                    let new = Some(result(f, i, &low));
                    changed |= low[r.0 as usize] != new;
                    low[r.0 as usize] = new;
                }
                for t in &d.targets {
                    for (&p, &a) in f.block(t.block).params.iter().zip(&t.args) {
                        let old = low[p.0 as usize];
                        let new = match (old, low[a.0 as usize]) {
                            (old, None) => old,
                            (None, new) => new,
                            (Some(old), Some(new)) => Some(old.meet(new)),
                        };
                        changed |= old != new;
                        low[p.0 as usize] = new;
                    }
                }
            }
        }
        if !changed {
            return Some(low);
        }
    }
    None
}

fn result(f: &Function, i: Inst, low: &[Option<Low>]) -> Low {
    let d = f.inst(i);
    let ty = f.ty(d.results[0]);
    if !super::facts::is_integer(ty) {
        return Low::UNKNOWN;
    }
    let of = |n: usize| low[d.args[n].0 as usize].unwrap_or(Low::UNKNOWN);
    let both = |op: fn(u64, u64) -> u64| Low::new(of(0).count.min(of(1).count), op(of(0).bits, of(1).bits));
    let found = match d.op {
        Opcode::Const(bits) => Low::new(64, bits),
        Opcode::IBin(IBin::Add) => both(u64::wrapping_add),
        Opcode::IBin(IBin::Sub) => both(u64::wrapping_sub),
        Opcode::IBin(IBin::And) => both(|a, b| a & b),
        Opcode::IBin(IBin::Or) => both(|a, b| a | b),
        Opcode::IBin(IBin::Xor) => both(|a, b| a ^ b),
        Opcode::IBin(IBin::Mul) => match f.as_const(d.args[1]) {
            // Zeros come in from below.
            Some(k) if k != 0 => Low::new((of(0).count + k.trailing_zeros()).min(64), of(0).bits.wrapping_mul(k)),
            _ => both(u64::wrapping_mul),
        },
        Opcode::Sext | Opcode::Zext | Opcode::Trunc if super::facts::is_integer(f.ty(d.args[0])) => {
            Low::new(of(0).count.min(f.ty(d.args[0]).bits()), of(0).bits)
        }
        Opcode::Select => of(1).meet(of(2)),
        _ => Low::UNKNOWN,
    };
    Low::new(found.count.min(ty.bits()), found.bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Block, Cond, Loc, Target, Value, interpret, verify_function};

    /// `for (i = start; i < n; i += step) sum += i & mask;` returns `sum`.
    fn walk(start: u64, step: u64, mask: u64) -> Function {
        const LOC: Loc = Loc { file: 0, line: 0 };
        let mut f = Function { name: "walk".into(), results: vec![Ty::I32], ..Function::default() };
        let entry = f.add_block();
        let n = f.add_param(entry, Ty::I32);
        let (header, body, exit) = (f.add_block(), f.add_block(), f.add_block());
        let add = |f: &mut Function, b: Block, op: Opcode, args: &[Value], ty: Ty| {
            let i = f.append(b, op, args, &[ty], LOC);
            f.inst(i).results[0]
        };
        let go = |f: &mut Function, b: Block, op: Opcode, args: &[Value], targets: &[(Block, &[Value])]| {
            let i = f.append(b, op, args, &[], LOC);
            f.inst_mut(i).targets = targets.iter().map(|(b, a)| Target { block: *b, args: (*a).into() }).collect();
        };
        let first = add(&mut f, entry, Opcode::Const(start), &[], Ty::I32);
        let zero = add(&mut f, entry, Opcode::Const(0), &[], Ty::I32);
        go(&mut f, entry, Opcode::Jump, &[], &[(header, &[first, zero])]);
        let (i, sum) = (f.add_param(header, Ty::I32), f.add_param(header, Ty::I32));
        let test = add(&mut f, header, Opcode::ICmp(Cond::ULt), &[i, n], Ty::Bool);
        go(&mut f, header, Opcode::Branch, &[test], &[(body, &[]), (exit, &[])]);
        let m = add(&mut f, body, Opcode::Const(mask), &[], Ty::I32);
        let masked = add(&mut f, body, Opcode::IBin(IBin::And), &[i, m], Ty::I32);
        let next_sum = add(&mut f, body, Opcode::IBin(IBin::Add), &[sum, masked], Ty::I32);
        let s = add(&mut f, body, Opcode::Const(step), &[], Ty::I32);
        let next = add(&mut f, body, Opcode::IBin(IBin::Add), &[i, s], Ty::I32);
        go(&mut f, body, Opcode::Jump, &[], &[(header, &[next, next_sum])]);
        f.append(exit, Opcode::Return, &[sum], &[], LOC);
        verify_function(&f).expect("built right");
        f
    }

    #[test]
    fn counters_keep_their_low_bits() {
        for (start, step, mask, known) in
            [(0, 8, 7, true), (5, 8, 7, true), (5, 8, 15, false), (3, 2, 1, true), (3, 6, 3, false), (0, 1, 1, false)]
        {
            let before = walk(start, step, mask);
            let mut after = before.clone();
            assert_eq!(run(&mut after), known, "{start} {step} {mask}");
            verify_function(&after).expect("left right");
            for n in [0u64, 1, 6, 100] {
                assert_eq!(interpret::run(&before, &[n]).0, interpret::run(&after, &[n]).0);
            }
        }
    }
}
