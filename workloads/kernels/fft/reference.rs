//! The discrete Fourier transform by its definition, in double precision.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    const N: usize = 256;
    let input = i.buffer::<f32>(0);
    let angle = |k: usize| -2.0 * std::f64::consts::PI * k as f64 / N as f64;
    let roots: Vec<(f64, f64)> = (0..N).map(|k| (angle(k).cos(), angle(k).sin())).collect();
    let mut out = Vec::new();
    for block in input.chunks(2 * N) {
        for k in 0..N {
            let (mut re, mut im) = (0f64, 0f64);
            for (n, v) in block.chunks(2).enumerate() {
                let (x, y, (c, s)) = (v[0] as f64, v[1] as f64, roots[k * n % N]);
                re += x * c - y * s;
                im += x * s + y * c;
            }
            out.extend([re as f32, im as f32]);
        }
    }
    Outputs::one(1, &out)
}
