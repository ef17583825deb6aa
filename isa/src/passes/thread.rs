//! Jump threading: where a block does nothing but decide by a constant that its predecessor brings, the predecessor
//! goes where the decision leads.
use super::rewrite::{constants_to_entry, count_uses};
use super::{loops, ssa};
use crate::ir::{Block, Cfg, Def, Function, Inst, Opcode, Target, Value, eval};
use smallvec::SmallVec;

/// Threads until nothing is left to thread; gives whether anything was.
pub fn run(f: &mut Function) -> bool {
    let mut changed = false;
    // Defined wherever control may be led.
    constants_to_entry(f);
    // Each round changes edges, and with them what dominates what.
    for _ in 0..MAX_ROUNDS {
        let cfg = Cfg::new(f);
        let uses = count_uses(f);
        let Some(edge) = cfg.rpo.iter().find_map(|&b| find(f, &cfg, &uses, b)) else { break };
        lead(f, &edge);
        changed = true;
    }
    changed
}

/// A decision of many cases could be threaded for very long.
const MAX_ROUNDS: usize = 64;

/// An edge into a deciding block, and the target that it decides for.
struct Edge {
    from: Block,
    index: usize,
    through: Block,
    chosen: usize,
}

fn find(f: &Function, cfg: &Cfg, uses: &[u32], b: Block) -> Option<Edge> {
    let t = f.terminator(b)?;
    // Leading the edges of a loop's header elsewhere would tear the loop apart.
    let header = cfg.preds(b).iter().any(|&p| cfg.dominates(b, p));
    if b == Function::ENTRY || header || !matches!(f.inst(t).op, Opcode::Branch | Opcode::Switch(_)) {
        return None;
    }
    let decision = f.inst(t).args[0];
    let only_decides = f.block(b).insts.iter().all(|&i| i == t || is_part(f, i, decision, uses));
    if !only_decides || f.block(b).params.is_empty() {
        return None;
    }
    for &from in cfg.preds(b) {
        let jump = f.terminator(from)?;
        for (index, target) in f.inst(jump).targets.iter().enumerate().filter(|(_, x)| x.block == b) {
            if let Some(chosen) = decide(f, b, t, &target.args) {
                return Some(Edge { from, index, through: b, chosen });
            }
        }
    }
    None
}

/// The compare that decides, where it does nothing else.
fn is_part(f: &Function, i: Inst, decision: Value, uses: &[u32]) -> bool {
    let d = f.inst(i);
    matches!(d.op, Opcode::ICmp(_)) && d.results[0] == decision && uses[decision.0 as usize] == 1
}

/// The number of the target that a block goes on to with these arguments.
fn decide(f: &Function, b: Block, t: Inst, args: &[Value]) -> Option<usize> {
    let value = |v: Value| match f.def(v) {
        Def::Param(block, n) if block == b => f.as_const(*args.get(n as usize)?),
        _ => f.as_const(v),
    };
    let decision = f.inst(t).args[0];
    let k = match f.def_inst(decision) {
        Some(d) if matches!(d.op, Opcode::ICmp(_)) && !f.ty(d.args[0]).is_pointer() => {
            let Opcode::ICmp(c) = d.op else { return None };
            u64::from(eval::icmp(c, f.ty(d.args[0]).bits(), value(d.args[0])?, value(d.args[1])?))
        }
        _ => value(decision)?,
    };
    match &f.inst(t).op {
        Opcode::Branch => Some(usize::from(k == 0)),
        Opcode::Switch(cases) => Some(cases.iter().position(|&c| c == k).map_or(0, |n| n + 1)),
        _ => None,
    }
}

/// Leads an edge past the deciding block, through a new block that stands for it.
fn lead(f: &mut Function, edge: &Edge) {
    let (Some(jump), Some(t)) = (f.terminator(edge.from), f.terminator(edge.through)) else { return };
    let args = f.inst(jump).targets[edge.index].args.clone();
    let params = f.block(edge.through).params.clone();
    let target = f.inst(t).targets[edge.chosen].clone();
    let map = |v: &Value| params.iter().position(|p| p == v).map_or(*v, |n| args[n]);
    let mapped = target.args.iter().map(map).collect();
    let by = f.add_block();
    let loc = f.inst(jump).loc;
    loops::jump(f, by, Target { block: target.block, args: mapped }, loc);
    f.inst_mut(jump).targets[edge.index] = Target { block: by, args: SmallVec::new() };
    let cfg = Cfg::new(f);
    for (&p, &a) in params.iter().zip(&args) {
        ssa::second_definition(f, &cfg, p, edge.through, (by, a));
    }
}
