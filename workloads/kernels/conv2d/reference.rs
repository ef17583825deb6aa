//! The same sum in double precision.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    let (image, filter) = (i.buffer::<f32>(0), i.buffer::<f32>(1));
    let (w, h) = (i.size(3) as i64, i.size(4) as i64);
    let mut out = Vec::new();
    for y in 0..h {
        for x in 0..w {
            let mut sum = 0f64;
            for (k, &f) in filter.iter().enumerate() {
                let (sx, sy) = (x + k as i64 % 5 - 2, y + k as i64 / 5 - 2);
                if (0..w).contains(&sx) && (0..h).contains(&sy) {
                    sum += image[(sy * w + sx) as usize] as f64 * f as f64;
                }
            }
            out.push(sum as f32);
        }
    }
    Outputs::one(2, &out)
}
