//! What transfers from outside kernels do to the L2 (`host.transfer_l2`).
mod common;
use common::*;
use warpscope_exec::ops::Op;
use warpscope_exec::program::*;
use warpscope_sim::*;

/// Bytes that DRAM delivers to each of three launches that read a buffer: cold, warm, and after a transfer has written
/// to `bytes` of it.
fn fetched(set: &[&str], bytes: u64) -> [u64; 3] {
    let mut m = machine("tiny", set);
    let ops =
        store_per_item(vec![op(Op::LeaZext, r(6), &[r(0), c(4)], 2, 0), op(Op::LdGlobal, r(4), &[r(6)], 0, word())]);
    let (out, input) = (buffer(&m, &[0; 1024]), buffer(&m, &[7; 1024]));
    let mut pool = rows(64);
    pool.extend([ConstantRow::Parameter(8), ConstantRow::Parameter(12)]);
    let mut program = program(m.spec().chip.sub_group_size, 2, &[], ops);
    program.constants = [ConstantRow::Parameter(0), ConstantRow::Parameter(4)].into_iter().chain(pool).collect();
    program.constant_offsets = vec![0x210, 0x214, 0, 8, 0x218, 0x21c];
    let launch = launch(program, 1024, 64, &[out, input], Mode::Timing);
    [0, 0, bytes].map(|written| {
        if written > 0 {
            m.transferred(input, written);
        }
        m.launch(&launch).unwrap_or_else(|e| panic!("{e}")).counters.memory.dram.read_bytes
    })
}

#[test]
fn dropped_lines_are_read_again() {
    let [cold, warm, after] = fetched(&[], 4096);
    assert!(cold > warm);
    assert_eq!(after, warm, "the default keeps what is there");
    let [_, warm, after] = fetched(&["host.transfer_l2=drop"], 4096);
    assert_eq!(after, warm + 4096);
    let [_, warm, half] = fetched(&["host.transfer_l2=drop"], 2048);
    assert_eq!(half, warm + 2048);
    let [_, warm, beyond] = fetched(&["host.transfer_l2=drop"], 1 << 40);
    assert_eq!(beyond, warm + 4096, "what lies behind the buffer is not its memory");
}
