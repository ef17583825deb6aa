//! Each group's elements summed in double precision.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    let input = i.buffer::<f32>(0);
    let (global, local) = (i.global(0), i.local(0));
    let mut sums = vec![0f64; global / local];
    for (j, v) in input.iter().take(i.size(3)).enumerate() {
        sums[j % global / local] += *v as f64;
    }
    Outputs::one(1, &sums.iter().map(|&s| s as f32).collect::<Vec<_>>())
}
