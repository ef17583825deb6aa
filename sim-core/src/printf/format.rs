//! Formatting as OpenCL C 3.0, 6.15.14.2 says: C99's conversions, plus vectors. Single conversions go through the C
//! library, in the "C" locale.
use std::ffi::CString;

/// Widths and precisions beyond this are cut to it: C guarantees no more than 4095 characters a conversion, and a kernel
/// must not make the host allocate without bounds.
const MAX_WIDTH: u32 = 65535;

/// A value to print.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Value {
    /// Bytes of an element.
    pub bytes: u8,
    /// Whether the elements are floating-point numbers.
    pub float: bool,
    /// Bits of the elements.
    pub elements: Vec<u64>,
}

/// Length modifiers.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Length {
    None,
    /// `hh`
    Byte,
    /// `h`
    Half,
    /// `hl`
    Word,
    /// `l`
    Long,
}

/// A conversion specification.
#[derive(PartialEq, Debug)]
struct Directive<'a> {
    flags: &'a [u8],
    width: Option<u32>,
    precision: Option<u32>,
    /// Elements of a vector; 1 for scalars.
    count: usize,
    length: Length,
    conversion: u8,
}

/// Formats `text` with `values`; `string` gives the text at an address. A directive that is none, or that has no value,
/// is printed as it stands.
pub(super) fn format(text: &[u8], values: &[Value], string: &mut dyn FnMut(u64) -> Vec<u8>, out: &mut Vec<u8>) {
    let mut values = values.iter();
    let mut rest = text;
    while let Some(at) = rest.iter().position(|&c| c == b'%') {
        out.extend_from_slice(&rest[..at]);
        let behind = &rest[at + 1..];
        if behind.first() == Some(&b'%') {
            out.push(b'%');
            rest = &behind[1..];
            continue;
        }
        let parsed = parse(behind);
        match parsed.and_then(|(directive, used)| Some((directive, used, values.next()?))) {
            Some((directive, used, value)) => {
                directive.print(value, string, out);
                rest = &behind[used..];
            }
            None => {
                out.push(b'%');
                rest = behind;
            }
        }
    }
    out.extend_from_slice(rest);
}

/// The directive at the start of `text`, behind its `%`, and its length.
fn parse(text: &[u8]) -> Option<(Directive<'_>, usize)> {
    let flags = text.iter().take_while(|c| b"-+ #0".contains(c)).count();
    let mut at = flags;
    let width = number(text, &mut at);
    let mut precision = None;
    if text.get(at) == Some(&b'.') {
        at += 1;
        precision = Some(number(text, &mut at).unwrap_or(0));
    }
    let mut count = 1;
    if text.get(at) == Some(&b'v') {
        at += 1;
        count = number(text, &mut at).filter(|n| [2, 3, 4, 8, 16].contains(n))? as usize;
    }
    let (length, bytes) = match text.get(at..)? {
        [b'h', b'h', ..] => (Length::Byte, 2),
        [b'h', b'l', ..] => (Length::Word, 2),
        [b'h', ..] => (Length::Half, 1),
        [b'l', ..] => (Length::Long, 1),
        _ => (Length::None, 0),
    };
    at += bytes;
    let conversion = *text.get(at)?;
    b"diouxXfFeEgGaAcsp".contains(&conversion).then_some(())?;
    Some((Directive { flags: &text[..flags], width, precision, count, length, conversion }, at + 1))
}

fn number(text: &[u8], at: &mut usize) -> Option<u32> {
    let digits = text[*at..].iter().take_while(|c| c.is_ascii_digit()).count();
    let value =
        text[*at..*at + digits].iter().fold(0u32, |n, c| n.saturating_mul(10).saturating_add(u32::from(c - b'0')));
    *at += digits;
    (digits > 0).then(|| value.min(MAX_WIDTH))
}

impl Directive<'_> {
    fn print(&self, value: &Value, string: &mut dyn FnMut(u64) -> Vec<u8>, out: &mut Vec<u8>) {
        for (i, &bits) in value.elements.iter().take(self.count).enumerate() {
            if i > 0 {
                out.push(b',');
            }
            match self.conversion {
                b's' => self.text(&string(bits), out),
                b'c' => self.pad(&[bits as u8], out),
                b'p' => out.extend(self.call("", b'p', Argument::Pointer(bits))),
                b'd' | b'i' => {
                    out.extend(self.call("ll", self.conversion, Argument::Integer(self.signed(value, bits))))
                }
                b'o' | b'u' | b'x' | b'X' => {
                    let bits = self.signed(value, bits) as u64 & u64::MAX >> (64 - 8 * self.bytes(value));
                    out.extend(self.call("ll", self.conversion, Argument::Integer(bits as i64)));
                }
                _ => out.extend(self.call("", self.conversion, Argument::Float(float(value, bits)))),
            }
        }
    }

    /// Bytes of the integers that the length modifier names.
    fn bytes(&self, value: &Value) -> u32 {
        match self.length {
            Length::Byte => 1,
            Length::Half => 2,
            Length::Long => 8,
            Length::Word => 4,
            // "%d" of a vector has no meaning: its elements are shown as they are.
            Length::None if self.count > 1 => u32::from(value.bytes.clamp(1, 8)),
            Length::None => 4,
        }
    }

    /// An integer as the length modifier sees it, sign-extended.
    fn signed(&self, value: &Value, bits: u64) -> i64 {
        let extend = |bits: u64, bytes: u32| (bits << (64 - 8 * bytes)) as i64 >> (64 - 8 * bytes);
        let bits = if value.float { float(value, bits) as i64 as u64 } else { bits };
        extend(bits, self.bytes(value))
    }

    /// A text, cut to the precision.
    fn text(&self, text: &[u8], out: &mut Vec<u8>) {
        let length = self.precision.map_or(text.len(), |p| text.len().min(p as usize));
        self.pad(&text[..length], out);
    }

    fn pad(&self, text: &[u8], out: &mut Vec<u8>) {
        let room = (self.width.unwrap_or(0) as usize).saturating_sub(text.len());
        let left = self.flags.contains(&b'-');
        out.extend(std::iter::repeat_n(b' ', if left { 0 } else { room }));
        out.extend_from_slice(text);
        out.extend(std::iter::repeat_n(b' ', if left { room } else { 0 }));
    }

    /// One conversion by the C library.
    fn call(&self, length: &str, conversion: u8, argument: Argument) -> Vec<u8> {
        let mut directive = b"%".to_vec();
        directive.extend_from_slice(self.flags);
        if let Some(width) = self.width {
            directive.extend_from_slice(width.to_string().as_bytes());
        }
        if let Some(precision) = self.precision {
            directive.extend_from_slice(format!(".{precision}").as_bytes());
        }
        directive.extend_from_slice(length.as_bytes());
        directive.push(conversion);
        c_format(&directive, argument)
    }
}

/// A float of any size; an integer passed for one is converted.
fn float(value: &Value, bits: u64) -> f64 {
    match (value.float, value.bytes) {
        (true, 2) => half::f16::from_bits(bits as u16).to_f64(),
        (true, 4) => f64::from(f32::from_bits(bits as u32)),
        (true, _) => f64::from_bits(bits),
        (false, _) => bits as f64,
    }
}

/// What the C library formats.
enum Argument {
    Integer(i64),
    Float(f64),
    Pointer(u64),
}

/// `snprintf` with one argument. `directive` is a complete conversion of the argument's type.
fn c_format(directive: &[u8], argument: Argument) -> Vec<u8> {
    let Ok(directive) = CString::new(directive) else { return Vec::new() };
    let call = |buffer: *mut libc::c_char, size: usize| {
        let d = directive.as_ptr();
        // SAFETY: the buffer has `size` bytes; the directive takes one argument of this type.
        unsafe {
            match argument {
                Argument::Integer(n) => libc::snprintf(buffer, size, d, n as libc::c_longlong),
                Argument::Float(x) => libc::snprintf(buffer, size, d, x),
                Argument::Pointer(p) => libc::snprintf(buffer, size, d, p as usize as *const libc::c_void),
            }
        }
    };
    let locale = CLocale::enter();
    let length = usize::try_from(call(std::ptr::null_mut(), 0)).unwrap_or(0);
    let mut out = vec![0u8; length + 1];
    call(out.as_mut_ptr().cast(), out.len());
    drop(locale);
    out.truncate(length);
    out
}

/// The calling thread in the "C" locale, so that the program's own locale changes no output.
struct CLocale {
    before: libc::locale_t,
    own: libc::locale_t,
}

impl CLocale {
    fn enter() -> CLocale {
        // SAFETY: the name is a C string; the "C" locale always exists.
        unsafe {
            let own = libc::newlocale(libc::LC_ALL_MASK, c"C".as_ptr(), std::ptr::null_mut());
            CLocale { before: libc::uselocale(own), own }
        }
    }
}

impl Drop for CLocale {
    fn drop(&mut self) {
        // SAFETY: both come from `enter`, and the thread has not changed its locale since.
        unsafe {
            libc::uselocale(self.before);
            if !self.own.is_null() {
                libc::freelocale(self.own);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(bytes: u8, n: i64) -> Value {
        Value { bytes, float: false, elements: vec![n as u64 & u64::MAX >> (64 - 8 * u32::from(bytes))] }
    }

    fn floats(values: &[f32]) -> Value {
        Value { bytes: 4, float: true, elements: values.iter().map(|v| u64::from(v.to_bits())).collect() }
    }

    fn check(text: &str, values: &[Value], expected: &str) {
        let mut out = Vec::new();
        format(text.as_bytes(), values, &mut |a| format!("text{a}").into_bytes(), &mut out);
        assert_eq!(String::from_utf8_lossy(&out), expected, "{text}");
    }

    /// Expected texts: C99 7.19.6.1 and the examples of OpenCL C 3.0, 6.15.14.6.
    #[test]
    fn conversions_are_those_of_the_specification() {
        check("%d%% %i", &[int(4, -5), int(4, 7)], "-5% 7");
        check("%5d|%-5d|%05d|%+d|% d", &[1, 2, 3, 4, 5].map(|n| int(4, n)), "    1|2    |00003|+4| 5");
        check("%u %x %#X %o", &[int(4, -1), int(4, 255), int(4, 255), int(4, 8)], "4294967295 ff 0XFF 10");
        check("%hhd %hd %ld", &[int(4, 0x1ff), int(4, 0x1_8000), int(8, -1 << 40)], "-1 -32768 -1099511627776");
        check("%.3f %e %G", &[floats(&[1.5]), floats(&[0.25]), floats(&[1e-10])], "1.500 2.500000e-01 1E-10");
        check("%a", &[floats(&[1.0])], "0x1p+0");
        check(
            "%c|%3c|%s|%.3s|%8s|%-8s|",
            &[65, 66, 1, 2, 3, 4].map(|n| int(8, n)),
            "A|  B|text1|tex|   text3|text4   |",
        );
        check("%v4hlf", &[floats(&[1.0, 2.0, 3.0, 4.0])], "1.000000,2.000000,3.000000,4.000000");
        check("%2.2v4hlf", &[floats(&[1.0, 2.0, 3.0, 4.0])], "1.00,2.00,3.00,4.00");
        let uchar4 = Value { bytes: 1, float: false, elements: vec![0xfa, 0xfb, 0xfc, 0xfd] };
        check("uc = %#v4hhx", &[uchar4], "uc = 0xfa,0xfb,0xfc,0xfd");
    }

    #[test]
    fn what_is_no_directive_stays() {
        check("%y %5 %d", &[], "%y %5 %d");
        check("%v5hld", &[int(4, 1)], "%v5hld");
        check("100%", &[], "100%");
    }

    #[test]
    fn widths_are_bounded() {
        let mut out = Vec::new();
        format(b"%999999999999d", &[int(4, 1)], &mut |_| Vec::new(), &mut out);
        assert_eq!(out.len(), MAX_WIDTH as usize);
    }
}
