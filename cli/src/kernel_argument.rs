//! The `--arg` of a kernel: buffers, scalars, local memory.
use std::path::PathBuf;
use warpscope_workloads::data::element::Element;
use warpscope_workloads::data::expr::{Variables, evaluate};
use warpscope_workloads::data::files;
use warpscope_workloads::data::pattern::Pattern;
use warpscope_workloads::manifest::{Arg, Buffer, BufferSource, CheckRule, Role};

/// What `--help` says.
pub const HELP: &str = "Argument, in the order of the kernel's parameters:\n  \
TYPE[COUNT]            buffer of zeros, e.g. f32[1024]\n  \
TYPE[COUNT]=PATTERN    buffer with a pattern: index(0,1), const(c), uniform(lo,hi,seed), randint(lo,hi,seed) ...\n  \
TYPE[]=@FILE           buffer from a .bin, .npy or .csv file\n  \
TYPE=VALUE             scalar or vector, e.g. i32=-4 or f32x2=1.5,2\n  \
bytes=HEX              structure by value, in memory order\n  \
local=BYTES            local memory\n  \
null                   null pointer\n\
TYPE is i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64, with x2 x3 x4 x8 or x16 behind it for a vector";

/// Largest buffer.
const MAX_BYTES: u64 = 1 << 36;

/// Parses one argument.
pub fn parse(text: &str) -> Result<Arg, String> {
    let text = text.trim();
    if text == "null" {
        let element = "u8".parse()?;
        return Ok(buffer(element, 0, BufferSource::Pattern(Pattern::Zeros)));
    }
    let (kind, value) = match text.split_once('=') {
        Some((kind, value)) => (kind.trim(), Some(value.trim())),
        None => (text, None),
    };
    if let Some((element, count)) = kind.strip_suffix(']').and_then(|k| k.split_once('[')) {
        return parse_buffer(element.parse()?, count.trim(), value);
    }
    let value =
        value.ok_or_else(|| format!("`{text}` is no argument: write TYPE[COUNT], TYPE=VALUE, local=BYTES or null"))?;
    match kind {
        "local" => {
            let bytes = count(value)?;
            let bytes = u32::try_from(bytes).map_err(|_| format!("{bytes} bytes of local memory are too many"))?;
            Ok(Arg::Local { bytes })
        }
        "bytes" => Ok(Arg::Struct { bytes: hex(value)? }),
        _ => scalar(kind.parse()?, value),
    }
}

fn parse_buffer(element: Element, length: &str, value: Option<&str>) -> Result<Arg, String> {
    if let Some(file) = value.and_then(|v| v.strip_prefix('@')) {
        let path = PathBuf::from(file);
        let elements = files::read(&path, element)?.len() / element.bytes();
        if !length.is_empty() && count(length)? != elements as u64 {
            return Err(format!("{file} has {elements} elements, not {length}"));
        }
        return Ok(buffer(element, elements, BufferSource::File(path)));
    }
    if length.is_empty() {
        return Err(format!("{element}[]: the number of elements is missing"));
    }
    let elements = count(length)?;
    if elements.saturating_mul(element.bytes() as u64) > MAX_BYTES {
        return Err(format!("{element}[{length}] is larger than {MAX_BYTES} bytes"));
    }
    let pattern = value.map_or(Ok(Pattern::Zeros), |v| Pattern::parse(v, &Variables::new()))?;
    Ok(buffer(element, elements as usize, BufferSource::Pattern(pattern)))
}

fn buffer(element: Element, count: usize, source: BufferSource) -> Arg {
    let check = CheckRule::default();
    Arg::Buffer(Buffer { element, count, source, role: Role::InOut, at: 0, expected: None, check })
}

fn scalar(element: Element, value: &str) -> Result<Arg, String> {
    let parts: Vec<&str> = value.split(',').map(str::trim).collect();
    let lanes = usize::from(element.lanes);
    if parts.len() != lanes && parts.len() != 1 {
        return Err(format!("{element}={value}: {} values, but {element} has {lanes}", parts.len()));
    }
    let mut bytes = Vec::new();
    for lane in 0..lanes {
        let part = parts.get(lane).or(parts.first()).copied().unwrap_or_default();
        evaluate(part, &Variables::new())?.push(element.scalar, &mut bytes);
    }
    bytes.resize(element.bytes(), 0);
    Ok(Arg::Scalar { element, bytes })
}

fn count(text: &str) -> Result<u64, String> {
    let value = evaluate(text, &Variables::new())?.as_f64();
    if value >= 0.0 && value <= MAX_BYTES as f64 && value.fract() == 0.0 {
        Ok(value as u64)
    } else {
        Err(format!("`{text}` is no number of elements or bytes"))
    }
}

fn hex(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    let pair = |p: &[char]| {
        let [high, low] = p else { return None };
        Some((high.to_digit(16)? * 16 + low.to_digit(16)?) as u8)
    };
    digits
        .chunks(2)
        .map(pair)
        .collect::<Option<Vec<u8>>>()
        .ok_or_else(|| format!("`{text}` is not pairs of hexadecimal digits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_parse() {
        let Ok(Arg::Buffer(b)) = parse("f32x4[2*8]=uniform(-1,1,2)") else { panic!() };
        assert_eq!((b.count, b.bytes()), (16, 256));
        let Ok(Arg::Scalar { bytes, .. }) = parse("i32=-2") else { panic!() };
        assert_eq!(bytes, (-2i32).to_le_bytes());
        let Ok(Arg::Scalar { bytes, .. }) = parse("f32x3=1,2,3") else { panic!() };
        assert_eq!(bytes.len(), 16);
        assert_eq!(bytes[4..8], 2f32.to_le_bytes());
        assert!(matches!(parse("local=64"), Ok(Arg::Local { bytes: 64 })));
        let Ok(Arg::Struct { bytes }) = parse("bytes=01 ff") else { panic!() };
        assert_eq!(bytes, [1, 255]);
        let Ok(Arg::Buffer(b)) = parse("null") else { panic!() };
        assert_eq!(b.count, 0);
    }

    #[test]
    fn mistakes_are_sentences() {
        for (text, part) in [
            ("float[4]", "unknown type"),
            ("f32[]", "number of elements is missing"),
            ("f32[-1]", "no number"),
            ("f32[1e30]", "no"),
            ("f32[4]=noise(1)", "unknown pattern"),
            ("f32x2=1,2,3", "3 values"),
            ("f32[]=@/nonexistent.bin", "nonexistent"),
            ("7", "is no argument"),
            ("bytes=0g", "hexadecimal"),
            ("local=9999999999", "too many"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
