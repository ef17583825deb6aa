//! All pairs in double precision.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    let flat = i.buffer::<f32>(0);
    let body: Vec<[f64; 4]> = flat.chunks(4).map(|b| [0, 1, 2, 3].map(|k| b[k] as f64)).collect();
    let softening = i.scalar::<f32>(4) as f64;
    let mut out = Vec::new();
    for me in &body {
        let mut a = [0f64; 3];
        for other in &body {
            let d = [0, 1, 2].map(|k| other[k] - me[k]);
            let r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening;
            let s = other[3] / (r2 * r2.sqrt());
            (0..3).for_each(|k| a[k] += d[k] * s);
        }
        out.extend([a[0] as f32, a[1] as f32, a[2] as f32, 0.0]);
    }
    Outputs::one(1, &out)
}
