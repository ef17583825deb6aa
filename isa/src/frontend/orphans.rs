//! Decorations that lost their instruction.
//!
//! llvm-spirv 15 gives an instruction whose result was referred to before its definition (the value that a loop
//! carries round) the id of that reference, but leaves its decorations on the id that it had first, which nothing
//! defines then. Ids are given out in the order of the instructions, so the place of the missing one says whose it was.
use super::error::FrontendError;
use super::module::{Decorations, ExtSet, ModuleReader, Source};
use super::words::Instr;
use crate::ir::flag;
use spirv::Op;
use std::collections::BTreeMap;

/// Gives every decoration without an instruction back to the one that it was meant for. Those that change results and
/// whose instruction cannot be told are an error.
pub(super) fn adopt(m: &mut ModuleReader<'_>) -> Result<(), FrontendError> {
    let mut orphans: BTreeMap<u32, Decorations> = m.arithmetic_decorations().map(|(id, d)| (id, d.clone())).collect();
    for f in &m.functions {
        for i in f.params.iter().chain(&f.body) {
            orphans.remove(&i.id);
        }
    }
    if orphans.is_empty() {
        return Ok(());
    }
    let mut found = Vec::new();
    for f in &m.functions {
        search(m, f, &mut orphans, &mut found);
    }
    for (id, d) in found {
        m.decorate_again(id, d);
    }
    let lost = orphans.iter().find(|(id, d)| (d.saturate || d.rounding.is_some()) && !m.constants.contains_key(id));
    match (lost, m.functions.first()) {
        (Some((id, _)), Some(f)) => Err(f.header.error(lost_conversion(*id))),
        _ => Ok(()),
    }
}

fn lost_conversion(id: u32) -> String {
    format!(
        "the module decorates %{id} with a rounding mode or saturation, but no instruction defines it: compile the \
         source with another version of the translator"
    )
}

/// Looks for stretches of instructions with ids out of order, between two whose ids leave room for orphans.
fn search(
    m: &ModuleReader<'_>,
    f: &Source<'_>,
    orphans: &mut BTreeMap<u32, Decorations>,
    found: &mut Vec<(u32, Decorations)>,
) {
    // Debug information has ids of its own.
    let ignored =
        |i: &Instr<'_>| i.op == Op::ExtInst && i.at(0).is_ok_and(|set| m.ext_sets.get(&set) == Some(&ExtSet::Ignored));
    let mut before = f.params.iter().map(|p| p.id).max().unwrap_or(f.id);
    let mut moved: Vec<&Instr<'_>> = Vec::new();
    for i in f.body.iter().filter(|i| i.id != 0 && !ignored(i)) {
        if i.id < before {
            // Labels get their ids beforehand.
            if i.op != Op::Label {
                moved.push(i);
            }
            continue;
        }
        settle(before, i.id, &moved, orphans, found);
        moved.clear();
        before = i.id;
    }
    settle(before, u32::MAX, &moved, orphans, found);
}

fn settle(
    before: u32,
    after: u32,
    moved: &[&Instr<'_>],
    orphans: &mut BTreeMap<u32, Decorations>,
    found: &mut Vec<(u32, Decorations)>,
) {
    if moved.is_empty() || before.saturating_add(1) >= after {
        return;
    }
    let inside: Vec<u32> = orphans.range(before + 1..after).map(|(&id, _)| id).collect();
    // Where nothing else took ids in between, the place is exact.
    let exact = (after - before - 1) as usize == moved.len();
    for id in inside {
        let fitting: Vec<&&Instr<'_>> = moved.iter().filter(|i| fits(i.op, &orphans[&id])).collect();
        let owner = match fitting[..] {
            _ if exact => moved.get((id - before - 1) as usize).filter(|i| fits(i.op, &orphans[&id])),
            [only] => Some(only),
            _ => None,
        };
        if let (Some(i), Some(d)) = (owner.map(|i| i.id), orphans.get(&id).cloned())
            && !found.iter().any(|(taken, _)| *taken == i)
        {
            orphans.remove(&id);
            found.push((i, d));
        }
    }
}

/// Whether an instruction can have these decorations.
fn fits(op: Op, d: &Decorations) -> bool {
    let conversion = matches!(
        op,
        Op::SConvert
            | Op::UConvert
            | Op::FConvert
            | Op::ConvertFToS
            | Op::ConvertFToU
            | Op::ConvertSToF
            | Op::ConvertUToF
            | Op::SatConvertSToU
            | Op::SatConvertUToS
    );
    let integer = matches!(op, Op::IAdd | Op::ISub | Op::IMul | Op::ShiftLeftLogical | Op::SNegate);
    let float =
        matches!(op, Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FRem | Op::FMod | Op::FNegate | Op::ExtInst);
    let wraps = d.flags & (flag::NSW | flag::NUW) != 0;
    let fast = d.flags & (flag::CONTRACT | flag::RECIPROCAL) != 0;
    let rounds = d.saturate || d.rounding.is_some();
    (!rounds || conversion) && (!wraps || integer) && (!fast || float)
}
