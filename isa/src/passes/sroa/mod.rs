//! Private memory into values: allocas are split by the byte ranges that are accessed at constant offsets, and each
//! range that is only loaded and stored becomes an SSA value. Copies are first split along the same ranges.
mod copies;
mod promote;

use crate::ir::{Cfg, Function, Inst, Opcode, Ty, Value};

/// Promotes what can be; gives whether anything changed.
pub fn run(f: &mut Function) -> bool {
    if !f.blocks.iter().flat_map(|b| &b.insts).any(|&i| matches!(f.inst(i).op, Opcode::Alloca { .. })) {
        return false;
    }
    let cfg = Cfg::new(f);
    let expanded = copies::expand(f, &cfg);
    promote::promote(f, &cfg) | expanded
}

/// An alloca.
struct Place {
    size: u32,
    /// Its address is used for other than accesses at constant offsets.
    escapes: bool,
}

/// Which alloca and offset each pointer refers to.
struct Pointers {
    places: Vec<Place>,
    /// By value: alloca number and byte offset.
    of: Vec<Option<(usize, i64)>>,
}

impl Pointers {
    fn new(f: &Function, cfg: &Cfg) -> Pointers {
        let mut p = Pointers { places: Vec::new(), of: vec![None; f.values.len()] };
        for &b in &cfg.rpo {
            for &i in &f.block(b).insts {
                p.instruction(f, i);
            }
        }
        p
    }

    fn instruction(&mut self, f: &Function, i: Inst) {
        let d = f.inst(i);
        match &d.op {
            Opcode::Alloca { size, .. } => {
                self.of[d.results[0].0 as usize] = Some((self.places.len(), 0));
                self.places.push(Place { size: *size, escapes: false });
            }
            Opcode::PtrAdd { .. } => {
                let Some((place, offset)) = self.get(d.args[0]) else { return };
                match f.as_const(d.args[1]) {
                    Some(k) => {
                        let k = crate::ir::eval::signed(k, 32);
                        self.of[d.results[0].0 as usize] = Some((place, offset.wrapping_add(k)));
                    }
                    None => self.places[place].escapes = true,
                }
            }
            Opcode::Load(a) => {
                let bytes = bytes(f.ty(d.results[0])) * u32::from(a.count);
                self.access(d.args[0], bytes, a.volatile);
            }
            Opcode::Store(a) => {
                let bytes = bytes(f.ty(d.args[1])) * u32::from(a.count);
                self.access(d.args[0], bytes, a.volatile);
                d.args[1..].iter().for_each(|&v| self.escape(v));
            }
            Opcode::Copy { bytes, .. } => {
                self.access(d.args[0], *bytes, false);
                self.access(d.args[1], *bytes, false);
            }
            _ => {
                let used = d.args.iter().chain(d.targets.iter().flat_map(|t| &t.args));
                used.for_each(|&v| self.escape(v));
            }
        }
    }

    fn access(&mut self, p: Value, bytes: u32, volatile: bool) {
        if let Some((place, offset)) = self.get(p) {
            let end = offset.checked_add(i64::from(bytes));
            let inside = offset >= 0 && end.is_some_and(|e| e <= i64::from(self.places[place].size));
            if volatile || !inside {
                self.places[place].escapes = true;
            }
        }
    }
    fn escape(&mut self, v: Value) {
        if let Some((place, _)) = self.get(v) {
            self.places[place].escapes = true;
        }
    }
    fn get(&self, v: Value) -> Option<(usize, i64)> {
        self.of.get(v.0 as usize).copied().flatten()
    }
    /// Alloca and offset, where the alloca does not escape.
    fn local(&self, v: Value) -> Option<(usize, u32)> {
        let (place, offset) = self.get(v)?;
        if self.places[place].escapes { None } else { Some((place, u32::try_from(offset).ok()?)) }
    }
}

/// Bytes of a value in memory.
fn bytes(ty: Ty) -> u32 {
    ty.bits().div_ceil(8)
}

/// The integer type of a number of bytes.
fn integer(bytes: u32) -> Option<Ty> {
    Some(match bytes {
        1 => Ty::I8,
        2 => Ty::I16,
        4 => Ty::I32,
        8 => Ty::I64,
        _ => return None,
    })
}

/// Disjoint ranges that cover given ones: those that overlap are joined.
fn join_ranges(mut ranges: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    ranges.sort_unstable();
    let mut joined: Vec<(u32, u32)> = Vec::new();
    for (lo, hi) in ranges {
        match joined.last_mut() {
            Some(last) if lo < last.1 => last.1 = last.1.max(hi),
            _ => joined.push((lo, hi)),
        }
    }
    joined
}
