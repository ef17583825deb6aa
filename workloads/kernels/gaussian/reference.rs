//! Rows, then columns, in the same fixed-point steps.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    const WEIGHTS: [i32; 7] = [2, 7, 14, 18, 14, 7, 2];
    let image = i.buffer::<u8>(0);
    let (w, h) = (i.size(2) as i64, i.size(3) as i64);
    let index = |x: i64, y: i64, c: usize| (y.clamp(0, h - 1) * w + x.clamp(0, w - 1)) as usize * 4 + c;
    let blurred_row = |x: i64, y: i64, c: usize| -> i32 {
        WEIGHTS.iter().enumerate().map(|(k, f)| f * image[index(x + k as i64 - 3, y, c)] as i32).sum::<i32>() >> 6
    };
    let mut out = vec![0u8; image.len()];
    for y in 0..h {
        for x in 0..w {
            for c in 0..4 {
                let sum: i32 = WEIGHTS.iter().enumerate().map(|(k, f)| f * blurred_row(x, y + k as i64 - 3, c)).sum();
                out[index(x, y, c)] = ((sum + 32) >> 6).clamp(0, 255) as u8;
            }
        }
    }
    Outputs::one(1, &out)
}
