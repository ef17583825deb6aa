//! The pipe with the real tools.
use std::path::PathBuf;
use std::time::Instant;
use warpscope_compiler::{BuildOptions, CompileError, Compiler, Request, Standard};

const ADD: &str =
    "kernel void add(global const float *a, global float *b) { size_t i = get_global_id(0); b[i] = a[i] + N; }";
const MAGIC: [u8; 4] = 0x0723_0203_u32.to_le_bytes();

fn compiler() -> Compiler {
    Compiler::find().expect("clang-15, llvm-15 and llvm-spirv-15 are needed for this test").without_cache()
}

fn options(text: &str) -> BuildOptions {
    BuildOptions::parse(text, Standard::Cl12).unwrap()
}

#[test]
fn a_kernel_becomes_a_module() {
    let out = compiler().compile(&Request::new(ADD, "add.cl", &options("-D N=1.0f"))).unwrap();
    assert_eq!(out.spirv[..4], MAGIC);
    assert_eq!(out.log, "");
    assert!(out.spirv.windows(6).any(|w| w == b"add.cl"), "the debug information names the file");
}

/// The optimiser makes a switch of the chain and freezes the compare in front of it; the translator knows no `freeze`.
#[test]
fn chains_of_compares_that_the_optimiser_freezes_compile() {
    let source = "kernel void pick(global int *a, global const int *b) {
        int i = get_global_id(0), x = b[i];
        bool special = x < 2 | x == 8 | x == 15;
        if (special) a[i] = 2 * x; else a[i] = -x;
    }";
    let out = compiler().compile(&Request::new(source, "pick.cl", &options("-w"))).unwrap();
    assert_eq!(out.spirv[..4], MAGIC);
    assert!(out.spirv.windows(7).any(|w| w == b"pick.cl"), "line numbers stay");
}

#[test]
fn every_standard_and_option_compiles() {
    for text in [
        "-cl-std=CL1.1",
        "-cl-std=CL2.0 -cl-uniform-work-group-size",
        "-cl-std=CL3.0 -cl-opt-disable",
        "-cl-std=CLC++2021",
        "-cl-fast-relaxed-math",
        "-cl-denorms-are-zero -Werror",
        "-cl-kernel-arg-info",
        "-cl-fp32-correctly-rounded-divide-sqrt -cl-single-precision-constant -cl-mad-enable -w",
    ] {
        let options = options(&format!("{text} -DN=1.0f"));
        let mut request = Request::new(ADD, "add.cl", &options);
        request.contract = true;
        let out = compiler().compile(&request).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(out.spirv[..4], MAGIC, "{text}");
    }
}

#[test]
fn diagnostics_show_the_name_and_the_users_line() {
    let options = options("");
    let mut request = Request::new("kernel void f() {\n  nonsense;\n}", "my kernel.cl", &options);
    request.prelude = "#define A\n#define B";
    let Err(CompileError::Source { name, log }) = compiler().compile(&request) else { panic!() };
    assert_eq!(name, "my kernel.cl");
    assert!(log.contains("my kernel.cl:2:3: error"), "{log}");
}

#[test]
fn headers_given_as_text_are_found_and_cannot_climb_out() {
    let options = options("");
    let headers = [("inc/n.h".to_string(), "#define N 3.0f".to_string())];
    let source = format!("#include \"inc/n.h\"\n{ADD}");
    let mut request = Request::new(&source, "add.cl", &options);
    request.headers = &headers;
    assert!(compiler().compile(&request).is_ok());
    let bad = [("../n.h".to_string(), String::new())];
    request.headers = &bad;
    assert!(matches!(compiler().compile(&request), Err(CompileError::HeaderName(_))));
}

#[test]
fn the_cache_returns_the_same_bytes_and_notices_damage_and_changed_headers() {
    let dir = tempfile::tempdir().unwrap();
    let include = tempfile::tempdir().unwrap();
    let header = include.path().join("n.h");
    std::fs::write(&header, "#define N 1.0f\n").unwrap();
    let source = format!("#include <n.h>\n{ADD}");
    let options = options("");
    let directories = [include.path().to_path_buf()];
    let mut request = Request::new(&source, "add.cl", &options);
    request.include = &directories;
    let compiler = compiler().with_cache(dir.path().to_path_buf());
    let first = compiler.compile(&request).unwrap();
    let start = Instant::now();
    let second = compiler.compile(&request).unwrap();
    println!("from the cache in {:?}", start.elapsed());
    assert!(!first.cached && second.cached && first.spirv == second.spirv);
    std::fs::write(&header, "#define N 2.0f\n").unwrap();
    let third = compiler.compile(&request).unwrap();
    assert!(!third.cached && third.spirv != first.spirv);
    for entry in std::fs::read_dir(dir.path()).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 4]).unwrap();
    }
    let fourth = compiler.compile(&request).unwrap();
    assert!(!fourth.cached && fourth.spirv == third.spirv);
}
