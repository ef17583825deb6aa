//! The lines of a slice some of whose sectors are partly written. Which bytes were takes room to note, which is limited.
use crate::cache::Tags;
use std::collections::VecDeque;

/// Those lines, in the order in which they began to be so.
#[derive(Clone, Debug)]
pub(super) struct PartialLines {
    most: usize,
    count: usize,
    /// Entry and line of each, and of some that no longer are.
    order: VecDeque<(u32, u64)>,
}

impl PartialLines {
    /// None; `most` may be.
    pub(super) fn new(most: usize) -> PartialLines {
        PartialLines { most, count: 0, order: VecDeque::new() }
    }

    /// The line of entry `index` has been written in part. Gives the one that must be completed, where they are too many.
    pub(super) fn began(&mut self, index: usize, tags: &mut Tags) -> Option<usize> {
        self.count += 1;
        if !std::mem::replace(&mut tags.entry_mut(index).noted, true) {
            self.order.push_back((index as u32, tags.line(index)));
        }
        if self.order.len() > 2 * self.most + 2 {
            self.recount(tags);
        }
        while self.count > self.most {
            let Some(record) = self.order.pop_front() else { break };
            let Some(index) = is_partial(tags, record) else { continue };
            tags.entry_mut(index).noted = false;
            return Some(index);
        }
        None
    }

    /// A line no longer has partly written sectors.
    pub(super) fn ended(&mut self) {
        self.count = self.count.saturating_sub(1);
    }

    /// Forgets what no longer is so, whatever became of it.
    pub(super) fn recount(&mut self, tags: &mut Tags) {
        self.order.retain(|&record| is_partial(tags, record).is_some());
        self.count = self.order.len();
    }
}

/// The entry of a recorded line, where it still has partly written sectors; where not, its record goes.
fn is_partial(tags: &mut Tags, (index, line): (u32, u64)) -> Option<usize> {
    let index = index as usize;
    let there = tags.line(index) == line;
    if there && tags.entry(index).partial == 0 {
        tags.entry_mut(index).noted = false;
    }
    (there && tags.entry(index).partial != 0).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::TagsSpec;
    use warpscope_configs::specs::{ReplacementPolicy, SetHash};

    fn tags() -> Tags {
        Tags::new(TagsSpec { lines: 16, ways: 16, hash: SetHash::Modulo, replacement: ReplacementPolicy::Lru })
    }

    fn write_part(lines: &mut PartialLines, tags: &mut Tags, line: u64) -> Option<usize> {
        let (index, _) = tags.allocate(tags.set_of(line), line * 128)?;
        tags.entry_mut(index).partial = 1;
        lines.began(index, tags)
    }

    #[test]
    fn the_oldest_is_completed() {
        let (mut lines, mut tags) = (PartialLines::new(2), tags());
        assert_eq!((write_part(&mut lines, &mut tags, 1), write_part(&mut lines, &mut tags, 2)), (None, None));
        let oldest = write_part(&mut lines, &mut tags, 3).unwrap();
        assert_eq!(tags.line(oldest), 128);
    }

    #[test]
    fn what_was_completed_takes_no_room() {
        let (mut lines, mut tags) = (PartialLines::new(2), tags());
        for line in 1..12 {
            assert_eq!(write_part(&mut lines, &mut tags, line), None, "line {line}");
            tags.entry_mut(tags.find(tags.set_of(line), line * 128).unwrap()).partial = 0;
            lines.ended();
        }
        tags.clear(|_, _| {});
        lines.recount(&mut tags);
        assert_eq!((lines.count, lines.order.len()), (0, 0));
    }
}
