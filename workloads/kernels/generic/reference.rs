//! The values that the chosen pointer leads to.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    let input = i.buffer::<i32>(0);
    let (mut out, mut spaces) = (Vec::new(), Vec::new());
    for (j, &v) in input.iter().enumerate() {
        let first = j & !3;
        let chosen: Vec<i32> = match j % 3 {
            0 => input[first..first + 4].to_vec(),
            1 => input[first..first + 4].iter().map(|v| v.wrapping_mul(3)).collect(),
            _ => (0..4).map(|k| v ^ k).collect(),
        };
        out.push(chosen.iter().fold(0i32, |sum, v| sum.wrapping_mul(31).wrapping_add(*v)));
        out.push(chosen.iter().copied().max().unwrap_or(i32::MIN));
        spaces.push(1 << (j % 3));
    }
    Outputs::one(1, &out).and(2, &spaces)
}
