//! CL_PROGRAM_BINARIES: a versioned container of SPIR-V, options and specialization constants; never lowered code, so
//! that a binary works with every machine.
use std::collections::BTreeMap;

const MAGIC: &[u8; 8] = b"WARPSBIN";
const VERSION: u32 = 1;

/// What a binary holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binary {
    /// CL_PROGRAM_BINARY_TYPE_…
    pub kind: u32,
    /// Build options.
    pub options: String,
    /// Work-groups must divide the global size evenly.
    pub uniform_groups: bool,
    /// Specialization constants by id.
    pub constants: BTreeMap<u32, Vec<u8>>,
    /// The module.
    pub spirv: Vec<u8>,
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(head)
    }
    fn word(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.bytes(4)?.try_into().ok()?))
    }
    fn block(&mut self) -> Option<&'a [u8]> {
        let n = self.word()? as usize;
        self.bytes(n)
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |h, b| (h ^ u32::from(*b)).wrapping_mul(0x0100_0193))
}

impl Binary {
    /// The container.
    pub fn to_bytes(&self) -> Vec<u8> {
        fn block(out: &mut Vec<u8>, bytes: &[u8]) {
            out.extend((bytes.len() as u32).to_le_bytes());
            out.extend(bytes);
        }
        let mut body = Vec::with_capacity(self.spirv.len() + 64);
        body.extend(self.kind.to_le_bytes());
        body.extend(u32::from(self.uniform_groups).to_le_bytes());
        block(&mut body, self.options.as_bytes());
        body.extend((self.constants.len() as u32).to_le_bytes());
        for (id, value) in &self.constants {
            body.extend(id.to_le_bytes());
            block(&mut body, value);
        }
        block(&mut body, &self.spirv);
        let mut out = MAGIC.to_vec();
        out.extend(VERSION.to_le_bytes());
        out.extend(checksum(&body).to_le_bytes());
        out.extend(body);
        out
    }

    /// Reads a container; the error says what is wrong with it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Binary, String> {
        let mut r = Reader(bytes);
        if r.bytes(8) != Some(MAGIC) {
            return Err("it is no binary of Warpscope (SPIR-V goes to clCreateProgramWithIL)".into());
        }
        match r.word() {
            Some(VERSION) => {}
            other => return Err(format!("its format is version {}; this is version {VERSION}", other.unwrap_or(0))),
        }
        if r.word() != Some(checksum(r.0)) {
            return Err("it is damaged".into());
        }
        let mut body = || {
            let kind = r.word()?;
            let uniform_groups = r.word()? != 0;
            let options = String::from_utf8(r.block()?.to_vec()).ok()?;
            let count = r.word()?;
            let mut constants = BTreeMap::new();
            for _ in 0..count {
                constants.insert(r.word()?, r.block()?.to_vec());
            }
            let spirv = r.block()?.to_vec();
            r.0.is_empty().then_some(Binary { kind, options, uniform_groups, constants, spirv })
        };
        body().ok_or_else(|| "it is damaged".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_survives_and_damage_is_found() {
        let binary = Binary {
            kind: 4,
            uniform_groups: true,
            options: "-cl-std=CL3.0 -DN=\"4\"".into(),
            constants: BTreeMap::from([(7, vec![1, 2, 3, 4])]),
            spirv: vec![3, 2, 35, 7, 0, 0, 1, 0],
        };
        let bytes = binary.to_bytes();
        assert_eq!(Binary::from_bytes(&bytes), Ok(binary));
        for i in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[i] ^= 0x40;
            assert!(Binary::from_bytes(&damaged).is_err(), "byte {i}");
            assert!(Binary::from_bytes(&bytes[..i]).is_err(), "cut at {i}");
        }
    }
}
