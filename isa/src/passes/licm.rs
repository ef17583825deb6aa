//! Hoists what does not change in a loop to the block before it.
use super::loops;
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
        let quiet = is_quiet(f, &l.blocks);
        for &b in &l.blocks {
            let mut kept = Vec::new();
            for i in f.block(b).insts.clone() {
                let inst = f.inst(i);
                if (can_hoist(&inst.op) || quiet && b == l.header && can_load(&inst.op))
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

/// Whether nothing in a loop changes memory or waits for others that do.
fn is_quiet(f: &Function, blocks: &[Block]) -> bool {
    !blocks.iter().flat_map(|&b| &f.block(b).insts).any(|&i| {
        let op = &f.inst(i).op;
        op.has_effect() && !op.is_terminator()
    })
}

/// What the header loads, every round loads, and the loop's entry can load just as well.
fn can_load(op: &Opcode) -> bool {
    matches!(op, Opcode::Load(a) if !a.volatile)
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
