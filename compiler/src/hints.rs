//! `vec_type_hint` of unsigned types: SPIR-V has no place for the sign of a hint's type, so the module gets a string in
//! the manner of the translator's own argument metadata, `vec_type_hint.KERNEL.TYPE`.
use crate::words::{BOUND, OP_ENTRY_POINT, OP_EXECUTION_MODE, edit, instructions, with_text};
use std::collections::BTreeMap;

const OP_STRING: u32 = 7;

/// Whether a source may have hints; headers that are included do not count.
pub(crate) fn may_have(source: &str) -> bool {
    source.contains("vec_type_hint")
}

/// Adds a string for every hint of an unsigned type that clang's LLVM assembly has.
pub(crate) fn mark(spirv: Vec<u8>, assembly: &str) -> Vec<u8> {
    let hints = unsigned(assembly);
    if hints.is_empty() {
        return spirv;
    }
    edit(spirv, |words| marked(words, &hints))
}

/// Kernels with a hint of an unsigned type, and that type.
fn unsigned(assembly: &str) -> Vec<(&str, String)> {
    // `!8 = !{<4 x i32> undef, i32 0}`: the number says whether the type is signed.
    let node = |line: &str| {
        let (name, rest) = line.strip_prefix('!')?.split_once(" = !{")?;
        let ty = rest.strip_suffix(" undef, i32 0}")?;
        let (count, element) = match ty.strip_prefix('<').and_then(|v| v.strip_suffix('>')) {
            Some(vector) => vector.split_once(" x ")?,
            None => ("", ty),
        };
        let element = match element {
            "i8" => "uchar",
            "i16" => "ushort",
            "i32" => "uint",
            "i64" => "ulong",
            _ => return None,
        };
        Some((name.to_string(), format!("{element}{count}")))
    };
    let types: BTreeMap<String, String> = assembly.lines().filter_map(node).collect();
    let kernel = |line: &'_ str| -> Option<(usize, usize, String)> {
        let rest = line.strip_prefix("define ")?;
        let start = rest.find('@')? + 1;
        let end = start + rest[start..].find('(')?;
        let (_, hint) = rest.split_once(" !vec_type_hint !")?;
        let number: String = hint.chars().take_while(char::is_ascii_digit).collect();
        Some((start, end, types.get(&number)?.clone()))
    };
    let found = assembly.lines().filter_map(|line| {
        let (start, end, ty) = kernel(line)?;
        Some((&line["define ".len()..][start..end], ty))
    });
    found.collect()
}

fn marked(words: &[u32], hints: &[(&str, String)]) -> Option<Vec<u32>> {
    // Strings come after the execution modes (SPIR-V 1.6, 2.4).
    let mut place = None;
    for instruction in instructions(words) {
        let (op, words) = instruction?;
        if matches!(op, OP_ENTRY_POINT | OP_EXECUTION_MODE) {
            place = Some(words.end);
        }
    }
    let place = place?;
    let mut out = words[..place].to_vec();
    for (kernel, ty) in hints {
        out.extend(with_text(OP_STRING, &[out[BOUND]], &format!("vec_type_hint.{kernel}.{ty}")));
        out[BOUND] += 1;
    }
    out.extend(&words[place..]);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASSEMBLY: &str = "define spir_kernel void @a(i32 addrspace(1)* %0) #0 !kernel_arg_type !6 !vec_type_hint !8 {\n\
                            define spir_kernel void @b() #0 !vec_type_hint !13 {\n\
                            define spir_kernel void @c() !vec_type_hint !14 !reqd_work_group_size !16 {\n\
                            define spir_kernel void @d() !vec_type_hint !15 {\n\
                            !6 = !{i32 1}\n!8 = !{<4 x i32> undef, i32 0}\n!13 = !{i8 undef, i32 0}\n\
                            !14 = !{<3 x float> undef, i32 0}\n!15 = !{<2 x i32> undef, i32 1}\n";

    #[test]
    fn unsigned_types_are_found() {
        assert_eq!(unsigned(ASSEMBLY), [("a", "uint4".to_string()), ("b", "uchar".to_string())]);
    }

    #[test]
    fn strings_come_behind_the_execution_modes_with_identifiers_of_their_own() {
        // Header with bound 9, capability, entry point, execution mode, OpSource.
        let module = [
            0x0723_0203,
            0x1_0300,
            0,
            9,
            0,
            2 << 16 | 17,
            6,
            4 << 16 | 15,
            6,
            3,
            0,
            3 << 16 | 16,
            3,
            31,
            3 << 16 | 3,
            3,
            1,
        ];
        let out = marked(&module, &[("k", "uint".into())]).unwrap();
        assert_eq!(out[BOUND], 10);
        assert_eq!(out[5..14], module[5..14]);
        // `vec_type_hint.k.uint` takes 20 characters and the end.
        assert_eq!(out[14..16], [8 << 16 | 7, 9]);
        assert_eq!(out[16].to_le_bytes(), *b"vec_");
        assert_eq!(out[22..], module[14..]);
        assert_eq!(marked(&module[..7], &[("k", "uint".into())]), None, "no entry point");
    }
}
