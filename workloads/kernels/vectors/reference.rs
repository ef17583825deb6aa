//! Component by component.
use crate::references::{Inputs, Outputs};

fn one(a: &[u8]) -> Vec<u8> {
    let wide: Vec<i16> = (0..8).map(|k| a[2 * k] as i16 * 3 - a[2 * k + 1] as i16).collect();
    let narrow: Vec<u8> = wide.iter().map(|&v| v.clamp(0, 255) as u8).collect();
    let mut out: Vec<u8> = a.iter().rev().copied().collect();
    out.extend(&narrow);
    out.extend((0..8).map(|k| if a[8 + k] > 100 { a[k] } else { narrow[k] }));
    for k in 0..4 {
        out.extend(((wide[k] as i32) << 4 | wide[4 + k] as i32 & 15).to_le_bytes());
    }
    for k in [15, 5, 0] {
        out.extend((a[k] as u16 * 257).to_le_bytes());
    }
    out.push(wide[..4].iter().any(|&v| v < 0) as u8);
    out.push(wide[4..].iter().all(|&v| v >= -255) as u8);
    for k in [3, 7] {
        out.extend(((a[k] as f32 / 4.0).round_ties_even() as u16).to_le_bytes());
    }
    out.extend((0..4).map(|k| a[k].wrapping_add(a[4 + k].rotate_left(k as u32 + 1))));
    out
}

pub fn reference(i: &Inputs) -> Outputs {
    Outputs::one(1, &i.buffer::<u8>(0).chunks(16).flat_map(one).collect::<Vec<u8>>())
}
