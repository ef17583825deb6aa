//! Changes to a SPIR-V module in words: what the translator leaves out is put in.

/// Words of the header (SPIR-V 1.6, 2.3) and the place of the bound among them.
pub(crate) const HEADER: usize = 5;
pub(crate) const BOUND: usize = 3;
pub(crate) const OP_ENTRY_POINT: u32 = 15;
pub(crate) const OP_EXECUTION_MODE: u32 = 16;

/// Changes a little-endian module. One that is not well formed, for which the change gives nothing, comes back as it is,
/// for the decoder to say what is wrong with it.
pub(crate) fn edit(spirv: Vec<u8>, change: impl FnOnce(&[u32]) -> Option<Vec<u32>>) -> Vec<u8> {
    let words: Vec<u32> = spirv.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    change(&words).map_or(spirv, |m| m.iter().flat_map(|w| w.to_le_bytes()).collect())
}

/// The instructions: operation code and the places of its words; `None` for one that is cut off or has no words.
pub(crate) fn instructions(words: &[u32]) -> impl Iterator<Item = Option<(u32, std::ops::Range<usize>)>> {
    let mut at = HEADER;
    std::iter::from_fn(move || {
        let first = *words.get(at)?;
        let end = at.checked_add((first >> 16) as usize).filter(|&e| e > at && e <= words.len());
        let found = end.map(|end| (first & 0xffff, at..end));
        at = end.unwrap_or(words.len());
        Some(found)
    })
}

/// An instruction whose last operand is a string (SPIR-V 1.6, 2.2.1: zero-terminated, whole words).
pub(crate) fn with_text(op: u32, operands: &[u32], text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize((bytes.len() / 4 + 1) * 4, 0);
    let mut out = vec![((1 + operands.len() + bytes.len() / 4) as u32) << 16 | op];
    out.extend(operands);
    out.extend(bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])));
    out
}
