//! The same single-precision operations, one by one.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    let (limit, x0, y0, step) = (i.scalar::<u32>(2), i.scalar::<f32>(3), i.scalar::<f32>(4), i.scalar::<f32>(5));
    let mut out = Vec::new();
    for gy in 0..i.global(1) {
        for gx in 0..i.global(0) {
            let (cx, cy) = (x0 + step * gx as f32, y0 + step * gy as f32);
            let (mut x, mut y, mut n) = (0f32, 0f32, 0);
            while n < limit && x * x + y * y <= 4.0 {
                (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
                n += 1;
            }
            out.push(n);
        }
    }
    Outputs::one(0, &out)
}
