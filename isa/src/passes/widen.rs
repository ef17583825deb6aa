//! Loop counters that are cut from a wider value on every path are carried wide and cut where they are used, as
//! LLVM's combiner does: `uint i = get_global_id(0); ... i += get_global_size(0)` counts in 64 bits.
use super::rewrite::{Replacements, count_uses, remove_params};
use crate::ir::{Block, Cfg, Function, Loc, Opcode, Ty, Value};

/// Widens block parameters whose arguments are all truncations; gives whether there were any.
pub fn run(f: &mut Function) -> bool {
    let cfg = Cfg::new(f);
    let uses = count_uses(f);
    let mut changed = false;
    for &b in cfg.rpo.iter().skip(1) {
        for n in 0..f.block(b).params.len() {
            if f.ty(f.block(b).params[n]) == Ty::I32 && is_cut(f, &cfg, &uses, b, n) {
                widen(f, &cfg, b, n);
                changed = true;
            }
        }
        changed |= merge(f, &cfg, b);
    }
    changed
}

/// The value that a truncation from 64 bits cuts.
fn source(f: &Function, v: Value) -> Option<Value> {
    f.def_inst(v).filter(|d| d.op == Opcode::Trunc && f.ty(d.args[0]) == Ty::I64).map(|d| d.args[0])
}

fn arguments(f: &Function, cfg: &Cfg, b: Block, n: usize) -> Vec<Value> {
    let edges = cfg.preds(b).iter().filter_map(|&p| f.terminator(p));
    edges.flat_map(|t| f.inst(t).targets.iter().filter(|x| x.block == b).map(|x| x.args[n])).collect()
}

/// Whether all arguments are truncations of which the first serves nothing else, or of what the block gets anyway.
fn is_cut(f: &Function, cfg: &Cfg, uses: &[u32], b: Block, n: usize) -> bool {
    let args = arguments(f, cfg, b, n);
    let sources: Option<Vec<Value>> = args.iter().map(|&v| source(f, v)).collect();
    let Some(sources) = sources else { return false };
    if (0..f.block(b).params.len()).any(|m| arguments(f, cfg, b, m) == sources) {
        return true;
    }
    let once = |v: &Value| uses.get(v.0 as usize) == Some(&1);
    args.len() > 1 && args.first().is_some_and(once)
}

fn widen(f: &mut Function, cfg: &Cfg, b: Block, n: usize) {
    for &p in cfg.preds(b) {
        let Some(t) = f.terminator(p) else { continue };
        for k in 0..f.inst(t).targets.len() {
            if f.inst(t).targets[k].block == b
                && let Some(wide) = source(f, f.inst(t).targets[k].args[n])
            {
                f.inst_mut(t).targets[k].args[n] = wide;
            }
        }
    }
    let narrow = f.block(b).params[n];
    let wide = f.add_value(Ty::I64, f.def(narrow));
    f.blocks[b.0 as usize].params[n] = wide;
    // The old parameter becomes the result of the truncation.
    let cut = f.make_inst(Opcode::Trunc, &[wide], &[], Loc::default());
    f.inst_mut(cut).results.push(narrow);
    f.values[narrow.0 as usize].def = crate::ir::Def::Result(cut, 0);
    f.blocks[b.0 as usize].insts.insert(0, cut);
}

/// Parameters of one block that always get the same 64-bit values (as two cuts of one do) become one.
fn merge(f: &mut Function, cfg: &Cfg, b: Block) -> bool {
    let wide = |f: &Function, n: usize| f.ty(f.block(b).params[n]) == Ty::I64;
    let count = f.block(b).params.len();
    if (0..count).filter(|&n| wide(f, n)).count() < 2 {
        return false;
    }
    let mut keep = vec![true; count];
    let mut r = Replacements::default();
    for n in (0..count).filter(|&n| wide(f, n)).collect::<Vec<_>>() {
        let same = |&m: &usize| keep[m] && wide(f, m) && arguments(f, cfg, b, m) == arguments(f, cfg, b, n);
        if let Some(m) = (0..n).find(same) {
            keep[n] = false;
            r.replace(f.block(b).params[n], f.block(b).params[m]);
        }
    }
    let any = keep.contains(&false);
    if any {
        remove_params(f, &[(b, keep)]);
        r.apply(f);
    }
    any
}
