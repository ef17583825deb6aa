//! Neighbouring loads and stores become one of several elements, where the address is known to be aligned for it:
//! members of structures, and vectors that are read one component at a time.
use super::rewrite::Replacements;
use crate::ir::{Access, Function, Global, Inst, Opcode, Ty, Value};
use std::collections::{HashMap, HashSet};

/// Bytes of the widest access.
const WIDEST: u64 = 16;

/// Joins accesses of each block; gives whether any were. `globals` are the module's variables.
pub fn run(f: &mut Function, globals: &[Global]) -> bool {
    align(f, globals);
    let mut r = Replacements::new(f);
    let mut gone: HashSet<Inst> = HashSet::new();
    for b in f.block_ids() {
        let mut open = Open::default();
        for i in f.block(b).insts.clone() {
            match f.inst(i).op {
                Opcode::Load(a) if joins(f, a, f.inst(i).results[0], f.inst(i).args[0]) => {
                    open.close_stores(f, &mut gone);
                    open.add(f, i, f.inst(i).args[0]);
                }
                Opcode::Store(a) if f.inst(i).args.len() == 2 && joins(f, a, f.inst(i).args[1], f.inst(i).args[0]) => {
                    open.close_loads(f, &mut r, &mut gone);
                    if open.may_overlap(f, f.inst(i).args[0]) {
                        open.close_stores(f, &mut gone);
                    }
                    open.add(f, i, f.inst(i).args[0]);
                }
                ref op if touches_memory(op) => {
                    open.close_loads(f, &mut r, &mut gone);
                    open.close_stores(f, &mut gone);
                }
                _ => {}
            }
        }
        open.close_loads(f, &mut r, &mut gone);
        open.close_stores(f, &mut gone);
    }
    if gone.is_empty() {
        return false;
    }
    for block in &mut f.blocks {
        block.insts.retain(|i| !gone.contains(i));
    }
    r.apply(f);
    true
}

/// Notes at accesses to module-scope variables how they are aligned there, where their place in it is known: with an
/// index the vendor's compiler leaves them alone, whose variables begin 4 bytes behind such a boundary.
fn align(f: &mut Function, globals: &[Global]) {
    for b in f.block_ids() {
        for i in f.block(b).insts.clone() {
            let d = f.inst(i);
            let (Opcode::Load(a) | Opcode::Store(a)) = d.op else { continue };
            let known = alignment(f, globals, d.args[0]).min(WIDEST) as u32;
            if known > a.align
                && let Opcode::Load(a) | Opcode::Store(a) = &mut f.inst_mut(i).op
            {
                a.align = known;
            }
        }
    }
}

/// Power of two that a pointer to a known place in a module-scope variable is a multiple of; 1 for others.
fn alignment(f: &Function, globals: &[Global], pointer: Value) -> u64 {
    let (base, offset) = place(f, pointer);
    match f.def_inst(base).map(|d| &d.op) {
        Some(&Opcode::GlobalAddress(g)) => {
            let of_offset = if offset == 0 { WIDEST } else { 1 << offset.trailing_zeros().min(4) };
            globals.get(g).map_or(1, |g| u64::from(g.align)).min(of_offset)
        }
        _ => 1,
    }
}

/// A plain access to one word of memory that work-items share.
fn joins(f: &Function, a: Access, value: Value, pointer: Value) -> bool {
    let space = matches!(f.ty(pointer), Ty::PtrGlobal | Ty::PtrConstant | Ty::PtrLocal);
    space && a.count == 1 && !a.volatile && matches!(f.ty(value), Ty::I32 | Ty::F32)
}

fn touches_memory(op: &Opcode) -> bool {
    matches!(op, Opcode::Load(_)) || op.has_effect() && !op.is_terminator()
}

/// Base and offset of a pointer.
fn place(f: &Function, pointer: Value) -> (Value, i64) {
    match f.def_inst(pointer) {
        Some(d) if matches!(d.op, Opcode::PtrAdd { .. }) => match f.as_const(d.args[1]) {
            Some(k) if f.ty(d.args[1]) == Ty::I64 => (d.args[0], k as i64),
            Some(k) => (d.args[0], i64::from(k as u32 as i32)),
            None => (pointer, 0),
        },
        _ => (pointer, 0),
    }
}

/// Accesses that may still be joined, in the order of the block: either loads or stores, with nothing between them that
/// could see the difference.
#[derive(Default)]
struct Open {
    list: Vec<(Inst, Value, i64)>,
}

impl Open {
    fn add(&mut self, f: &Function, i: Inst, pointer: Value) {
        let (base, offset) = place(f, pointer);
        self.list.push((i, base, offset));
    }

    /// Whether a store to `pointer` may write what an open store writes: it has another base, or is no whole number of
    /// words away. Such stores keep their order.
    fn may_overlap(&self, f: &Function, pointer: Value) -> bool {
        let (base, offset) = place(f, pointer);
        self.list.iter().any(|x| x.1 != base || (x.2 - offset) % 4 != 0)
    }

    /// Takes the list of loads (or stores), grouped by runs that one access can make: the first is aligned for all.
    fn runs(&mut self, f: &Function, loads: bool) -> Vec<Vec<Inst>> {
        if !self.list.first().is_some_and(|x| matches!(f.inst(x.0).op, Opcode::Load(_)) == loads) {
            return Vec::new();
        }
        let list = std::mem::take(&mut self.list);
        let mut at: HashMap<(Value, i64), usize> = HashMap::new();
        for (n, x) in list.iter().enumerate() {
            // Of two to one place, loads take the first; stores to one place in a row are left alone.
            if at.insert((x.1, x.2), n).is_some() {
                return Vec::new();
            }
        }
        let mut used = vec![false; list.len()];
        let mut runs = Vec::new();
        for (n, &(first, base, offset)) in list.iter().enumerate() {
            let align = match f.inst(first).op {
                Opcode::Load(a) | Opcode::Store(a) => u64::from(a.align).min(WIDEST),
                _ => 0,
            };
            let mut run = vec![n];
            while !used[n] && (run.len() as u64 + 1) * 4 <= align {
                let Some(&m) = at.get(&(base, offset + 4 * run.len() as i64)) else { break };
                if used[m] || ty(f, list[m].0) != ty(f, first) || loads && m < n {
                    break;
                }
                run.push(m);
            }
            if run.len() == 3 {
                run.pop();
            }
            if run.len() > 1 {
                run.iter().for_each(|&m| used[m] = true);
                runs.push(run.into_iter().map(|m| list[m].0).collect());
            }
        }
        runs
    }

    fn close_loads(&mut self, f: &mut Function, r: &mut Replacements, gone: &mut HashSet<Inst>) {
        for run in self.runs(f, true) {
            let first = run[0];
            let count = run.len() as u8;
            if let Opcode::Load(a) = &mut f.inst_mut(first).op {
                a.count = count;
            }
            let ty = ty(f, first);
            for (n, &i) in run.iter().enumerate().skip(1) {
                let v = f.add_value(ty, crate::ir::Def::Result(first, n as u16));
                f.inst_mut(first).results.push(v);
                r.replace(f.inst(i).results[0], v);
                gone.insert(i);
            }
        }
    }

    /// The last store of a run in the block takes the others' values, and the first one's address.
    fn close_stores(&mut self, f: &mut Function, gone: &mut HashSet<Inst>) {
        // Instructions are numbered as they were made, not as they stand.
        let stands: HashMap<Inst, usize> = self.list.iter().enumerate().map(|(n, x)| (x.0, n)).collect();
        for run in self.runs(f, false) {
            let pointer = f.inst(run[0]).args[0];
            let op = f.inst(run[0]).op.clone();
            let values: Vec<Value> = run.iter().map(|&i| f.inst(i).args[1]).collect();
            let Some(&last) = run.iter().max_by_key(|i| stands.get(*i)) else { continue };
            gone.extend(run.iter().copied().filter(|&i| i != last));
            let d = f.inst_mut(last);
            d.op = op;
            if let Opcode::Store(a) = &mut d.op {
                a.count = values.len() as u8;
            }
            d.args.clear();
            d.args.push(pointer);
            d.args.extend(values);
        }
    }
}

/// Type of what an access loads or stores.
fn ty(f: &Function, i: Inst) -> Ty {
    let d = f.inst(i);
    f.ty(d.results.first().copied().unwrap_or_else(|| d.args[1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Loc, verify_function};

    const LOC: Loc = Loc { file: 0, line: 0 };

    /// Four words, `p[0]` to `p[3]`, the first one aligned to `align` bytes; a store to `q` before word `store`.
    fn four(align: u32, store: Option<usize>) -> Function {
        let mut f = Function { name: "four".into(), results: vec![Ty::I32; 4], ..Function::default() };
        let b = f.add_block();
        let (p, q) = (f.add_param(b, Ty::PtrGlobal), f.add_param(b, Ty::PtrGlobal));
        let mut loaded = Vec::new();
        for n in 0..4 {
            if store == Some(n) {
                let op = Opcode::Store(Access { count: 1, align: 4, volatile: false });
                let value = loaded[0];
                f.append(b, op, &[q, value], &[], LOC);
            }
            let offset = f.append(b, Opcode::Const(4 * n as u64), &[], &[Ty::I64], LOC);
            let offset = f.inst(offset).results[0];
            let at = f.append(b, Opcode::PtrAdd { inbounds: true }, &[p, offset], &[Ty::PtrGlobal], LOC);
            let at = f.inst(at).results[0];
            let align = if n == 0 { align } else { 4 };
            let i = f.append(b, Opcode::Load(Access { count: 1, align, volatile: false }), &[at], &[Ty::I32], LOC);
            loaded.push(f.inst(i).results[0]);
        }
        f.append(b, Opcode::Return, &loaded, &[], LOC);
        verify_function(&f).expect("built right");
        f
    }

    fn loads(f: &Function) -> Vec<u8> {
        let count = |&i: &Inst| match f.inst(i).op {
            Opcode::Load(a) => Some(a.count),
            _ => None,
        };
        f.block(Function::ENTRY).insts.iter().filter_map(count).collect()
    }

    /// Two words of `p`, with a store to `q` between them; or to `p` itself.
    fn stores(other: bool) -> Vec<u8> {
        let mut f = Function { name: "two".into(), results: vec![], ..Function::default() };
        let b = f.add_block();
        let (p, q) = (f.add_param(b, Ty::PtrGlobal), f.add_param(b, Ty::PtrGlobal));
        let v = f.add_param(b, Ty::I32);
        let offset = f.append(b, Opcode::Const(4), &[], &[Ty::I64], LOC);
        let offset = f.inst(offset).results[0];
        let at = f.append(b, Opcode::PtrAdd { inbounds: true }, &[p, offset], &[Ty::PtrGlobal], LOC);
        let at = f.inst(at).results[0];
        let store = |align| Opcode::Store(Access { count: 1, align, volatile: false });
        f.append(b, store(8), &[p, v], &[], LOC);
        if other {
            f.append(b, store(4), &[q, v], &[], LOC);
        }
        f.append(b, store(4), &[at, v], &[], LOC);
        f.append(b, Opcode::Return, &[], &[], LOC);
        verify_function(&f).expect("built right");
        run(&mut f, &[]);
        verify_function(&f).expect("left right");
        let count = |&i: &Inst| match f.inst(i).op {
            Opcode::Store(a) => Some(a.count),
            _ => None,
        };
        f.block(Function::ENTRY).insts.iter().filter_map(count).collect()
    }

    /// `q` may be `p`: the second store of three to other places must stay the second.
    #[test]
    fn stores_that_may_overlap_keep_their_order() {
        assert_eq!(stores(false), [2]);
        assert_eq!(stores(true), [1, 1, 1]);
    }

    #[test]
    fn neighbouring_loads_become_one_where_the_first_is_aligned() {
        for (align, store, expected) in [
            (16, None, &[4][..]),
            (8, None, &[2, 1, 1][..]),
            (4, None, &[1, 1, 1, 1][..]),
            (16, Some(2), &[2, 1, 1][..]),
            (16, Some(1), &[1, 1, 1, 1][..]),
        ] {
            let mut f = four(align, store);
            run(&mut f, &[]);
            verify_function(&f).expect("left right");
            assert_eq!(loads(&f), expected, "aligned to {align}, store before {store:?}");
        }
    }
}
