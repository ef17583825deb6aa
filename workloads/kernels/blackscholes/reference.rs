//! The formula in double precision, with the error function by its continued fraction and series.
use crate::references::{Inputs, Outputs};

/// Complementary error function: Taylor series below 2.5, Lentz's continued fraction above.
fn erfc(x: f64) -> f64 {
    if x < 0.0 {
        return 2.0 - erfc(-x);
    }
    if x < 2.5 {
        let (mut term, mut sum, mut n) = (x, x, 0.0);
        while term.abs() > 1e-18 {
            n += 1.0;
            term *= -x * x / n;
            sum += term / (2.0 * n + 1.0);
        }
        return 1.0 - sum * std::f64::consts::FRAC_2_SQRT_PI;
    }
    let fraction = (1..60).rev().fold(x, |f, k| x + 0.5 * k as f64 / f);
    (-x * x).exp() / (fraction * std::f64::consts::PI.sqrt())
}

fn normal(d: f64) -> f64 {
    0.5 * erfc(-d * std::f64::consts::FRAC_1_SQRT_2)
}

pub fn reference(i: &Inputs) -> Outputs {
    let (price, strike, years) = (i.buffer::<f32>(0), i.buffer::<f32>(1), i.buffer::<f32>(2));
    let (rate, volatility) = (i.scalar::<f32>(5) as f64, i.scalar::<f32>(6) as f64);
    let (mut call, mut put) = (Vec::new(), Vec::new());
    for j in 0..i.global(0) {
        let (s, k, t) = (price[j] as f64, strike[j] as f64, years[j] as f64);
        let spread = volatility * t.sqrt();
        let d1 = ((s / k).ln() + (rate + 0.5 * volatility * volatility) * t) / spread;
        let d2 = d1 - spread;
        let discounted = k * (-rate * t).exp();
        call.push((s * normal(d1) - discounted * normal(d2)) as f32);
        put.push((discounted * normal(-d2) - s * normal(-d1)) as f32);
    }
    Outputs::one(3, &call).and(4, &put)
}
