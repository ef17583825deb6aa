//! The first of the nearest centres.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    let (points, centres) = (i.buffer::<i32>(0), i.buffer::<i32>(1));
    let (mut cluster, mut sizes) = (i.buffer::<i32>(2), i.buffer::<i32>(3));
    let (n, k, dims) = (i.size(4), i.size(5), i.size(6));
    for p in 0..n {
        let distance = |c: &usize| -> i64 {
            (0..dims).map(|d| (points[d * n + p] as i64 - centres[c * dims + d] as i64).pow(2)).sum()
        };
        let best = (0..k).min_by_key(distance).unwrap_or(0);
        cluster[p] = best as i32;
        sizes[best] += 1;
    }
    Outputs::one(2, &cluster).and(3, &sizes)
}
