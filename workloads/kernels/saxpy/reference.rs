//! In double precision: the kernel may contract or not.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    let (x, mut y) = (i.buffer::<f32>(0), i.buffer::<f32>(1));
    let a = i.scalar::<f32>(2) as f64;
    for j in 0..i.size(3) {
        y[j] = (a * x[j] as f64 + y[j] as f64) as f32;
    }
    Outputs::one(1, &y)
}
