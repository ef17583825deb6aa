//! Hoists what does not change in a loop to the block before it.
use super::loops;
use super::memory::Place;
use crate::ir::{Block, Cfg, Function, Inst, Opcode};

/// Hoists invariant computations out of every loop, inner loops first. Returns whether anything changed.
pub fn run(f: &mut Function) -> bool {
    let mut changed = loops::canonicalise(f);
    let cfg = Cfg::new(f);
    // Changes as instructions move; blocks and edges do not.
    let mut at = loops::definition_blocks(f);
    for l in loops::find(f, &cfg) {
        let [entry] = l.entries(&cfg)[..] else { continue };
        let mut hoisted: Vec<Inst> = Vec::new();
        let written = written(f, &l.blocks);
        let every_round = every_round(f, &cfg, l.header);
        for &b in &l.blocks {
            let mut kept = Vec::new();
            for i in f.block(b).insts.clone() {
                let inst = f.inst(i);
                if (can_hoist(&inst.op) || every_round.contains(&b) && can_load(f, i, written.as_deref()))
                    && inst.args.iter().all(|&v| loops::invariant(f, &l, &at, v))
                {
                    for &r in &inst.results {
                        at[r.0 as usize] = Some(entry);
                    }
                    hoisted.push(i);
                } else {
                    kept.push(i);
                }
            }
            f.blocks[b.0 as usize].insts = kept;
        }
        changed |= !hoisted.is_empty();
        let insts = &mut f.blocks[entry.0 as usize].insts;
        let end = insts.len().saturating_sub(1);
        insts.splice(end..end, hoisted);
    }
    changed
}

/// The header, and blocks that it leads on to without a choice.
fn every_round(f: &Function, cfg: &Cfg, header: Block) -> Vec<Block> {
    let mut blocks = vec![header];
    loop {
        let last = blocks[blocks.len() - 1];
        let mut next = f.successors(last);
        match (next.next(), next.next()) {
            (Some(b), None) if cfg.preds(b).len() == 1 && !blocks.contains(&b) => blocks.push(b),
            _ => return blocks,
        }
    }
}

/// What a loop writes; nothing if that is not known, or if it waits for others that write.
fn written(f: &Function, blocks: &[Block]) -> Option<Vec<Place>> {
    let mut places = Vec::new();
    for &i in blocks.iter().flat_map(|&b| &f.block(b).insts) {
        match &f.inst(i).op {
            Opcode::Store(a) if !a.volatile => places.push(Place::of(f, i)),
            op if op.has_effect() && !op.is_terminator() => return None,
            _ => {}
        }
    }
    Some(places)
}

/// What every round loads from its beginning on the loop's entry can load just as well if the loop does not write it.
fn can_load(f: &Function, i: Inst, written: Option<&[Place]>) -> bool {
    let free = |written: &[Place]| written.is_empty() || written.iter().all(|w| w.apart(&Place::of(f, i)));
    matches!(f.inst(i).op, Opcode::Load(a) if !a.volatile) && written.is_some_and(free)
}

/// Pure and cheap enough to execute when the loop does not run at all.
fn can_hoist(op: &Opcode) -> bool {
    use Opcode::*;
    match op {
        Const(_) | Undef | GlobalAddress(_) | IBin(_) | IUn(_) | IntFn(_) | FBin(_) | FUn(_) | Fma | Mad | Math(_) => {
            true
        }
        ICmp(_) | FCmp(_) | Select | BoolAnd | BoolOr | BoolXor | BoolNot | Sext | Zext | Trunc | Convert(_) => true,
        Bitcast
        | CastSpace
        | IsSpace(_)
        | PtrAdd { .. }
        | Special(_)
        | Launch(_)
        | Parameter(_)
        | LocalParameter(_) => true,
        _ => false,
    }
}
