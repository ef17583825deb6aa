//! Helpers for passes: replacing values, removing block parameters, gathering constants.
use crate::ir::{Block, Function, Inst, Opcode, Ty, Value};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Values to be replaced by others; chains are followed.
#[derive(Clone, Debug, Default)]
pub struct Replacements {
    map: Vec<u32>,
    any: bool,
}

impl Replacements {
    /// None yet, with room for all of a function's values. Where few are expected in each of many places,
    /// [`Replacements::default`] costs nothing until there is one.
    pub fn new(f: &Function) -> Replacements {
        Replacements { map: (0..f.values.len() as u32).collect(), any: false }
    }
    /// Whether there is any.
    pub fn any(&self) -> bool {
        self.any
    }
    /// `old` becomes `new` everywhere.
    pub fn replace(&mut self, old: Value, new: Value) {
        let new = self.resolve(new);
        let old = self.resolve(old);
        if old != new {
            self.grow(old.0.max(new.0));
            self.map[old.0 as usize] = new.0;
            self.any = true;
        }
    }
    fn grow(&mut self, to: u32) {
        let n = self.map.len() as u32;
        self.map.extend(n..(to + 1).max(n));
    }
    /// What a value has become.
    pub fn resolve(&mut self, v: Value) -> Value {
        let mut root = v.0;
        while let Some(&next) = self.map.get(root as usize) {
            if next == root {
                break;
            }
            root = next;
        }
        // Shorten the path for the next look-up.
        let mut at = v.0;
        while at != root {
            let next = self.map[at as usize];
            self.map[at as usize] = root;
            at = next;
        }
        Value(root)
    }
    /// Replaces an instruction's operands.
    pub fn apply_to(&mut self, f: &mut Function, i: Inst) {
        let d = &mut f.insts[i.0 as usize];
        for v in d.args.iter_mut().chain(d.targets.iter_mut().flat_map(|t| t.args.iter_mut())) {
            *v = self.resolve(*v);
        }
    }
    /// Replaces all operands of a function.
    pub fn apply(&mut self, f: &mut Function) {
        if !self.any {
            return;
        }
        for b in 0..f.blocks.len() {
            for n in 0..f.blocks[b].insts.len() {
                self.apply_to(f, f.blocks[b].insts[n]);
            }
        }
    }
}

/// Removes the parameters that are not to be kept (a flag for each parameter of each block), and their arguments on
/// every edge.
pub fn remove_params(f: &mut Function, removals: &[(Block, Vec<bool>)]) {
    if removals.is_empty() {
        return;
    }
    let filter = |values: &mut dyn Iterator<Item = Value>, keep: &[bool]| -> Vec<Value> {
        values.zip(keep).filter(|(_, k)| **k).map(|(v, _)| v).collect()
    };
    let mut of: Vec<Option<&[bool]>> = vec![None; f.blocks.len()];
    for (block, keep) in removals {
        of[block.0 as usize] = Some(keep);
        let params = std::mem::take(&mut f.blocks[block.0 as usize].params);
        let kept = filter(&mut params.into_iter(), keep);
        for (n, &v) in kept.iter().enumerate() {
            f.values[v.0 as usize].def = crate::ir::Def::Param(*block, n as u16);
        }
        f.blocks[block.0 as usize].params = kept;
    }
    for b in 0..f.blocks.len() {
        let Some(t) = f.terminator(Block(b as u32)) else { continue };
        for target in &mut f.insts[t.0 as usize].targets {
            if let Some(keep) = of[target.block.0 as usize] {
                target.args = filter(&mut target.args.iter().copied(), keep).into();
            }
        }
    }
}

/// Moves all constants to the start of the entry block, each once: so they are defined wherever they are used.
pub fn constants_to_entry(f: &mut Function) {
    let mut known: HashMap<(Ty, u64), Value> = HashMap::new();
    let mut first = Vec::new();
    let mut r = Replacements::new(f);
    for b in 0..f.blocks.len() {
        let insts = std::mem::take(&mut f.blocks[b].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for i in insts {
            let Opcode::Const(bits) = f.inst(i).op else {
                kept.push(i);
                continue;
            };
            let v = f.inst(i).results[0];
            match known.entry((f.ty(v), bits)) {
                Entry::Occupied(e) => r.replace(v, *e.get()),
                Entry::Vacant(e) => {
                    e.insert(v);
                    first.push(i);
                }
            }
        }
        f.blocks[b].insts = kept;
    }
    f.blocks[0].insts.splice(0..0, first);
    r.apply(f);
}

/// How often each value is used.
pub fn count_uses(f: &Function) -> Vec<u32> {
    let mut uses = vec![0; f.values.len()];
    for &i in f.blocks.iter().flat_map(|b| &b.insts) {
        let d = f.inst(i);
        for v in d.args.iter().chain(d.targets.iter().flat_map(|t| &t.args)) {
            uses[v.0 as usize] += 1;
        }
    }
    uses
}
