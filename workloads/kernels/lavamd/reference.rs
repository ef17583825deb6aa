//! All pairs of neighbouring boxes in double precision.
use crate::references::{Inputs, Outputs};

pub fn reference(i: &Inputs) -> Outputs {
    const PER_BOX: usize = 32;
    let flat = i.buffer::<f32>(0);
    let particles: Vec<[f64; 4]> = flat.chunks(4).map(|p| [0, 1, 2, 3].map(|k| p[k] as f64)).collect();
    // The structure { int boxes; int reach; float alpha; } is passed as three words.
    let setup = &i.args[2];
    let word = |k: usize| i32::from_le_bytes(setup[4 * k..4 * k + 4].try_into().expect("four bytes"));
    let (boxes, reach) = (word(0) as i64, word(1) as i64);
    let alpha = f32::from_bits(word(2) as u32) as f64;
    let mut out = Vec::new();
    for (index, me) in particles.iter().enumerate() {
        let mut sum = [0f64; 4];
        for d in -reach..=reach {
            let neighbour = ((index / PER_BOX) as i64 + d).rem_euclid(boxes) as usize;
            for other in &particles[neighbour * PER_BOX..(neighbour + 1) * PER_BOX] {
                let delta = [0, 1, 2].map(|k| me[k] - other[k]);
                let v = other[3] * (-alpha * delta.iter().map(|d| d * d).sum::<f64>()).exp();
                (0..3).for_each(|k| sum[k] += 2.0 * alpha * v * delta[k]);
                sum[3] += v;
            }
        }
        out.extend(sum.map(|v| v as f32));
    }
    Outputs::one(1, &out)
}
