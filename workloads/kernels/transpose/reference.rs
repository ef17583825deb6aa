//! Element (x, y) goes to (y, x).
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    let (input, w, h) = (i.buffer::<f32>(0), i.size(2), i.size(3));
    let mut out = i.buffer::<f32>(1);
    for y in 0..h {
        for x in 0..w {
            out[x * h + y] = input[y * w + x];
        }
    }
    Outputs::one(1, &out)
}
