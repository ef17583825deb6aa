//! Initial patterns of buffers: deterministic generators, specified in `docs/manifest.md`.
use super::element::Scalar;
use super::expr::{Number, Variables, evaluate};

/// Hash of index `i` under `seed`, from which all random patterns derive.
pub fn hash(i: u32, seed: u32) -> u32 {
    let mut x = i.wrapping_mul(0x9E37_79B1).wrapping_add(seed.wrapping_mul(0x85EB_CA77).wrapping_add(0xC2B2_AE3D));
    x ^= x >> 16;
    x = x.wrapping_mul(0x85EB_CA6B);
    x ^= x >> 13;
    x = x.wrapping_mul(0xC2B2_AE35);
    x ^ (x >> 16)
}

/// How a buffer is filled before the launch.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum Pattern {
    Zeros,
    Const { value: Number },
    Index { start: Number, step: Number },
    Mod { modulus: i64 },
    Uniform { lo: f64, hi: f64, seed: u32 },
    RandInt { lo: i64, hi: i64, seed: u32 },
    Chase { stride: u64, spacing: u64 },
    Perm { seed: u32 },
    Prefix { lo: i64, hi: i64, seed: u32 },
    PrefixSkew { lo: i64, hi: i64, seed: u32, every: u64, heavy: i64 },
    Runs { length: u64, step: u32, seed: u32 },
    DiagDom { dim: u64, seed: u32 },
    Dist { dim: u64, lo: i64, hi: i64, seed: u32 },
    EllCol { cols: i64, seed: u32, fill: u32 },
    NwBorder { dim: u64, penalty: i64 },
}

/// Names of all patterns with their parameters, for messages.
pub const PATTERNS: &str = "zeros, const(c), index(start,step), mod(m), uniform(lo,hi,seed), randint(lo,hi,seed), \
     chase(stride,spacing), perm(seed), prefix(lo,hi,seed), prefix_skew(lo,hi,seed,every,heavy), runs(len,step,seed), \
     diagdom(dim,seed), dist(dim,lo,hi,seed), ell_col(cols,seed,fill), nw_border(dim,p)";

/// Reads the parameters of a pattern one after the other.
struct Parameters<'a> {
    name: &'a str,
    values: std::vec::IntoIter<Number>,
}

impl Parameters<'_> {
    fn number(&mut self) -> Result<Number, String> {
        self.values.next().ok_or_else(|| format!("`{}` has too few parameters; patterns are {PATTERNS}", self.name))
    }
    fn float(&mut self) -> Result<f64, String> {
        self.number().map(Number::as_f64)
    }
    fn int(&mut self) -> Result<i64, String> {
        match self.number()? {
            Number::Int(v) => Ok(v),
            Number::Float(v) => Err(format!("`{}` takes a whole number where {v} stands", self.name)),
        }
    }
    fn positive(&mut self) -> Result<u64, String> {
        let v = self.int()?;
        if v > 0 { Ok(v as u64) } else { Err(format!("`{}` takes a number above 0 where {v} stands", self.name)) }
    }
    fn word(&mut self) -> Result<u32, String> {
        let v = self.int()?;
        u32::try_from(v).map_err(|_| format!("`{}`: {v} does not fit 32 unsigned bits", self.name))
    }
    /// Bounds of a random range, of which `hi` is excluded.
    fn bounds(&mut self) -> Result<(i64, i64), String> {
        let (lo, hi) = (self.int()?, self.int()?);
        if lo < hi && hi.checked_sub(lo).is_some() {
            Ok((lo, hi))
        } else {
            Err(format!("`{}`: the range {lo} to {hi} is empty or too wide", self.name))
        }
    }
}

impl Pattern {
    /// Parses `name(parameter, …)`; parameters may be expressions over the case's variables.
    pub fn parse(text: &str, variables: &Variables) -> Result<Pattern, String> {
        let text = text.trim();
        let (name, inner) = match text.split_once('(') {
            Some((name, rest)) => {
                let inner = rest.strip_suffix(')').ok_or_else(|| format!("`{text}` lacks a closing parenthesis"))?;
                (name.trim(), inner)
            }
            None => (text, ""),
        };
        let values = if inner.trim().is_empty() {
            Vec::new()
        } else {
            split_parameters(inner).into_iter().map(|p| evaluate(p, variables)).collect::<Result<Vec<_>, _>>()?
        };
        let mut p = Parameters { name, values: values.into_iter() };
        let pattern = Self::from_parameters(name, &mut p)?;
        if p.values.next().is_some() {
            return Err(format!("`{name}` has too many parameters; patterns are {PATTERNS}"));
        }
        Ok(pattern)
    }

    fn from_parameters(name: &str, p: &mut Parameters) -> Result<Pattern, String> {
        Ok(match name {
            "zeros" => Pattern::Zeros,
            "const" => Pattern::Const { value: p.number()? },
            "index" => Pattern::Index { start: p.number()?, step: p.number()? },
            "mod" => Pattern::Mod { modulus: p.positive()? as i64 },
            "uniform" => Pattern::Uniform { lo: p.float()?, hi: p.float()?, seed: p.word()? },
            "randint" => {
                let (lo, hi) = p.bounds()?;
                Pattern::RandInt { lo, hi, seed: p.word()? }
            }
            "chase" => Pattern::Chase { stride: p.positive()?, spacing: p.positive()? },
            "perm" => Pattern::Perm { seed: p.word()? },
            "prefix" => {
                let (lo, hi) = inclusive(p)?;
                Pattern::Prefix { lo, hi, seed: p.word()? }
            }
            "prefix_skew" => {
                let (lo, hi) = inclusive(p)?;
                Pattern::PrefixSkew { lo, hi, seed: p.word()?, every: p.positive()?, heavy: p.int()? }
            }
            "runs" => Pattern::Runs { length: p.positive()?, step: p.word()?.min(u32::MAX - 1), seed: p.word()? },
            "diagdom" => Pattern::DiagDom { dim: p.positive()?, seed: p.word()? },
            "dist" => {
                let dim = p.positive()?;
                let (lo, hi) = p.bounds()?;
                Pattern::Dist { dim, lo, hi, seed: p.word()? }
            }
            "ell_col" => {
                let cols = p.positive()? as i64;
                Pattern::EllCol { cols, seed: p.word()?, fill: p.word()? }
            }
            "nw_border" => Pattern::NwBorder { dim: p.positive()?, penalty: p.int()? },
            _ => return Err(format!("unknown pattern `{name}`; patterns are {PATTERNS}")),
        })
    }

    /// The bytes of `n` scalars.
    pub fn fill(&self, scalar: Scalar, n: usize) -> Result<Vec<u8>, String> {
        let mut out = Vec::with_capacity(n * scalar.bytes());
        match *self {
            Pattern::Zeros => out.resize(n * scalar.bytes(), 0),
            Pattern::Const { value } => {
                value.push(scalar, &mut out);
                out = out.repeat(n);
            }
            Pattern::Index { start: Number::Int(start), step: Number::Int(step) } => {
                ints(scalar, n, &mut out, |i| start as i128 + step as i128 * i as i128)
            }
            Pattern::Index { start, step } => {
                (0..n).for_each(|i| scalar.push_float(start.as_f64() + step.as_f64() * i as f64, &mut out))
            }
            Pattern::Mod { modulus } => ints(scalar, n, &mut out, |i| i as i128 % modulus as i128),
            Pattern::Uniform { lo, hi, seed } => uniform(scalar, n, lo, hi, seed, |_| false, 0.0, &mut out),
            Pattern::RandInt { lo, hi, seed } => ints(scalar, n, &mut out, |i| randint(i, lo, hi, seed) as i128),
            Pattern::Chase { stride, spacing } => chase(scalar, n as u64, stride, spacing, &mut out),
            Pattern::Perm { seed } => perm(scalar, n, seed, &mut out)?,
            Pattern::Prefix { lo, hi, seed } => exclusive(scalar, n, &mut out, |i| randint(i, lo, hi + 1, seed)),
            Pattern::PrefixSkew { lo, hi, seed, every, heavy } => exclusive(scalar, n, &mut out, |i| {
                if i as u64 % every == every - 1 { heavy } else { randint(i, lo, hi + 1, seed) }
            }),
            Pattern::Runs { length, step, seed } => {
                let mut sum = 0i128;
                for i in 0..n {
                    if (i as u64).is_multiple_of(length) {
                        sum = 0;
                    }
                    sum += (hash(i as u32, seed) % (step + 1)) as i128;
                    scalar.push_int(sum, &mut out);
                }
            }
            Pattern::DiagDom { dim, seed } => {
                uniform(scalar, n, 0.0, 1.0, seed, |i| on_diagonal(i, dim), dim as f64, &mut out)
            }
            Pattern::Dist { dim, lo, hi, seed } => {
                ints(scalar, n, &mut out, |i| if on_diagonal(i, dim) { 0 } else { randint(i, lo, hi, seed) as i128 })
            }
            Pattern::EllCol { cols, seed, fill } => ints(scalar, n, &mut out, |i| {
                let empty = hash(i as u32, seed.wrapping_add(1)) % 8 >= fill;
                if empty { -1 } else { randint(i, 0, cols, seed) as i128 }
            }),
            Pattern::NwBorder { dim, penalty } => ints(scalar, n, &mut out, |i| {
                let (r, c) = ((i as u64 / dim) as i128, (i as u64 % dim) as i128);
                match (r, c) {
                    (0, _) => -(penalty as i128) * c,
                    (_, 0) => -(penalty as i128) * r,
                    _ => -(r + c),
                }
            }),
        }
        Ok(out)
    }
}

/// Bounds of a random range that includes both ends.
fn inclusive(p: &mut Parameters) -> Result<(i64, i64), String> {
    let (lo, hi) = (p.int()?, p.int()?);
    if lo <= hi && hi < i64::MAX && (hi + 1).checked_sub(lo).is_some() {
        Ok((lo, hi))
    } else {
        Err(format!("`{}`: the range {lo} to {hi} is empty or too wide", p.name))
    }
}

/// Splits at the commas that are not inside parentheses.
fn split_parameters(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0i32, 0, Vec::new());
    for (i, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn on_diagonal(i: usize, dim: u64) -> bool {
    let i = i as u64;
    i / dim == i % dim && i / dim < dim
}

fn randint(i: usize, lo: i64, hi: i64, seed: u32) -> i64 {
    lo + (hash(i as u32, seed) as u64 % (hi - lo) as u64) as i64
}

fn ints(scalar: Scalar, n: usize, out: &mut Vec<u8>, value: impl Fn(usize) -> i128) {
    (0..n).for_each(|i| scalar.push_int(value(i), out));
}

fn exclusive(scalar: Scalar, n: usize, out: &mut Vec<u8>, step: impl Fn(usize) -> i64) {
    let mut sum = 0i128;
    for i in 0..n {
        scalar.push_int(sum, out);
        sum += step(i) as i128;
    }
}

/// `lo + (hi - lo) * t` with each operation rounded to the buffer's precision (single for half and integers),
/// plus `extra` where `raised` says so.
#[allow(clippy::too_many_arguments)]
fn uniform(
    scalar: Scalar,
    n: usize,
    lo: f64,
    hi: f64,
    seed: u32,
    raised: impl Fn(usize) -> bool,
    extra: f64,
    out: &mut Vec<u8>,
) {
    let t = |i: usize| (hash(i as u32, seed) >> 8) as f64 / 16_777_216.0;
    if scalar == Scalar::F64 {
        let width = hi - lo;
        for i in 0..n {
            let v = lo + width * t(i);
            scalar.push_float(if raised(i) { v + extra } else { v }, out);
        }
    } else {
        let (lo, width) = (lo as f32, hi as f32 - lo as f32);
        for i in 0..n {
            let v = t(i) as f32 * width + lo;
            scalar.push_float(if raised(i) { v + extra as f32 } else { v } as f64, out);
        }
    }
}

fn chase(scalar: Scalar, n: u64, stride: u64, spacing: u64, out: &mut Vec<u8>) {
    let nodes = n / spacing;
    for i in 0..n {
        let j = i / spacing;
        let is_node = i % spacing == 0 && j < nodes;
        let next = if is_node { ((j as u128 + stride as u128) % nodes as u128) * spacing as u128 } else { 0 };
        scalar.push_int(next as i128, out);
    }
}

fn perm(scalar: Scalar, n: usize, seed: u32, out: &mut Vec<u8>) -> Result<(), String> {
    if !n.is_power_of_two() || n > 1 << 31 {
        return Err(format!("`perm` needs a buffer of a power of two of scalars up to 2^31, not {n}"));
    }
    let mask = (n - 1) as u32;
    let shift = (n.trailing_zeros() / 2).max(1);
    for i in 0..n as u32 {
        let mut x = i;
        for r in 0..3u32 {
            x = x.wrapping_mul(0x9E37_79B1).wrapping_add(seed.wrapping_mul(0x85EB_CA77).wrapping_add(r)) & mask;
            x ^= x >> shift;
        }
        scalar.push_int(x as i128, out);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::digest::fnv1a;
    use super::*;

    #[test]
    fn hash_vectors() {
        let got: Vec<u32> = (0..4).map(|i| hash(i, 1)).collect();
        assert_eq!(got, [0x8f2d0819, 0x5dcc6f18, 0x3e9364ef, 0x52ac1cfb]);
        assert_eq!((hash(0, 7), hash(1_000_000, 7)), (0x7feedba0, 0x79531929));
    }

    /// The vectors published with the reference data: type, count, pattern, digest of the bytes, first values.
    #[test]
    fn pattern_vectors() {
        use Scalar::*;
        let cases: &[(Scalar, usize, &str, u64, &[f64])] = &[
            (F32, 8, "uniform(-1,1,2)", 0x6c599e3fd4247bbe, &[0.5444860458374023, 0.4334526062011719]),
            (F32, 8, "uniform(320,340,1)", 0x27c52a3417656097, &[331.18560791015625, 327.3280029296875]),
            (F64, 4, "uniform(-1,1,1)", 0x816325587c94b1fe, &[0.1185617446899414, -0.26719868183135986]),
            (I32, 8, "randint(-1000,1000,1)", 0xf7aab518ace12174, &[81., -128., 23., 323., -128., -708., -76., -997.]),
            (U32, 4, "randint(0,4294967296,1)", 0xaf33d17858b8dd75, &[2402093081., 1573678872., 1049847023.]),
            (U8, 8, "randint(97,101,2)", 0x72df0fe0ba0b9753, &[100., 99., 98., 98., 99., 97., 99., 100.]),
            (I32, 8, "chase(3,1)", 0x950c7394bb6b4ba5, &[3., 4., 5., 6., 7., 0., 1., 2.]),
            (I32, 128, "chase(97,32)", 0xb169a2823c854b25, &[32., 0.]),
            (I32, 16, "perm(2)", 0x1eb2dad3635188a5, &[12., 11., 15., 0., 1., 2., 4., 3.]),
            (I32, 9, "prefix(4,28,7)", 0x2a549f8a143107a1, &[0., 28., 50., 60., 85., 106., 116., 128., 141.]),
            (I32, 130, "prefix_skew(8,72,7,64,1024)", 0xdda9e6557257ca18, &[0.]),
            (I32, 8, "runs(4,6,1)", 0xcb8a2ac6146cd924, &[3., 6., 7., 12., 4., 8., 9., 10.]),
            (F32, 9, "diagdom(3,1)", 0xafabbd6a6dd59194, &[3.5592808723449707, 0.36640065908432007]),
            (I32, 12, "ell_col(100,8,6)", 0x1c3afc8d131074f5, &[-1., 41., 46., 58., -1., -1., 86., 75.]),
            (I32, 9, "dist(3,1,1000,1)", 0x2d29f587ae6e821d, &[0., 127., 921., 723., 0., 426., 868., 86., 0.]),
            (I32, 9, "nw_border(3,10)", 0x8f6777ba6a6911a7, &[0., -10., -20., -10., -2., -3., -20., -3., -4.]),
        ];
        for &(scalar, n, text, digest, first) in cases {
            let bytes = Pattern::parse(text, &Variables::default()).unwrap().fill(scalar, n).unwrap();
            let got: Vec<f64> = bytes.chunks(scalar.bytes()).take(first.len()).map(|b| scalar.read_float(b)).collect();
            assert_eq!(got, first, "{text}");
            assert_eq!(fnv1a(&bytes), digest, "{text}");
        }
    }

    #[test]
    fn bad_patterns_are_sentences() {
        let none = Variables::default();
        for text in [
            "",
            "nope(1)",
            "uniform(0,1)",
            "uniform(0,1,2,3)",
            "randint(5,5,1)",
            "chase(1,0)",
            "const(",
            "randint(0.5,2,1)",
            "uniform(0,1,-1)",
            "prefix(3,2,1)",
        ] {
            let why = Pattern::parse(text, &none).unwrap_err();
            assert!(why.len() > 10, "{text}: {why}");
        }
        assert!(Pattern::parse("perm(1)", &none).unwrap().fill(Scalar::I32, 12).is_err());
    }
}
