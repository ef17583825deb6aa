//! What kernels and the host agree on for `printf` (OpenCL C 3.0, 6.15.14).
//!
//! A module that prints has a buffer in global memory: a header of two 64-bit words (where the next record goes, and
//! where room ends; offsets from the buffer's start), room for one record that is never read ([`SPARE`]), then the
//! records. A call takes room by an atomic add and writes its record there, or to the spare place where it does not fit.
//! A record is 64-bit words (its bytes, the address of the format, the address of the [`Shape`]s of its values) and the
//! values' elements, each aligned to its own size, those below four bytes widened to four.

/// Offset of the word that says where the next record goes.
pub const NEXT: u64 = 0;
/// Offset of the word that says where room ends.
pub const LIMIT: u64 = 8;
/// Offset of the place for records that do not fit.
pub const SPARE: u64 = 16;
/// Bytes in front of a record's values.
pub const RECORD_HEADER: u64 = 24;

/// What an element is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ElementKind {
    /// An integer.
    Integer,
    /// A floating-point number.
    Float,
    /// A pointer, as 64 bits.
    Pointer,
}

/// What a printed value is: a scalar or a vector.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Bytes of an element: 1, 2, 4 or 8.
    pub bytes: u8,
    /// Elements.
    pub count: u8,
    /// Kind of the elements.
    pub kind: ElementKind,
}

impl Shape {
    /// Bytes that an element takes in a record.
    pub fn stride(self) -> u64 {
        u64::from(self.bytes.max(4))
    }

    /// As three bytes.
    pub fn encode(self) -> [u8; 3] {
        [self.bytes, self.count, self.kind as u8]
    }

    /// From three bytes.
    pub fn decode(bytes: [u8; 3]) -> Shape {
        let kind = match bytes[2] {
            0 => ElementKind::Integer,
            1 => ElementKind::Float,
            _ => ElementKind::Pointer,
        };
        Shape { bytes: bytes[0], count: bytes[1], kind }
    }
}

/// Offsets of the values in a record, and the bytes of the whole record (a multiple of 8).
pub fn layout(shapes: &[Shape]) -> (Vec<u64>, u64) {
    let mut at = RECORD_HEADER;
    let mut offsets = Vec::with_capacity(shapes.len());
    for shape in shapes {
        at = at.next_multiple_of(shape.stride());
        offsets.push(at);
        at += shape.stride() * u64::from(shape.count);
    }
    (offsets, at.next_multiple_of(8))
}
