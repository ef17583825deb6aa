//! Functional mode: results against what the programs say.
mod common;
use common::*;
use warpscope_exec::ops::{Op, OpClass};
use warpscope_exec::program::*;
use warpscope_sim::*;

const TINY: &str = "tiny";

fn width(machine: &Machine) -> u32 {
    machine.spec().chip.sub_group_size
}

#[test]
fn remainder_groups_offsets_and_counts() {
    let mut m = machine(TINY, &[]);
    let w = width(&m);
    let ops = store_per_item(vec![special(r(4), Special::LocalSizeX), op(Op::IMad32, r(4), &[r(4), c(4), r(0)], 0, 0)]);
    let mut pool = rows(24);
    pool.push(ConstantRow::Immediate(1000));
    let out = buffer(&m, &[0; 64]);
    let mut l = launch(program(w, 1, &pool, ops), 50, 24, &[out], Mode::Functional);
    l.offset = [5, 0, 0];
    let record = m.launch(&l).unwrap();
    let expected: Vec<u32> =
        (0..64).map(|i| if (5..55).contains(&i) { i + 1000 * if i < 53 { 24 } else { 2 } } else { 0 }).collect();
    assert_eq!(words(&m, out, 64), expected);
    let work = &record.counters.work;
    let warps = 2 * u64::from(24u32.div_ceil(w)) + 1;
    assert_eq!((work.groups, work.warps, work.work_items), (3, warps, 50));
    assert_eq!(work.warp_instructions, warps * 9);
    assert_eq!(work.thread_instructions, 50 * 9);
    assert_eq!(class_count(&record, OpClass::StoreGlobal), warps);
    assert_eq!(record.geometry.groups, [3, 1, 1]);
}

#[test]
fn barriers_join_the_warps_of_a_group_and_ended_warps_count() {
    // Each item writes local[id]; after the barrier it reads local[size - 1 - id]. The last warp's items (ids from
    // 48 on) have left before.
    let mut m = machine(TINY, &[]);
    let w = width(&m);
    let body = vec![
        less(0, r(1), c(5)),
        guarded(exit(), 0, true),
        op(Op::IMad32, r(5), &[r(1), c(6), c(7)], 0, 0),
        op(Op::StLocal, NONE, &[r(5), r(1)], 0, word()),
        op(Op::Bar, NONE, &[], 1, 0),
        op(Op::ISub32, r(6), &[c(4), r(5)], 0, 0),
        op(Op::LdLocal, r(4), &[r(6)], 0, word()),
    ];
    let reserved = m.spec().memory.local.reserved_per_group;
    let mut pool = rows(64);
    pool.extend([
        ConstantRow::Immediate(2 * reserved + 4 * 47),
        ConstantRow::Immediate(48),
        ConstantRow::Immediate(4),
        ConstantRow::Immediate(reserved),
    ]);
    let mut program = program(w, 1, &pool, store_per_item(body));
    program.local_bytes = 256;
    program.has_barrier = true;
    let out = buffer(&m, &[7; 128]);
    let record = m.launch(&launch(program, 128, 64, &[out], Mode::Functional)).unwrap();
    let expected: Vec<u32> = (0..128).map(|i| if i % 64 < 48 { 47 - i % 64 } else { 7 }).collect();
    assert_eq!(words(&m, out, 128), expected);
    assert_eq!(record.counters.work.barrier_arrivals, 2 * u64::from(48u32.div_ceil(w)));
}

#[test]
fn an_access_out_of_bounds_names_kernel_line_work_item_and_allocation() {
    let mut m = machine(TINY, &[]);
    let w = width(&m);
    let ops = store_per_item(vec![op(Op::Mov32, r(4), &[r(0)], 0, 0)]);
    let out = buffer(&m, &[0; 40]);
    let error = m.launch(&launch(program(w, 1, &rows(8), ops), 64, 8, &[out], Mode::Functional)).unwrap_err();
    let LaunchError::Fault { place, .. } = &error else { panic!("{error}") };
    assert_eq!((place.global_id, place.line), (Some([40, 0, 0]), 7));
    let text = error.to_string();
    for part in ["kernel `test`", "write of 4 bytes", "test.cl:7", "work-item (40, 0, 0)", "0 bytes past the end"] {
        assert!(text.contains(part), "{part} is not in: {text}");
    }
}

#[test]
fn an_endless_loop_meets_the_limit_and_an_interrupt_stops_it() {
    let mut m = machine(TINY, &[]);
    let w = width(&m);
    let ops = vec![op(Op::Bra, NONE, &[], 0, NO_RECONVERGENCE)];
    m.options_mut().instruction_limit = 1_000_000;
    let endless = launch(program(w, 0, &[], ops), 8, 8, &[], Mode::Functional);
    let error = m.launch(&endless).unwrap_err();
    assert!(matches!(error, LaunchError::Limit { limit: 1_000_000, .. }), "{error}");
    m.options_mut().instruction_limit = u64::MAX;
    let flag = m.interrupt_flag();
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(m.launch(&endless).unwrap_err(), LaunchError::Interrupted("test".into()));
    stopper.join().unwrap();
}

#[test]
fn order_sensitive_atomics_come_in_dispatch_order() {
    let mut m = machine(TINY, &[]);
    let w = width(&m);
    let body = vec![op(Op::AtomGlobal, r(4), &[c(4), c(6)], 0, atomic(AtomicOp::Add))];
    let pool = [rows(8), vec![ConstantRow::Parameter(8), ConstantRow::Parameter(12), ConstantRow::Immediate(1)]];
    let mut program = program(w, 2, &[], store_per_item(body));
    // Rows 2 and 3 are the helper's; the second pointer's words come behind them.
    program.constants =
        [ConstantRow::Parameter(0), ConstantRow::Parameter(4)].into_iter().chain(pool.concat()).collect();
    program.constant_offsets = vec![u32::MAX; program.constants.len()];
    program.order_sensitive = true;
    let (out, counter) = (buffer(&m, &[0; 256]), buffer(&m, &[10]));
    m.launch(&launch(program, 256, 8, &[out, counter], Mode::Functional)).unwrap();
    assert_eq!(words(&m, out, 256), (10..266).collect::<Vec<u32>>());
    assert_eq!(words(&m, counter, 1), [266]);
}

#[test]
fn bad_launches_are_refused_with_a_reason() {
    let mut m = machine(TINY, &[]);
    let w = width(&m);
    let good = |m: &Machine| {
        let out = buffer(m, &[0; 64]);
        launch(
            program(w, 1, &rows(8), store_per_item(vec![op(Op::Mov32, r(4), &[r(0)], 0, 0)])),
            64,
            8,
            &[out],
            Mode::Functional,
        )
    };
    type Change = fn(&mut Launch);
    let cases: [(Change, &str); 7] = [
        (|l| l.arguments.clear(), "1 parameters, but 0 arguments"),
        (|l| l.arguments = vec![Argument::Value(vec![0; 8])], "takes a pointer"),
        (|l| l.local = [0, 1, 1], "a dimension is 0"),
        (|l| l.local = [1 << 20, 1, 1], "the machine allows"),
        (|l| l.work_dim = 4, "1, 2 or 3 dimensions"),
        (|l| l.offset = [u64::MAX, 0, 0], "exceed 64 bits"),
        (|l| l.global = [64, 2, 1], "beyond the last dimension"),
    ];
    for (change, reason) in cases {
        let mut l = good(&m);
        change(&mut l);
        let error = m.launch(&l).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    let mut empty = good(&m);
    empty.global = [0, 1, 1];
    assert_eq!(m.launch(&empty).unwrap().counters.work.warps, 0);
}
