//! Control flow of the machine IR: layout order, loop depth, post-dominators.
use super::mir::{MFunc, Term};
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};

/// Facts about the control-flow graph.
#[derive(Clone, Debug)]
pub(super) struct Cfg {
    /// Blocks in the order of emission; a loop's blocks stand together.
    pub order: Vec<usize>,
    /// Loops around each block.
    pub depth: Vec<u32>,
    /// Immediate post-dominator of each block; `None` where its paths meet only at the exit.
    pub post_dominator: Vec<Option<usize>>,
}

impl Cfg {
    pub fn of(f: &MFunc) -> Cfg {
        let dominators = dominators(f);
        let depth = loop_depth(f, &dominators);
        Cfg { order: layout(f, &depth), post_dominator: post_dominators(f, &dominators), depth }
    }

    /// For each block the nearest one that dominates it and is in no loop; itself where it is in none.
    pub fn outside_loops(f: &MFunc) -> Vec<usize> {
        let dominators = dominators(f);
        let depth = loop_depth(f, &dominators);
        let outside = |b: usize| {
            let mut above = dominators.dominators(NodeIndex::new(b)).into_iter().flatten();
            above.find(|d| depth[d.index()] == 0).map_or(b, |d| d.index())
        };
        (0..f.blocks.len()).map(outside).collect()
    }
}

fn dominators(f: &MFunc) -> Dominators<NodeIndex> {
    let n = f.blocks.len();
    let mut forward = DiGraph::<(), ()>::with_capacity(n, n * 2);
    for _ in 0..n {
        forward.add_node(());
    }
    for (b, block) in f.blocks.iter().enumerate() {
        for e in block.term.edges() {
            forward.add_edge(NodeIndex::new(b), NodeIndex::new(e.block), ());
        }
    }
    simple_fast(&forward, NodeIndex::new(0))
}

/// Immediate post-dominator of each block, where lanes that went different ways meet again.
///
/// A lane that ends is waited for by none, so an exit under a guard counts only where a block has no other way to an
/// end: for a loop that is left through such an exit alone. A loop without any end is taken to end at its last block.
fn post_dominators(f: &MFunc, dominators: &Dominators<NodeIndex>) -> Vec<Option<usize>> {
    let n = f.blocks.len();
    let exit = NodeIndex::new(n);
    let mut backward = DiGraph::<(), ()>::with_capacity(n + 1, n * 2);
    for _ in 0..=n {
        backward.add_node(());
    }
    for (b, block) in f.blocks.iter().enumerate() {
        let edges = block.term.edges();
        for e in &edges {
            backward.add_edge(NodeIndex::new(e.block), NodeIndex::new(b), ());
        }
        if edges.is_empty() {
            backward.add_edge(exit, NodeIndex::new(b), ());
        }
    }
    let reachable = |b| b == 0 || dominators.immediate_dominator(NodeIndex::new(b)).is_some();
    loop {
        let post = simple_fast(&backward, exit);
        let endless = |b: &usize| reachable(*b) && post.immediate_dominator(NodeIndex::new(*b)).is_none();
        let guarded: Vec<usize> =
            (0..n).filter(endless).filter(|&b| matches!(f.blocks[b].term, Term::ExitIf(..))).collect();
        let ends = if guarded.is_empty() { (0..n).rev().find(endless).into_iter().collect() } else { guarded };
        if ends.is_empty() {
            let immediate = |b| post.immediate_dominator(NodeIndex::new(b)).filter(|&d| d != exit);
            return (0..n).map(|b| immediate(b).map(|d| d.index())).collect();
        }
        for b in ends {
            backward.add_edge(exit, NodeIndex::new(b), ());
        }
    }
}

/// Loops around each block: natural loops of back edges.
fn loop_depth(f: &MFunc, dominators: &Dominators<NodeIndex>) -> Vec<u32> {
    let preds = f.predecessors();
    let mut depth = vec![0; f.blocks.len()];
    let mut mark = vec![usize::MAX; f.blocks.len()];
    for header in 0..f.blocks.len() {
        let mut work: Vec<usize> = preds[header]
            .iter()
            .copied()
            .filter(|&p| dominators.dominators(NodeIndex::new(p)).is_some_and(|mut d| d.any(|x| x.index() == header)))
            .collect();
        if work.is_empty() {
            continue;
        }
        mark[header] = header;
        depth[header] += 1;
        while let Some(b) = work.pop() {
            if mark[b] != header {
                mark[b] = header;
                depth[b] += 1;
                work.extend(preds[b].iter().copied());
            }
        }
    }
    depth
}

/// Reverse post-order in which edges that leave loops are walked first, so that what they lead to comes last.
fn layout(f: &MFunc, depth: &[u32]) -> Vec<usize> {
    let mut seen = vec![false; f.blocks.len()];
    let mut order = Vec::new();
    let sorted = |b: usize| {
        let mut s: Vec<usize> = f.blocks[b].term.edges().iter().map(|e| e.block).collect();
        // Shallow first; among equals the last target first, so that the first one falls through.
        s.reverse();
        s.sort_by_key(|&t| depth[t].min(depth[b] + 1));
        s
    };
    let mut stack = vec![(0, sorted(0), 0)];
    seen[0] = true;
    while let Some((b, successors, n)) = stack.last_mut() {
        if let Some(&s) = successors.get(*n) {
            *n += 1;
            if !seen[s] {
                seen[s] = true;
                stack.push((s, sorted(s), 0));
            }
        } else {
            order.push(*b);
            stack.pop();
        }
    }
    order.reverse();
    order
}
