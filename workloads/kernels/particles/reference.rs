//! The same steps in single precision on words: position 0..3, velocity 4..7, bounces 8, alive 9.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    let mut all = i.buffer::<f32>(0);
    let step = i.scalar::<f32>(1);
    for p in all.chunks_mut(12) {
        let mut bounces = p[8].to_bits() as i32;
        for _ in 0..i.size(2) {
            p[5] -= 0.5 * step;
            for k in 0..3 {
                p[k] += p[4 + k] * step;
                if p[k] < 0.0 || p[k] > 1.0 {
                    p[k] = p[k].clamp(0.0, 1.0);
                    p[4 + k] = -p[4 + k];
                    bounces += 1;
                }
            }
        }
        p[8] = f32::from_bits(bounces as u32);
        p[9] = f32::from_bits((p[9].to_bits() & !255) | (bounces as u32 & 1));
    }
    Outputs::one(0, &all)
}
