//! Errors in a few numbers.

/// How a set of simulated values differs from the measured ones. Differences are fractions, or points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// Pairs compared.
    pub count: usize,
    /// Mean of the absolute differences (MAPE where they are relative).
    pub mean: f64,
    /// Median of the absolute differences.
    pub median: f64,
    /// Nine of ten absolute differences are at most this.
    pub p90: f64,
    /// Largest absolute difference.
    pub worst: f64,
    /// Mean of the signed differences.
    pub bias: f64,
    /// Pearson's correlation of the values.
    pub linear: f64,
    /// Pearson's correlation of their logarithms, over the positive ones.
    pub log: f64,
}

impl Summary {
    /// Of (measured, simulated, difference) triples.
    pub fn of(triples: &[(f64, f64, f64)]) -> Summary {
        let count = triples.len();
        if count == 0 {
            return Summary::default();
        }
        let mut sizes: Vec<f64> = triples.iter().map(|t| t.2.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let n = count as f64;
        let positive = triples.iter().filter(|t| t.0 > 0.0 && t.1 > 0.0);
        Summary {
            count,
            mean: sizes.iter().sum::<f64>() / n,
            median: quantile(&sizes, 0.5),
            p90: quantile(&sizes, 0.9),
            worst: sizes[count - 1],
            bias: triples.iter().map(|t| t.2).sum::<f64>() / n,
            linear: pearson(triples.iter().map(|t| (t.0, t.1))),
            log: pearson(positive.map(|t| (t.0.ln(), t.1.ln()))),
        }
    }
}

/// Quantile with linear interpolation between neighbours.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let position = q * (sorted.len() - 1) as f64;
    let (low, part) = (position.floor() as usize, position.fract());
    let high = (low + 1).min(sorted.len() - 1);
    sorted[low] * (1.0 - part) + sorted[high] * part
}

/// Correlation; 0 where one side does not vary.
fn pearson(pairs: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let n = pairs.clone().count() as f64;
    if n < 2.0 {
        return 0.0;
    }
    let (sx, sy) = pairs.clone().fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
    let (mx, my) = (sx / n, sy / n);
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs {
        xx += (x - mx) * (x - mx);
        yy += (y - my) * (y - my);
        xy += (x - mx) * (y - my);
    }
    if xx > 0.0 && yy > 0.0 { xy / (xx * yy).sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_the_textbooks() {
        let s = Summary::of(&[(1.0, 2.0, 1.0), (2.0, 4.0, 1.0), (4.0, 8.0, 1.0)]);
        assert_eq!((s.count, s.mean, s.median, s.p90, s.bias), (3, 1.0, 1.0, 1.0, 1.0));
        assert!((s.linear - 1.0).abs() < 1e-12 && (s.log - 1.0).abs() < 1e-12);
        let s = Summary::of(&[(1.0, 1.1, 0.1), (1.0, 0.7, -0.3)]);
        assert!((s.mean - 0.2).abs() < 1e-12 && (s.bias + 0.1).abs() < 1e-12 && (s.median - 0.2).abs() < 1e-12);
        assert!((s.p90 - 0.28).abs() < 1e-12);
        assert_eq!(Summary::of(&[]), Summary::default());
    }
}
