//! The same formula in double precision.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    let (temperature, power) = (i.buffer::<f32>(0), i.buffer::<f32>(1));
    let (w, h) = (i.size(3), i.size(4));
    let [rx, ry, rz, step, ambient] = [5, 6, 7, 8, 9].map(|k| i.scalar::<f32>(k) as f64);
    let at = |x: usize, y: usize| temperature[y.min(h - 1) * w + x.min(w - 1)] as f64;
    let mut out = Vec::new();
    for y in 0..h {
        for x in 0..w {
            let t = at(x, y);
            let vertical = at(x, y.saturating_sub(1)) + at(x, y + 1) - 2.0 * t;
            let horizontal = at(x.saturating_sub(1), y) + at(x + 1, y) - 2.0 * t;
            let flow = power[y * w + x] as f64 + vertical * ry + horizontal * rx + (ambient - t) * rz;
            out.push((t + step * flow) as f32);
        }
    }
    Outputs::one(2, &out)
}
