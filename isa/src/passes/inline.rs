//! Inlining: every call is replaced by its callee's body (OpenCL C has no recursion).
use crate::ir::{Block, Def, Function, Inst, Module, Opcode, Target, Value};
use smallvec::SmallVec;

/// Instructions that a kernel may have after inlining.
const MAX_INSTRUCTIONS: usize = 4_000_000;

/// The function number `root` with all calls inlined. Errors: recursion, or too large a result.
pub fn inline(module: &Module, root: usize) -> Result<Function, String> {
    let mut done: Vec<Option<Function>> = vec![None; module.functions.len()];
    let mut on_path = vec![false; module.functions.len()];
    let mut stack = vec![root];
    while let Some(&f) = stack.last() {
        let function = module.functions.get(f).ok_or("a call of no function")?;
        if done[f].is_some() {
            on_path[f] = false;
            stack.pop();
            continue;
        }
        on_path[f] = true;
        let missing = callees(function).find(|&g| done.get(g).is_some_and(Option::is_none));
        match missing {
            Some(g) if on_path[g] => {
                return Err(format!(
                    "the function {:?} calls itself: recursion is not allowed",
                    module.functions[g].name
                ));
            }
            Some(g) => stack.push(g),
            None => {
                done[f] = Some(expand(function, &done)?);
                on_path[f] = false;
                stack.pop();
            }
        }
    }
    done[root].take().ok_or_else(|| "no such function".to_string())
}

fn callees(f: &Function) -> impl Iterator<Item = usize> + '_ {
    let insts = f.blocks.iter().flat_map(|b| &b.insts);
    insts.filter_map(|&i| if let Opcode::Call(g) = f.inst(i).op { Some(g) } else { None })
}

fn expand(function: &Function, done: &[Option<Function>]) -> Result<Function, String> {
    let mut f = function.clone();
    let mut b = 0;
    while b < f.blocks.len() {
        let block = Block(b as u32);
        let call = f.blocks[b].insts.iter().position(|&i| matches!(f.inst(i).op, Opcode::Call(_)));
        if let Some(at) = call {
            let Opcode::Call(g) = f.inst(f.blocks[b].insts[at]).op else { continue };
            let callee = done.get(g).and_then(Option::as_ref).ok_or("a call of no function")?;
            splice(&mut f, block, at, callee);
            if f.insts.len() > MAX_INSTRUCTIONS {
                return Err(format!("inlining makes more than {MAX_INSTRUCTIONS} instructions"));
            }
        }
        // The rest of a split block is a new one further on, so each block is looked at once.
        b += 1;
    }
    Ok(f)
}

/// Puts a callee's body in place of the call at index `at` of `block`.
fn splice(f: &mut Function, block: Block, at: usize, callee: &Function) {
    let rest = f.add_block();
    let tail = f.blocks[block.0 as usize].insts.split_off(at + 1);
    let call = f.blocks[block.0 as usize].insts.pop();
    f.blocks[rest.0 as usize].insts = tail;
    let Some(call) = call else { return };
    let loc = f.inst(call).loc;
    let args = f.inst(call).args.clone();
    // The call's results become the parameters of the block behind it.
    let results = f.inst(call).results.clone();
    for (n, &r) in results.iter().enumerate() {
        f.values[r.0 as usize].def = Def::Param(rest, n as u16);
    }
    f.blocks[rest.0 as usize].params = results.to_vec();
    f.inst_mut(call).results.clear();

    let first_block = f.blocks.len() as u32;
    let first_inst = f.insts.len() as u32;
    let first_value = f.values.len() as u32;
    let map_block = |b: Block| Block(b.0 + first_block);
    let entry_params = callee.blocks.first().map_or(&[][..], |b| &b.params[..]);
    let map_value = |v: Value| match callee.def(v) {
        Def::Param(Function::ENTRY, n) if entry_params.get(n as usize) == Some(&v) => args[n as usize],
        _ => Value(v.0 + first_value),
    };
    for v in &callee.values {
        let mut v = v.clone();
        v.def = match v.def {
            Def::Result(i, n) => Def::Result(Inst(i.0 + first_inst), n),
            Def::Param(b, n) => Def::Param(map_block(b), n),
        };
        f.values.push(v);
    }
    for d in &callee.insts {
        let mut d = d.clone();
        d.args.iter_mut().for_each(|v| *v = map_value(*v));
        d.results.iter_mut().for_each(|v| v.0 += first_value);
        for t in &mut d.targets {
            t.block = map_block(t.block);
            t.args.iter_mut().for_each(|v| *v = map_value(*v));
        }
        if d.op == Opcode::Return {
            let args = std::mem::take(&mut d.args);
            d.op = Opcode::Jump;
            d.targets = SmallVec::from_iter([Target { block: rest, args }]);
        }
        f.insts.push(d);
    }
    let mut allocas = Vec::new();
    for (n, b) in callee.blocks.iter().enumerate() {
        let mut b = b.clone();
        b.insts.iter_mut().for_each(|i| i.0 += first_inst);
        b.params.iter_mut().for_each(|v| v.0 += first_value);
        if n == 0 {
            b.params.clear();
            let is_alloca = |i: &Inst| matches!(f.inst(*i).op, Opcode::Alloca { .. });
            allocas.extend(b.insts.iter().copied().filter(is_alloca));
            b.insts.retain(|i| !is_alloca(i));
        }
        f.blocks.push(b);
    }
    f.blocks[0].insts.splice(0..0, allocas);
    let jump = f.append(block, Opcode::Jump, &[], &[], loc);
    f.inst_mut(jump).targets.push(Target { block: Block(first_block), args: SmallVec::new() });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{IBin, Loc, Ty, verify_function};

    /// f(x) = x + x, with a branch that returns early.
    fn double() -> Function {
        let mut f = Function { name: "double".into(), results: vec![Ty::I32], ..Function::default() };
        let e = f.add_block();
        let x = f.add_param(e, Ty::I32);
        let i = f.append(e, Opcode::IBin(IBin::Add), &[x, x], &[Ty::I32], Loc::default());
        let r = f.inst(i).results[0];
        f.append(e, Opcode::Return, &[r], &[], Loc::default());
        f
    }

    #[test]
    fn calls_disappear_and_results_arrive() {
        let mut g = Function { name: "g".into(), results: vec![Ty::I32], ..Function::default() };
        let e = g.add_block();
        let x = g.add_param(e, Ty::I32);
        let a = g.append(e, Opcode::Call(0), &[x], &[Ty::I32], Loc::default());
        let a = g.inst(a).results[0];
        let b = g.append(e, Opcode::Call(0), &[a], &[Ty::I32], Loc::default());
        let b = g.inst(b).results[0];
        g.append(e, Opcode::Return, &[b], &[], Loc::default());
        let m = Module { functions: vec![double(), g], ..Module::default() };
        let f = inline(&m, 1).expect("inlines");
        verify_function(&f).expect("well formed");
        let used: Vec<_> = f.blocks.iter().flat_map(|b| &b.insts).map(|&i| f.inst(i).op.clone()).collect();
        assert!(!used.iter().any(|o| matches!(o, Opcode::Call(_))));
        assert_eq!(used.iter().filter(|o| **o == Opcode::IBin(IBin::Add)).count(), 2);
    }

    #[test]
    fn recursion_is_an_error() {
        let mut f = Function { name: "f".into(), ..Function::default() };
        let e = f.add_block();
        f.append(e, Opcode::Call(0), &[], &[], Loc::default());
        f.append(e, Opcode::Return, &[], &[], Loc::default());
        let m = Module { functions: vec![f], ..Module::default() };
        assert!(inline(&m, 0).expect_err("recursion").contains("recursion"));
    }
}
