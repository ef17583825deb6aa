//! The same formula in double precision.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    let (image, w, h) = (i.buffer::<f32>(0), i.size(2), i.size(3));
    let q0 = i.scalar::<f32>(4) as f64;
    let at = |x: usize, y: usize| image[y * w + x] as f64;
    let mut out = Vec::new();
    for y in 0..h {
        for x in 0..w {
            let c = at(x, y);
            let around = [
                at(x, y.saturating_sub(1)) - c,
                at(x, (y + 1).min(h - 1)) - c,
                at(x.saturating_sub(1), y) - c,
                at((x + 1).min(w - 1), y) - c,
            ];
            let g2 = around.iter().map(|d| d * d).sum::<f64>() / (c * c);
            let l = around.iter().sum::<f64>() / c;
            let q2 = (0.5 * g2 - 0.0625 * l * l) / (1.0 + 0.25 * l).powi(2);
            let d = (q2 - q0) / (q0 * (1.0 + q0));
            out.push((1.0 / (1.0 + d)).clamp(0.0, 1.0) as f32);
        }
    }
    Outputs::one(1, &out)
}
