//! Counts bytes.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    let mut bins = i.buffer::<u32>(1);
    for &byte in &i.args[0][..i.size(2) * 4] {
        bins[byte as usize] += 1;
    }
    Outputs::one(1, &bins)
}
