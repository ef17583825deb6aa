//! The same generators, one after the other.
use crate::references::{Inputs, Outputs};

fn next(state: &mut u32) -> u32 {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    *state
}

pub fn reference(i: &Inputs) -> Outputs {
    let mut hits = i.buffer::<u32>(0);
    for item in 0..i.global(0) as u32 {
        let mut state = item.wrapping_mul(2_654_435_761).wrapping_add(12_345);
        for _ in 0..i.size(1) {
            let (x, y) = (next(&mut state) >> 17, next(&mut state) >> 17);
            hits[0] += (x * x + y * y < 1 << 30) as u32;
        }
    }
    Outputs::one(0, &hits)
}
