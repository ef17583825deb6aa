//! Running sums that restart at each group.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    let mut out = i.buffer::<u32>(0);
    let mut totals = Vec::new();
    for group in out.chunks_mut(i.local(0)) {
        let mut sum = 0u32;
        for v in group.iter_mut() {
            sum = sum.wrapping_add(*v);
            *v = sum;
        }
        totals.push(sum);
    }
    Outputs::one(1, &out).and(2, &totals)
}
