//! Modules of kernels: the names under which compiled ones are kept, and compiling those that are not there.
//!
//! With `-cl-opt-disable` among the options a module is what clang writes at -O0.
use std::path::{Path, PathBuf};
use warpscope_compiler::{BuildOptions, Compiler, Request, Standard};

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

/// Compiles OpenCL C, marking what may be contracted so that each machine can decide. The error is the compiler's
/// message, or a sentence naming the packages to install.
pub fn compile(source: &Path, options: &str) -> Result<Vec<u8>, String> {
    let bytes = std::fs::read(source).map_err(|e| format!("{}: {e}", source.display()))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| format!("{}: neither a SPIR-V module (.spv) nor text: not OpenCL C", source.display()))?;
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    let options = BuildOptions::parse(options, Standard::Cl12).map_err(|e| format!("{}: {e}", source.display()))?;
    let folder = source.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_path_buf();
    let compiler = Compiler::find().map_err(|e| e.to_string())?;
    let include = [folder];
    let request = Request { include: &include, contract: true, ..Request::new(&text, &name, &options) };
    compiler.compile(&request).map(|c| c.spirv).map_err(|e| e.to_string())
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
}
