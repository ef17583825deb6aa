//! What memory is known to hold: loads of what was loaded or stored before take that value, stores of what is there
//! already go, and so do stores that the next one to the same place covers.
//!
//! Two accesses are apart where their spaces or variables differ, where `restrict` says so, or where they lie at constant
//! offsets from one address that do not overlap. Nothing is known over barriers, fences, calls and volatile accesses, behind which other
//! work-items may have written.
use super::loops;
use super::rewrite::Replacements;
use crate::ir::{Block, Cfg, Function, Inst, Opcode, Order, Origin, Ty, Value};
use smallvec::SmallVec;
use std::collections::HashMap;

/// Places remembered at a time; the oldest are forgotten.
const REMEMBERED: usize = 64;
/// Bytes of the widest vector that one access stores.
const VECTOR: i64 = 16;
/// Steps back to the variable that a pointer points into.
const STEPS: u32 = 16;

/// Bytes that an access touches.
#[derive(Copy, Clone, PartialEq)]
pub(super) struct Place {
    base: Value,
    from: i64,
    bytes: i64,
    space: Ty,
    variable: Option<Variable>,
    origin: Origin,
}

#[derive(Copy, Clone, PartialEq)]
enum Variable {
    Module(usize),
    Private(Value),
}

impl Place {
    /// What a load, a store or the like touches.
    pub(super) fn of(f: &Function, i: Inst) -> Place {
        let d = f.inst(i);
        let bytes = match &d.op {
            Opcode::Copy { bytes, .. } => *bytes,
            Opcode::Store(_) => bytes(f, &d.args[1..]),
            Opcode::Atomic { .. } => d.args.get(1).or(d.results.first()).map_or(0, |&v| bytes(f, &[v])),
            _ => bytes(f, &d.results),
        };
        let pointer = d.args[0];
        let (mut base, mut from) = (pointer, 0i64);
        let mut root = pointer;
        let mut constant = true;
        for _ in 0..STEPS {
            let Some(d) = f.def_inst(root).filter(|d| matches!(d.op, Opcode::PtrAdd { .. })) else { break };
            let offset = f.as_const(d.args[1]).map(|k| match f.ty(d.args[1]) {
                Ty::I64 => k as i64,
                _ => i64::from(k as u32 as i32),
            });
            root = d.args[0];
            constant &= offset.is_some();
            if let Some(sum) = offset.filter(|_| constant).and_then(|k| from.checked_add(k)) {
                (base, from) = (root, sum);
            } else {
                constant = false;
            }
        }
        let variable = match f.def_inst(root).map(|d| &d.op) {
            Some(&Opcode::GlobalAddress(g)) => Some(Variable::Module(g)),
            Some(&Opcode::Alloca { .. }) => Some(Variable::Private(root)),
            _ => None,
        };
        Place { base, from, bytes: i64::from(bytes), space: f.ty(pointer), variable, origin: d.origin }
    }

    fn end(&self) -> i64 {
        self.from.saturating_add(self.bytes)
    }

    /// Whether no byte can belong to both.
    pub(super) fn apart(&self, other: &Place) -> bool {
        let generic = self.space == Ty::PtrGeneric || other.space == Ty::PtrGeneric;
        if self.base == other.base {
            return self.end() <= other.from || other.end() <= self.from;
        }
        self.space != other.space && !generic
            || self.origin.apart(other.origin)
            || self.variable.is_some() && other.variable.is_some() && self.variable != other.variable
    }

    fn covers(&self, other: &Place) -> bool {
        self.base == other.base && self.from <= other.from && other.end() <= self.end()
    }
}

/// What an instruction may change.
enum Change {
    Nothing,
    Bytes(Place),
    Anything,
}

/// Bytes of the values that an instruction loads or stores.
fn bytes(f: &Function, values: &[Value]) -> u32 {
    values.iter().map(|&v| f.ty(v).bits().div_ceil(8)).sum()
}

fn change(f: &Function, i: Inst) -> Change {
    let d = f.inst(i);
    match &d.op {
        Opcode::Store(a) if !a.volatile => Change::Bytes(Place::of(f, i)),
        Opcode::Copy { .. } | Opcode::Atomic { order: Order::Relaxed, .. } => Change::Bytes(Place::of(f, i)),
        Opcode::Load(a) if !a.volatile => Change::Nothing,
        Opcode::Load(_) => Change::Anything,
        op if op.has_effect() && !op.is_terminator() => Change::Anything,
        _ => Change::Nothing,
    }
}

/// Places with the values that they hold.
#[derive(Clone, Default)]
struct Known(Vec<(Place, SmallVec<[Value; 2]>)>);

impl Known {
    fn forget(&mut self, change: &Change) {
        match change {
            Change::Nothing => {}
            Change::Anything => self.0.retain(|k| k.0.space == Ty::PtrConstant),
            Change::Bytes(p) => self.0.retain(|k| k.0.space == Ty::PtrConstant || k.0.apart(p)),
        }
    }

    fn add(&mut self, place: Place, values: &[Value]) {
        if self.0.len() == REMEMBERED {
            self.0.remove(0);
        }
        self.0.push((place, values.into()));
    }

    fn find(&self, f: &Function, place: &Place, like: &[Value]) -> Option<&[Value]> {
        let same =
            |values: &[Value]| values.len() == like.len() && values.iter().zip(like).all(|(&a, &b)| f.ty(a) == f.ty(b));
        self.0.iter().rev().find(|k| k.0 == *place && same(&k.1)).map(|k| &k.1[..])
    }

    /// What both know.
    fn meet(&mut self, other: &Known) {
        self.0.retain(|k| other.0.contains(k));
    }
}

/// Runs the pass; gives whether anything went.
pub fn run(f: &mut Function) -> bool {
    if !f.insts.iter().any(|d| matches!(d.op, Opcode::Load(_) | Opcode::Store(_))) {
        return false;
    }
    let cfg = Cfg::new(f);
    let changes: Vec<Vec<Change>> = f
        .block_ids()
        .map(|b| f.block(b).insts.iter().map(|&i| change(f, i)).filter(|c| !matches!(c, Change::Nothing)).collect())
        .collect();
    let bodies: HashMap<Block, Vec<Block>> = loops::find(f, &cfg).into_iter().map(|l| (l.header, l.blocks)).collect();
    let mut at_end: Vec<Option<Known>> = vec![None; f.blocks.len()];
    let mut r = Replacements::new(f);
    let mut removed = false;
    for &b in &cfg.rpo {
        let mut known = at_start(&cfg, b, &at_end, &bodies, &changes);
        removed |= block(f, b, &mut known, &mut r);
        at_end[b.0 as usize] = Some(known);
    }
    let changed = removed || r.any();
    r.apply(f);
    changed
}

/// What is known at the start of a block: what all that lead to it know, without what its loop may change.
fn at_start(
    cfg: &Cfg,
    b: Block,
    at_end: &[Option<Known>],
    bodies: &HashMap<Block, Vec<Block>>,
    changes: &[Vec<Change>],
) -> Known {
    let body = bodies.get(&b);
    let mut known: Option<Known> = None;
    for p in cfg.preds(b) {
        match (&at_end[p.0 as usize], &mut known) {
            (Some(end), None) => known = Some(end.clone()),
            (Some(end), Some(known)) => known.meet(end),
            // A way back in the loop that the block heads.
            (None, _) if body.is_some_and(|l| l.contains(p)) => {}
            (None, _) => return Known::default(),
        }
    }
    let mut known = known.unwrap_or_default();
    for c in body.into_iter().flatten().flat_map(|l| &changes[l.0 as usize]) {
        known.forget(c);
    }
    known
}

fn block(f: &mut Function, b: Block, known: &mut Known, r: &mut Replacements) -> bool {
    let insts = std::mem::take(&mut f.blocks[b.0 as usize].insts);
    let mut kept: Vec<Option<Inst>> = Vec::with_capacity(insts.len());
    // Stores that nothing has read since.
    let mut unread: Vec<(Place, usize)> = Vec::new();
    let mut stores: Vec<Stored> = Vec::new();
    let mut removed = false;
    for i in insts {
        r.apply_to(f, i);
        let d = f.inst(i);
        let seen = match &d.op {
            Opcode::Load(a) if !a.volatile => {
                let place = Place::of(f, i);
                if let Some(values) = known.find(f, &place, &d.results) {
                    d.results.iter().zip(values).for_each(|(&old, &new)| r.replace(old, new));
                    removed = true;
                    continue;
                }
                unread.retain(|u| u.0.apart(&place));
                Some((place, SmallVec::<[Value; 2]>::from_slice(&d.results)))
            }
            Opcode::Store(a) if !a.volatile => {
                let values = &d.args[1..];
                let place = Place::of(f, i);
                let idle = known.find(f, &place, values).is_some_and(|v| v == values);
                stores.push(Stored { place, align: i64::from(a.align), index: kept.len(), idle });
                if idle {
                    kept.push(Some(i));
                    continue;
                }
                unread.retain(|u| {
                    let covered = place.covers(&u.0);
                    if covered {
                        kept[u.1] = None;
                        removed = true;
                    }
                    !covered
                });
                unread.push((place, kept.len()));
                known.forget(&Change::Bytes(place));
                Some((place, values.into()))
            }
            _ => {
                let c = change(f, i);
                if !matches!(c, Change::Nothing) {
                    unread.clear();
                }
                known.forget(&c);
                None
            }
        };
        if let Some((place, values)) = seen {
            known.add(place, &values);
        }
        kept.push(Some(i));
    }
    for s in stores.iter().filter(|s| s.idle && !s.belongs_to_vector(&stores)) {
        removed |= kept[s.index].take().is_some();
    }
    f.blocks[b.0 as usize].insts = kept.into_iter().flatten().collect();
    removed
}

/// A store of a block.
struct Stored {
    place: Place,
    align: i64,
    /// Number in the block's instructions.
    index: usize,
    /// It stores what is there.
    idle: bool,
}

impl Stored {
    /// Whether it is part of a vector of which another part changes: stored as one, it costs nothing. Members of
    /// structures that happen to be aligned alike are no vector: at least three of four parts are stored.
    fn belongs_to_vector(&self, stores: &[Stored]) -> bool {
        let (at, base, bytes) = (self.place.from, self.place.base, self.place.bytes);
        let of = |s: &&Stored| s.place.base == base && s.place.bytes == bytes;
        let leads = stores.iter().filter(of).filter(|s| s.align > s.place.bytes);
        leads.map(|s| s.place.from..s.place.from + s.align.min(VECTOR)).filter(|v| v.contains(&at)).any(|vector| {
            let parts = || stores.iter().filter(of).filter(|s| vector.contains(&s.place.from));
            let whole = 4 * bytes * parts().count() as i64 >= 3 * (vector.end - vector.start);
            whole && parts().any(|s| !s.idle)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Access, Loc, Scope, verify_function};

    const LOC: Loc = Loc { file: 0, line: 0 };
    const WORD: Access = Access { count: 1, align: 4, volatile: false };

    /// A function of two global pointers `p`, `q`, a local variable and a value, with a block to fill.
    struct Draft {
        f: Function,
        b: Block,
        p: Value,
        q: Value,
        local: Value,
        v: Value,
    }

    impl Draft {
        fn new() -> Draft {
            let mut f = Function { name: "m".into(), results: vec![Ty::I32; 2], ..Function::default() };
            let b = f.add_block();
            let (p, q) = (f.add_param(b, Ty::PtrGlobal), f.add_param(b, Ty::PtrGlobal));
            let v = f.add_param(b, Ty::I32);
            let local = f.append(b, Opcode::GlobalAddress(0), &[], &[Ty::PtrLocal], LOC);
            let local = f.inst(local).results[0];
            Draft { f, b, p, q, local, v }
        }
        fn at(&mut self, base: Value, offset: u64) -> Value {
            let k = self.f.append(self.b, Opcode::Const(offset), &[], &[Ty::I64], LOC);
            let k = self.f.inst(k).results[0];
            let ty = self.f.ty(base);
            let i = self.f.append(self.b, Opcode::PtrAdd { inbounds: true }, &[base, k], &[ty], LOC);
            self.f.inst(i).results[0]
        }
        fn load(&mut self, at: Value) -> Value {
            let i = self.f.append(self.b, Opcode::Load(WORD), &[at], &[Ty::I32], LOC);
            self.f.inst(i).results[0]
        }
        fn store(&mut self, at: Value, v: Value) {
            self.f.append(self.b, Opcode::Store(WORD), &[at, v], &[], LOC);
        }
        fn barrier(&mut self) {
            let op = Opcode::Barrier { flags: 3, scope: Scope::WorkGroup };
            self.f.append(self.b, op, &[], &[], LOC);
        }
        /// Loads and stores that are left, with two values returned.
        fn left(mut self, a: Value, b: Value) -> (usize, usize) {
            self.f.append(self.b, Opcode::Return, &[a, b], &[], LOC);
            verify_function(&self.f).expect("built right");
            run(&mut self.f);
            verify_function(&self.f).expect("left right");
            let count = |is: fn(&Opcode) -> bool| {
                self.f.blocks.iter().flat_map(|b| &b.insts).filter(|&&i| is(&self.f.inst(i).op)).count()
            };
            (count(|o| matches!(o, Opcode::Load(_))), count(|o| matches!(o, Opcode::Store(_))))
        }
    }

    #[test]
    fn stores_of_what_is_there_go_unless_something_may_have_changed_it() {
        for (between, expected) in [(0, (1, 0)), (1, (1, 2)), (2, (1, 1)), (3, (1, 1)), (4, (1, 1))] {
            let mut d = Draft::new();
            let (p, q, local, v) = (d.p, d.q, d.local, d.v);
            let old = d.load(p);
            match between {
                1 => d.store(q, v),
                // Apart: another place from the same pointer, another space.
                2 => {
                    let next = d.at(p, 4);
                    d.store(next, v);
                }
                3 => d.store(local, v),
                4 => d.barrier(),
                _ => {}
            }
            d.store(p, old);
            assert_eq!(d.left(old, v), expected, "case {between}");
        }
    }

    #[test]
    fn loads_take_what_was_stored_or_loaded_at_the_same_place() {
        for (kind, expected) in [(0, (0, 1)), (1, (1, 0)), (2, (1, 2)), (3, (1, 1)), (4, (1, 1))] {
            let mut d = Draft::new();
            let (p, q, v) = (d.p, d.q, d.v);
            let first = if kind == 1 { d.load(p) } else { v };
            if kind != 1 {
                d.store(p, v);
            }
            match kind {
                2 => d.store(q, v),
                3 => d.barrier(),
                _ => {}
            }
            // A word two bytes further is another one.
            let at = if kind == 4 { d.at(p, 2) } else { p };
            let second = d.load(at);
            assert_eq!(d.left(first, second), expected, "case {kind}");
        }
    }

    #[test]
    fn covered_stores_go_unless_read() {
        for (read, expected) in [(false, (0, 1)), (true, (1, 2))] {
            let mut d = Draft::new();
            let (p, q, v) = (d.p, d.q, d.v);
            d.store(p, v);
            let seen = if read { d.load(q) } else { v };
            let zero = d.f.append(d.b, Opcode::Const(0), &[], &[Ty::I32], LOC);
            let zero = d.f.inst(zero).results[0];
            d.store(p, zero);
            assert_eq!(d.left(seen, v), expected, "read {read}");
        }
    }

    /// Four words of which one changes: they are stored as a vector where the first is aligned for one.
    #[test]
    fn vectors_are_stored_whole() {
        for (align, expected) in [(16, 4), (8, 2), (4, 1)] {
            let mut d = Draft::new();
            let (p, v) = (d.p, d.v);
            let places: Vec<Value> = (0..4).map(|n| d.at(p, 4 * n)).collect();
            let old: Vec<Value> = places.iter().map(|&at| d.load(at)).collect();
            for n in 0..4 {
                d.store(places[n], if n == 1 { v } else { old[n] });
                if n == 0 {
                    let last = *d.f.block(d.b).insts.last().expect("the store");
                    d.f.inst_mut(last).op = Opcode::Store(Access { align, ..WORD });
                }
            }
            assert_eq!(d.left(v, v).1, expected, "aligned to {align}");
        }
    }

    /// Two words at the start of what is aligned to 16 bytes are members of a structure.
    #[test]
    fn structures_are_not_stored_whole() {
        let mut d = Draft::new();
        let (p, v) = (d.p, d.v);
        let places: Vec<Value> = (0..2).map(|n| d.at(p, 4 * n)).collect();
        let old = d.load(places[1]);
        d.store(places[0], v);
        let last = *d.f.block(d.b).insts.last().expect("the store");
        d.f.inst_mut(last).op = Opcode::Store(Access { align: 16, ..WORD });
        d.store(places[1], old);
        assert_eq!(d.left(v, v).1, 1);
    }

    /// `x = *p; do { if (writes) *q = v; *p = x; } while (…); y = *p;`: what the loop stores is known behind it.
    #[test]
    fn loops_keep_what_nothing_in_them_changes() {
        for (writes, expected) in [(false, (1, 1)), (true, (2, 2))] {
            let mut d = Draft::new();
            let (p, q, v) = (d.p, d.q, d.v);
            let first = d.load(p);
            let (header, exit) = (d.f.add_block(), d.f.add_block());
            loops::jump(&mut d.f, d.b, crate::ir::Target { block: header, args: SmallVec::new() }, LOC);
            d.b = header;
            if writes {
                d.store(q, v);
            }
            d.store(p, first);
            let t = d.f.append(header, Opcode::ICmp(crate::ir::Cond::Eq), &[first, v], &[Ty::Bool], LOC);
            let t = d.f.inst(t).results[0];
            let branch = d.f.append(header, Opcode::Branch, &[t], &[], LOC);
            for block in [header, exit] {
                d.f.inst_mut(branch).targets.push(crate::ir::Target { block, args: SmallVec::new() });
            }
            d.b = exit;
            let p_again = d.at(p, 0);
            let last = if writes { d.load(q) } else { d.load(p_again) };
            assert_eq!(d.left(first, last), expected, "writes {writes}");
        }
    }
}
