//! Natural loops, and the shape that loop passes want: a preheader, one latch, exits of their own, no value of the
//! loop used outside except through the exits' parameters.
use crate::ir::{Block, Cfg, Def, Function, Inst, Loc, Opcode, Target, Value};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// A natural loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The block that dominates the others.
    pub header: Block,
    /// All blocks, in reverse postorder; the header first.
    pub blocks: Vec<Block>,
    /// Index of the enclosing loop.
    pub parent: Option<usize>,
    /// Loops around this one, itself included.
    pub depth: u32,
    /// The blocks in order of their numbers, for look-ups.
    members: Vec<Block>,
}

impl Loop {
    /// Whether `b` is inside.
    pub fn contains(&self, b: Block) -> bool {
        self.members.binary_search(&b).is_ok()
    }
    /// Takes in a block that has been put on an edge inside.
    pub fn add(&mut self, b: Block) {
        self.blocks.push(b);
        if let Err(at) = self.members.binary_search(&b) {
            self.members.insert(at, b);
        }
    }
    /// Edges that leave: (from, index of the target in the terminator).
    pub fn exits(&self, f: &Function) -> Vec<(Block, usize)> {
        let mut out = Vec::new();
        for &b in &self.blocks {
            for (i, t) in targets(f, b).iter().enumerate() {
                if !self.contains(t.block) {
                    out.push((b, i));
                }
            }
        }
        out
    }
    /// Predecessors of the header inside the loop (one entry for each edge).
    pub fn latches(&self, cfg: &Cfg) -> Vec<Block> {
        cfg.preds(self.header).iter().copied().filter(|&b| self.contains(b)).collect()
    }
    /// Predecessors of the header outside (one entry for each edge).
    pub fn entries(&self, cfg: &Cfg) -> Vec<Block> {
        cfg.preds(self.header).iter().copied().filter(|&b| !self.contains(b)).collect()
    }
}

/// Targets of a block's terminator.
pub fn targets(f: &Function, b: Block) -> &[Target] {
    f.terminator(b).map_or(&[], |t| &f.inst(t).targets)
}

/// All natural loops, inner ones before the loops around them. Irreducible cycles are not among them.
pub fn find(f: &Function, cfg: &Cfg) -> Vec<Loop> {
    let mut by_header: BTreeMap<u32, Vec<Block>> = BTreeMap::new();
    for &b in &cfg.rpo {
        for s in f.successors(b) {
            if cfg.dominates(s, b) {
                by_header.entry(cfg.order[s.0 as usize]).or_default().push(b);
            }
        }
    }
    let mut loops: Vec<Loop> = by_header
        .into_iter()
        .map(|(order, latches)| {
            let header = cfg.rpo[order as usize];
            let blocks = body(cfg, header, latches);
            let mut members = blocks.clone();
            members.sort();
            Loop { header, blocks, parent: None, depth: 1, members }
        })
        .collect();
    loops.sort_by_key(|l| (l.blocks.len(), cfg.order[l.header.0 as usize]));
    for i in 0..loops.len() {
        let header = loops[i].header;
        loops[i].parent = (i + 1..loops.len()).find(|&j| loops[j].contains(header));
    }
    for i in (0..loops.len()).rev() {
        loops[i].depth = loops[i].parent.map_or(1, |p| loops[p].depth + 1);
    }
    loops
}

fn body(cfg: &Cfg, header: Block, latches: Vec<Block>) -> Vec<Block> {
    let mut inside = vec![false; cfg.order.len()];
    inside[header.0 as usize] = true;
    let mut work = latches;
    while let Some(b) = work.pop() {
        if !std::mem::replace(&mut inside[b.0 as usize], true) {
            work.extend(cfg.preds(b));
        }
    }
    cfg.rpo.iter().copied().filter(|b| inside[b.0 as usize]).collect()
}

/// Puts an empty block on the edge `from`.`index`, which passes the edge's arguments on as its own parameters' values.
pub fn split_edge(f: &mut Function, from: Block, index: usize) -> Block {
    let Some(t) = f.terminator(from) else { return from };
    let old = f.inst(t).targets[index].clone();
    let b = f.add_block();
    let loc = f.inst(t).loc;
    jump(f, b, old, loc);
    f.inst_mut(t).targets[index] = Target { block: b, args: SmallVec::new() };
    b
}

/// Ends `block` with a jump.
pub fn jump(f: &mut Function, block: Block, target: Target, loc: Loc) -> Inst {
    let i = f.append(block, Opcode::Jump, &[], &[], loc);
    f.inst_mut(i).targets.push(target);
    i
}

/// Gives every loop one entry edge from a block that only jumps to it, one latch, and for every exit edge a block of its own.
/// Returns whether anything changed.
pub fn canonicalise(f: &mut Function) -> bool {
    let mut changed = false;
    loop {
        let cfg = Cfg::new(f);
        // Blocks at the ends of edges that changed: what is known of loops with them no longer holds.
        let mut stale = vec![false; f.blocks.len()];
        for l in find(f, &cfg) {
            let holds = |b: &Block| !stale.get(b.0 as usize).is_some_and(|s| *s);
            let leads_to = l.exits(f).into_iter().map(|(b, i)| targets(f, b)[i].block);
            if l.blocks.iter().all(holds) && leads_to.into_iter().all(|b| holds(&b)) {
                for b in canonicalise_loop(f, &cfg, &l) {
                    stale[b.0 as usize] = true;
                }
            }
        }
        if !stale.contains(&true) {
            return changed;
        }
        changed = true;
    }
}

/// The loops directly inside one, which stand before it.
pub fn inside(all: &[Loop], index: usize) -> impl Iterator<Item = usize> {
    (0..index).filter(move |&n| all[n].parent == Some(index))
}

/// Brings loops into the canonical shape and offers them to `change`, inner ones first, as number of all loops, until it
/// has changed none; gives whether it changed any. `change` keeps what it has done with a header to itself: after a change
/// all loops come again, those around a changed one only then.
pub fn change_each(f: &mut Function, mut change: impl FnMut(&mut Function, &Cfg, &[Loop], usize) -> bool) -> bool {
    let mut changed = false;
    canonicalise(f);
    loop {
        let cfg = Cfg::new(f);
        let all = find(f, &cfg);
        // What is known of the loops around one that changed no longer holds.
        let mut stale = vec![false; all.len()];
        for (index, l) in all.iter().enumerate() {
            if !stale[index] {
                let blocks = f.blocks.len();
                stale[index] = change(f, &cfg, &all, index);
                changed |= stale[index];
                stale[index] |= f.blocks.len() != blocks;
            }
            if let Some(around) = l.parent {
                stale[around] |= stale[index];
            }
        }
        if !stale.contains(&true) {
            return changed;
        }
        canonicalise(f);
    }
}

/// One step towards the shape; gives the (old) blocks at the ends of the edges that it changed.
fn canonicalise_loop(f: &mut Function, cfg: &Cfg, l: &Loop) -> Vec<Block> {
    let mut touched = Vec::new();
    let entries = l.entries(cfg);
    let latches = l.latches(cfg);
    if entries.len() != 1 || targets(f, entries[0]).len() != 1 {
        enter_once(f, l.header, &entries);
        touched.extend(entries);
        touched.push(l.header);
    } else if latches.len() > 1 {
        merge_edges(f, l.header, &latches);
        touched.extend(latches);
        touched.push(l.header);
    } else {
        for (b, i) in l.exits(f) {
            let to = targets(f, b)[i].block;
            if cfg.preds(to).iter().any(|p| !l.contains(*p)) {
                split_edge(f, b, i);
                touched.extend([b, to]);
            }
        }
    }
    touched
}

/// Leads the entries of a loop through one block. A single edge keeps its arguments, so that constants stay seen.
fn enter_once(f: &mut Function, header: Block, entries: &[Block]) {
    if let [from] = *entries
        && let [index] =
            (0..targets(f, from).len()).filter(|&n| targets(f, from)[n].block == header).collect::<Vec<_>>()[..]
    {
        split_edge(f, from, index);
    } else {
        let agreed = agreed_constants(f, header, entries);
        let middle = merge_edges(f, header, entries);
        // A constant that comes along all edges stays one: loops are counted from it.
        for (n, bits) in agreed.into_iter().enumerate() {
            let (Some(bits), Some(end)) = (bits, f.terminator(middle)) else { continue };
            let ty = f.ty(f.block(header).params[n]);
            let constant = f.make_inst(Opcode::Const(bits), &[], &[ty], Loc::default());
            f.blocks[middle.0 as usize].insts.insert(0, constant);
            f.inst_mut(end).targets[0].args[n] = f.inst(constant).results[0];
        }
    }
}

/// The constants that all edges from some blocks pass for a block's parameters.
fn agreed_constants(f: &Function, to: Block, froms: &[Block]) -> Vec<Option<u64>> {
    let edges = || froms.iter().flat_map(|&b| targets(f, b)).filter(|t| t.block == to);
    let constant = |n: usize| {
        let first = f.as_const(edges().next()?.args[n])?;
        edges().all(|t| f.as_const(t.args[n]) == Some(first)).then_some(first)
    };
    (0..f.block(to).params.len()).map(constant).collect()
}

/// Leads all edges from `froms` to `to` through one new block, and gives it.
fn merge_edges(f: &mut Function, to: Block, froms: &[Block]) -> Block {
    let types: Vec<_> = f.block(to).params.iter().map(|&p| f.ty(p)).collect();
    let middle = f.add_block();
    let params: SmallVec<[Value; 4]> = types.iter().map(|&ty| f.add_param(middle, ty)).collect();
    for &from in froms {
        if let Some(t) = f.terminator(from) {
            for target in f.inst_mut(t).targets.iter_mut().filter(|t| t.block == to) {
                target.block = middle;
            }
        }
    }
    jump(f, middle, Target { block: to, args: params }, Loc::default());
    middle
}

/// The block in which a value is defined; `None` for results of unplaced instructions.
pub fn definition_blocks(f: &Function) -> Vec<Option<Block>> {
    let mut at = vec![None; f.values.len()];
    for b in f.block_ids() {
        for &p in &f.block(b).params {
            at[p.0 as usize] = Some(b);
        }
        for &i in &f.block(b).insts {
            for &r in &f.inst(i).results {
                at[r.0 as usize] = Some(b);
            }
        }
    }
    at
}

/// Loop-closed form: a value defined in the loop and used outside goes out as a parameter of the exit block that
/// dominates the use. Needs [`canonicalise`] first. Returns false (and leaves the function as it was) where a use is
/// dominated by no single exit block.
pub fn close(f: &mut Function, l: &Loop) -> bool {
    let mut cfg = Cfg::new(f);
    if separate_exits(f, &cfg, l) {
        cfg = Cfg::new(f);
    }
    let exits: Vec<Block> = {
        let mut v: Vec<Block> = l.exits(f).iter().map(|&(b, i)| targets(f, b)[i].block).collect();
        v.sort();
        v.dedup();
        v
    };
    let at = definition_blocks(f);
    let inside = |v: Value| at[v.0 as usize].is_some_and(|b| l.contains(b));
    // Uses outside, by value and by dominating exit.
    let mut plan: BTreeMap<(Value, Block), Option<Value>> = BTreeMap::new();
    for &b in cfg.rpo.iter().filter(|b| !l.contains(**b)) {
        for &i in &f.block(b).insts {
            for v in uses(f, i).filter(|&v| inside(v)) {
                let Some(&e) = exits.iter().find(|&&e| cfg.dominates(e, b)) else { return false };
                plan.insert((v, e), None);
            }
        }
    }
    // Every edge into such an exit must see the value.
    for &(v, e) in plan.keys() {
        let Some(d) = at[v.0 as usize] else { return false };
        if cfg.preds(e).iter().any(|&p| !cfg.dominates(d, p)) {
            return false;
        }
    }
    for (&(v, e), new) in &mut plan {
        let ty = f.ty(v);
        *new = Some(f.add_param(e, ty));
        for &p in cfg.preds(e) {
            if let Some(t) = f.terminator(p) {
                let count = f.block(e).params.len();
                for target in f.inst_mut(t).targets.iter_mut().filter(|t| t.block == e && t.args.len() < count) {
                    target.args.push(v);
                }
            }
        }
    }
    for &b in cfg.rpo.iter().filter(|b| !l.contains(**b)) {
        let Some(&e) = exits.iter().find(|&&e| cfg.dominates(e, b)) else { continue };
        for i in f.block(b).insts.clone() {
            map_uses(f, i, |v| plan.get(&(v, e)).copied().flatten().unwrap_or(v));
        }
    }
    true
}

/// Gives exit edges blocks of their own where their target is reached from outside the loop as well: a value that
/// enters it from there would have to come from the loop, too. Returns whether there were any.
fn separate_exits(f: &mut Function, cfg: &Cfg, l: &Loop) -> bool {
    let before = f.blocks.len();
    for (b, i) in l.exits(f) {
        let to = targets(f, b)[i].block;
        if cfg.preds(to).iter().any(|p| !l.contains(*p)) {
            split_edge(f, b, i);
        }
    }
    f.blocks.len() != before
}

/// Values that an instruction uses, its targets' arguments included.
pub fn uses(f: &Function, i: Inst) -> impl Iterator<Item = Value> + '_ {
    let inst = f.inst(i);
    inst.args.iter().copied().chain(inst.targets.iter().flat_map(|t| t.args.iter().copied()))
}

/// Replaces the values that an instruction uses.
pub fn map_uses(f: &mut Function, i: Inst, mut map: impl FnMut(Value) -> Value) {
    let inst = f.inst_mut(i);
    for v in inst.args.iter_mut().chain(inst.targets.iter_mut().flat_map(|t| t.args.iter_mut())) {
        *v = map(*v);
    }
}

/// A copy of some blocks: where each block and value went.
pub struct Copy {
    /// Old block to new.
    pub blocks: BTreeMap<Block, Block>,
    /// Old value to new; values not in it stay.
    pub values: BTreeMap<Value, Value>,
}

impl Copy {
    /// Where a value went.
    pub fn value(&self, v: Value) -> Value {
        self.values.get(&v).copied().unwrap_or(v)
    }
}

/// Copies blocks with their instructions. Targets among the copied blocks are redirected to the copies; `values` maps
/// values to use instead (the copy adds its own). Blocks in `bare` get no parameters in the copy: `values` must map them.
pub fn copy_blocks(f: &mut Function, blocks: &[Block], bare: &[Block], values: BTreeMap<Value, Value>) -> Copy {
    let mut copy = Copy { blocks: BTreeMap::new(), values };
    for &b in blocks {
        let new = f.add_block();
        copy.blocks.insert(b, new);
        if !bare.contains(&b) {
            for p in f.block(b).params.clone() {
                let ty = f.ty(p);
                let q = f.add_param(new, ty);
                copy.values.insert(p, q);
            }
        }
    }
    let mut made = Vec::new();
    for &b in blocks {
        let new = copy.blocks[&b];
        for i in f.block(b).insts.clone() {
            let data = f.inst(i).clone();
            let types: SmallVec<[_; 2]> = data.results.iter().map(|&r| f.ty(r)).collect();
            let j = f.append(new, data.op.clone(), &data.args, &types, data.loc);
            let results = f.inst(j).results.clone();
            for (&old, &r) in data.results.iter().zip(&results) {
                copy.values.insert(old, r);
            }
            let target = f.inst_mut(j);
            target.targets = data.targets;
            target.flags = data.flags;
            target.origin = data.origin;
            made.push(j);
        }
    }
    for j in made {
        map_uses(f, j, |v| copy.values.get(&v).copied().unwrap_or(v));
        for t in &mut f.inst_mut(j).targets {
            if let Some(&n) = copy.blocks.get(&t.block) {
                t.block = n;
            }
        }
    }
    copy
}

/// Whether a value is defined outside the loop (constants count, wherever they stand).
pub fn invariant(f: &Function, l: &Loop, at: &[Option<Block>], v: Value) -> bool {
    f.as_const(v).is_some() || !at.get(v.0 as usize).copied().flatten().is_some_and(|b| l.contains(b))
}

/// The block parameter number that `v` is, if it is one of `b`.
pub fn param_index(f: &Function, b: Block, v: Value) -> Option<usize> {
    match f.def(v) {
        Def::Param(p, n) if p == b => Some(n as usize),
        _ => None,
    }
}
