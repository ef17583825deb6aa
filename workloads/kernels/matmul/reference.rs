//! The textbook product, accumulated in double precision.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    let (a, b, n) = (i.buffer::<f32>(0), i.buffer::<f32>(1), i.size(3));
    let mut c = vec![0f32; n * n];
    for row in 0..n {
        let mut sums = vec![0f64; n];
        for k in 0..n {
            let left = a[row * n + k] as f64;
            sums.iter_mut().zip(&b[k * n..]).for_each(|(s, &right)| *s += left * right as f64);
        }
        c[row * n..].iter_mut().zip(sums).for_each(|(c, s)| *c = s as f32);
    }
    Outputs::one(2, &c)
}
