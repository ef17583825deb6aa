//! The optimiser's `freeze` instructions, which the translator does not know.
//!
//! A chain like `x < 2 | x == 8 | x == 15` becomes a switch behind a test of the frozen compare. Freezing picks one
//! value where there is no particular one; here undefined values are one value anyway, so the operand itself serves.

/// A tool's message about an instruction that is not to be frozen.
pub(crate) fn is_about(log: &str) -> bool {
    log.contains("= freeze ")
}

/// The module (LLVM assembly) with every `freeze` turned into a cast of the operand to its own type, which goes in the
/// next simplification.
pub(crate) fn thaw(assembly: &str) -> String {
    let mut out = String::with_capacity(assembly.len());
    for line in assembly.lines() {
        match cast(line) {
            Some(cast) => out.push_str(&cast),
            None => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

/// `%1 = freeze TYPE VALUE, !dbg !2` as a cast.
fn cast(line: &str) -> Option<String> {
    let (result, rest) = line.split_once(" = freeze ")?;
    if !result.trim_start().starts_with('%') {
        return None;
    }
    let (operand, metadata) = match rest.find(", !") {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let (ty, value) = operand.rsplit_once(' ')?;
    Some(format!("{result} = bitcast {ty} {value} to {ty}{metadata}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frozen_values_become_casts() {
        let of = |line: &str| thaw(line).trim_end().to_string();
        assert_eq!(of("  %9 = freeze i1 %8, !dbg !27"), "  %9 = bitcast i1 %8 to i1, !dbg !27");
        assert_eq!(of("  %a = freeze <4 x i32> %b"), "  %a = bitcast <4 x i32> %b to <4 x i32>");
        assert_eq!(of("  %a = add i32 %b, 1"), "  %a = add i32 %b, 1");
        assert_eq!(of("@s = constant [12 x i8] c\"x = freeze \\00\""), "@s = constant [12 x i8] c\"x = freeze \\00\"");
    }
}
