//! `-cl-denorms-are-zero` in the module: the translator drops the option, so every kernel gets the execution mode
//! DenormFlushToZero for 32 bits (SPV_KHR_float_controls).

use crate::words::{HEADER, OP_ENTRY_POINT, OP_EXECUTION_MODE, edit, instructions, with_text};

const OP_EXTENSION: u32 = 10;
const OP_CAPABILITY: u32 = 17;
const CAPABILITY_DENORM_FLUSH_TO_ZERO: u32 = 4465;
const MODE_DENORM_FLUSH_TO_ZERO: u32 = 4460;

/// Adds the mode to a module.
pub(crate) fn mark(spirv: Vec<u8>) -> Vec<u8> {
    edit(spirv, marked)
}

fn marked(words: &[u32]) -> Option<Vec<u32>> {
    let mut entries = Vec::new();
    let (mut capabilities, mut entry_points) = (HEADER, None);
    for instruction in instructions(words) {
        let (op, place) = instruction?;
        match op {
            OP_CAPABILITY => capabilities = place.end,
            OP_ENTRY_POINT => {
                entry_points = Some(place.end);
                // Execution model, then the entry point's function.
                entries.push(*words[place].get(2)?);
            }
            _ => {}
        }
    }
    let entry_points = entry_points?;
    let mut out = words[..capabilities].to_vec();
    out.extend([2 << 16 | OP_CAPABILITY, CAPABILITY_DENORM_FLUSH_TO_ZERO]);
    out.extend(with_text(OP_EXTENSION, &[], "SPV_KHR_float_controls"));
    out.extend(&words[capabilities..entry_points]);
    for entry in entries {
        out.extend([4 << 16 | OP_EXECUTION_MODE, entry, MODE_DENORM_FLUSH_TO_ZERO, 32]);
    }
    out.extend(&words[entry_points..]);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_point_gets_the_mode_and_other_words_stay() {
        // Header, Kernel capability, memory model, two entry points without a name, OpSource.
        let module = [
            0x0723_0203,
            0x1_0300,
            0,
            9,
            0,
            2 << 16 | 17,
            6,
            3 << 16 | 14,
            2,
            2,
            4 << 16 | 15,
            6,
            3,
            0,
            4 << 16 | 15,
            6,
            4,
            0,
            3 << 16 | 3,
            3,
            102_000,
        ];
        let out = marked(&module).unwrap();
        assert_eq!(out[..7], module[..7]);
        assert_eq!(out[7..9], [2 << 16 | 17, 4465], "SPIR-V 3.31: DenormFlushToZero");
        assert_eq!(out[9], 7 << 16 | 10, "22 characters and the end take six words");
        assert_eq!(out[16..27], module[7..18]);
        assert_eq!(out[27..35], [4 << 16 | 16, 3, 4460, 32, 4 << 16 | 16, 4, 4460, 32]);
        assert_eq!(out[35..], module[18..]);
        assert_eq!(marked(&module[..11]), None, "no entry point");
        assert_eq!(marked(&[0; 7]), None, "an instruction of no words");
    }
}
