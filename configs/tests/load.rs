//! Loading machines: presets, inheritance, overrides, and what is refused with which words.
use warpscope_configs::{PRESETS, Selection, load};

fn refused(config: &str, set: &[&str]) -> String {
    load(config, set).expect_err("must be refused").to_string()
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

#[test]
fn every_preset_loads_and_its_listing_loads_to_the_same_machine() {
    for preset in PRESETS {
        let machine = load(preset.name, &[]).unwrap_or_else(|e| panic!("{}:\n{e}", preset.name));
        let saved = file(&machine.show(""));
        let again = load(saved.path().to_str().unwrap(), &[]).unwrap_or_else(|e| panic!("{}:\n{e}", preset.name));
        assert_eq!(again.spec, machine.spec, "{}", preset.name);
        assert_eq!(again.digest, machine.digest);
    }
}

#[test]
fn a_file_inherits_and_overrides() {
    let f = file("base = 'tiny'\n[chip]\ncompute_units = 3\n[compute_unit.pipes]\nfma.lanes = 16\n");
    let m = load(f.path().to_str().unwrap(), &["compute_unit.scheduler=loose-round-robin", "chip.name=A b"]).unwrap();
    let tiny = load("tiny", &[]).unwrap();
    assert_eq!(m.spec.chip.compute_units, 3);
    assert_eq!(m.spec.chip.name, "A b");
    assert_eq!(m.spec.compute_unit.pipes["fma"].lanes, 16);
    assert_eq!(m.spec.compute_unit.pipes["alu"], tiny.spec.compute_unit.pipes["alu"]);
    assert_eq!(m.spec.memory, tiny.spec.memory);
    assert_ne!(m.digest, tiny.digest);
    assert!(m.origin("chip.compute_units").unwrap().to_string().ends_with(".toml:3:1"));
    assert_eq!(m.origin("chip.name").unwrap().to_string(), "--set chip.name=A b");
    assert_eq!(m.origin("chip.core_mhz").unwrap().source.as_ref(), "configs/machines/generic.toml");
}

#[test]
fn the_digest_ignores_spelling_and_notices_values() {
    let plain = load("tiny", &[]).unwrap().digest;
    assert_eq!(load("tiny", &["chip.core_mhz=1000.0"]).unwrap().digest, plain);
    assert_eq!(load("tiny", &["chip.compute_units=0x2"]).unwrap().digest, plain);
    assert_ne!(load("tiny", &["chip.core_mhz=1001"]).unwrap().digest, plain);
    assert_eq!(plain.len(), 16);
}

#[test]
fn unknown_keys_are_refused_with_place_and_suggestion() {
    let f = file("base = \"tiny\"\n\n[compute_unit]\n  sub_cors = 2\n");
    let path = f.path().to_str().unwrap();
    let expected = format!("{path}:4:3: compute_unit.sub_cors: unknown key; did you mean `compute_unit.sub_cores`?");
    assert_eq!(refused(path, &[]), expected);
    assert_eq!(
        refused("tiny", &["compute_unit.pipes.fma.lane=4"]),
        "--set compute_unit.pipes.fma.lane=4: compute_unit.pipes.fma.lane: unknown key; did you mean \
         `compute_unit.pipes.fma.lanes`?"
    );
    assert!(refused("tiny", &["chip=4"]).contains("is a section, not a key"));
    assert!(refused("nvidia-h20", &[]).contains("did you mean `nvidia-h200`?"));
    assert!(refused("no/such/file.toml", &[]).contains("no/such/file.toml: cannot be read"));
}

#[test]
fn impossible_values_are_refused_with_the_range() {
    let f = file("base = \"tiny\"\n[chip]\ncompute_units = 0\ncore_mhz = nan\n");
    let path = f.path().to_str().unwrap();
    let message = refused(path, &[]);
    assert!(message.contains(&format!("{path}:3:1: chip.compute_units: 0 is out of range: allowed is 1 to 4096")));
    assert!(message.contains(&format!("{path}:4:1: chip.core_mhz: NaN is out of range")));
    for (set, part) in [
        ("chip.compute_units=-1", "chip.compute_units: invalid value: integer `-1`, expected u32"),
        ("chip.compute_units=many", "invalid type: string \"many\", expected u32"),
        ("compute_unit.scheduler=fifo", "unknown variant `fifo`"),
        ("chip.sub_group_size=16", "chip.sub_group_size: 16 is not among chip.sub_group_sizes [32]"),
        (
            "compute_unit.classes.fp32.pipes=['fna']",
            "there is no pipe `fna` in compute_unit.pipes; did you mean `fma`?",
        ),
        ("memory.local.carve_outs=[8192, 999999999]", "do not fit memory.local.combined"),
        ("compute_unit.classes.fp31.pipes=['fma']", "compute_unit.classes.fp31.latency: is missing"),
        (
            "compute_unit.classes.fp32.pipes=['fma', 'fma', 'fma', 'fma', 'fma']",
            "compute_unit.classes.fp32.pipes: can name at most 4 pipes, not 5",
        ),
        (
            "frontend.l1_instruction.line=64",
            "frontend.l1_instruction.line: 64 must be a multiple of frontend.l0_instruction.line = 128",
        ),
        (
            "frontend.l1_constant.line=256",
            "frontend.l2_fetch.line: 128 must be a multiple of frontend.l1_constant.line = 256",
        ),
        ("frontend.l0_constant.line=48", "frontend.l0_constant.line: 48 is not a power of two"),
        ("frontend.l0_constant.capacity=32", "frontend.l0_constant.capacity: 32 is out of range"),
        ("frontend.l1_instruction.capacity=64", "frontend.l1_instruction.capacity: 64 B do not hold one line of 128 B"),
        ("frontend.instruction_bytes=12", "frontend.instruction_bytes: 12 must divide frontend.l0_instruction.line"),
        ("nothing", "an override has the form key=value"),
        ("=1", "an override has the form key=value"),
    ] {
        let message = refused("nvidia-h200", &[set]);
        assert!(message.contains(part), "{set}: {message}");
    }
    let message = refused("nvidia-h200", &["chip.compute_units=4096", "frontend.l2_fetch.capacity=67108864"]);
    // 4096 caches of 2^19 lines, and what the machine has otherwise.
    assert!(message.contains("frontend.l2_fetch.capacity: the machine's state would take up to"), "{message}");
    assert!(message.contains("64 GiB of it for this; at most 8 GiB"), "{message}");
}

#[test]
fn broken_files_are_refused_with_the_line() {
    let f = file("base = \"tiny\"\n[chip\n");
    assert!(refused(f.path().to_str().unwrap(), &[]).contains(".toml:2:6: not valid TOML:"));
    let f = file("base = \"tiny\"\n[chip]\ncompute_units = 1\ncompute_units = 2\n");
    assert!(refused(f.path().to_str().unwrap(), &[]).contains(":4:1: not valid TOML: duplicate key"));
    let f = file("[chip]\ncompute_units = 1\n");
    assert!(refused(f.path().to_str().unwrap(), &[]).contains("chip.core_mhz: is missing (f64, MHz, 1.0 to 10000.0)"));
    let f = file("base = \"tinny\"\n");
    assert!(
        refused(f.path().to_str().unwrap(), &[])
            .contains(".toml:1:1: base: tinny: no such machine; did you mean `tiny`?")
    );
}

#[test]
fn a_chain_of_bases_must_end() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.toml"), "base = \"b.toml\"\n").unwrap();
    std::fs::write(dir.path().join("b.toml"), "base = \"a.toml\"\n").unwrap();
    let message = refused(dir.path().join("a.toml").to_str().unwrap(), &[]);
    assert!(message.contains("the chain of bases does not end"), "{message}");
}

#[test]
fn nothing_chosen_is_the_default_machine() {
    assert_eq!(Selection::default().load().unwrap().source, "nvidia-h200");
}

#[test]
fn a_fifth_pipe_that_spaces_instructions_is_refused() {
    let sets = ["fma", "alu", "xu", "lsu", "control"].map(|p| format!("compute_unit.pipes.{p}.spacing=2"));
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    assert!(load("tiny", &sets[..4]).is_ok());
    let text = refused("tiny", &sets);
    assert!(text.contains("compute_unit.pipes: `spacing` can be above 1 in at most 4 pipes, not 5"), "{text}");
}
