//! Random numbers, and the integer types of OpenCL C.

/// Splitmix64.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// An integer type: log2 of its bytes, signedness, components.
#[derive(Copy, Clone, PartialEq, Eq)]
pub struct Type {
    pub size: u8,
    pub signed: bool,
    pub lanes: u8,
}

impl Type {
    pub const INT: Type = Type { size: 2, signed: true, lanes: 1 };
    pub const UINT: Type = Type { size: 2, signed: false, lanes: 1 };
    pub const ULONG: Type = Type { size: 3, signed: false, lanes: 1 };

    pub fn bits(self) -> u32 {
        8 << self.size
    }
    pub fn name(self) -> String {
        let base = ["char", "short", "int", "long"][self.size as usize];
        let lanes = if self.lanes == 1 { String::new() } else { self.lanes.to_string() };
        format!("{}{base}{lanes}", if self.signed { "" } else { "u" })
    }
    pub fn unsigned(self) -> Type {
        Type { signed: false, ..self }
    }
    pub fn signed(self) -> Type {
        Type { signed: true, ..self }
    }
    pub fn scalar(self) -> Type {
        Type { lanes: 1, ..self }
    }
    /// What arithmetic is done in: narrow scalars are promoted.
    pub fn arithmetic(self) -> Type {
        let size = if self.lanes == 1 { self.size.max(2) } else { self.size };
        Type { size, signed: false, ..self }
    }
}
