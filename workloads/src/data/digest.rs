//! Digests of buffers and the recorded outputs that they are compared with.
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// 64-bit FNV-1a hash of `bytes`.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ b as u64).wrapping_mul(0x0000_0100_0000_01b3))
}

/// What was recorded of one output of a case.
#[derive(Clone, Debug, Deserialize)]
pub struct RecordedOutput {
    /// Scalars in the buffer.
    pub n: usize,
    /// Hash of an integer output, sixteen hexadecimal digits.
    pub fnv1a: Option<String>,
    /// Values at the 64 indices `k * (n - 1) / 63` of a float output.
    #[serde(default)]
    pub samples: Vec<Option<f64>>,
    /// Mean over the finite values of a float output.
    pub mean: Option<f64>,
    /// Root of the sum of squares over the finite values of a float output.
    pub l2: Option<f64>,
    /// Values that are not finite.
    pub nonfinite: Option<u64>,
}

/// Recorded outputs of one case by argument index.
#[derive(Clone, Debug, Deserialize)]
pub struct RecordedCase {
    /// By argument index.
    pub outputs: BTreeMap<String, RecordedOutput>,
}

/// A file of recorded outputs by case name.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Recorded {
    /// By case name.
    pub cases: BTreeMap<String, RecordedCase>,
}

impl Recorded {
    /// Reads a JSON file of recorded outputs.
    pub fn read(path: &Path) -> Result<Recorded, String> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// What was recorded of argument `index` of `case`.
    pub fn output(&self, case: &str, index: usize) -> Option<&RecordedOutput> {
        self.cases.get(case)?.outputs.get(&index.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::fnv1a;

    /// Vectors from the FNV authors' test suite.
    #[test]
    fn fnv_vectors() {
        assert_eq!(fnv1a(b""), 0xcbf29ce484222325);
        assert_eq!(fnv1a(b"a"), 0xaf63dc4c8601ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x85944171f73967e8);
    }
}
