//! Element types of buffers and scalars.
use std::fmt;
use std::str::FromStr;

/// A scalar type of OpenCL C.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Hash)]
#[allow(missing_docs)]
pub enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
}

impl Scalar {
    /// Every scalar type.
    pub const ALL: [Scalar; 11] = [
        Scalar::I8,
        Scalar::U8,
        Scalar::I16,
        Scalar::U16,
        Scalar::I32,
        Scalar::U32,
        Scalar::I64,
        Scalar::U64,
        Scalar::F16,
        Scalar::F32,
        Scalar::F64,
    ];

    /// Bytes of one value.
    pub const fn bytes(self) -> usize {
        match self {
            Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 | Scalar::F16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
        }
    }

    /// Whether values are floating-point numbers.
    pub const fn is_float(self) -> bool {
        matches!(self, Scalar::F16 | Scalar::F32 | Scalar::F64)
    }

    /// Name as manifests write it.
    pub const fn name(self) -> &'static str {
        match self {
            Scalar::I8 => "i8",
            Scalar::U8 => "u8",
            Scalar::I16 => "i16",
            Scalar::U16 => "u16",
            Scalar::I32 => "i32",
            Scalar::U32 => "u32",
            Scalar::I64 => "i64",
            Scalar::U64 => "u64",
            Scalar::F16 => "f16",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
        }
    }

    /// Appends an integer converted to this type (wrapping for integers, rounded for floats).
    pub fn push_int(self, v: i128, out: &mut Vec<u8>) {
        match self {
            Scalar::I8 | Scalar::U8 => out.push(v as u8),
            Scalar::I16 | Scalar::U16 => out.extend_from_slice(&(v as u16).to_le_bytes()),
            Scalar::I32 | Scalar::U32 => out.extend_from_slice(&(v as u32).to_le_bytes()),
            Scalar::I64 | Scalar::U64 => out.extend_from_slice(&(v as u64).to_le_bytes()),
            Scalar::F16 => out.extend_from_slice(&half::f16::from_f64(v as f64).to_le_bytes()),
            Scalar::F32 => out.extend_from_slice(&(v as f32).to_le_bytes()),
            Scalar::F64 => out.extend_from_slice(&(v as f64).to_le_bytes()),
        }
    }

    /// Appends a number converted to this type (truncated toward zero for integers).
    pub fn push_float(self, v: f64, out: &mut Vec<u8>) {
        match self {
            Scalar::F16 => out.extend_from_slice(&half::f16::from_f64(v).to_le_bytes()),
            Scalar::F32 => out.extend_from_slice(&(v as f32).to_le_bytes()),
            Scalar::F64 => out.extend_from_slice(&v.to_le_bytes()),
            _ => self.push_int(v as i128, out),
        }
    }

    /// Reads one integer.
    ///
    /// # Panics
    /// If `bytes` is shorter than a value. For a float type the value is truncated.
    pub fn read_int(self, bytes: &[u8]) -> i128 {
        match self {
            Scalar::I8 => bytes[0] as i8 as i128,
            Scalar::U8 => bytes[0] as i128,
            Scalar::I16 => i16::from_le_bytes(array(bytes)) as i128,
            Scalar::U16 => u16::from_le_bytes(array(bytes)) as i128,
            Scalar::I32 => i32::from_le_bytes(array(bytes)) as i128,
            Scalar::U32 => u32::from_le_bytes(array(bytes)) as i128,
            Scalar::I64 => i64::from_le_bytes(array(bytes)) as i128,
            Scalar::U64 => u64::from_le_bytes(array(bytes)) as i128,
            _ => self.read_float(bytes) as i128,
        }
    }

    /// Reads one number as a double.
    ///
    /// # Panics
    /// If `bytes` is shorter than a value.
    pub fn read_float(self, bytes: &[u8]) -> f64 {
        match self {
            Scalar::F16 => half::f16::from_le_bytes(array(bytes)).to_f64(),
            Scalar::F32 => f32::from_le_bytes(array(bytes)) as f64,
            Scalar::F64 => f64::from_le_bytes(array(bytes)),
            _ => self.read_int(bytes) as f64,
        }
    }
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes[..N].try_into().expect("slice of N bytes")
}

/// A scalar or vector type such as `f32` or `u32x4`.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Hash)]
pub struct Element {
    /// Type of one component.
    pub scalar: Scalar,
    /// Components: 1, 2, 3, 4, 8 or 16.
    pub lanes: u8,
}

impl Element {
    /// Scalars that one element occupies in memory (a vector of 3 takes the place of 4).
    pub const fn stored_lanes(self) -> usize {
        if self.lanes == 3 { 4 } else { self.lanes as usize }
    }

    /// Bytes of one element in memory.
    pub const fn bytes(self) -> usize {
        self.stored_lanes() * self.scalar.bytes()
    }
}

impl FromStr for Element {
    type Err = String;

    fn from_str(s: &str) -> Result<Element, String> {
        let (base, lanes) = s.split_once('x').map_or((s, "1"), |(b, l)| (b, l));
        let scalar = Scalar::ALL.into_iter().find(|t| t.name() == base);
        let lanes = match lanes {
            "1" | "2" | "3" | "4" | "8" | "16" => lanes.parse().ok(),
            _ => None,
        };
        match (scalar, lanes) {
            (Some(scalar), Some(lanes)) => Ok(Element { scalar, lanes }),
            _ => Err(format!(
                "unknown type `{s}`: write i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 or f64, \
                 with x2 x3 x4 x8 or x16 behind it for a vector"
            )),
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.scalar.name())?;
        if self.lanes > 1 { write!(f, "x{}", self.lanes) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_parse_and_print() {
        for s in ["f32", "i8", "u64x16", "f16x3"] {
            assert_eq!(s.parse::<Element>().unwrap().to_string(), s);
        }
        for s in ["float", "f32x5", "f32x", "x4", "", "f128"] {
            assert!(s.parse::<Element>().is_err(), "{s}");
        }
        assert_eq!("f32x3".parse::<Element>().unwrap().bytes(), 16);
    }

    #[test]
    fn integers_wrap_and_floats_round() {
        let mut out = Vec::new();
        Scalar::U8.push_int(-1, &mut out);
        Scalar::F32.push_int(16_777_217, &mut out);
        Scalar::I32.push_float(-3.9, &mut out);
        assert_eq!(out[0], 255);
        assert_eq!(Scalar::F32.read_float(&out[1..5]), 16_777_216.0);
        assert_eq!(Scalar::I32.read_int(&out[5..]), -3);
    }
}
