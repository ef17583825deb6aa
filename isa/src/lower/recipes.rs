//! Recipes: what an operation without a single machine instruction costs.
//!
//! A recipe is a list of steps from the target section (`docs/recipes.md`). One step carries the value; the others are
//! ghosts, which take pipes, registers and dependences but have no effect. Recipes are expanded before scheduling and
//! allocation, so their steps interleave with other code.
use super::cfg::Cfg;
use super::mir::{File, MFunc, MInst, Opd, VReg};
use std::collections::{BTreeMap, HashMap};
use warpscope_configs::specs::TargetSpec;
use warpscope_exec::ops::{Conversion, IntFn, MathFn, Op, OpClass, Rounding, Ty, modifiers};
use warpscope_exec::program::steps::{AFTER_LOW, GUARDED, HIGH, READ_EARLIER_SHIFT};
use warpscope_exec::program::{SourceLine, flags};

/// Where a step reads from or writes to.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
enum Place {
    /// Source 0, 1 or 2 of the operation, and which word of it.
    Source(u8, u8),
    /// What was negated, of an operation on a negation.
    Negated,
    /// A word of the result.
    Result(u8),
    /// A temporary register.
    Temp(u8),
    /// A temporary of two registers.
    Wide(u8),
    /// A temporary predicate.
    Predicate(u8),
    /// A temporary uniform register.
    Uniform(u8),
    /// The step that carries the value.
    Value,
    /// Nothing: the step has no result.
    Nowhere,
}

/// One step.
#[derive(Clone, Debug, PartialEq)]
struct Step {
    class: OpClass,
    to: Place,
    from: Vec<Place>,
    /// Its predicates are guards, not operands.
    guarded: bool,
    /// A branch that goes over this many instructions which are not modelled.
    over: u16,
    /// It makes a constant in a temporary, which further operations of the kind share.
    constant: bool,
    /// Of the step with the value: sources of the operation that steps it depends on have read, by bit.
    read_earlier: u8,
}

/// Recipes by the name of the operation: those of the target, then those of its library.
#[derive(Clone, Debug)]
pub(super) struct Recipes<'a> {
    target: &'a TargetSpec,
    /// Those that were wanted so far. A library has far more than a kernel uses.
    parsed: BTreeMap<&'a str, Vec<Step>>,
}

impl<'a> Recipes<'a> {
    /// The recipes of a target; the error names the recipe and the step.
    pub fn of(target: &'a TargetSpec) -> Result<Recipes<'a>, String> {
        let mut recipes = Recipes { target, parsed: BTreeMap::new() };
        for (name, lines) in &target.recipes {
            recipes.parsed.insert(name, parse("recipes", name, lines)?);
        }
        Ok(recipes)
    }

    /// The recipe called `name`, if there is one.
    fn named(&mut self, name: &str) -> Result<Option<&[Step]>, String> {
        let library = &self.target.library;
        if !self.parsed.contains_key(name)
            && let Some((name, mut lines)) = library.get_key_value(name)
        {
            if let [only] = lines.as_slice()
                && let Some(other) = only.strip_prefix("as ")
            {
                let missing = || format!("target.library.\"{name}\": there is no recipe \"{other}\"");
                lines = library.get(other).ok_or_else(missing)?;
            }
            self.parsed.insert(name, parse("library", name, lines)?);
        }
        Ok(self.parsed.get(name).map(Vec::as_slice))
    }

    /// The recipe of an operation, if it has one. `negation`: its first source is a negation made in the same block.
    fn find(&mut self, i: &MInst, last: Option<u32>, negation: bool) -> Result<Option<&[Step]>, String> {
        if matches!(i.class, OpClass::LoadUniform | OpClass::LoadConstant) && i.op == Op::Mov64 {
            // Both words come in one load.
            return Ok(None);
        }
        let flushes = matches!(i.op, Op::MathF32 | Op::FDivF32 | Op::FSqrtF32) && i.imm & modifiers::FLUSH != 0;
        let form = if flushes { Some(".ftz") } else { negation.then_some(".negated") };
        let known = |name: &str| self.target.recipes.contains_key(name) || self.target.library.contains_key(name);
        let forms = |name: String| form.map(|f| format!("{name}{f}")).into_iter().chain([name]);
        match names(i, last).flat_map(forms).find(|name| known(name)) {
            Some(name) => self.named(&name),
            None => Ok(None),
        }
    }
}

/// Parses a recipe of the key `target.{key}`.
fn parse(key: &str, name: &str, lines: &[String]) -> Result<Vec<Step>, String> {
    let steps: Result<Vec<Step>, String> =
        lines.iter().map(|l| step(l).map_err(|why| format!("target.{key}.\"{name}\": step `{l}`: {why}"))).collect();
    let mut steps = steps?;
    let values = steps.iter().filter(|s| s.to == Place::Value).count();
    if values != 1 {
        return Err(format!("target.{key}.\"{name}\": {values} steps carry the value; it must be one"));
    }
    find_read_earlier(&mut steps);
    Ok(steps)
}

/// The names under which an operation's recipe is looked up, the most specific first. `last` is the value of its last
/// source where that is a literal.
fn names(i: &MInst, last: Option<u32>) -> impl Iterator<Item = String> + use<> {
    let name = i.op.mnemonic();
    let sign = |ty: Ty, signed: bool| match ty.is_float() {
        true => format!("{ty:?}").to_lowercase(),
        false => format!("{}{}", if signed { 's' } else { 'u' }, ty.bits()),
    };
    let special = match i.op {
        Op::MathF16 | Op::MathF32 | Op::MathF64 => match MathFn::ALL.get(i.imm2 as usize) {
            // Functions of half precision are computed in single precision.
            Some(f) if i.op == Op::MathF16 => {
                [Some(format!("{name}.{}", f.name())), Some(format!("mufu.{}", f.name()))]
            }
            f => [f.map(|f| format!("{name}.{}", f.name())), None],
        },
        Op::IntFn => match (IntFn::ALL.get(i.imm as usize), Ty::ALL.get(i.imm2 as usize)) {
            (Some(f), Some(&ty)) => {
                let ty = sign(ty, format!("{f:?}").ends_with('S'));
                [Some(format!("{name}.{}.{ty}", f.name())), Some(format!("{name}.{}", f.name()))]
            }
            _ => [None, None],
        },
        Op::Convert => {
            let c = Conversion::unpack(i.imm);
            let types = format!("{name}.{}.{}", sign(c.to, c.to_signed), sign(c.from, c.from_signed));
            [c.saturate.then(|| format!("{types}.sat")), Some(types)]
        }
        Op::FRoundF16 | Op::FRoundF32 | Op::FRoundF64 => {
            [(i.imm == Rounding::NearestAway as i32).then(|| format!("{name}.round")), None]
        }
        Op::IAddZext => [(i.imm != 0).then(|| format!("{name}.offset")), None],
        // A literal last source, in particular 0, may cost less.
        _ => [(last == Some(0)).then(|| format!("{name}.zero")), last.map(|_| format!("{name}.literal"))],
    };
    special.into_iter().flatten().chain([name.to_string()])
}

/// Parses `class to = from, from …` or `class to`, for a branch with `over N` behind it.
fn step(line: &str) -> Result<Step, String> {
    let (line, over) = match line.split_once(" over ") {
        Some((line, n)) => (line, n.trim().parse::<u16>().map_err(|_| format!("`{n}` is no number of instructions"))?),
        None => (line, 0),
    };
    let (head, tail) = line.split_once('=').unwrap_or((line, ""));
    let mut words = head.split_whitespace();
    let key = words.next().ok_or("it is empty")?;
    let class = OpClass::ALL
        .iter()
        .copied()
        .find(|c| c.key() == key)
        .ok_or_else(|| format!("`{key}` is not an operation class"))?;
    if over > 0 && class != OpClass::Branch {
        return Err("only a branch goes over instructions".into());
    }
    let to = place(words.next().ok_or("it has no destination")?)?;
    if let Some(extra) = words.next() {
        return Err(format!("`{extra}` is too much; sources stand behind `=`"));
    }
    if matches!(to, Place::Source(..) | Place::Negated) {
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
    if from.len() > 4 {
        return Err("it has more than four sources".into());
    }
    if guarded && to == Place::Value {
        return Err("the step with the value cannot be guarded: it always has its effect".into());
    }
    let constant = from.is_empty() && matches!(to, Place::Temp(_) | Place::Wide(_));
    Ok(Step { class, to, from, guarded, over, constant, read_earlier: 0 })
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
        "none" => Place::Nowhere,
        "d" => Place::Result(word),
        "a" => Place::Source(0, word),
        "b" => Place::Source(1, word),
        "c" => Place::Source(2, word),
        "n" => Place::Negated,
        _ if name.starts_with('t') => Place::Temp(number()?),
        _ if name.starts_with('w') => Place::Wide(number()?),
        _ if name.starts_with('p') => Place::Predicate(number()?),
        _ if name.starts_with('u') => Place::Uniform(number()?),
        _ => return Err(format!("`{text}` is not a place (d, a, b, c, n, t0…, w0…, p0…, u0…, value, none)")),
    })
}

/// Temporaries of one expansion, and what the operation's first source is the negation of.
#[derive(Default)]
struct Temps {
    made: Vec<(Place, VReg)>,
    negated: Option<VReg>,
}

impl Temps {
    fn get(&mut self, f: &mut MFunc, p: Place) -> VReg {
        if let Some(&(_, v)) = self.made.iter().find(|t| t.0 == p) {
            return v;
        }
        let v = match p {
            Place::Predicate(_) => f.new_vreg(File::Predicate, 1),
            Place::Uniform(_) => f.new_vreg(File::Uniform, 1),
            Place::Wide(_) => f.new_vreg(File::Vector, 2),
            _ => f.new_vreg(File::Vector, 1),
        };
        self.made.push((p, v));
        v
    }
}

/// Constants of recipes are made before the loops as long as there are no more of them in one place.
const CONSTANTS_BEFORE_LOOPS: u32 = 6;

/// Where the constants of recipes are made: once a block, or before the loops around it.
struct Constants {
    /// For each block the one before all loops around it.
    outside: Vec<usize>,
    /// How many were put at the end of each block for loops.
    count: Vec<u32>,
    /// The register by block, recipe (the place of its steps in memory; never iterated) and number.
    made: HashMap<(usize, usize, Place), VReg>,
}

impl Constants {
    /// Makes the constant of step `s` of a recipe available in block `b`, whose code so far is `out`.
    fn get(&mut self, f: &mut MFunc, b: usize, i: &MInst, recipe: &[Step], s: &Step, out: &mut Vec<MInst>) -> VReg {
        let key = |b: usize| (b, recipe.as_ptr() as usize, s.to);
        let before = self.outside[b];
        if let Some(&v) = self.made.get(&key(before)).or_else(|| self.made.get(&key(b))) {
            return v;
        }
        let mut temps = Temps::default();
        let g = ghost(f, i, s, &[], &mut temps);
        let v = temps.get(f, s.to);
        if before != b && self.count[before] < CONSTANTS_BEFORE_LOOPS {
            self.count[before] += 1;
            f.blocks[before].insts.push(g);
            self.made.insert(key(before), v);
        } else {
            out.push(g);
            self.made.insert(key(b), v);
        }
        v
    }
}

/// Expands every operation that has a recipe.
pub(super) fn expand(f: &mut MFunc, recipes: &mut Recipes) -> Result<(), String> {
    let blocks = f.blocks.len();
    let mut constants = Constants { outside: Cfg::outside_loops(f), count: vec![0; blocks], made: HashMap::new() };
    for b in 0..blocks {
        let old = std::mem::take(&mut f.blocks[b].insts);
        let mut new = Vec::with_capacity(old.len());
        // Registers that hold the negation of another.
        let mut negations: BTreeMap<VReg, VReg> = BTreeMap::new();
        for i in old {
            let negated = i.src[0].vreg().and_then(|v| negations.get(&v).copied());
            for v in i.defs() {
                negations.retain(|negation, from| *negation != v && *from != v);
                if i.op == Op::FNegF32
                    && let Some(from) = i.src[0].vreg().filter(|from| *from != v)
                {
                    negations.insert(v, from);
                }
            }
            if i.is_ghost() {
                new.push(i);
                continue;
            }
            let last = i.src.iter().rev().find(|s| !s.is_none()).and_then(|&s| f.pool.literal(s));
            match recipes.find(&i, last, negated.is_some())? {
                Some(steps) => expand_one(f, b, i, negated, steps, &mut constants, &mut new),
                None => new.push(i),
            }
        }
        // What a later block put here for its loop comes last.
        new.append(&mut f.blocks[b].insts);
        f.blocks[b].insts = new;
    }
    Ok(())
}

fn expand_one(
    f: &mut MFunc,
    b: usize,
    i: MInst,
    negated: Option<VReg>,
    steps: &[Step],
    constants: &mut Constants,
    out: &mut Vec<MInst>,
) {
    let mut temps = Temps { negated, ..Temps::default() };
    let uniform = i.flags & flags::UNIFORM != 0;
    let low_first = steps.iter().any(|s| s.to == Place::Result(0));
    for s in steps {
        if s.constant && !uniform {
            let v = constants.get(f, b, &i, steps, s, out);
            temps.made.push((s.to, v));
            continue;
        }
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
                if value.src[slot].is_none() && (slot == 3 || !(reads_optional(value.op) || reads_pairs(&value))) {
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

/// Whether even an absent source but the last stands for two registers.
fn reads_pairs(i: &MInst) -> bool {
    i.op == Op::MathF64 || i.op == Op::IntFn && i.imm2 == Ty::I64 as u32
}

fn ghost(f: &mut MFunc, i: &MInst, s: &Step, from: &[Opd], temps: &mut Temps) -> MInst {
    let dst = match s.to {
        Place::Temp(_) | Place::Wide(_) | Place::Uniform(_) => Opd::Reg(temps.get(f, s.to), 0),
        Place::Predicate(_) => Opd::Pred(temps.get(f, s.to), false),
        Place::Result(w) => match i.dst {
            Opd::Reg(v, at) => Opd::Reg(v, at + w.min(f.info(v).size - 1 - at)),
            _ => Opd::None,
        },
        Place::Source(..) | Place::Negated | Place::Value | Place::Nowhere => Opd::None,
    };
    let mut g = MInst::new(Op::Nop, dst, from, i.loc);
    g.flags = flags::GHOST | i.flags & flags::UNIFORM;
    g.imm = i32::from(s.over);
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
        Place::Negated => temps.negated.map_or(Opd::None, |v| Opd::Reg(v, 0)),
        Place::Temp(_) | Place::Wide(_) | Place::Uniform(_) => Opd::Reg(temps.get(f, p), 0),
        Place::Predicate(_) => Opd::Pred(temps.get(f, p), false),
        // The result is not there yet: what wrote its word for the scoreboard orders the steps already.
        Place::Result(_) | Place::Value | Place::Nowhere => Opd::None,
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
        assert_eq!(step("branch p1 = p0 over 108").unwrap().over, 108);
        assert!(step("alu t0 = a over 3").unwrap_err().contains("only a branch"));
        assert!(step("branch none over many").unwrap_err().contains("`many` is no number"));
        assert!(step("fp32 t0 = @a").unwrap_err().contains("not a predicate"));
        assert!(step("add t0 = a").unwrap_err().contains("`add` is not an operation class"));
        assert!(step("alu a = b").unwrap_err().contains("source"));
        assert!(step("alu t0 = q").unwrap_err().contains("`q` is not a place"));
        let mut steps: Vec<Step> =
            ["compare p0 = b", "fp32 t0 = a, @p0", "alu t1 = c", "fp32 value = t0"].map(|l| step(l).unwrap()).into();
        find_read_earlier(&mut steps);
        assert_eq!(steps[3].read_earlier, 0b011, "what reads `c` could come after the value");
        let none = parse("recipes", "iadd.64", &["alu t0 = a".to_string()]).unwrap_err();
        assert!(none.contains("target.recipes.\"iadd.64\": 0 steps carry the value"), "{none}");
        let step_of_library = parse("library", "mufu.pow", &["alu t0 = a, b, c, t1, t2".to_string()]).unwrap_err();
        assert!(step_of_library.contains("target.library.\"mufu.pow\": step"), "{step_of_library}");
    }

    #[test]
    fn the_library_of_every_machine_is_whole() {
        for name in ["generic", "nvidia-h200", "wave64", "simd32", "tiny"] {
            let target = warpscope_configs::load(name, &[]).expect("the preset loads").spec.target;
            let mut recipes = Recipes::of(&target).unwrap();
            for key in target.library.keys() {
                assert!(recipes.named(key).unwrap().is_some_and(|steps| !steps.is_empty()), "{key} of {name}");
            }
            // What the OpenCL library computes is never one instruction.
            for f in ["pow", "powr", "erf", "atan2", "lgamma", "f64.exp", "f64.pow"] {
                assert!(recipes.named(&format!("mufu.{f}")).unwrap().unwrap().len() > 10, "{f} of {name}");
            }
        }
        let mut target = warpscope_configs::load("generic", &[]).expect("the preset loads").spec.target;
        target.library.insert("frem".into(), vec!["as nothing".into()]);
        let e = Recipes::of(&target).unwrap().named("frem").unwrap_err();
        assert!(e.contains("target.library.\"frem\": there is no recipe \"nothing\""), "{e}");
    }

    #[test]
    fn the_most_specific_name_comes_first() {
        let inst = |op, imm, imm2| MInst::new(op, Opd::None, &[], SourceLine::default()).imm(imm).imm2(imm2);
        let at = |f: &str, signed: bool| {
            let found = |g: &IntFn| g.name() == f && format!("{g:?}").ends_with('S') == signed;
            IntFn::ALL.iter().position(found).unwrap() as i32
        };
        let list = |i: &MInst, last| names(i, last).collect::<Vec<_>>();
        let add_sat = inst(Op::IntFn, at("add_sat", false), Ty::I16 as u32);
        assert_eq!(list(&add_sat, None), ["ifn.add_sat.u16", "ifn.add_sat", "ifn"]);
        assert_eq!(list(&inst(Op::SDiv64, 0, 0), Some(7)), ["idiv.s64.literal", "idiv.s64"]);
        assert_eq!(list(&inst(Op::LeaSext, 2, 0), Some(0)), ["lea.sx32.zero", "lea.sx32.literal", "lea.sx32"]);
    }
}
