//! Comparison of outputs with what they should be.
use crate::data::digest::{Recorded, RecordedOutput, fnv1a};
use crate::data::element::Scalar;
use crate::data::files::{self, format_value};
use crate::manifest::{Arg, Buffer, Case, Order, Role};
use crate::references::Outputs;
use serde::Serialize;

/// What an output was compared with.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Oracle {
    /// The CPU reference.
    Reference,
    /// The contents in the file that the manifest names.
    Contents,
    /// The recorded digest of an integer output.
    Digest,
    /// The recorded samples and norms of a float output.
    Samples,
    /// What an input held before the launch.
    Before,
    /// Nothing was there to compare with.
    None,
}

/// Result of the comparison of one output.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Check {
    /// Index of the argument.
    pub argument: usize,
    /// What it was compared with.
    pub oracle: Oracle,
    /// Whether it agrees.
    pub passed: bool,
    /// Values compared.
    pub compared: usize,
    /// Values beyond their tolerance.
    pub mismatches: usize,
    /// Largest absolute difference of finite values.
    pub max_error: f64,
    /// What is wrong, empty if nothing is.
    pub why: String,
}

impl Check {
    /// An output that nothing says anything about.
    pub fn unchecked(argument: usize) -> Check {
        let why = "neither a CPU reference nor a recorded output is known".to_string();
        Check { argument, oracle: Oracle::None, passed: false, compared: 0, mismatches: 0, max_error: 0.0, why }
    }

    /// An input that the kernel must not change, and did.
    pub fn input_changed(argument: usize) -> Check {
        Check::failed(argument, Oracle::Before, "the kernel changed an input (`role = \"in\"`)".into())
    }

    fn failed(argument: usize, oracle: Oracle, why: String) -> Check {
        Check { argument, oracle, passed: false, compared: 0, mismatches: 0, max_error: 0.0, why }
    }
}

/// Whether some output had nothing to be compared with, and nothing else is wrong.
pub fn unchecked(checks: &[Check]) -> bool {
    checks.iter().any(|c| c.oracle == Oracle::None) && checks.iter().all(|c| c.passed || c.oracle == Oracle::None)
}

/// What is wrong, in a sentence; `None` if nothing is.
pub fn complaint(checks: &[Check]) -> Option<String> {
    let wrong = checks.iter().filter(|c| !c.passed);
    let parts: Vec<String> = wrong.map(|c| format!("argument {}: {}", c.argument, c.why)).collect();
    if parts.is_empty() { None } else { Some(parts.join("; ")) }
}

/// Checks every buffer of a case: outputs against the file that they name, the CPU reference's (`expected`) or what was
/// recorded, inputs against what they were. `before` and `after` are contents by argument.
pub fn outputs(
    case: &Case,
    expected: Option<&Outputs>,
    recorded: Option<&Recorded>,
    before: &[Vec<u8>],
    after: &[Vec<u8>],
) -> Vec<Check> {
    let mut checks = Vec::new();
    for (index, arg) in case.args.iter().enumerate() {
        let Arg::Buffer(buffer) = arg else { continue };
        if buffer.role == Role::In {
            if after[index] != before[index] {
                checks.push(Check::input_changed(index));
            }
            continue;
        }
        if let Some(path) = &buffer.expected {
            checks.push(match files::read(path, buffer.element) {
                Ok(contents) => against_contents(index, buffer, &after[index], &contents),
                Err(why) => Check::failed(index, Oracle::Contents, why),
            });
            continue;
        }
        let reference = expected.and_then(|e| e.0.iter().find(|(i, _)| *i == index)).map(|(_, bytes)| &bytes[..]);
        let recorded = recorded.and_then(|r| Recorded::output(r, &case.name, index));
        checks.push(match (reference, recorded) {
            (Some(reference), _) => against_reference(index, buffer, &after[index], reference),
            (None, Some(recorded)) => against_recorded(index, buffer, &after[index], recorded),
            (None, None) => Check::unchecked(index),
        });
    }
    checks
}

/// Compares every value of an output with the CPU reference's.
pub fn against_reference(argument: usize, buffer: &Buffer, got: &[u8], expected: &[u8]) -> Check {
    against_values(argument, buffer, got, expected, Oracle::Reference)
}

/// Compares every value of an output with the contents that it must have.
pub fn against_contents(argument: usize, buffer: &Buffer, got: &[u8], expected: &[u8]) -> Check {
    against_values(argument, buffer, got, expected, Oracle::Contents)
}

fn against_values(argument: usize, buffer: &Buffer, got: &[u8], expected: &[u8], oracle: Oracle) -> Check {
    let scalar = buffer.element.scalar;
    if got.len() != expected.len() {
        let why = format!("{} bytes are expected, but the buffer has {}", expected.len(), got.len());
        return Check::failed(argument, oracle, why);
    }
    let (sorted_got, sorted_expected);
    let (got, expected) = match buffer.check.order {
        Order::Same => (got, expected),
        Order::Any => {
            (sorted_got, sorted_expected) = (sorted(scalar, got), sorted(scalar, expected));
            (&sorted_got[..], &sorted_expected[..])
        }
    };
    let mut tally = Tally::new(buffer);
    let size = scalar.bytes();
    for (i, (g, e)) in got.chunks_exact(size).zip(expected.chunks_exact(size)).enumerate() {
        if scalar.is_float() {
            let (g, e) = (scalar.read_float(g), scalar.read_float(e));
            tally.float(i, g, e, |v| format_float(scalar, v));
        } else if g != e {
            tally.mismatch(i, || (format_value(scalar, g), format_value(scalar, e)));
        }
        tally.compared += 1;
    }
    tally.finish(argument, oracle)
}

/// Compares an output with what was recorded of it.
pub fn against_recorded(argument: usize, buffer: &Buffer, got: &[u8], recorded: &RecordedOutput) -> Check {
    let scalar = buffer.element.scalar;
    let n = got.len() / scalar.bytes();
    let oracle = if scalar.is_float() { Oracle::Samples } else { Oracle::Digest };
    if n != recorded.n {
        return Check::failed(argument, oracle, format!("{} values were recorded, but there are {n}", recorded.n));
    }
    if scalar.is_float() {
        against_samples(argument, buffer, got, recorded)
    } else {
        against_digest(argument, buffer, got, recorded)
    }
}

fn against_digest(argument: usize, buffer: &Buffer, got: &[u8], recorded: &RecordedOutput) -> Check {
    let digest = match buffer.check.order {
        Order::Same => fnv1a(got),
        Order::Any => fnv1a(&sorted(buffer.element.scalar, got)),
    };
    let digest = format!("{digest:016x}");
    let compared = got.len() / buffer.element.scalar.bytes();
    match &recorded.fnv1a {
        Some(expected) if *expected == digest => Check {
            argument,
            oracle: Oracle::Digest,
            passed: true,
            compared,
            mismatches: 0,
            max_error: 0.0,
            why: String::new(),
        },
        Some(expected) => {
            let why = format!("digest {digest} differs from the recorded {expected}");
            Check { compared, ..Check::failed(argument, Oracle::Digest, why) }
        }
        None => Check::failed(argument, Oracle::Digest, "the recorded output has no digest".into()),
    }
}

/// Samples are recorded with nine significant digits: exact in single precision, within this in double.
const RECORDED_PRECISION: f64 = 1e-8;

/// The samples one by one; then the norms, whose bounds follow from the tolerance of the single values.
fn against_samples(argument: usize, buffer: &Buffer, got: &[u8], recorded: &RecordedOutput) -> Check {
    let scalar = buffer.element.scalar;
    let size = scalar.bytes();
    let n = got.len() / size;
    let value = |i: usize| scalar.read_float(&got[i * size..]);
    let mut tally = Tally::new(buffer);
    let last = recorded.samples.len().saturating_sub(1).max(1);
    for (k, sample) in recorded.samples.iter().enumerate() {
        let i = k * n.saturating_sub(1) / last;
        let mut sample = sample.unwrap_or(f64::NAN);
        if scalar == Scalar::F64 {
            tally.slack = RECORDED_PRECISION * sample.abs();
        } else {
            let mut bytes = Vec::new();
            scalar.push_float(sample, &mut bytes);
            sample = scalar.read_float(&bytes);
        }
        tally.float(i, value(i), sample, |v| format_float(scalar, v));
        tally.compared += 1;
    }
    let mut check = tally.finish(argument, Oracle::Samples);
    if check.passed && buffer.check.mismatch == 0.0 {
        check.why = norms_differ(buffer, n, (0..n).map(value), recorded).unwrap_or_default();
        check.passed = check.why.is_empty();
    }
    check
}

/// Where every value is within `atol + rtol * |ref|`, so are the norm (with `atol * sqrt n`) and the mean.
fn norms_differ(
    buffer: &Buffer,
    n: usize,
    values: impl Iterator<Item = f64>,
    recorded: &RecordedOutput,
) -> Option<String> {
    let (mut sum, mut squares, mut nonfinite) = (0.0, 0.0, 0);
    for v in values {
        if v.is_finite() {
            sum += v;
            squares += v * v;
        } else {
            nonfinite += 1;
        }
    }
    if recorded.nonfinite.is_some_and(|r| r != nonfinite) {
        return Some(format!("{nonfinite} values are not finite, {:?} were recorded", recorded.nonfinite));
    }
    let root = (n as f64).sqrt();
    let (atol, rtol) = (buffer.check.atol, buffer.check.rtol + RECORDED_PRECISION);
    let l2 = squares.sqrt();
    if let Some(expected) = recorded.l2
        && (l2 - expected).abs() > atol * root + rtol * expected
    {
        return Some(format!("the l2 norm is {l2:.9}, {expected:.9} was recorded"));
    }
    let mean = sum / (n as f64 - nonfinite as f64);
    if let (Some(expected), Some(norm)) = (recorded.mean, recorded.l2)
        && (mean - expected).abs() > atol + rtol * norm / root
    {
        return Some(format!("the mean is {mean:.9}, {expected:.9} was recorded"));
    }
    None
}

/// Mismatches while they are counted.
struct Tally<'a> {
    buffer: &'a Buffer,
    /// Added to the tolerance of the next value.
    slack: f64,
    compared: usize,
    mismatches: usize,
    max_error: f64,
    first: String,
}

impl Tally<'_> {
    fn new(buffer: &Buffer) -> Tally<'_> {
        Tally { buffer, slack: 0.0, compared: 0, mismatches: 0, max_error: 0.0, first: String::new() }
    }

    fn float(&mut self, index: usize, got: f64, expected: f64, show: impl Fn(f64) -> String) {
        let same = if got.is_finite() && expected.is_finite() {
            let error = (got - expected).abs();
            self.max_error = self.max_error.max(error);
            error <= self.slack + self.buffer.check.atol + self.buffer.check.rtol * expected.abs()
        } else {
            got == expected || (got.is_nan() && expected.is_nan())
        };
        if !same {
            self.mismatch(index, || (show(got), show(expected)));
        }
    }

    fn mismatch(&mut self, index: usize, show: impl Fn() -> (String, String)) {
        if self.mismatches == 0 {
            let (got, expected) = show();
            self.first = format!("value {index} is {got}, expected {expected}");
        }
        self.mismatches += 1;
    }

    fn finish(self, argument: usize, oracle: Oracle) -> Check {
        let passed = self.mismatches as f64 <= self.buffer.check.mismatch * self.compared as f64;
        let why = match passed {
            true => String::new(),
            false => format!("{} of {} values differ; {}", self.mismatches, self.compared, self.first),
        };
        let Tally { compared, mismatches, max_error, .. } = self;
        Check { argument, oracle, passed, compared, mismatches, max_error, why }
    }
}

fn format_float(scalar: Scalar, v: f64) -> String {
    let mut bytes = Vec::new();
    scalar.push_float(v, &mut bytes);
    format_value(scalar, &bytes)
}

/// The values in ascending order.
fn sorted(scalar: Scalar, bytes: &[u8]) -> Vec<u8> {
    let mut values: Vec<&[u8]> = bytes.chunks_exact(scalar.bytes()).collect();
    if scalar.is_float() {
        values.sort_by(|a, b| scalar.read_float(a).total_cmp(&scalar.read_float(b)));
    } else {
        values.sort_by_key(|v| scalar.read_int(v));
    }
    values.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::pattern::Pattern;
    use crate::manifest::{BufferSource, CheckRule, Role};

    fn buffer(ty: &str, check: CheckRule) -> Buffer {
        let source = BufferSource::Pattern(Pattern::Zeros);
        Buffer { element: ty.parse().unwrap(), count: 0, source, role: Role::Out, at: 0, expected: None, check }
    }

    fn f32s(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_le_bytes()).collect()
    }

    #[test]
    fn floats_have_a_tolerance() {
        let rule = CheckRule { rtol: 0.1, atol: 0.0, ..CheckRule::default() };
        let b = buffer("f32", rule);
        let ok = |got: &[f32], expected: &[f32]| against_reference(0, &b, &f32s(got), &f32s(expected)).passed;
        assert!(ok(&[1.05, f32::NAN, f32::INFINITY], &[1.0, f32::NAN, f32::INFINITY]));
        assert!(!ok(&[1.2], &[1.0]));
        assert!(!ok(&[f32::NAN], &[1.0]));
        assert!(!ok(&[1.0], &[f32::NAN]));
        assert!(!ok(&[f32::NEG_INFINITY], &[f32::INFINITY]));
        assert!(!ok(&[1.0], &[1.0, 2.0]));
    }

    #[test]
    fn a_fraction_may_differ_and_order_may_not_matter() {
        let ints = |v: &[i32]| v.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        let some = buffer("i32", CheckRule { mismatch: 0.5, ..CheckRule::default() });
        assert!(against_reference(0, &some, &ints(&[1, 9]), &ints(&[1, 2])).passed);
        let check = against_reference(3, &some, &ints(&[8, 9]), &ints(&[1, 2]));
        assert!(!check.passed);
        assert_eq!(check.why, "2 of 2 values differ; value 0 is 8, expected 1");
        let any = buffer("i32", CheckRule { order: Order::Any, ..CheckRule::default() });
        assert!(against_reference(0, &any, &ints(&[-1, 3, 2]), &ints(&[2, -1, 3])).passed);
        assert!(!against_reference(0, &any, &ints(&[2, 3, 3]), &ints(&[2, 2, 3])).passed);
    }

    #[test]
    fn recorded_norms_catch_what_samples_miss() {
        let b = buffer("f32", CheckRule { rtol: 1e-3, atol: 0.0, ..CheckRule::default() });
        let mut values = vec![1.0f32; 1000];
        let recorded = RecordedOutput {
            n: 1000,
            fnv1a: None,
            samples: vec![Some(1.0); 64],
            mean: Some(1.0),
            l2: Some(1000f64.sqrt()),
            nonfinite: Some(0),
        };
        assert!(against_recorded(0, &b, &f32s(&values), &recorded).passed);
        values[1..15].fill(5.0);
        assert!(against_recorded(0, &b, &f32s(&values), &recorded).why.contains("l2"));
        values[1] = f32::NAN;
        assert!(!against_recorded(0, &b, &f32s(&values), &recorded).passed);
    }
}
