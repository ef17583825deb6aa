//! In double precision with the standard library.
use crate::references::{Inputs, Outputs};

/// Error function: Taylor series (arguments here stay below 4).
fn erf(x: f64) -> f64 {
    let (mut term, mut sum, mut n) = (x, x, 0.0);
    while term.abs() > 1e-20 {
        n += 1.0;
        term *= -x * x / n;
        sum += term / (2.0 * n + 1.0);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}

/// Gamma function for arguments above 0: Stirling's series after shifting up by recurrence.
fn gamma(x: f64) -> f64 {
    let (mut z, mut divisor) = (x, 1.0);
    while z < 20.0 {
        divisor *= z;
        z += 1.0;
    }
    let series = 1.0 / (12.0 * z) - 1.0 / (360.0 * z.powi(3)) + 1.0 / (1260.0 * z.powi(5));
    ((z - 0.5) * z.ln() - z + 0.5 * (2.0 * std::f64::consts::PI).ln() + series).exp() / divisor
}

fn exponent(v: f64) -> f64 {
    v.abs().log2().floor()
}

fn columns(x: f64, y: f64) -> [f64; 24] {
    let (xf, yf) = (x as f32, y as f32);
    let remainder = |a: f64, b: f64| a - b * (a / b).round_ties_even();
    let sign = if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        0.0
    };
    let t = ((y + 2.0) / 4.0).clamp(0.0, 1.0);
    let next = if yf > xf { xf.next_up() } else { xf.next_down() };
    let (larger, smaller) = if x.abs() > y.abs() { (x, y) } else { (y, x) };
    let fraction = x - x.floor();
    let e = exponent(x) + 1.0;
    [
        x.sin(),
        x.cos(),
        x.tan(),
        y.exp(),
        (x.abs() + 0.001).ln(),
        (x.abs() + 0.1).powf(y),
        x.abs().sqrt(),
        x.atan2(y),
        (y * 0.25).asin() + (y * 0.25).acos() * 2.0 + x.atan(),
        y.exp(),
        y.tanh(),
        y.exp2() + 10f64.powf(y * 0.5),
        (x.abs() + 1.0).log2() + (x.abs() + 1.0).log10(),
        x.cbrt() + x.hypot(y),
        x % 3.0 + remainder(x, 3.0),
        x.floor() + y.ceil() * 2.0 + x.trunc() * 4.0 + y.round_ties_even() * 8.0 + x.round() * 16.0,
        x / e.exp2() + e * 4.0,
        x.fract() + x.trunc() * 0.5 + y * 8.0 + fraction + x.floor(),
        x.max(y) - x.min(y) + (x - y).max(0.0) + y.copysign(x) + x + (y - x) * 0.25,
        t * t * (3.0 - 2.0 * t) + if y < 0.5 { 0.0 } else { 1.0 } + sign + y.to_degrees() + x.to_radians(),
        x * y + y * 2.0 + x + x.hypot(y) + 2.0 * (x - y).abs(),
        erf(y) + gamma(y.abs() + 1.0),
        1.0 / (x.abs() + 0.5).sqrt() + 1.0 / (y + 10.0) + y.exp(),
        next as f64 + exponent(x) + exponent(y) + larger + smaller,
    ]
}

pub fn reference(i: &Inputs) -> Outputs {
    let (a, b) = (i.buffer::<f32>(0), i.buffer::<f32>(1));
    let n = i.global(0);
    let mut out = vec![0f32; n * 24];
    for j in 0..n {
        for (c, v) in columns(a[j] as f64, b[j] as f64).iter().enumerate() {
            out[c * n + j] = *v as f32;
        }
    }
    Outputs::one(2, &out)
}
