//! Recipes: what an operation without a single machine instruction costs.
//!
//! A recipe is a list of steps from the target section (`docs/recipes.md`). One step carries the value; the others are
//! ghosts, which take pipes, registers and dependences but have no effect. Recipes are expanded before scheduling and
//! allocation, so their steps interleave with other code.
use super::mir::{File, MFunc, MInst, Opd, VReg};
use std::collections::{BTreeMap, HashMap};
use warpscope_exec::ops::{Conversion, IntFn, MathFn, Op, OpClass};
use warpscope_exec::program::steps::{AFTER_LOW, GUARDED, HIGH, READ_EARLIER_SHIFT};
use warpscope_exec::program::{SourceLine, flags};

/// Where a step reads from or writes to.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Place {
    /// Source 0, 1 or 2 of the operation, and which word of it.
    Source(u8, u8),
    /// A word of the result.
    Result(u8),
    /// A temporary register.
    Temp(u8),
    /// A temporary predicate.
    Predicate(u8),
    /// A temporary uniform register.
    Uniform(u8),
    /// The step that carries the value.
    Value,
}

/// One step.
#[derive(Clone, Debug, PartialEq)]
struct Step {
    class: OpClass,
    to: Place,
    from: Vec<Place>,
    /// Its predicates are guards, not operands.
    guarded: bool,
    /// Of the step with the value: sources of the operation that steps it depends on have read, by bit.
    read_earlier: u8,
}

/// Parsed recipes by the name of the operation.
#[derive(Clone, Debug, Default)]
pub(super) struct Recipes(BTreeMap<String, Vec<Step>>);

impl Recipes {
    /// Parses all recipes of a target; the error names the recipe and the step.
    pub fn parse(text: &BTreeMap<String, Vec<String>>) -> Result<Recipes, String> {
        let mut recipes = BTreeMap::new();
        for (name, lines) in text {
            let steps: Result<Vec<Step>, String> = lines
                .iter()
                .map(|l| step(l).map_err(|why| format!("target.recipes.\"{name}\": step `{l}`: {why}")))
                .collect();
            let mut steps = steps?;
            let values = steps.iter().filter(|s| s.to == Place::Value).count();
            if values != 1 {
                return Err(format!("target.recipes.\"{name}\": {values} steps carry the value; it must be one"));
            }
            find_read_earlier(&mut steps);
            recipes.insert(name.clone(), steps);
        }
        Ok(Recipes(recipes))
    }

    /// The recipe of an operation, if it has one.
    fn find(&self, i: &MInst, zero: bool) -> Option<&Vec<Step>> {
        if matches!(i.class, OpClass::LoadUniform | OpClass::LoadConstant) && i.op == Op::Mov64 {
            // Both words come in one load.
            return None;
        }
        let name = i.op.mnemonic();
        let detail = match i.op {
            Op::MathF16 | Op::MathF32 | Op::MathF64 => MathFn::ALL.get(i.imm2 as usize).map(|f| f.name().to_string()),
            Op::IntFn => IntFn::ALL.get(i.imm as usize).map(|f| f.name().to_string()),
            Op::Convert => {
                let c = Conversion::unpack(i.imm);
                let sign = |ty: warpscope_exec::ops::Ty, signed: bool| match ty.is_float() {
                    true => format!("{ty:?}").to_lowercase(),
                    false => format!("{}{}", if signed { 's' } else { 'u' }, ty.bits()),
                };
                Some(format!("{}.{}", sign(c.to, c.to_signed), sign(c.from, c.from_signed)))
            }
            // A last source of 0 costs less.
            _ if zero => Some("zero".to_string()),
            _ => None,
        };
        detail.and_then(|d| self.0.get(&format!("{name}.{d}"))).or_else(|| self.0.get(name))
    }
}

/// Parses `class to = from, from …` or `class to`.
fn step(line: &str) -> Result<Step, String> {
    let (head, tail) = line.split_once('=').unwrap_or((line, ""));
    let mut words = head.split_whitespace();
    let key = words.next().ok_or("it is empty")?;
    let class = OpClass::ALL
        .iter()
        .copied()
        .find(|c| c.key() == key)
        .ok_or_else(|| format!("`{key}` is not an operation class"))?;
    let to = place(words.next().ok_or("it has no destination")?)?;
    if let Some(extra) = words.next() {
        return Err(format!("`{extra}` is too much; sources stand behind `=`"));
    }
    if matches!(to, Place::Source(..)) {
        return Err("a source cannot be written".into());
    }
    let mut from = Vec::new();
    let mut guarded = false;
    for source in tail.split(',').map(str::trim).filter(|s| !s.is_empty()) {
        let Some(guard) = source.strip_prefix('@') else {
            from.push(place(source)?);
            continue;
        };
        let guard = place(guard)?;
        if !matches!(guard, Place::Predicate(_)) {
            return Err(format!("`{source}` is not a predicate"));
        }
        guarded = true;
        from.push(guard);
    }
    if from.len() > 3 {
        return Err("it has more than three sources".into());
    }
    if guarded && to == Place::Value {
        return Err("the step with the value cannot be guarded: it always has its effect".into());
    }
    Ok(Step { class, to, from, guarded, read_earlier: 0 })
}

/// Notes at the step with the value which sources the steps that it depends on have read. A step that names no
/// temporaries reads the operation's own sources.
fn find_read_earlier(steps: &mut [Step]) {
    let Some(value) = steps.iter().position(|s| s.to == Place::Value) else { return };
    let mut needed: Vec<Place> =
        steps[value].from.iter().copied().filter(|p| !matches!(p, Place::Result(_) | Place::Source(..))).collect();
    let mut read = 0;
    for step in steps[..value].iter().rev() {
        if needed.contains(&step.to) {
            needed.extend(&step.from);
            let sources = step.from.iter().filter_map(|p| if let Place::Source(n, _) = p { Some(n) } else { None });
            read |= sources.fold(0, |bits, n| bits | 1 << n);
        }
    }
    let again = steps[value].from.iter().filter_map(|p| if let Place::Source(n, _) = p { Some(n) } else { None });
    steps[value].read_earlier = again.fold(read, |bits, n| bits & !(1 << n));
}

fn place(text: &str) -> Result<Place, String> {
    let (name, word) = match text.split_once('.') {
        Some((n, "lo")) => (n, 0),
        Some((n, "hi")) => (n, 1),
        Some((_, w)) => return Err(format!("`{w}` is neither `lo` nor `hi`")),
        None => (text, 0),
    };
    let number = || name[1..].parse::<u8>().map_err(|_| format!("`{text}` is not a place"));
    Ok(match name {
        "value" => Place::Value,
        "d" => Place::Result(word),
        "a" => Place::Source(0, word),
        "b" => Place::Source(1, word),
        "c" => Place::Source(2, word),
        _ if name.starts_with('t') => Place::Temp(number()?),
        _ if name.starts_with('p') => Place::Predicate(number()?),
        _ if name.starts_with('u') => Place::Uniform(number()?),
        _ => return Err(format!("`{text}` is not a place (d, a, b, c, t0…, p0…, u0…, value)")),
    })
}

/// Temporaries of one expansion.
#[derive(Default)]
struct Temps(HashMap<(u8, u8), VReg>);

impl Temps {
    fn get(&mut self, f: &mut MFunc, file: File, n: u8) -> VReg {
        *self.0.entry((file as u8, n)).or_insert_with(|| f.new_vreg(file, 1))
    }
}

/// Expands every operation that has a recipe.
pub(super) fn expand(f: &mut MFunc, recipes: &Recipes) {
    for b in 0..f.blocks.len() {
        let old = std::mem::take(&mut f.blocks[b].insts);
        let mut new = Vec::with_capacity(old.len());
        for i in old {
            let zero = i.src.iter().rev().find(|s| !s.is_none()).is_some_and(|&s| f.pool.literal(s) == Some(0));
            match recipes.find(&i, zero && !i.is_ghost()) {
                Some(steps) if !i.is_ghost() => expand_one(f, i, steps, &mut new),
                _ => new.push(i),
            }
        }
        f.blocks[b].insts = new;
    }
}

fn expand_one(f: &mut MFunc, i: MInst, steps: &[Step], out: &mut Vec<MInst>) {
    let mut temps = Temps::default();
    let uniform = i.flags & flags::UNIFORM != 0;
    let low_first = steps.iter().any(|s| s.to == Place::Result(0));
    for s in steps {
        let from: Vec<Opd> = s.from.iter().map(|&p| operand(f, &i, p, &mut temps)).collect();
        if s.to == Place::Value {
            let mut value = i.clone();
            if !uniform {
                value.class = s.class;
            }
            if low_first && !uniform {
                value.steps |= HIGH;
                if s.from.contains(&Place::Result(0)) {
                    value.steps |= AFTER_LOW;
                }
            }
            value.steps |= s.read_earlier << READ_EARLIER_SHIFT;
            // Further dependences take free source slots from the last one on, which the operation does not look at.
            let mut from = from.into_iter().filter(|o| !o.is_none());
            for slot in [3, 2, 1] {
                if value.src[slot].is_none() && (slot == 3 || !reads_optional(value.op)) {
                    value.src[slot] = from.next().unwrap_or(Opd::None);
                }
            }
            out.push(value);
            continue;
        }
        out.push(ghost(f, &i, s, &from, &mut temps));
    }
}

/// Whether an operation looks at sources that may be absent.
fn reads_optional(op: Op) -> bool {
    matches!(
        op,
        Op::ICmp8
            | Op::ICmp16
            | Op::ICmp32
            | Op::ICmp64
            | Op::FCmpF16
            | Op::FCmpF32
            | Op::FCmpF64
            | Op::AtomGlobal
            | Op::AtomLocal
            | Op::AtomGeneric
    )
}

fn ghost(f: &mut MFunc, i: &MInst, s: &Step, from: &[Opd], temps: &mut Temps) -> MInst {
    let dst = match s.to {
        Place::Temp(n) => Opd::Reg(temps.get(f, File::Vector, n), 0),
        Place::Predicate(n) => Opd::Pred(temps.get(f, File::Predicate, n), false),
        Place::Uniform(n) => Opd::Reg(temps.get(f, File::Uniform, n), 0),
        Place::Result(w) => match i.dst {
            Opd::Reg(v, at) => Opd::Reg(v, at + w.min(f.info(v).size - 1 - at)),
            _ => Opd::None,
        },
        Place::Source(..) | Place::Value => Opd::None,
    };
    let mut g = MInst::new(Op::Nop, dst, from, i.loc);
    g.flags = flags::GHOST | i.flags & flags::UNIFORM;
    g.class = if i.flags & flags::UNIFORM != 0 { i.class } else { s.class };
    g.guard = i.guard;
    g.shadow = matches!(s.to, Place::Result(_));
    // A temporary of a guarded expansion must not look as if it kept an earlier content.
    if !g.shadow {
        g.guard = None;
    }
    if s.guarded {
        g.steps |= GUARDED;
    }
    g
}

fn operand(f: &mut MFunc, i: &MInst, p: Place, temps: &mut Temps) -> Opd {
    match p {
        Place::Source(n, w) => match i.src[n as usize] {
            Opd::Reg(v, at) => Opd::Reg(v, at + w.min(f.info(v).size - 1 - at)),
            o => o,
        },
        Place::Temp(n) => Opd::Reg(temps.get(f, File::Vector, n), 0),
        Place::Predicate(n) => Opd::Pred(temps.get(f, File::Predicate, n), false),
        Place::Uniform(n) => Opd::Reg(temps.get(f, File::Uniform, n), 0),
        // The result is not there yet: what wrote its word for the scoreboard orders the steps already.
        Place::Result(_) | Place::Value => Opd::None,
    }
}

/// Steps that stand on their own, without an operation: all of them ghosts. Returns the last register written.
pub(super) fn sequence(f: &mut MFunc, lines: &[String], what: &str, loc: SourceLine) -> Result<Vec<MInst>, String> {
    let mut temps = Temps::default();
    let host = MInst::new(Op::Nop, Opd::None, &[], loc);
    let mut out = Vec::new();
    for l in lines {
        let s = step(l).map_err(|why| format!("target.{what}: step `{l}`: {why}"))?;
        if matches!(s.to, Place::Value | Place::Result(_)) {
            return Err(format!("target.{what}: step `{l}`: there is no operation that has a value"));
        }
        let from: Vec<Opd> = s.from.iter().map(|&p| operand(f, &host, p, &mut temps)).collect();
        let mut g = ghost(f, &host, &s, &from, &mut temps);
        if matches!(s.to, Place::Uniform(_)) {
            g.flags |= flags::UNIFORM;
        }
        out.push(g);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_parsed_and_faults_are_named() {
        let s = step("alu d.hi = a.hi, b.hi, p0").unwrap();
        assert_eq!(s.class, OpClass::Alu);
        assert_eq!(s.to, Place::Result(1));
        assert_eq!(s.from, [Place::Source(0, 1), Place::Source(1, 1), Place::Predicate(0)]);
        assert!(!s.guarded && step("fp32 t0 = a, @p0").unwrap().guarded);
        assert!(step("fp32 value = a, @p0").unwrap_err().contains("cannot be guarded"));
        assert!(step("fp32 t0 = @a").unwrap_err().contains("not a predicate"));
        assert!(step("add t0 = a").unwrap_err().contains("`add` is not an operation class"));
        assert!(step("alu a = b").unwrap_err().contains("source"));
        assert!(step("alu t0 = q").unwrap_err().contains("`q` is not a place"));
        let mut steps: Vec<Step> =
            ["compare p0 = b", "fp32 t0 = a, @p0", "alu t1 = c", "fp32 value = t0"].map(|l| step(l).unwrap()).into();
        find_read_earlier(&mut steps);
        assert_eq!(steps[3].read_earlier, 0b011, "what reads `c` could come after the value");
        let two = BTreeMap::from([("iadd.64".to_string(), vec!["alu t0 = a".to_string()])]);
        assert!(Recipes::parse(&two).unwrap_err().contains("0 steps carry the value"));
    }
}
