//! Compares that a branch above has decided: where `x < n` leads to a block, it holds in all that the block dominates.
use super::trip;
use crate::ir::{Cfg, Cond, Function, Opcode, Ty, Value, Visit};
use std::collections::HashMap;

/// Terms of one condition that are looked at.
const TERMS: u32 = 4;

/// Known compares of two values, as sets of the orders in which they may stand.
type Known = HashMap<(Value, Value), Orders>;

/// Which of less, equal and greater are possible, signed and unsigned: bits 0 to 2 and 3 to 5.
type Orders = u8;
const ANY: Orders = 0b111_111;

fn orders(c: Cond) -> Orders {
    use Cond::*;
    // What says nothing of an order allows both less and greater in it.
    match c {
        Eq => 0b010_010,
        Ne => 0b101_101,
        SLt => 0b101_001,
        SLe => 0b111_011,
        SGt => 0b101_100,
        SGe => 0b111_110,
        ULt => 0b001_101,
        ULe => 0b011_111,
        UGt => 0b100_101,
        UGe => 0b110_111,
    }
}

fn swapped(o: Orders) -> Orders {
    (o & 0b010_010) | (o & 0b001_001) << 2 | (o & 0b100_100) >> 2
}

/// Replaces decided compares by constants; gives whether there were any.
pub fn run(f: &mut Function) -> bool {
    let cfg = Cfg::new(f);
    let mut known = Known::new();
    let mut log: Vec<((Value, Value), Orders)> = Vec::new();
    let mut changed = false;
    let mut marks = Vec::new();
    for visit in cfg.dominator_walk() {
        let Visit::Enter(b) = visit else {
            for (key, old) in log.drain(marks.pop().unwrap_or(0)..).rev() {
                known.insert(key, old);
            }
            continue;
        };
        marks.push(log.len());
        if let [from] = *cfg.preds(b)
            && let Some(t) = f.terminator(from)
            && f.inst(t).op == Opcode::Branch
        {
            let (condition, holds) = (f.inst(t).args[0], f.inst(t).targets[0].block == b);
            learn(f, condition, holds, TERMS, &mut known, &mut log);
        }
        if known.is_empty() {
            continue;
        }
        for i in f.block(b).insts.clone() {
            let d = f.inst(i);
            let Opcode::ICmp(c) = d.op else { continue };
            let (a, b) = (d.args[0], d.args[1]);
            let Some(value) = decided(c, allowed(&known, a, b)) else { continue };
            let d = f.inst_mut(i);
            (d.op, d.flags) = (Opcode::Const(u64::from(value)), 0);
            d.args.clear();
            changed = true;
        }
    }
    changed
}

fn allowed(known: &Known, a: Value, b: Value) -> Orders {
    let there = known.get(&(a, b)).copied().unwrap_or(ANY);
    let back = known.get(&(b, a)).copied().map_or(ANY, swapped);
    there & back
}

/// The compare's value, if all orders that are possible give the same.
fn decided(c: Cond, possible: Orders) -> Option<bool> {
    let implies = |c: Cond| {
        let (wanted, [signed, unsigned]) = (orders(c), [possible & 0b111, possible >> 3]);
        match c {
            Cond::ULt | Cond::ULe | Cond::UGt | Cond::UGe => unsigned & !(wanted >> 3) == 0,
            Cond::Eq | Cond::Ne => signed & !(wanted & 0b111) == 0 || unsigned & !(wanted >> 3) == 0,
            _ => signed & !(wanted & 0b111) == 0,
        }
    };
    if possible == ANY {
        None
    } else if implies(c) {
        Some(true)
    } else if implies(trip::negate(c)) {
        Some(false)
    } else {
        None
    }
}

fn learn(
    f: &Function,
    condition: Value,
    holds: bool,
    terms: u32,
    known: &mut Known,
    log: &mut Vec<((Value, Value), Orders)>,
) {
    let Some(d) = f.def_inst(condition).filter(|_| terms > 0) else { return };
    match d.op {
        Opcode::ICmp(c) if f.ty(d.args[0]) != Ty::Bool => {
            let key = (d.args[0], d.args[1]);
            let old = known.get(&key).copied().unwrap_or(ANY);
            log.push((key, old));
            known.insert(key, old & orders(if holds { c } else { trip::negate(c) }));
        }
        Opcode::BoolNot => learn(f, d.args[0], !holds, terms - 1, known, log),
        Opcode::BoolAnd if holds => d.args.iter().for_each(|&v| learn(f, v, true, terms - 1, known, log)),
        Opcode::BoolOr if !holds => d.args.iter().for_each(|&v| learn(f, v, false, terms - 1, known, log)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::eval::icmp;

    /// Every pair of compares of the same two values, in both orders, against all values of a few bits.
    #[test]
    fn what_a_compare_decides_holds_for_all_values() {
        use Cond::*;
        let all = [Eq, Ne, SLt, SLe, SGt, SGe, ULt, ULe, UGt, UGe];
        let pairs = || (0..16u64).flat_map(|a| (0..16u64).map(move |b| (a, b)));
        let mut found = 0;
        for first in all {
            for second in all {
                for turned in [false, true] {
                    let possible = if turned { swapped(orders(first)) } else { orders(first) };
                    let Some(value) = decided(second, possible) else { continue };
                    found += 1;
                    for (a, b) in pairs() {
                        let (x, y) = if turned { (b, a) } else { (a, b) };
                        if icmp(first, 4, x, y) {
                            assert_eq!(icmp(second, 4, a, b), value, "{first:?} {second:?} {turned}");
                        }
                    }
                }
            }
        }
        assert!(found > 60, "{found} pairs are decided");
    }
}
