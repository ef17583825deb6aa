//! How often each key occurs; where it lies depends on the order, so the output is compared as a multiset.
use crate::references::{Inputs, Outputs};
use std::collections::BTreeMap;

pub fn reference(i: &Inputs) -> Outputs {
    let mut counts = BTreeMap::new();
    for key in i.buffer::<u32>(0) {
        *counts.entry(key).or_insert(0u64) += 1;
    }
    let mut table: Vec<u64> = counts.into_iter().map(|(key, n)| (key as u64) << 32 | n).collect();
    table.resize(i.size(2) + 1, 0);
    Outputs::one(1, &table)
}
