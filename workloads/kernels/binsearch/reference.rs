//! The standard library's partition point.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    let (table, keys) = (i.buffer::<i32>(0), i.buffer::<i32>(1));
    let position = |key: &i32| table[..i.size(3)].partition_point(|v| v < key) as u32;
    Outputs::one(2, &keys.iter().map(position).collect::<Vec<u32>>())
}
