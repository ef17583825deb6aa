//! Comparison with measured hardware, on made-up records and on the committed reference.
mod common;

use common::entry;
use std::path::Path;
use warpscope_reports::compare::{Comparison, QUANTITIES, Reference};

fn reference(text: &str) -> Reference {
    Reference::parse(text, Path::new("r.csv")).unwrap()
}

#[test]
fn the_committed_reference_is_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads/validation/results/h200_summary.csv");
    let reference = Reference::read(&path).unwrap();
    assert_eq!(reference.cases().count(), 488);
}

#[test]
fn errors_are_signed_and_relative_or_in_points() {
    // The made-up record: 9900 active, 10000 elapsed, 25600 instructions, 64 registers, 37.5 % occupancy.
    let r = reference(
        "case,cold_cycles_active_max,cold_cycles_elapsed,warp_inst,regs,occ_achieved_pct,top_stall\n\
                       a,9000,12500,25600,32,50,wait\nb,19800,10000,,64,37.5,wait\n",
    );
    let c = Comparison::new(&[entry("a"), entry("b"), entry("c")], &r);
    assert_eq!(c.unmeasured, ["c"]);
    let find = |column: &str| QUANTITIES.iter().position(|q| q.column == column).unwrap();
    let difference = |row: usize, column: &str| c.rows[row].difference(find(column));
    assert!((difference(0, "cold_cycles_active_max").unwrap() - 0.1).abs() < 1e-12);
    assert!((difference(0, "cold_cycles_elapsed").unwrap() + 0.2).abs() < 1e-12);
    assert_eq!(difference(0, "warp_inst"), Some(0.0));
    assert_eq!(difference(1, "warp_inst"), None);
    assert_eq!(difference(0, "regs"), Some(1.0));
    assert_eq!(difference(0, "occ_achieved_pct"), Some(-12.5));
    let s = c.summary(find("cold_cycles_active_max"), Some("apps"));
    assert_eq!(s.count, 2);
    assert!((s.mean - 0.3).abs() < 1e-12 && (s.bias + 0.2).abs() < 1e-12);
    let text = c.text(true);
    for part in [
        "+10.0%",
        "-50.0%",
        "+100.0%",
        "-12.5",
        "Worst by cycles (active):\n  b: 9900 cycles instead of 19800 (-50.0%, elapsed +0.0%): ",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    // Nothing of b's work differs, so time is to blame; its warps spend 60 of 100 cycles on one cause.
    let b = text.lines().find(|l| l.starts_with("  b: 9900")).unwrap();
    assert!(b.contains("latency or queueing behind long-scoreboard") && b.contains("long-scoreboard 60%"), "{b}");
    let markdown = c.markdown("T");
    assert!(markdown.starts_with("# T\n") && markdown.contains("| apps | memory, mostly | 2 | 30.0% |"), "{markdown}");
    assert_eq!(&c.plot_png(0).unwrap()[..8], b"\x89PNG\r\n\x1a\n");
    // The class has a comma of its own.
    let csv = c.csv().replace("\"memory, mostly\"", "class");
    let fields = csv.lines().next().unwrap().split(',').count();
    assert!(csv.lines().all(|l| l.split(',').count() == fields), "{csv}");
    assert!(c.page("t").contains("<svg"));
}

#[test]
fn nothing_in_common_is_no_panic() {
    let c = Comparison::new(&[entry("a")], &reference("case,regs\nz,1\n"));
    assert!(c.text(false).contains("1 cases are not in the reference"));
    assert!(c.page("t").contains("<table>"));
}

/// Twice the instructions explain twice the cycles; the same ones do not.
#[test]
fn the_worst_are_explained_by_their_counters() {
    let r = reference("case,cold_cycles_active_max,warp_inst,occ_achieved_pct\na,4950,12800,37.5\nb,4950,25600,60\n");
    let text = Comparison::new(&[entry("a"), entry("b")], &r).text(false);
    assert!(text.contains("a: 9900 cycles instead of 4950 (+100.0%): too many instructions; "), "{text}");
    assert!(text.contains("b: 9900 cycles instead of 4950 (+100.0%): too few warps resident; "), "{text}");
}
