//! The two gradients as products with their masks.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    let (image, w, h) = (i.buffer::<u8>(0), i.size(2), i.size(3));
    const MASK: [i32; 9] = [-1, 0, 1, -2, 0, 2, -1, 0, 1];
    let mut out = vec![0u8; w * h];
    for y in 1..h - 1 {
        for x in 1..w - 1 {
            let pixel = |r: usize, c: usize| image[(y + r - 1) * w + x + c - 1] as i32;
            let (mut gx, mut gy) = (0, 0);
            for k in 0..9 {
                gx += MASK[k] * pixel(k / 3, k % 3);
                gy += MASK[k] * pixel(k % 3, k / 3);
            }
            out[y * w + x] = (gx.abs() + gy.abs()).min(255) as u8;
        }
    }
    Outputs::one(1, &out)
}
