//! Which loads and stores go through which `restrict` parameter: [`Origin`] of each.
use crate::ir::{Cfg, Function, Opcode, Origin, Value};

/// Marks the accesses of a function whose parameters at these offsets are `restrict`.
pub fn run(f: &mut Function, restricted: &[u32]) -> bool {
    if restricted.is_empty() {
        return false;
    }
    let origins = origins(f, restricted);
    let mut changed = false;
    for d in &mut f.insts {
        if let (Opcode::Load(_) | Opcode::Store(_), Some(p)) = (&d.op, d.args.first()) {
            let origin = origins[p.0 as usize].unwrap_or_default();
            changed |= std::mem::replace(&mut d.origin, origin) != origin;
        }
    }
    changed
}

/// Where pointers come from; nothing for those that no code makes.
fn origins(f: &Function, restricted: &[u32]) -> Vec<Option<Origin>> {
    let mut known: Vec<Option<Origin>> = vec![None; f.values.len()];
    for &p in &f.block(Function::ENTRY).params {
        known[p.0 as usize] = Some(Origin::UNKNOWN);
    }
    let cfg = Cfg::new(f);
    loop {
        let mut changed = false;
        let mut meet = |known: &mut Vec<Option<Origin>>, to: Value, from: Option<Origin>| {
            let old = known[to.0 as usize];
            let new = match (old, from) {
                (None, from) => from,
                (old, None) => old,
                (Some(a), Some(b)) => Some(if a == b { a } else { Origin::UNKNOWN }),
            };
            changed |= new != old;
            known[to.0 as usize] = new;
        };
        for &i in cfg.rpo.iter().flat_map(|&b| &f.block(b).insts) {
            let d = f.inst(i);
            for t in &d.targets {
                for (&param, &arg) in f.block(t.block).params.iter().zip(&t.args) {
                    let from = known[arg.0 as usize];
                    meet(&mut known, param, from);
                }
            }
            let of = |n: usize| d.args.get(n).and_then(|a| known[a.0 as usize]);
            let Some(&result) = d.results.first().filter(|&&r| f.ty(r).is_pointer()) else { continue };
            match d.op {
                Opcode::PtrAdd { .. } | Opcode::Bitcast | Opcode::CastSpace => {
                    let from = of(0);
                    meet(&mut known, result, from);
                }
                Opcode::Select => {
                    for from in [of(1), of(2)] {
                        meet(&mut known, result, from);
                    }
                }
                Opcode::Parameter(at) => {
                    let n = restricted.iter().position(|&r| r == at);
                    meet(&mut known, result, Some(n.map_or(Origin::OTHER, Origin::restricted)));
                }
                Opcode::GlobalAddress(_) | Opcode::LocalParameter(_) | Opcode::Alloca { .. } => {
                    meet(&mut known, result, Some(Origin::OTHER));
                }
                _ => meet(&mut known, result, Some(Origin::UNKNOWN)),
            }
        }
        if !changed {
            return known;
        }
    }
}
