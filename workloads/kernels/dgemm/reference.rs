//! The textbook product.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    let (a, b, mut c) = (i.buffer::<f64>(0), i.buffer::<f64>(1), i.buffer::<f64>(2));
    let (n, alpha, beta) = (i.size(3), i.scalar::<f64>(4), i.scalar::<f64>(5));
    for row in 0..n {
        for col in 0..n {
            let dot: f64 = (0..n).map(|k| a[row * n + k] * b[k * n + col]).sum();
            c[row * n + col] = alpha * dot + beta * c[row * n + col];
        }
    }
    Outputs::one(2, &c)
}
