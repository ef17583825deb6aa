//! Buffers from and to files: raw little-endian bytes (`.bin`), NumPy arrays (`.npy`) and numbers in text (`.csv`).
use super::element::{Element, Scalar};
use std::fmt::Write as _;
use std::path::Path;

/// Reads the scalars of a buffer of type `element` from `path`; the name's extension says how.
pub fn read(path: &Path, element: Element) -> Result<Vec<u8>, String> {
    let bytes = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let parsed = match extension(path) {
        "bin" => Ok(bytes),
        "npy" => parse_npy(&bytes, element.scalar),
        "csv" => parse_csv(&bytes, element.scalar),
        _ => Err("unknown kind of file: use .bin, .npy or .csv".to_string()),
    };
    let data = parsed.map_err(|why| format!("{}: {why}", path.display()))?;
    if data.len() % element.bytes() != 0 {
        return Err(format!(
            "{}: {} bytes are not a whole number of {element} elements of {} bytes",
            path.display(),
            data.len(),
            element.bytes()
        ));
    }
    Ok(data)
}

/// Writes the scalars of a buffer of type `element` to `path`; the name's extension says how.
pub fn write(path: &Path, element: Element, data: &[u8]) -> Result<(), String> {
    let bytes = match extension(path) {
        "bin" => data.to_vec(),
        "npy" => format_npy(data, element.scalar),
        "csv" => format_csv(data, element),
        _ => return Err(format!("{}: unknown kind of file: use .bin, .npy or .csv", path.display())),
    };
    std::fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()))
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|e| e.to_str()).unwrap_or("")
}

fn npy_descriptor(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::I8 => "|i1",
        Scalar::U8 => "|u1",
        Scalar::I16 => "<i2",
        Scalar::U16 => "<u2",
        Scalar::I32 => "<i4",
        Scalar::U32 => "<u4",
        Scalar::I64 => "<i8",
        Scalar::U64 => "<u8",
        Scalar::F16 => "<f2",
        Scalar::F32 => "<f4",
        Scalar::F64 => "<f8",
    }
}

/// NumPy's format, versions 1 to 3: magic, version, header length, a Python dictionary, the data.
fn parse_npy(bytes: &[u8], scalar: Scalar) -> Result<Vec<u8>, String> {
    if bytes.len() < 12 || &bytes[..6] != b"\x93NUMPY" {
        return Err("not a NumPy array file".into());
    }
    let (header_start, header_length): (usize, usize) = if bytes[6] == 1 {
        (10, u16::from_le_bytes([bytes[8], bytes[9]]) as usize)
    } else {
        (12, u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]) as usize)
    };
    let header = header_start
        .checked_add(header_length)
        .and_then(|end| bytes.get(header_start..end))
        .ok_or("the header is longer than the file")?;
    let header = std::str::from_utf8(header).map_err(|_| "the header is not text")?;
    if header.contains("'fortran_order': True") {
        return Err("the array is in Fortran order: save it with numpy.ascontiguousarray".into());
    }
    let descriptor = header
        .split_once("'descr':")
        .and_then(|(_, rest)| rest.split('\'').nth(1))
        .ok_or("the header names no element type")?;
    let expected = npy_descriptor(scalar);
    if descriptor != expected {
        return Err(format!("elements are `{descriptor}`, but the argument is {} (`{expected}`)", scalar.name()));
    }
    Ok(bytes[header_start + header_length..].to_vec())
}

fn format_npy(data: &[u8], scalar: Scalar) -> Vec<u8> {
    let mut header = format!(
        "{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}",
        npy_descriptor(scalar),
        data.len() / scalar.bytes()
    );
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend_from_slice(&(header.len() as u16).to_le_bytes());
    out.extend_from_slice(header.as_bytes());
    out.extend_from_slice(data);
    out
}

/// Numbers separated by commas, semicolons or white space; `#` starts a comment.
fn parse_csv(bytes: &[u8], scalar: Scalar) -> Result<Vec<u8>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "not UTF-8 text")?;
    let mut out = Vec::new();
    for (line, content) in text.lines().enumerate() {
        let content = content.split('#').next().unwrap_or("");
        for token in content.split([',', ';', ' ', '\t', '\r']).filter(|t| !t.is_empty()) {
            let bad = || format!("line {}: `{token}` is not a {} number", line + 1, scalar.name());
            if scalar.is_float() {
                scalar.push_float(token.parse().map_err(|_| bad())?, &mut out);
            } else {
                let value: i128 = token.parse().map_err(|_| bad())?;
                let start = out.len();
                scalar.push_int(value, &mut out);
                if scalar.read_int(&out[start..]) != value {
                    return Err(format!("line {}: {value} does not fit {}", line + 1, scalar.name()));
                }
            }
        }
    }
    Ok(out)
}

/// One element a line.
fn format_csv(data: &[u8], element: Element) -> Vec<u8> {
    let mut text = String::new();
    for chunk in data.chunks_exact(element.bytes()) {
        for (i, value) in chunk.chunks_exact(element.scalar.bytes()).enumerate() {
            if i > 0 {
                text.push(',');
            }
            text.push_str(&format_value(element.scalar, value));
        }
        text.push('\n');
    }
    text.into_bytes()
}

/// A value as the shortest text that reads back as the same value.
pub fn format_value(scalar: Scalar, bytes: &[u8]) -> String {
    let mut text = String::new();
    let _ = match scalar {
        Scalar::F16 => write!(text, "{}", half::f16::from_f64(scalar.read_float(bytes))),
        Scalar::F32 => write!(text, "{}", scalar.read_float(bytes) as f32),
        Scalar::F64 => write!(text, "{}", scalar.read_float(bytes)),
        _ => write!(text, "{}", scalar.read_int(bytes)),
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_round_trip() {
        let dir = std::env::temp_dir().join(format!("warpscope-files-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        for ty in ["f32x2", "i8", "u64", "f16", "f64"] {
            let element: Element = ty.parse().unwrap();
            let mut data = Vec::new();
            for i in 0..8 {
                element.scalar.push_float(i as f64 * 1.5, &mut data);
            }
            for name in ["a.bin", "a.npy", "a.csv"] {
                let path = dir.join(name);
                write(&path, element, &data).unwrap();
                assert_eq!(read(&path, element).unwrap(), data, "{ty} {name}");
            }
        }
        std::fs::remove_dir_all(&dir).unwrap();
    }

    /// Bytes that `numpy.save` wrote for `numpy.array([1, 2], dtype='<i2')`.
    #[test]
    fn numpy_wrote_this() {
        let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        file.extend_from_slice(b"{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }");
        file.resize(127, b' ');
        file.extend_from_slice(b"\n\x01\x00\x02\x00");
        assert_eq!(parse_npy(&file, Scalar::I16).unwrap(), [1, 0, 2, 0]);
        assert!(parse_npy(&file, Scalar::I32).unwrap_err().contains("<i2"));
        for cut in 0..file.len() {
            let _ = parse_npy(&file[..cut], Scalar::I16);
        }
    }

    #[test]
    fn text_that_is_not_numbers_names_the_line() {
        assert!(parse_csv(b"1,2\n3,x\n", Scalar::I32).unwrap_err().starts_with("line 2"));
        assert!(parse_csv(b"300", Scalar::U8).unwrap_err().contains("does not fit"));
    }
}
