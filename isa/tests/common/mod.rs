//! Compiles OpenCL C with the toolchain, for tests.
#![allow(dead_code)]
use std::io::Write;
use std::process::{Command, Stdio};

/// How much the compiler's front half optimises.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Level {
    /// Nothing: every variable in memory.
    O0,
    /// The usual chain.
    O2,
}

const PASSES: &str = "-passes=always-inline,cgscc(inline),function(sroa,early-cse<memssa>,instsimplify,simplifycfg,gvn,dce,sroa),globaldce";

/// SPIR-V of a source; extra clang options in `options`.
pub fn compile(source: &str, level: Level, options: &[&str]) -> Vec<u8> {
    let mut clang = vec!["-target", "spirv64", "-cl-std=CL3.0", "-gline-tables-only", "-cl-kernel-arg-info"];
    clang.extend(["-fno-discard-value-names", "-w", "-x", "cl", "-emit-llvm", "-c", "-o", "-"]);
    match level {
        Level::O0 => clang.push("-O0"),
        Level::O2 => clang.extend(["-O2", "-Xclang", "-disable-llvm-passes"]),
    }
    clang.extend(options);
    clang.push("-");
    let source = format!("#line 1 \"test.cl\"\n{source}");
    let mut bitcode = pipe("clang-15", &clang, source.as_bytes());
    if level == Level::O2 {
        bitcode = pipe("opt-15", &["-opaque-pointers=0", PASSES, "-o", "-", "-"], &bitcode);
    }
    let translator = [
        "--spirv-ext=+all",
        "--spirv-max-version=1.4",
        "--preserve-ocl-kernel-arg-type-metadata-through-string",
        "-o",
        "-",
        "-",
    ];
    pipe("llvm-spirv-15", &translator, &bitcode)
}

/// SPIR-V of assembly text.
pub fn assemble(text: &str) -> Vec<u8> {
    pipe("spirv-as", &["--target-env", "spv1.3", "-o", "-", "-"], text.as_bytes())
}

fn pipe(tool: &str, args: &[&str], input: &[u8]) -> Vec<u8> {
    let mut child = Command::new(tool)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("{tool} is needed for this test: {e}"));
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let out = child.wait_with_output().expect("the tool's output");
    let _ = writer.join();
    assert!(out.status.success(), "{tool} failed: {}", String::from_utf8_lossy(&out.stderr));
    out.stdout
}
