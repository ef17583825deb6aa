//! Doolittle's algorithm in double precision.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    const N: usize = 16;
    let mut out = i.buffer::<f32>(0);
    for matrix in out.chunks_mut(N * N) {
        let mut m: Vec<f64> = matrix.iter().map(|&v| v as f64).collect();
        (0..N).for_each(|k| m[k * N + k] += 16.0);
        for k in 0..N - 1 {
            for row in k + 1..N {
                let f = m[row * N + k] / m[k * N + k];
                m[row * N + k] = f;
                for c in k + 1..N {
                    m[row * N + c] -= f * m[k * N + c];
                }
            }
        }
        matrix.iter_mut().zip(m).for_each(|(v, d)| *v = d as f32);
    }
    Outputs::one(0, &out)
}
