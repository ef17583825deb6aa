//! Dead code: instructions and block parameters that nothing needs.
use super::rewrite::remove_params;
use crate::ir::{Block, Def, Function, Opcode, Value};

/// Removes what has no effect; gives whether anything went.
pub fn run(f: &mut Function) -> bool {
    let live = live_values(f);
    let mut changed = false;
    for b in 0..f.blocks.len() {
        let insts = std::mem::take(&mut f.blocks[b].insts);
        let before = insts.len();
        let kept: Vec<_> = insts
            .into_iter()
            .filter(|&i| {
                let d = f.inst(i);
                needed(&d.op) || d.results.iter().any(|r| live[r.0 as usize])
            })
            .collect();
        changed |= kept.len() != before;
        f.blocks[b].insts = kept;
    }
    drop_unused_atomic_results(f, &live);
    let keep = |b: Block| -> Vec<bool> { f.block(b).params.iter().map(|p| live[p.0 as usize]).collect() };
    let removals: Vec<_> =
        f.block_ids().skip(1).map(|b| (b, keep(b))).filter(|(_, keep)| keep.contains(&false)).collect();
    remove_params(f, &removals);
    changed | !removals.is_empty()
}

fn needed(op: &Opcode) -> bool {
    op.has_effect()
}

/// An atomic whose result is unused loses it (a reduction).
fn drop_unused_atomic_results(f: &mut Function, live: &[bool]) {
    for b in 0..f.blocks.len() {
        for n in 0..f.blocks[b].insts.len() {
            let i = f.blocks[b].insts[n];
            let d = f.inst(i);
            let Opcode::Atomic { op, .. } = d.op else { continue };
            if op != warpscope_exec::program::AtomicOp::Load && d.results.iter().all(|r| !live[r.0 as usize]) {
                f.inst_mut(i).results.clear();
            }
        }
    }
}

/// Values that something with an effect depends on.
fn live_values(f: &Function) -> Vec<bool> {
    let mut live = vec![false; f.values.len()];
    let mut work: Vec<Value> = Vec::new();
    let mut incoming: Vec<Vec<(Block, usize)>> = vec![Vec::new(); f.blocks.len()];
    for b in f.block_ids() {
        for &i in &f.block(b).insts {
            let d = f.inst(i);
            if needed(&d.op) {
                work.extend(&d.args);
            }
            for (n, t) in d.targets.iter().enumerate() {
                incoming[t.block.0 as usize].push((b, n));
            }
        }
    }
    while let Some(v) = work.pop() {
        if std::mem::replace(&mut live[v.0 as usize], true) {
            continue;
        }
        match f.def(v) {
            Def::Result(i, _) => work.extend(&f.inst(i).args),
            Def::Param(b, n) => {
                for &(p, t) in &incoming[b.0 as usize] {
                    if let Some(term) = f.terminator(p) {
                        work.push(f.inst(term).targets[t].args[n as usize]);
                    }
                }
            }
        }
    }
    live
}
