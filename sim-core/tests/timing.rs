//! Timing mode: results as in functional mode, records that do not depend on how windows are cut.
mod common;
use common::*;
use warpscope_exec::ops::{Op, OpClass};
use warpscope_exec::program::*;
use warpscope_sim::*;

/// Windows of the engine that are tried; 0: the longest.
const WINDOWS: [u64; 4] = [0, 1, 7, 16];

/// Runs `launch` of `make` on fresh machines with every window; the records and the outputs must be equal.
fn on_every_window(set: &[&str], outputs: usize, make: impl Fn(&Machine) -> (Launch, u64)) -> (Vec<u32>, LaunchRecord) {
    let mut first: Option<(Vec<u32>, LaunchRecord)> = None;
    for window in WINDOWS {
        let mut m = machine("tiny", set);
        m.options_mut().window = window;
        let (launch, out) = make(&m);
        let record = m.launch(&launch).unwrap_or_else(|e| panic!("{e}"));
        let result = (words(&m, out, outputs), record);
        match &first {
            None => first = Some(result),
            Some(f) => assert_eq!(*f, result, "window {window}"),
        }
    }
    first.unwrap()
}

fn timed(program: Program, global: u64, local: u32, pointers: &[u64]) -> Launch {
    launch(program, global, local, pointers, Mode::Timing)
}

fn width() -> u32 {
    machine("tiny", &[]).spec().chip.sub_group_size
}

#[test]
fn results_counts_and_stacks() {
    let w = width();
    let (out, record) = on_every_window(&[], 1000, |m| {
        let ops = store_per_item(vec![
            op(Op::LeaZext, r(6), &[r(0), c(4)], 2, 0),
            op(Op::LdGlobal, r(8), &[r(6)], 0, word()),
            op(Op::IMad32, r(4), &[r(8), r(8), r(0)], 0, 0),
        ]);
        let (out, input) = (buffer(m, &[0; 1000]), buffer(m, &(0..1000).map(|i| i * 3).collect::<Vec<_>>()));
        let mut pool = rows(64);
        pool.extend([ConstantRow::Parameter(8), ConstantRow::Parameter(12)]);
        let mut program = program(w, 2, &[], ops);
        program.constants = [ConstantRow::Parameter(0), ConstantRow::Parameter(4)].into_iter().chain(pool).collect();
        program.constant_offsets = vec![0x210, 0x214, 0, 8, 0x218, 0x21c];
        (timed(program, 1000, 64, &[out, input]), out)
    });
    assert_eq!(out, (0..1000).map(|i| 9 * i * i + i).collect::<Vec<u32>>());
    let (work, time) = (&record.counters.work, &record.counters.time);
    let warps = 15 * u64::from(64 / w) + u64::from(40u32.div_ceil(w));
    assert_eq!((work.groups, work.warps, work.work_items), (16, warps, 1000));
    assert_eq!(work.warp_instructions, warps * 10);
    assert_eq!(time.warps[Cause::Issued], work.warp_instructions);
    // Every cycle of every scheduler of an active unit has one cause.
    let spec = machine("tiny", &[]).spec().clone();
    let schedulers = time.active_unit_cycles * u64::from(spec.compute_unit.sub_cores);
    assert_eq!(time.schedulers.total(), schedulers, "{:?}", time.schedulers);
    assert!(time.cycles_elapsed >= time.head_cycles + time.cycles_active_max + time.tail_cycles);
    assert!(time.warps[Cause::LongScoreboard] > 0 && time.warps[Cause::Fetch] > 0);
    assert_eq!(record.counters.memory.unit.load_sectors, 1000 / 8);
}

#[test]
fn a_dependent_chain_takes_its_latency_and_independent_ones_the_pipe() {
    // 64 dependent, then 64 independent adds: the difference of two lengths is free of everything else.
    let elapsed = |count: usize, dependent: bool| {
        let body = (0..count)
            .map(|n| {
                let to = if dependent { 4 } else { 4 + (n % 8) as u16 };
                op(Op::IAdd32, r(to), &[r(to), c(2)], 0, 0)
            })
            .collect();
        let mut m = machine("tiny", &[]);
        let w = width();
        let out = buffer(&m, &[0; 64]);
        let program = program(w, 1, &rows(8), store_per_item(body));
        let launch = timed(program, 8, 8, &[out]);
        m.launch(&launch).unwrap();
        m.launch(&launch).unwrap().counters.time.cycles_active_max
    };
    let spec = machine("tiny", &[]).spec().clone();
    let class = &spec.compute_unit.classes["alu"];
    let pipe = &spec.compute_unit.pipes[&class.pipes[0]];
    let busy = spec.chip.sub_group_size.div_ceil(pipe.lanes) * class.passes;
    assert_eq!(elapsed(128, true) - elapsed(64, true), 64 * u64::from(class.latency));
    assert_eq!(elapsed(128, false) - elapsed(64, false), 64 * u64::from(busy));
}

/// Active cycles of a second launch on the tiny machine with these settings: one warp runs `body`.
fn active(set: &[&str], body: Vec<MachineOp>) -> u64 {
    let mut m = machine("tiny", set);
    let out = buffer(&m, &[0; 64]);
    let launch = timed(program(width(), 1, &rows(8), store_per_item(body)), 8, 8, &[out]);
    m.launch(&launch).unwrap();
    m.launch(&launch).unwrap().counters.time.cycles_active_max
}

#[test]
fn a_predicate_guards_later_than_it_selects() {
    let chain = |guard: bool| -> Vec<MachineOp> {
        let step = |_| {
            let add = if guard {
                guarded(op(Op::IAdd32, r(4), &[r(4), c(2)], 0, 0), 0, false)
            } else {
                op(Op::Sel32, r(4), &[r(4), c(2), p(0)], 0, 0)
            };
            [less(0, r(4), c(3)), add]
        };
        (0..32).flat_map(step).collect()
    };
    let at = |guard: bool, extra: u32| active(&[&format!("compute_unit.register_file.guard={extra}")], chain(guard));
    assert_eq!(at(true, 9) - at(true, 0), 32 * 9);
    assert_eq!(at(false, 9), at(false, 0));
}

#[test]
fn a_pipe_with_a_queue_lets_the_warp_go_on() {
    // Two additions on a pipe of one lane, then multiply-adds that wait for each other on another pipe.
    let mut body = vec![op(Op::IAdd32, r(5), &[r(0), c(2)], 0, 0), op(Op::IAdd32, r(6), &[r(0), c(2)], 0, 0)];
    body.extend((0..16).map(|_| op(Op::IMad32, r(4), &[r(4), c(2), c(3)], 0, 0)));
    let with = |queue: u32| {
        let queue = format!("compute_unit.pipes.alu.queue={queue}");
        active(&["compute_unit.pipes.alu.lanes=1", &queue], body.clone())
    };
    // An addition before them keeps the pipe too: without a queue both wait for it, with one place only the second does.
    assert_eq!(with(0) - with(1), u64::from(width()));
    assert_eq!(with(2), with(4));
}

#[test]
fn atomics_return_each_old_value_once() {
    let w = width();
    let (out, record) = on_every_window(&[], 300, |m| {
        let body = vec![op(Op::AtomGlobal, r(4), &[c(4), c(6)], 0, atomic(AtomicOp::Add))];
        let mut program = program(w, 2, &[], store_per_item(body));
        program.constants = vec![
            ConstantRow::Parameter(0),
            ConstantRow::Parameter(4),
            ConstantRow::Launch(LaunchConstant::EnqueuedLocalSize(0)),
            ConstantRow::Launch(LaunchConstant::GlobalOffset { dim: 0, high: false }),
            ConstantRow::Parameter(8),
            ConstantRow::Parameter(12),
            ConstantRow::Immediate(1),
        ];
        program.constant_offsets = vec![u32::MAX; 7];
        program.order_sensitive = true;
        let (out, counter) = (buffer(m, &[0; 300]), buffer(m, &[5]));
        (timed(program, 300, 32, &[out, counter]), out)
    });
    let mut sorted = out;
    sorted.sort();
    assert_eq!(sorted, (5..305).collect::<Vec<u32>>());
    assert_eq!(record.counters.memory.unit.atomic_requests, record.counters.work.warps);
}

/// Every item reads its neighbour's word of the same buffer and stores what it read plus one into its own, several
/// times, without any barrier: a race between units. The result may be anything, but always the same.
#[test]
fn races_are_decided_the_same_way_whatever_the_window() {
    let w = width();
    on_every_window(&[], 512, |m| {
        let mut body = vec![
            op(Op::LeaZext, r(6), &[r(0), c(0)], 2, 0),
            op(Op::ISub32, r(8), &[c(4), r(0)], 0, 0),
            op(Op::LeaZext, r(8), &[r(8), c(0)], 2, 0),
        ];
        for _ in 0..6 {
            body.push(op(Op::LdGlobal, r(4), &[r(8)], 0, word()));
            body.push(op(Op::IAdd32, r(4), &[r(4), c(5)], 0, 0));
            body.push(op(Op::StGlobal, NONE, &[r(6), r(4)], 0, word()));
        }
        let mut pool = rows(64);
        pool.extend([ConstantRow::Immediate(511), ConstantRow::Immediate(1)]);
        let out = buffer(m, &[0; 512]);
        (timed(program(w, 1, &pool, store_per_item(body)), 512, 64, &[out]), out)
    });
}

#[test]
fn barriers_order_local_memory_between_warps() {
    let w = width();
    let (out, record) = on_every_window(&[], 256, |m| {
        let body = vec![
            op(Op::IMad32, r(5), &[r(1), c(5), c(6)], 0, 0),
            op(Op::StLocal, NONE, &[r(5), r(0)], 0, word()),
            op(Op::Bar, NONE, &[], 1, 0),
            op(Op::ISub32, r(6), &[c(4), r(5)], 0, 0),
            op(Op::LdLocal, r(4), &[r(6)], 0, word()),
        ];
        let reserved = m.spec().memory.local.reserved_per_group;
        let mut pool = rows(64);
        pool.extend([
            ConstantRow::Immediate(2 * reserved + 4 * 63),
            ConstantRow::Immediate(4),
            ConstantRow::Immediate(reserved),
        ]);
        let mut program = program(w, 1, &pool, store_per_item(body));
        program.local_bytes = 256;
        program.has_barrier = true;
        let out = buffer(m, &[0; 256]);
        (timed(program, 256, 64, &[out]), out)
    });
    assert_eq!(out, (0..256).map(|i| i / 64 * 64 + 63 - i % 64).collect::<Vec<u32>>());
    assert!(record.counters.time.warps[Cause::Barrier] > 0);
    assert_eq!(class_count(&record, OpClass::Barrier), 4 * u64::from(64 / w));
}

/// Clocks around 32 of each on an H200: a barrier takes 12 cycles and 2 for each warp, of which what needs no memory takes
/// nothing away; a dependent local load takes 21 and 2 for each wavefront.
#[test]
fn barriers_and_conflicts_take_as_long_as_measured() {
    let cycles = |items: u32, stride: u32, body: &[MachineOp]| {
        // Code costs nothing: the clocks stood around what had been run before.
        let mut m = machine("nvidia-h200", &["frontend.l2_fetch.latency=0", "frontend.l1_instruction.latency=0"]);
        let mut pool = rows(64);
        let reserved = m.spec().memory.local.reserved_per_group;
        pool.extend([stride, reserved, 0].map(ConstantRow::Immediate));
        let mut ops =
            vec![op(Op::IMad32, r(5), &[r(1), c(4), c(5)], 0, 0), op(Op::StLocal, NONE, &[r(5), r(0)], 0, word())];
        ops.extend_from_slice(body);
        let mut program = program(32, 1, &pool, store_per_item(ops));
        program.local_bytes = 32768;
        program.has_barrier = true;
        let out = buffer(&m, &vec![0; items as usize]);
        m.launch(&timed(program, u64::from(items), items, &[out])).unwrap().counters.time.cycles_active_max as f64
    };
    let each = |items, stride, body: &[MachineOp]| {
        (cycles(items, stride, &body.repeat(40)) - cycles(items, stride, &body.repeat(8))) / 32.0
    };
    let barrier = op(Op::Bar, NONE, &[], 1, 0);
    let add = op(Op::IAdd32, r(4), &[r(4), c(4)], 0, 0);
    for (items, measured) in [(32, 14.0), (64, 16.0), (256, 28.0), (1024, 76.0)] {
        assert!((each(items, 4, &[barrier]) - measured).abs() < 1.1, "{items}: {}", each(items, 4, &[barrier]));
        assert!(
            (each(items, 4, &[barrier, add, add]) - measured).abs() < 1.6,
            "{items} add: {}",
            each(items, 4, &[barrier, add, add])
        );
    }
    let load = op(Op::LdLocal, r(6), &[r(5)], 0, word());
    let chain = [load, op(Op::And32, r(6), &[r(6), c(6)], 0, 0), op(Op::Or32, r(5), &[r(5), r(6)], 0, 0)];
    for (stride, ways) in [(8, 2.0), (64, 16.0), (128, 32.0)] {
        assert!((each(32, stride, &chain) - each(32, 4, &chain) - 2.0 * (ways - 1.0)).abs() < 0.6, "{stride}");
    }
}

#[test]
fn an_endless_loop_and_a_fault_are_reported_and_the_machine_goes_on() {
    let w = width();
    let mut m = machine("tiny", &[]);
    m.options_mut().instruction_limit = 100_000;
    let endless = timed(program(w, 0, &[], vec![op(Op::Bra, NONE, &[], 0, NO_RECONVERGENCE)]), 8, 8, &[]);
    assert!(matches!(m.launch(&endless), Err(LaunchError::Limit { .. })));
    let out = buffer(&m, &[0; 40]);
    let store = |out| {
        let ops = store_per_item(vec![op(Op::Mov32, r(4), &[r(0)], 0, 0)]);
        timed(program(w, 1, &rows(8), ops), 64, 8, &[out])
    };
    assert!(matches!(m.launch(&store(out)), Err(LaunchError::Fault { .. })));
    let out = buffer(&m, &[0; 64]);
    m.launch(&store(out)).unwrap();
    assert_eq!(words(&m, out, 64), (0..64).collect::<Vec<u32>>());
}

/// Warps compute for long and then store, more groups than fit at a time: units run on beyond the window and must stop
/// in time for new groups and for memory. Launches follow one another.
#[test]
fn long_computations_and_later_launches_do_not_depend_on_the_window() {
    let w = width();
    for policy in ["greedy-then-oldest", "loose-round-robin", "two-level"] {
        let run = |window| {
            let mut m = machine("tiny", &[&format!("compute_unit.scheduler=\"{policy}\"")]);
            m.options_mut().window = window;
            // Up to 255 rounds, by the item; the loop begins behind four operations of `store_per_item` and two more.
            let body = vec![
                op(Op::And32, r(5), &[r(0), c(4)], 0, 0),
                op(Op::Or32, r(5), &[r(5), c(5)], 0, 0),
                op(Op::IMad32, r(4), &[r(4), r(4), r(5)], 0, 0),
                op(Op::ISub32, r(5), &[r(5), c(5)], 0, 0),
                less(0, c(6), r(5)),
                guarded(op(Op::Bra, NONE, &[], 6, 10), 0, false),
            ];
            let mut pool = rows(64);
            pool.extend([255, 1, 0].map(ConstantRow::Immediate));
            let program = program(w, 1, &pool, store_per_item(body));
            let out = buffer(&m, &[0; 2048]);
            let launch = timed(program, 2048, 64, &[out]);
            let records: Vec<LaunchRecord> = (0..3).map(|_| m.launch(&launch).unwrap()).collect();
            (words(&m, out, 2048), records)
        };
        let expected = run(0);
        let item = |id: u32| (1..=(id & 255 | 1)).rev().fold(0u32, |v, n| v.wrapping_mul(v).wrapping_add(n));
        assert_eq!(expected.0, (0..2048).map(item).collect::<Vec<u32>>());
        for window in [u64::MAX, 11] {
            assert_eq!(run(window), expected, "{policy}, window {window}");
        }
    }
}

#[test]
fn each_scheduler_gives_the_same_results() {
    let w = width();
    let named = ["greedy-then-oldest", "greedy-then-youngest", "loose-round-robin", "oldest-first", "two-level"];
    for policy in named.into_iter().chain(["oldest-group-first"]) {
        let set = format!("compute_unit.scheduler=\"{policy}\"");
        let (out, _) = on_every_window(&[&set], 640, |m| {
            let out = buffer(m, &[0; 640]);
            let ops = store_per_item(vec![op(Op::IMul32, r(4), &[r(0), r(0)], 0, 0)]);
            (timed(program(w, 1, &rows(64), ops), 640, 64, &[out]), out)
        });
        assert_eq!(out, (0..640).map(|i| i * i).collect::<Vec<u32>>());
    }
}
