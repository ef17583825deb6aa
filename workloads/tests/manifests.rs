//! The manifests of this repository, and mistakes in manifests.
use std::path::{Path, PathBuf};
use warpscope_workloads::compile::module_path;
use warpscope_workloads::data::digest::Recorded;
use warpscope_workloads::manifest::{Arg, Manifest};

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn validation_suite_is_whole() {
    let manifest = Manifest::read(&folder().join("validation/suite.toml")).unwrap();
    assert_eq!(manifest.cases.len(), 488);
    let recorded = Recorded::read(manifest.cases[0].digests.as_ref().unwrap()).unwrap();
    for case in &manifest.cases {
        assert!(module_path(&case.source, &case.options).is_file(), "{}: run compile.sh", case.name);
        for (index, arg) in case.args.iter().enumerate() {
            let Arg::Buffer(buffer) = arg else { continue };
            let recorded = recorded.output(&case.name, index);
            assert_eq!(recorded.is_some(), buffer.role.is_output(), "{} argument {index}", case.name);
            if let Some(output) = recorded {
                assert_eq!(output.n, buffer.count * buffer.element.stored_lanes(), "{} argument {index}", case.name);
            }
        }
    }
}

/// A manifest of one case with `extra` in the case and `args` as its arguments.
fn one_case(extra: &str, args: &str) -> String {
    format!("[[case]]\nname = \"a\"\nsource = \"a.cl\"\nkernel = \"k\"\n{extra}\nargs = [\n  {args}\n]\n")
}

fn read(text: &str, name: &str) -> Result<Manifest, String> {
    let dir = std::env::temp_dir().join(format!("warpscope-manifest-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let path: PathBuf = dir.join("m.toml");
    std::fs::write(&path, text).unwrap();
    let result = Manifest::read(&path).map_err(|e| e.to_string());
    std::fs::remove_dir_all(&dir).unwrap();
    result
}

#[test]
fn sizes_expand_and_expressions_are_evaluated() {
    let text = one_case(
        "global = [\"(N+63)/64*64\"]\nlocal = [64]\nsizes = { l = { N = 1000 }, s = { N = 10 } }",
        "{ buffer = \"f32x3\", count = \"N\", init = \"index(0,N)\" }, { scalar = \"i32\", value = \"N*2\" },
         { local = \"f64\", count = 8 }, { scalar = \"f32x2\", value = [1, 2.5] },
         { struct = [\"u8\", \"i32\", \"f64\", \"u8\"], value = [7, \"N\", 0.5, 9] }",
    );
    let cases = read(&text, "sizes").unwrap().cases;
    let names: Vec<_> = cases.iter().map(|c| (c.name.as_str(), c.global[0])).collect();
    assert_eq!(names, [("a_s", 64), ("a_l", 1024)]);
    let Arg::Buffer(buffer) = &cases[0].args[0] else { panic!("a buffer") };
    assert_eq!(buffer.contents().unwrap().len(), 10 * 16);
    assert!(matches!(&cases[1].args[1], Arg::Scalar { bytes, .. } if bytes == &2000i32.to_le_bytes()));
    assert!(matches!(cases[0].args[2], Arg::Local { bytes: 64 }));
    assert!(matches!(&cases[0].args[3], Arg::Scalar { bytes, .. } if bytes[4..] == 2.5f32.to_le_bytes()));
    let Arg::Struct { bytes } = &cases[0].args[4] else { panic!("a structure") };
    assert_eq!(bytes[..], [7, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f, 9, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn captured_arguments_are_bytes_and_addresses() {
    let buffer = "{ buffer = \"u32\", count = 4, init = \"zeros\", at = 8, role = \"inout\", expected = \"x.bin\" }";
    let text = one_case("global = [4]", &format!("{buffer}, {{ same = 0, at = 12 }}, {{ bytes = \"01fF\" }}"));
    let cases = read(&text, "captured").unwrap().cases;
    let Arg::Buffer(buffer) = &cases[0].args[0] else { panic!("a buffer") };
    assert_eq!((buffer.at, buffer.expected.as_ref().unwrap().file_name().unwrap().to_str()), (8, Some("x.bin")));
    assert!(matches!(cases[0].args[1], Arg::Same { argument: 0, at: 12 }));
    assert!(matches!(&cases[0].args[2], Arg::Struct { bytes } if bytes == &[1, 255]));
}

/// Every mistake gets a sentence with file and line.
#[test]
fn mistakes_name_file_and_line() {
    let buffer = "{ buffer = \"f32\", count = 4, init = \"zeros\" }";
    let global = "global = [4]";
    let cases = [
        (one_case("global = [4]\nglobl = [4]", buffer), ":6:", "globl"),
        (one_case(global, "{ buffer = \"f32\", count = 4, init = \"zeros\", rolle = \"in\" }"), ":7:", "rolle"),
        (one_case(global, "{ buffer = \"float\", count = 4, init = \"zeros\" }"), ":7:", "unknown type `float`"),
        (one_case(global, "{ buffer = \"f32\", count = 4, init = \"zeroes\" }"), ":7:", "unknown pattern"),
        (one_case(global, "{ buffer = \"f32\", count = 4 }"), ":7:", "either `init` or `file`"),
        (one_case(global, "{ buffer = \"f32\", file = \"none.bin\" }"), ":7:", "none.bin"),
        (one_case(global, "{ scalar = \"u8\", value = 256 }"), ":7:", "does not fit"),
        (one_case(global, "{ scalar = \"i32\", value = \"M\" }"), ":7:", "`M` is neither"),
        (one_case(global, "{ scalar = \"i32\", value = 1, count = 3 }"), ":7:", "`count` has no meaning"),
        (one_case(global, "{ count = 3 }"), ":7:", "exactly one of"),
        (one_case(global, "{ bytes = \"0g\" }"), ":7:", "pairs of hexadecimal digits"),
        (one_case(global, "{ bytes = \"012\" }"), ":7:", "pairs of hexadecimal digits"),
        (one_case(global, "{ same = 0 }"), ":7:", "names no buffer"),
        (one_case(global, &format!("{buffer}, {{ same = 0, at = 17 }}")), ":7:", "the buffer has 16 bytes"),
        (one_case(global, &buffer.replace(" }", ", at = 17 }")), ":7:", "the buffer has 16 bytes"),
        (one_case(global, &buffer.replace(" }", ", expected = \"x.bin\" }")), ":7:", "is for outputs"),
        (one_case("global = [1, 2, 3, 4]", buffer), ":1:", "dimensions"),
        (one_case("global = [4]\nlocal = [2, 2]", buffer), ":1:", "`local` has 2"),
        (one_case("global = [4]\nlocal = [0]", buffer), ":1:", "work-group size of 0"),
        (one_case("global = [4, 0]", buffer), ":1:", "nothing would run"),
        (one_case("global = [-4]", buffer), ":1:", "from 0 on"),
        (one_case("global = [4]\nlaunches = 0", buffer), ":1:", "launches"),
        (one_case("global = [4", buffer), ":", "a"),
        ("[suite]\nname = \"x\"\n".to_string(), ":", "no cases"),
        ("[suite]\ninclude = [\"m.toml\"]\n".to_string(), ":", "includes itself"),
        ("[suite]\ninclude = [\"other.toml\"]\n".to_string(), ":2:", "no such file"),
        (one_case(global, buffer) + &one_case(global, buffer), ":", "two cases"),
    ];
    for (i, (text, line, words)) in cases.iter().enumerate() {
        let why = read(text, &format!("mistake{i}")).unwrap_err();
        assert!(why.contains(&format!("m.toml{line}")) && why.contains(words), "{i}: {why}");
    }
}

#[test]
fn own_suites_are_whole() {
    let full = Manifest::read(&folder().join("full.toml")).unwrap();
    // One small kernel for each built-in function: a suite of its own.
    let builtins = Manifest::read(&folder().join("builtins.toml")).unwrap();
    assert!(builtins.cases.len() >= 190);
    let kernels = std::fs::read_dir(folder().join("kernels")).unwrap().count() - 1;
    let folders: std::collections::BTreeSet<_> = full.cases.iter().map(|c| c.source.parent().unwrap()).collect();
    assert_eq!(folders.len(), kernels, "full.toml lists every kernel");
    assert!(kernels >= 24);
    for case in &full.cases {
        assert!(module_path(&case.source, &case.options).is_file(), "{}: run compile.sh", case.name);
        let reference = case.reference.as_deref().unwrap_or("");
        assert!(warpscope_workloads::references::NAMES.contains(&reference), "{}", case.name);
    }
    let quick = Manifest::read(&folder().join("quick.toml")).unwrap();
    assert_eq!(quick.cases.len(), 12);
}
