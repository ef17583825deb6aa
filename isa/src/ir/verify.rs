//! Checks that a function is well formed: shapes, types, dominance, block arguments.
use super::{Block, Cfg, Def, Function, Inst, InstData, Module, Opcode, Value, signature};

/// What is wrong with a function.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("function {function:?}, block {block}, instruction {op}: {why}", block = block.0)]
pub struct VerifyError {
    /// Function.
    pub function: String,
    /// Block.
    pub block: Block,
    /// The opcode, as text.
    pub op: String,
    /// What is wrong.
    pub why: String,
    /// Source position.
    pub loc: super::Loc,
}

/// Checks all functions of a module.
pub fn verify_module(m: &Module) -> Result<(), VerifyError> {
    m.functions.iter().try_for_each(|f| verify(f, Some(m)))
}

/// Checks one function (calls and globals unchecked).
pub fn verify_function(f: &Function) -> Result<(), VerifyError> {
    verify(f, None)
}

fn verify(f: &Function, module: Option<&Module>) -> Result<(), VerifyError> {
    let fail = |block: Block, inst: Option<Inst>, why: String| VerifyError {
        function: f.name.clone(),
        block,
        op: inst.map_or_else(|| "-".to_string(), |i| format!("{:?} (v{:?})", f.inst(i).op, f.inst(i).results)),
        why,
        loc: inst.map(|i| f.inst(i).loc).unwrap_or_default(),
    };
    if f.blocks.is_empty() {
        return Err(fail(Function::ENTRY, None, "the function has no block".into()));
    }
    structure(f).map_err(|(b, i, why)| fail(b, i, why))?;
    let cfg = Cfg::new(f);
    if !cfg.preds(Function::ENTRY).is_empty() {
        return Err(fail(Function::ENTRY, None, "a branch goes to the entry block".into()));
    }
    // Position of each value's definition: block and index in it (0 for parameters).
    let mut place: Vec<Option<(Block, u32)>> = vec![None; f.values.len()];
    for b in f.block_ids() {
        for &p in &f.block(b).params {
            place[p.0 as usize] = Some((b, 0));
        }
        for (n, &i) in f.block(b).insts.iter().enumerate() {
            for &r in &f.inst(i).results {
                place[r.0 as usize] = Some((b, n as u32 + 1));
            }
        }
    }
    for &b in &cfg.rpo {
        for (n, &i) in f.block(b).insts.iter().enumerate() {
            let d = f.inst(i);
            let used = d.args.iter().chain(d.targets.iter().flat_map(|t| &t.args));
            for &v in used {
                let visible = match place[v.0 as usize] {
                    None => false,
                    Some((db, dn)) if db == b => dn <= n as u32,
                    Some((db, _)) => cfg.reachable(db) && cfg.dominates(db, b),
                };
                if !visible {
                    return Err(fail(b, Some(i), format!("v{} is used where it is not defined", v.0)));
                }
            }
            targets(f, d).and_then(|()| calls(f, d, module)).map_err(|why| fail(b, Some(i), why))?;
        }
    }
    Ok(())
}

type Misplaced = (Block, Option<Inst>, String);

/// Indices in range, one terminator at the end, definitions that point back.
fn structure(f: &Function) -> Result<(), Misplaced> {
    let value_ok = |v: Value| (v.0 as usize) < f.values.len();
    for b in f.block_ids() {
        let data = f.block(b);
        for (n, &p) in data.params.iter().enumerate() {
            if !value_ok(p) || f.def(p) != Def::Param(b, n as u16) {
                return Err((b, None, format!("parameter {n} is not defined by the block")));
            }
        }
        for (n, &i) in data.insts.iter().enumerate() {
            let d = f.inst(i);
            let last = n + 1 == data.insts.len();
            let used = || d.args.iter().chain(d.targets.iter().flat_map(|t| &t.args)).chain(&d.results);
            if !used().all(|&v| value_ok(v)) || !d.targets.iter().all(|t| (t.block.0 as usize) < f.blocks.len()) {
                return Err((b, Some(i), "an index is out of range".into()));
            }
            if d.results.iter().enumerate().any(|(k, &r)| f.def(r) != Def::Result(i, k as u16)) {
                return Err((b, Some(i), "a result does not point to its instruction".into()));
            }
            if d.op.is_terminator() != last {
                return Err((b, Some(i), "a terminator inside a block, or none at its end".into()));
            }
            if matches!(d.op, Opcode::Alloca { .. }) && b != Function::ENTRY {
                return Err((b, Some(i), "Alloca outside the entry block".into()));
            }
            signature::check(f, d).map_err(|why| (b, Some(i), why))?;
        }
    }
    Ok(())
}

fn targets(f: &Function, d: &InstData) -> Result<(), String> {
    let expected = match &d.op {
        Opcode::Jump => 1,
        Opcode::Branch => 2,
        Opcode::Switch(cases) => cases.len() + 1,
        _ => 0,
    };
    if d.targets.len() != expected {
        return Err("wrong number of targets".into());
    }
    for t in &d.targets {
        let params = &f.block(t.block).params;
        if params.len() != t.args.len() || params.iter().zip(&t.args).any(|(&p, &a)| f.ty(p) != f.ty(a)) {
            return Err(format!("arguments do not match the parameters of block {}", t.block.0));
        }
        if f.block(t.block).insts.is_empty() {
            return Err(format!("block {} is empty", t.block.0));
        }
    }
    Ok(())
}

fn calls(f: &Function, d: &InstData, module: Option<&Module>) -> Result<(), String> {
    let types = |vs: &[Value]| vs.iter().map(|&v| f.ty(v)).collect::<Vec<_>>();
    match &d.op {
        Opcode::Return if types(&d.args) != f.results => Err("the values returned do not match".into()),
        Opcode::Call(g) => {
            let Some(m) = module else { return Ok(()) };
            let g = m.functions.get(*g).ok_or("a call of no function")?;
            let params: Vec<_> = g.blocks.first().map_or(&[][..], |b| &b.params).iter().map(|&p| g.ty(p)).collect();
            if params != types(&d.args) || g.results != types(&d.results) {
                return Err(format!("the call does not match the signature of {:?}", g.name));
            }
            Ok(())
        }
        Opcode::GlobalAddress(g) => match module.map(|m| m.globals.get(*g).map(|g| g.space)) {
            Some(space) if space != Some(f.ty(d.results[0])) => Err("address of no such variable".into()),
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}
