//! Tables, files and pages of made-up records.
mod common;

use common::entry;
use warpscope_reports::render::{Point, csv, roofline, scatter, suite_page, summary};
use warpscope_reports::{Check, Folder, read_entries, sections};

#[test]
fn the_summary_shows_the_figures_and_what_failed() {
    let mut bad = entry("broken");
    bad.check = Check::Failed("argument 1 differs at 3: 1 instead of 2".into());
    bad.record = None;
    let text = summary(&[entry("vecadd"), bad]);
    let rows: Vec<&str> = text.lines().collect();
    assert!(rows[0].starts_with("case"), "{text}");
    for part in
        ["vecadd", "8192/128", "10000", "10.00", "1.28", "37.5%", "long-scoreboard 60%", "25.0%", "19.7", "passed"]
    {
        assert!(rows[2].contains(part), "{part} in {text}");
    }
    assert!(rows[3].contains("FAILED"));
    assert_eq!(rows[4], "broken: argument 1 differs at 3: 1 instead of 2");
}

#[test]
fn csv_has_as_many_fields_as_headings() {
    let mut empty = entry("b");
    empty.record = None;
    let text = csv(&[entry("a"), empty]);
    let header = text.lines().next().unwrap();
    assert!(header.starts_with("suite,configuration,group,class,size,kernel,case,work,cycles"));
    assert!(header.contains("work.warp_instructions") && header.contains("time.warps.long-scoreboard"));
    let fields = header.split(',').count();
    let row = text.lines().nth(1).unwrap();
    // The class has a comma of its own, inside quotation marks.
    assert!(row.contains("\"memory, mostly\""));
    assert_eq!(row.split(',').count(), fields + 1);
    assert_eq!(text.lines().nth(2).unwrap().split(',').count(), fields + 1);
}

#[test]
fn pages_stand_alone_and_escape_names() {
    let text = suite_page("A & B", &[entry("x<y>")]);
    assert!(text.contains("A &amp; B") && text.contains("x&lt;y&gt;") && !text.contains("x<y>"));
    assert!(text.matches("<svg").count() >= 2 && !text.contains("http://cdn") && !text.contains("<link"));
    assert!(text.contains("Warp instructions executed."), "legends come from the counters");
    let page = sections::page(&entry("k"));
    assert!(page.contains("vec&lt;add&gt;") && page.contains("<svg"));
}

#[test]
fn the_report_on_one_launch_says_what_limits_it() {
    let text = sections::text(&entry("k"));
    for part in [
        "Launch",
        "Occupancy",
        "Warp states",
        "60.0% of the warps' time goes to long-scoreboard",
        "24.0",
        "16.0 sectors of 32 B an access",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn plots_survive_nothing_and_extremes() {
    assert!(scatter(&[], "t", "cycles").contains("<svg"));
    let points = [Point { x: 1.0, y: 1e9, name: "<far>".into() }, Point { x: 0.0, y: f64::NAN, name: String::new() }];
    let plot = scatter(&points, "t", "cycles");
    assert!(plot.contains("&lt;far&gt;") && !plot.contains("NaN"));
    assert!(roofline(&points, 10.0, 5.0).contains("<svg"));
}

#[test]
fn records_are_appended_and_a_cut_line_is_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let mut folder = Folder::create(dir.path()).unwrap();
    folder.append(&entry("a")).unwrap();
    folder.append(&entry("b")).unwrap();
    assert_eq!(read_entries(dir.path()).unwrap(), [entry("a"), entry("b")]);
    let path = dir.path().join("records.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &text[..text.len() - 10]).unwrap();
    assert_eq!(read_entries(dir.path()).unwrap(), [entry("a")]);
    std::fs::write(&path, "{\"x\":1}\n").unwrap();
    assert!(read_entries(dir.path()).unwrap_err().to_string().contains("records.jsonl:1: not a record"));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_a_sentence() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/full", dir.path().join("records.jsonl")).unwrap();
    let mut folder = Folder::create(dir.path()).unwrap();
    let error = folder.append(&entry("a")).unwrap_err().to_string();
    assert!(error.contains("records.jsonl: cannot be written: No space left on device"), "{error}");
}
