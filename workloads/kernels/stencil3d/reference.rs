//! The same sum in double precision.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    let (input, mut out) = (i.buffer::<f32>(0), i.buffer::<f32>(1));
    let (nx, ny, nz) = (i.size(2), i.size(3), i.size(4));
    let (c0, c1) = (i.scalar::<f32>(5) as f64, i.scalar::<f32>(6) as f64);
    let at = |x: usize, y: usize, z: usize| input[(z * ny + y) * nx + x] as f64;
    for z in 1..nz - 1 {
        for y in 1..ny - 1 {
            for x in 1..nx - 1 {
                let around = at(x - 1, y, z) + at(x + 1, y, z) + at(x, y - 1, z) + at(x, y + 1, z);
                let sum = around + at(x, y, z - 1) + at(x, y, z + 1);
                out[(z * ny + y) * nx + x] = (c0 * at(x, y, z) + c1 * sum) as f32;
            }
        }
    }
    Outputs::one(1, &out)
}
