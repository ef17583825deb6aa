//! Each group's products summed in order.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    let (a, b) = (i.buffer::<f64>(0), i.buffer::<f64>(1));
    let (global, local) = (i.global(0), i.local(0));
    let mut sums = vec![0f64; global / local];
    for j in 0..i.size(3) {
        sums[j % global / local] += a[j] * b[j];
    }
    Outputs::one(2, &sums)
}
