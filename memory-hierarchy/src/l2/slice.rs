//! State of one L2 slice.
use super::partial_lines::PartialLines;
use super::shared_loads::SharedLoads;
use crate::cache::{MshrId, Mshrs, Tags, TagsSpec};
use crate::clock::{Port, TICKS};
use crate::dram::{Channel, DramTiming};
use crate::host_cache::prefetch;
use crate::request::L2Request;
use std::collections::VecDeque;
use warpscope_configs::specs::MemorySpec;

/// To whom a slice answers.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// The compute unit.
    Unit,
    /// The slice in the other half that keeps a copy, and its miss register.
    Copy(u16),
}

/// A request that waits for data in a slice.
#[derive(Copy, Clone, Debug)]
pub(super) struct Waiting {
    pub(super) request: L2Request,
    pub(super) origin: Origin,
    /// Misses still to come.
    pub(super) remaining: u8,
}

/// One slice with its DRAM channel.
#[derive(Clone, Debug)]
pub(super) struct Slice {
    pub(super) tags: Tags,
    /// Misses to DRAM of lines at home here.
    pub(super) misses: Mshrs<u32>,
    /// Misses to the other half of lines at home there.
    pub(super) far_misses: Mshrs<u32>,
    pub(super) waiting: Vec<Waiting>,
    pub(super) free_waiting: Vec<u32>,
    pub(super) start: Port,
    pub(super) read: Port,
    pub(super) write: Port,
    /// To the other half.
    pub(super) far: Port,
    /// Requests of compute units that cannot go on, oldest first.
    pub(super) stalled: VecDeque<L2Request>,
    /// Requests from the other half that cannot go on. They have a queue of their own, which only DRAM can hold up, so
    /// that the halves cannot wait for each other.
    pub(super) stalled_far: VecDeque<(L2Request, Origin)>,
    pub(super) channel: Channel,
    pub(super) shared_loads: SharedLoads,
    pub(super) partial_lines: PartialLines,
}

impl Slice {
    pub(super) fn new(spec: &MemorySpec, timing: DramTiming, index: u32) -> Slice {
        let l2 = &spec.l2;
        let lines = l2.capacity / u64::from(spec.line) / u64::from(l2.slices);
        Slice {
            tags: Tags::new(TagsSpec {
                lines: lines as usize,
                ways: l2.ways as usize,
                hash: l2.set_hash,
                replacement: l2.replacement,
            }),
            misses: Mshrs::new(l2.mshrs as usize),
            far_misses: Mshrs::new(l2.mshrs as usize),
            waiting: Vec::new(),
            free_waiting: Vec::new(),
            start: Port::default(),
            read: Port::default(),
            write: Port::default(),
            far: Port::default(),
            stalled: VecDeque::new(),
            stalled_far: VecDeque::new(),
            channel: Channel::new(&spec.dram, timing, index, l2.slices),
            shared_loads: SharedLoads::new(l2.coalesce_units, u64::from(l2.coalesce_window) * TICKS),
            partial_lines: PartialLines::new((l2.partial_lines as usize).min(lines as usize)),
        }
    }

    /// Notes a request that will wait for data.
    pub(super) fn note(&mut self, request: L2Request, origin: Origin) -> u32 {
        let waiting = Waiting { request, origin, remaining: 0 };
        match self.free_waiting.pop() {
            Some(at) => {
                self.waiting[at as usize] = waiting;
                at
            }
            None => {
                self.waiting.push(waiting);
                self.waiting.len() as u32 - 1
            }
        }
    }

    /// Lets the host bring near what the end of one of these misses will look at.
    pub(super) fn prefetch_miss(&self, misses: &Mshrs<u32>, miss: MshrId) {
        if let (_, Some(index), _) = misses.get(miss) {
            self.tags.prefetch_entry(index);
        }
        misses.for_waiters(miss, |waiting| prefetch(std::slice::from_ref(&self.waiting[waiting as usize])));
    }

    /// One of the misses that a request waits for is over; gives the request where it was the last.
    pub(super) fn came(&mut self, at: u32) -> Option<Waiting> {
        let waiting = &mut self.waiting[at as usize];
        waiting.remaining -= 1;
        if waiting.remaining > 0 {
            return None;
        }
        self.free_waiting.push(at);
        Some(*waiting)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.misses.busy() == 0
            && self.far_misses.busy() == 0
            && self.stalled.is_empty()
            && self.stalled_far.is_empty()
            && self.channel.is_idle()
    }
}
