//! The work-item functions by their definitions (OpenCL C 6.15.1).
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    let get = |list: &[u64], d: usize| list.get(d).map_or(0, |&v| v as usize);
    let global = [0, 1, 2].map(|d| i.global(d));
    let enqueued = [0, 1, 2].map(|d| i.local(d));
    let offset = [0, 1, 2].map(|d| get(&i.case.offset, d));
    let pack = |v: [usize; 3]| (v[0] | v[1] << 10 | v[2] << 20) as u32;
    let mut out = Vec::new();
    for z in 0..global[2] {
        for y in 0..global[1] {
            for x in 0..global[0] {
                let at = [x, y, z];
                let group = [0, 1, 2].map(|d| at[d] / enqueued[d]);
                let lid = [0, 1, 2].map(|d| at[d] % enqueued[d]);
                let size = [0, 1, 2].map(|d| enqueued[d].min(global[d] - group[d] * enqueued[d]));
                let linear = (lid[2] * size[1] + lid[1]) * size[0] + lid[0];
                out.extend([
                    pack([0, 1, 2].map(|d| at[d] + offset[d])),
                    pack(lid),
                    pack(group),
                    pack(size),
                    pack(enqueued),
                    pack([0, 1, 2].map(|d| global[d].div_ceil(enqueued[d]))),
                    ((z * global[1] + y) * global[0] + x) as u32,
                    (linear | i.case.global.len() << 16) as u32,
                ]);
            }
        }
    }
    Outputs::one(0, &out)
}
