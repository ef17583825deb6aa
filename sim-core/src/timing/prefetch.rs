//! What the host brings near before a compute unit has its turn: all units together are larger than its caches, so while
//! one unit after the other had its turn, they have forgotten this one. Hints only: no result depends on them.
use super::code::Kind;
use super::compute_unit::{ComputeUnit, Context};
use super::scheduler::MAX_SLOTS;
use super::slot::Slot;
use warpscope_memory::host_cache::prefetch;

/// A step on the way from a compute unit to the registers of its warps: each follows pointers that the one before has
/// brought near.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    Unit,
    Parts,
    Lists,
    Warps,
    Operands,
}

impl Stage {
    /// How many turns ahead of the unit each step is taken.
    pub const IN_ORDER: [(usize, Stage); 5] =
        [(5, Stage::Unit), (4, Stage::Parts), (3, Stage::Lists), (2, Stage::Warps), (1, Stage::Operands)];
}

/// Operations of a warp that are looked at, and of those that will issue first.
const OPERATIONS: usize = 3;
const FIRST_OPERATIONS: usize = 12;
/// Warps of a sub-core that the scheduler favours.
const FIRST: usize = 3;

impl<const W: usize> ComputeUnit<W> {
    /// Takes one step for the window that ends at `until`.
    pub fn prefetch(&mut self, stage: Stage, until: u64, context: &Context<'_, W>) {
        match stage {
            Stage::Unit => prefetch(std::slice::from_ref(self)),
            Stage::Parts => {
                prefetch(&self.subs);
                prefetch(&self.slots);
                self.state.frontend.prefetch();
                self.state.memory.prefetch_responses();
            }
            Stage::Lists => {
                self.subs.iter().for_each(|sub| sub.prefetch());
                self.lsu.prefetch();
                self.state.memory.sort_responses();
                self.state.memory.prefetch_misses(until);
            }
            Stage::Warps => {
                self.find_likely(until);
                self.likely
                    .iter()
                    .filter_map(|index| self.slots[usize::from(*index)].as_deref())
                    .for_each(Slot::prefetch);
            }
            Stage::Operands => {
                let mut left = [FIRST; MOST_SUBS];
                for index in &self.likely {
                    let index = usize::from(*index);
                    let sub = index >> self.sub_shift;
                    let left = &mut left[sub % MOST_SUBS];
                    let operations = if *left > 0 { FIRST_OPERATIONS } else { OPERATIONS };
                    *left = left.saturating_sub(1);
                    let Some(slot) = self.slots[index].as_deref() else { continue };
                    let bytes = u64::from(context.spec.frontend.instruction_bytes);
                    let soon = slot.line.1.wrapping_sub(slot.warp.pc) <= OPERATIONS as u32;
                    if (soon || !slot.has_fetched(slot.warp.pc)) && (slot.warp.pc as usize) < context.timed.ops.len() {
                        let line = context.timed.stretch(slot.warp.pc).line * context.timed.line_ops;
                        self.state.frontend.prefetch_instruction(sub, context.code_base + u64::from(line) * bytes);
                    }
                    let registers = context.code.program().registers as usize;
                    slot.prefetch_uniform(registers);
                    for op in context.timed.ops.iter().skip(slot.warp.pc as usize).take(operations) {
                        slot.prefetch_operands(context.timed.operands(op), registers);
                        if op.kind == Kind::Memory {
                            break;
                        }
                    }
                }
            }
        }
    }

    /// Warps that may issue before `until`, as far as is known: of each sub-core first those that started first; then
    /// those that wait for a response.
    fn find_likely(&mut self, until: u64) {
        let mut likely = std::mem::take(&mut self.likely);
        likely.clear();
        for (sub, core) in self.subs.iter().enumerate() {
            core.candidates(until, FIRST, |slot| likely.push((sub << self.sub_shift | slot) as u16));
        }
        // An access that wants many lines waits for many responses.
        let mut seen = [0u64; MOST_WORDS];
        self.state.memory.upcoming(until, |token| {
            if let Some(index) = self.lsu.slot_of(token) {
                let word = &mut seen[usize::from(index) / 64 % MOST_WORDS];
                if *word >> (index % 64) & 1 == 0 {
                    *word |= 1 << (index % 64);
                    likely.push(index);
                }
            }
        });
        self.likely = likely;
    }
}

/// Sub-cores that are told apart when favourites are counted, and words with a bit for each of their slots.
const MOST_SUBS: usize = 8;
const MOST_WORDS: usize = MOST_SUBS * MAX_SLOTS / 64;
