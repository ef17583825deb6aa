//! The binary as a sequence of instructions.
use super::error::{FrontendError, Res};
use rspirv::grammar::{INSTRUCTION_TABLE, OperandKind};
use spirv::Op;
use std::sync::OnceLock;

const HEADER_WORDS: usize = 5;
/// The universal limit on ids.
const MAX_BOUND: u32 = 0x3f_ffff;

/// One instruction.
#[derive(Copy, Clone, Debug)]
pub(super) struct Instr<'a> {
    /// Opcode.
    pub op: Op,
    /// Offset of its first word in the module.
    pub word: usize,
    /// Result type id, 0 where it has none.
    pub ty: u32,
    /// Result id, 0 where it has none.
    pub id: u32,
    /// The other operands.
    pub operands: &'a [u32],
}

impl<'a> Instr<'a> {
    /// Operand `i`.
    pub fn at(&self, i: usize) -> Res<u32> {
        self.operands.get(i).copied().ok_or_else(|| format!("operand {} is missing", i + 1))
    }
    /// Operands from `i` on.
    pub fn rest(&self, i: usize) -> &'a [u32] {
        self.operands.get(i..).unwrap_or(&[])
    }
    /// A string at operand `i`, and the index of the operand behind it.
    pub fn string(&self, i: usize) -> Res<(String, usize)> {
        let mut bytes = Vec::new();
        for (n, w) in self.rest(i).iter().enumerate() {
            for b in w.to_le_bytes() {
                if b == 0 {
                    return Ok((String::from_utf8_lossy(&bytes).into_owned(), i + n + 1));
                }
                bytes.push(b);
            }
        }
        Err("a string without an end".into())
    }
    /// Its name, as in an assembler listing.
    pub fn name(&self) -> String {
        format!("Op{:?}", self.op)
    }
    /// An error about it.
    pub fn error(&self, why: impl Into<String>) -> FrontendError {
        FrontendError { instruction: self.name(), word: self.word, file: String::new(), line: 0, why: why.into() }
    }
}

/// Checks the header and gives the module's words.
pub(super) fn to_words(bytes: &[u8]) -> Result<Vec<u32>, FrontendError> {
    let fail = |why: String| FrontendError { instruction: String::new(), word: 0, file: String::new(), line: 0, why };
    if bytes.len() < HEADER_WORDS * 4 {
        return Err(fail(format!("{} bytes are too short for a SPIR-V header (20 bytes)", bytes.len())));
    }
    let magic: [u8; 4] = [bytes[0], bytes[1], bytes[2], bytes[3]];
    let swapped = match u32::from_le_bytes(magic) {
        spirv::MAGIC_NUMBER => false,
        m if m.swap_bytes() == spirv::MAGIC_NUMBER => true,
        m => return Err(fail(format!("not SPIR-V: the first word is {m:#010x}, not {:#010x}", spirv::MAGIC_NUMBER))),
    };
    if !bytes.len().is_multiple_of(4) {
        return Err(fail(format!("{} bytes are not a whole number of words: the file is cut off", bytes.len())));
    }
    let word = |c: &[u8]| {
        let w = u32::from_le_bytes([c[0], c[1], c[2], c[3]]);
        if swapped { w.swap_bytes() } else { w }
    };
    let words: Vec<u32> = bytes.chunks_exact(4).map(word).collect();
    if words[1] >> 16 != 1 {
        return Err(fail(format!("SPIR-V version {:#x} is unknown", words[1])));
    }
    if words[3] > MAX_BOUND {
        return Err(fail(format!("the bound of ids {} exceeds SPIR-V's limit of {MAX_BOUND}", words[3])));
    }
    Ok(words)
}

/// Whether an opcode has a result type and a result id, by opcode; `None` where it does not exist.
fn layouts() -> &'static [Option<(bool, bool)>] {
    static TABLE: OnceLock<Vec<Option<(bool, bool)>>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = vec![None; 0x1_0000];
        for g in INSTRUCTION_TABLE.iter() {
            let has = |kind| g.operands.iter().any(|o| o.kind == kind);
            table[g.opcode as usize & 0xffff] = Some((has(OperandKind::IdResultType), has(OperandKind::IdResult)));
        }
        table
    })
}

/// Cuts words into instructions.
pub(super) fn instructions(words: &[u32]) -> Result<Vec<Instr<'_>>, FrontendError> {
    let mut list = Vec::with_capacity(words.len() / 4);
    let mut at = HEADER_WORDS;
    while let Some(&first) = words.get(at) {
        let (count, code) = ((first >> 16) as usize, first & 0xffff);
        let fail = |why: String| FrontendError {
            instruction: Op::from_u32(code).map_or_else(|| format!("opcode {code}"), |op| format!("Op{op:?}")),
            word: at,
            file: String::new(),
            line: 0,
            why,
        };
        if count == 0 {
            return Err(fail("its word count is 0".into()));
        }
        let Some(all) = words.get(at + 1..at + count) else {
            return Err(fail(format!("the module ends inside it ({count} words): it is cut off")));
        };
        let (Some(op), Some((has_type, has_id))) = (Op::from_u32(code), layouts()[code as usize]) else {
            return Err(fail("this opcode is unknown".into()));
        };
        let skip = has_type as usize + has_id as usize;
        if all.len() < skip {
            return Err(fail("its result operands are missing".into()));
        }
        let ty = if has_type { all[0] } else { 0 };
        let id = if has_id { all[skip - 1] } else { 0 };
        if (has_type && ty == 0) || (has_id && (id == 0 || id >= words[3])) {
            return Err(fail("a result id is 0 or above the header's bound".into()));
        }
        list.push(Instr { op, word: at, ty, id, operands: &all[skip..] });
        at += count;
    }
    Ok(list)
}
