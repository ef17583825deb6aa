//! `warpscope config` as a user meets it.
mod common;

use common::{command, warpscope};
use predicates::str::contains;

#[test]
fn presets_are_listed_and_shown() {
    warpscope(&["config", "list"]).success().stdout(contains("nvidia-h200"));
    warpscope(&["config", "show", "tiny", "--only", "sub_cores"])
        .success()
        .stdout(contains("sub_cores = 2  # configs/machines/tiny.toml:"));
    warpscope(&["config", "show", "--set", "chip.compute_units=7"])
        .success()
        .stdout(contains("compute_units = 7  # --set chip.compute_units=7"));
}

#[test]
fn mistakes_end_with_code_2_and_a_sentence() {
    warpscope(&["config", "show", "tinny"]).code(2).stderr(contains("did you mean `tiny`?"));
    warpscope(&["config", "check", "tiny", "--set", "chip.compute_unit=1"])
        .code(2)
        .stderr(contains("unknown key; did you mean `chip.compute_units`?"));
    warpscope(&["config", "check", "/nonexistent/m.toml"])
        .code(2)
        .stderr(contains("/nonexistent/m.toml: cannot be read"));
    warpscope(&["confg"]).code(2).stderr(contains("config"));
}

#[test]
fn the_environment_gives_way_to_flags() {
    command(&["config", "show", "--set", "chip.core_mhz=6"])
        .env("WARPSCOPE_CONFIG", "tiny")
        .env("WARPSCOPE_SET", "chip.compute_units=3; chip.core_mhz=5")
        .assert()
        .success()
        .stdout(contains("compute_units = 3  # WARPSCOPE_SET chip.compute_units=3"))
        .stdout(contains("core_mhz = 6.0  # --set chip.core_mhz=6"))
        .stdout(contains("max_warps = 32  # configs/machines/tiny.toml:"));
}
