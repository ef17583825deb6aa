//! The order of the passes.
use super::rewrite::constants_to_entry;
use super::strength::Steps;
use super::unroll::{Phase, UnrollLimits};
use super::{
    address, aggregate, ahead, conditions, cse, dce, fold, implied, inline, licm, low_bits, mad, memory, origins,
    rotate, rows, simplify_cfg, speculate, sroa, strength, thread, unroll, vectorise, widen,
};
use crate::ir::{Function, Kernel, Module, verify_function};

/// Which passes run.
#[derive(Clone, Debug)]
pub struct PassOptions {
    /// Constant folding and algebraic simplification.
    pub fold: bool,
    /// Private memory into values.
    pub sroa: bool,
    /// Common subexpressions.
    pub cse: bool,
    /// Control-flow simplification.
    pub simplify_cfg: bool,
    /// Dead code.
    pub dce: bool,
    /// Loop unrolling.
    pub unroll: Option<UnrollLimits>,
    /// Loops tested at their end.
    pub rotate: bool,
    /// What does not change in a loop moves out.
    pub licm: bool,
    /// Constant parts of indices become offsets.
    pub address: bool,
    /// Multiply-adds are also made of a product and a sum in different statements.
    pub contract: bool,
    /// Atomics of a sub-group of this many work-items to one address become one.
    pub aggregate: Option<u32>,
    /// Checks the function after each pass (for tests).
    pub verify: bool,
}

impl Default for PassOptions {
    fn default() -> Self {
        PassOptions {
            fold: true,
            sroa: true,
            cse: true,
            simplify_cfg: true,
            dce: true,
            unroll: Some(UnrollLimits::default()),
            rotate: true,
            licm: true,
            address: true,
            contract: false,
            aggregate: None,
            verify: false,
        }
    }
}

impl PassOptions {
    /// Nothing but inlining.
    pub fn none() -> Self {
        PassOptions {
            fold: false,
            sroa: false,
            cse: false,
            simplify_cfg: false,
            dce: false,
            unroll: None,
            rotate: false,
            licm: false,
            address: false,
            contract: false,
            aggregate: None,
            verify: false,
        }
    }
}

/// The optimised function of a kernel, without calls.
pub fn optimise(module: &Module, kernel: &Kernel, options: &PassOptions) -> Result<Function, String> {
    let f = inline::inline(module, kernel.function)?;
    let mut p = Pipeline { module, options, f };
    p.check("inline")?;
    p.clean()?;
    p.pass(true, "origins", |f| origins::run(f, &kernel.restricted))?;
    // Before there are copies of the loops, each with a place of its own for what does not change.
    p.pass(options.licm, "licm", licm::run)?;
    if let Some(limits) = &options.unroll {
        if p.pass(options.address, "strength", |f| strength::run(f, Steps::Products))? {
            p.clean()?;
        }
        for _ in 0..ROUNDS {
            if !p.pass(true, "unroll", |f| unroll::run(f, limits, Phase::Whole))? {
                break;
            }
            p.clean()?;
        }
        if p.pass(options.address, "strength", |f| strength::run(f, Steps::Products))? {
            p.clean()?;
        }
        p.pass(true, "unroll", |f| unroll::run(f, limits, Phase::Part))?;
        p.clean()?;
        if p.pass(options.fold, "low_bits", low_bits::run)? {
            p.clean()?;
        }
    }
    p.pass(true, "mad", |f| mad::run(f, kernel.contraction_off, options.contract))?;
    if p.pass(options.address, "address", address::run)? {
        p.clean()?;
    }
    if p.pass(options.address, "strength", |f| strength::run(f, Steps::Constants))? {
        p.clean()?;
    }
    if let Some(width) = options.aggregate {
        p.pass(true, "aggregate", |f| aggregate::run(f, width))?;
    }
    p.pass(options.rotate, "rotate", rotate::run)?;
    p.pass(options.licm, "licm", licm::run)?;
    p.clean()?;
    if p.pass(options.address, "ahead", ahead::run)? {
        p.clean()?;
    }
    if p.pass(options.address, "speculate", speculate::run)? {
        p.clean()?;
    }
    if p.pass(options.address, "rows", rows::run)? {
        p.clean()?;
    }
    if p.pass(options.address, "vectorise", |f| vectorise::run(f, &module.globals))? {
        p.clean()?;
    }
    simplify_cfg::compact(&mut p.f);
    p.check("compact")?;
    Ok(p.f)
}

struct Pipeline<'a> {
    module: &'a Module,
    options: &'a PassOptions,
    f: Function,
}

/// Rounds of cleaning up after which the rest is left.
const ROUNDS: usize = 6;

impl Pipeline<'_> {
    fn check(&self, pass: &str) -> Result<(), String> {
        if !self.options.verify {
            return Ok(());
        }
        verify_function(&self.f).map_err(|e| format!("after {pass}: {e}"))
    }

    fn pass(&mut self, on: bool, name: &str, run: impl FnOnce(&mut Function) -> bool) -> Result<bool, String> {
        if !on {
            return Ok(false);
        }
        let changed = run(&mut self.f);
        self.check(name)?;
        Ok(changed)
    }

    /// The clean-up passes until nothing changes.
    fn clean(&mut self) -> Result<(), String> {
        let o = self.options.clone();
        let globals = &self.module.globals;
        for _ in 0..ROUNDS {
            let mut again = self.pass(o.simplify_cfg, "simplify_cfg", simplify_cfg::run)?;
            again |= self.pass(o.simplify_cfg, "conditions", conditions::run)?;
            again |= self.pass(o.simplify_cfg, "thread", thread::run)?;
            again |= self.pass(o.sroa, "sroa", sroa::run)?;
            again |= self.pass(o.fold, "widen", widen::run)?;
            again |= self.pass(o.fold, "fold", |f| fold::run(f, globals))?;
            again |= self.pass(o.cse, "cse", cse::run)?;
            again |= self.pass(o.cse, "memory", memory::run)?;
            again |= self.pass(o.cse, "implied", implied::run)?;
            again |= self.pass(o.dce, "dce", dce::run)?;
            if !again {
                break;
            }
        }
        // Loop passes rely on it: a constant is invariant wherever it stands.
        constants_to_entry(&mut self.f);
        Ok(())
    }
}
