//! A stable sort of each group's keys by the digit.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    let mut keys = i.buffer::<u32>(0);
    let shift = i.scalar::<u32>(3);
    let mut counts = Vec::new();
    for group in keys.chunks_mut(64) {
        group.sort_by_key(|k| (k >> shift) & 15);
        counts.extend((0..16).map(|d| group.iter().filter(|&&k| (k >> shift) & 15 == d).count() as u32));
    }
    Outputs::one(1, &keys).and(2, &counts)
}
