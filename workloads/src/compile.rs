//! OpenCL C to SPIR-V through clang, opt and llvm-spirv, and the names under which compiled modules are kept.
//!
//! Nothing of LLVM's optimiser runs beyond inlining and scalar clean-up: the simulator's own passes optimise. With
//! `-cl-opt-disable` among the options the module is translated exactly as clang writes it at -O0.
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Passes between clang and the translator.
const PASSES: &str = "-passes=always-inline,cgscc(inline),\
    function(sroa,early-cse<memssa>,instsimplify,simplifycfg,gvn,dce,sroa),globaldce";

/// What to install where a tool is missing.
const PACKAGES: &str = "install the packages clang-15, llvm-15 and llvm-spirv-15 (apt-get install clang-15 llvm-15 \
    llvm-spirv-15), or name the tools in WARPSCOPE_CLANG, WARPSCOPE_OPT and WARPSCOPE_LLVM_SPIRV";

/// Where the compiled module of (`source`, `options`) is kept: beside the source, with the options in its name.
pub fn module_path(source: &Path, options: &str) -> PathBuf {
    let mut name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let words = options.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').filter(|w| !w.is_empty());
    let suffix = words.collect::<Vec<_>>().join("_");
    if !suffix.is_empty() {
        name = format!("{name}__{suffix}");
    }
    source.with_file_name(format!("{name}.spv"))
}

/// The module of (`source`, `options`): read if `source` is SPIR-V or its compiled module is there, else compiled.
pub fn module(source: &Path, options: &str, from_source: bool) -> Result<Vec<u8>, String> {
    let read = |path: &Path| std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()));
    if source.extension().is_some_and(|e| e == "spv") {
        return read(source);
    }
    let compiled = module_path(source, options);
    if !from_source && compiled.is_file() {
        return read(&compiled);
    }
    if !source.is_file() {
        return Err(format!("{}: no such file", source.display()));
    }
    compile(source, options)
}

/// Compiles OpenCL C. The error is the compiler's message, or a sentence naming the packages to install.
pub fn compile(source: &Path, options: &str) -> Result<Vec<u8>, String> {
    let text = std::fs::read(source).map_err(|e| format!("{}: {e}", source.display()))?;
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    let mut input = format!("#line 1 \"{}\"\n", name.replace(['"', '\\'], "_")).into_bytes();
    input.extend_from_slice(&text);
    let folder = source.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let unoptimised = options.split_whitespace().any(|o| o == "-cl-opt-disable");

    let mut clang = tool("WARPSCOPE_CLANG", "clang-15");
    clang.args(["-target", "spirv64", "-gline-tables-only", "-fdebug-compilation-dir=."]);
    if !options.split_whitespace().any(|o| o.starts_with("-cl-std=")) {
        clang.arg("-cl-std=CL3.0");
    }
    if unoptimised {
        clang.arg("-O0");
    } else {
        clang.args(["-O2", "-Xclang", "-disable-llvm-passes"]);
    }
    clang.args(["-Wno-unused-command-line-argument", "-Wno-everything"]).args(options.split_whitespace());
    clang.arg("-I").arg(folder).args(["-x", "cl", "-emit-llvm", "-c", "-", "-o", "-"]);
    let mut bitcode = pipe(clang, &input)?;
    if !unoptimised {
        let mut opt = tool("WARPSCOPE_OPT", "opt-15");
        opt.args(["-opaque-pointers=0", PASSES, "-", "-o", "-"]);
        bitcode = pipe(opt, &bitcode)?;
    }
    let mut translator = tool("WARPSCOPE_LLVM_SPIRV", "llvm-spirv-15");
    translator.args(["--spirv-ext=+all", "--spirv-max-version=1.3", "-", "-o", "-"]);
    pipe(translator, &bitcode).map_err(|e| format!("{}: {e}", source.display()))
}

fn tool(variable: &str, default: &str) -> Command {
    Command::new(std::env::var_os(variable).unwrap_or_else(|| default.into()))
}

/// Runs `command` with `input` on its standard input; returns what it prints.
fn pipe(mut command: Command, input: &[u8]) -> Result<Vec<u8>, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = spawned.map_err(|e| format!("cannot run {name} ({e}): {PACKAGES}"))?;
    let mut stdin = child.stdin.take().expect("standard input is piped");
    let output = std::thread::scope(|scope| {
        // A tool that fails early closes its input; its message says more than the broken pipe.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output()
    });
    let output = output.map_err(|e| format!("{name}: {e}"))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        let message = String::from_utf8_lossy(&output.stderr);
        Err(format!("{name} failed ({}): {}", output.status, message.trim()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_carry_the_options() {
        let name = |options| module_path(Path::new("a/arith.cl"), options).to_string_lossy().into_owned();
        assert_eq!(name(""), "a/arith.spv");
        assert_eq!(name("-cl-denorms-are-zero"), "a/arith__cl_denorms_are_zero.spv");
        assert_eq!(name("-DBODY=512 -D X"), "a/arith__DBODY_512_D_X.spv");
    }

    #[test]
    fn a_missing_tool_names_the_packages() {
        let why = pipe(Command::new("no-such-compiler"), b"").unwrap_err();
        assert!(why.contains("clang-15") && why.contains("no-such-compiler"), "{why}");
    }
}
