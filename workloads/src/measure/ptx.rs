//! The PTX that NVIDIA's OpenCL keeps as a program's binary, made fit for the CUDA driver.
//!
//! OpenCL's launch sets environment registers that CUDA's does not: 0 to 2 hold the offset of the first work-group, 3 to
//! 5 the global offset, 6 to 8 the numbers of work-groups. CUDA leaves all at zero, so the first are right as they are
//! (as 3 to 5, which the assembler takes for CUDA), and the last are read from `%nctaid` instead. All are one read of
//! the constant bank either way, so instruction counts and times stay as they are.
//!
//! Parameters that point to local memory lose their mark (`.ptr .shared .align N`): the CUDA driver refuses programs
//! that have it. They remain the same words, and the launch fills them in itself.

/// The environment registers that can be replaced: register, replacement.
const REPLACED: &[(&str, &str)] = &[
    ("%envreg0", "%envreg3"),
    ("%envreg1", "%envreg4"),
    ("%envreg2", "%envreg5"),
    ("%envreg6", "%nctaid.x"),
    ("%envreg7", "%nctaid.y"),
    ("%envreg8", "%nctaid.z"),
];

/// What marks a parameter as a pointer to local memory, before its alignment.
const LOCAL_POINTER: &str = " .ptr .shared .align ";

/// `text` without the marks of local pointers.
fn unmarked(text: &str) -> String {
    let mut parts = text.split(LOCAL_POINTER);
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |out, part| out + part.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// `binary` with the environment registers replaced. The error names what is not PTX or cannot be replaced.
pub fn for_cuda(binary: &[u8]) -> Result<String, String> {
    let text = std::str::from_utf8(binary).map_err(|e| format!("the program's binary is no PTX: {e}"))?;
    let text = &unmarked(text.trim_end_matches(['\0', '\n']));
    if !text.contains(".entry") || !text.contains(".version") {
        return Err("the program's binary is no PTX: it has no .version and no .entry".into());
    }
    let mut out = String::with_capacity(text.len() + 1);
    let mut rest = text.as_str();
    while let Some(at) = rest.find("%envreg") {
        out += &rest[..at];
        let digits = rest[at + 7..].bytes().take_while(u8::is_ascii_digit).count();
        let (register, tail) = rest[at..].split_at(7 + digits);
        match REPLACED.iter().find(|(from, _)| *from == register) {
            Some((_, to)) => out += to,
            None if ["%envreg3", "%envreg4", "%envreg5"].contains(&register) => out += register,
            None => return Err(format!("the program reads {register}, which CUDA does not set")),
        }
        rest = tail;
    }
    out += rest;
    out.push('\n');
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::for_cuda;

    #[test]
    fn launch_registers_are_replaced() {
        let ptx =
            ".version 8.0\n.entry k()\nmov.u32 %r1, %envreg0;\nmov.b32 %r2, %envreg3;\nmov.b32 %r3, %envreg7;\n\0";
        let out = for_cuda(ptx.as_bytes()).unwrap();
        assert!(out.ends_with("mov.u32 %r1, %envreg3;\nmov.b32 %r2, %envreg3;\nmov.b32 %r3, %nctaid.y;\n"), "{out}");
    }

    #[test]
    fn local_pointers_lose_their_mark() {
        let ptx =
            ".version 9.0\n.entry k(\n.param .u64 .ptr .global .align 4 a,\n.param .u64 .ptr .shared .align 16 b\n)\n";
        let out = for_cuda(ptx.as_bytes()).unwrap();
        assert!(out.ends_with(".param .u64 .ptr .global .align 4 a,\n.param .u64 b\n)\n"), "{out}");
    }

    #[test]
    fn what_cannot_be_replaced_is_named() {
        let error = for_cuda(b".version 8.0\n.entry k()\nmov.b32 %r2, %envreg12;").unwrap_err();
        assert_eq!(error, "the program reads %envreg12, which CUDA does not set");
        assert!(for_cuda(b"\x7fELF").is_err());
        assert!(for_cuda(&[0xff, 0xfe]).is_err());
    }
}
