//! Row by row in double precision.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    let (rows, columns) = (i.buffer::<i32>(0), i.buffer::<i32>(1));
    let (values, x, mut y) = (i.buffer::<f32>(2), i.buffer::<f32>(3), i.buffer::<f32>(4));
    for row in 0..i.size(5) {
        let range = rows[row] as usize..rows[row + 1] as usize;
        y[row] = range.map(|j| values[j] as f64 * x[columns[j] as usize] as f64).sum::<f64>() as f32;
    }
    Outputs::one(4, &y)
}
