//! Local, private and generic accesses.
use super::*;
use crate::program::{AccessShape, LOCAL_WINDOW, PRIVATE_WINDOW};

fn shape(element: u8, count: u8, signed: bool) -> AccessShape {
    AccessShape { element, count, atomic: 0, signed }
}

#[expect(clippy::too_many_arguments)]
/// Runs one operation with register 0 (and 1) as address and 4.. as data.
fn one<const W: usize>(
    mut o: MachineOp,
    shape: AccessShape,
    addresses: &[u64; W],
    data: &[[u32; W]],
    active: u64,
    group: &mut Group,
    memory: &mut Flat,
    private: &mut Vec<Row<W>>,
) -> Result<Vec<Row<W>>, Fault> {
    o.src[0] = Operand::register(0);
    o.src[1] = Operand::register(4);
    o.src[2] = Operand::register(6);
    o.dst = Operand::register(8);
    o.imm2 = shape.pack();
    let program = program::<W>(vec![o, op(Op::Exit)], &[]);
    let mut warp = Warp::<W>::new(&program);
    warp.reset(0, [W as u32, 1, 1]);
    warp.active = active;
    warp.rows[0].0 = addresses.map(|a| a as u32);
    warp.rows[1].0 = addresses.map(|a| (a >> 32) as u32);
    for (row, data) in warp.rows[4..].iter_mut().zip(data) {
        row.0 = *data;
    }
    std::mem::swap(&mut warp.private, private);
    let outcome = once(&Code::new(&program, &[]), &mut warp, group, memory);
    std::mem::swap(&mut warp.private, private);
    outcome.map(|_| warp.rows[8..].to_vec())
}

/// Bytes written through one shape read back the same through every other, in local and private memory.
fn round_trip<const W: usize>() {
    let mut random = Random(7);
    let stores = [Op::StLocal, Op::StPrivate, Op::StGeneric, Op::StGeneric];
    let loads = [Op::LdLocal, Op::LdPrivate, Op::LdGeneric, Op::LdGeneric];
    for kind in 0..4 {
        for (element, count) in [(1, 1), (1, 4), (1, 16), (2, 1), (2, 8), (4, 1), (4, 2), (4, 4), (8, 1), (8, 2)] {
            let s = shape(element, count, false);
            let private_like = kind == 1 || kind == 3;
            // Own room for each lane, in an order that is not the lanes'.
            let offset = |i: usize| if private_like { 32 } else { 64 + 16 * ((i * 7 + 3) % W.min(32)) } as u64;
            let base = [0, 0, LOCAL_WINDOW, PRIVATE_WINDOW][kind];
            let addresses: [u64; W] = std::array::from_fn(|i| base + offset(i));
            let data: Vec<[u32; W]> =
                (0..s.registers()).map(|_| std::array::from_fn(|_| random.next() as u32)).collect();
            let active = if W == 64 && !private_like { 0xffff_ffff } else { lanes::full_mask(W) };
            let (mut g, mut m, mut private) = (group::<W>(), Flat::new(), vec![Row([0; W]); 64]);
            one(op(stores[kind]), s, &addresses, &data, active, &mut g, &mut m, &mut private).unwrap();
            let bytes_of = |i: usize| -> Vec<u8> {
                let step = (element as usize).min(4);
                data.iter().flat_map(|row| row[i].to_le_bytes()[..step].to_vec()).collect()
            };
            for (element, signed) in [(1, false), (1, true), (2, false), (2, true), (4, false), (8, false)] {
                if element > s.bytes() as u8 {
                    continue;
                }
                let t = shape(element, s.bytes() as u8 / element, signed);
                let out = one(op(loads[kind]), t, &addresses, &[], active, &mut g, &mut m, &mut private).unwrap();
                for i in (0..W).filter(|i| active >> i & 1 != 0) {
                    for (e, chunk) in bytes_of(i).chunks(element.min(4) as usize).enumerate() {
                        let expected = match (chunk.len(), signed) {
                            (1, false) => chunk[0] as u32,
                            (1, true) => chunk[0] as i8 as u32,
                            (2, false) => u16::from_le_bytes([chunk[0], chunk[1]]) as u32,
                            (2, true) => i16::from_le_bytes([chunk[0], chunk[1]]) as u32,
                            _ => u32::from_le_bytes(chunk.try_into().unwrap()),
                        };
                        assert_eq!(out[e].0[i], expected, "kind {kind}, {s:?} as {t:?}, lane {i}");
                    }
                }
            }
            assert_eq!(m.announced[0].0, if private_like { Space::Private } else { Space::Local });
        }
    }
}

#[test]
fn local_and_private_memory_round_trip() {
    round_trip::<8>();
    round_trip::<32>();
    round_trip::<64>();
}

#[test]
fn patterns_of_local_reads_and_writes() {
    let (mut g, mut m, mut private) = (group::<32>(), Flat::new(), vec![]);
    for (i, b) in g.local.iter_mut().enumerate() {
        *b = (i * 31 % 251) as u8;
    }
    let word = |g: &Group, o: usize| u32::from_le_bytes(g.local[o - 64..o - 60].try_into().unwrap());
    // Strides, then groups of 16 and 8 lanes that read one word or a row, and a row with a hole.
    let patterns: [fn(u64) -> u64; 9] = [
        |i| 4 * i,
        |_| 0,
        |i| 8 * i,
        |i| 12 * i,
        |i| 132 * (i / 16),
        |i| 4 * (i % 16) + 132 * (i / 16),
        |i| 4 * (i / 8),
        |i| 64 - 4 * (i % 8),
        |i| 4 * i + 4 * (i / 20),
    ];
    for (n, pattern) in patterns.iter().enumerate() {
        let addresses: [u64; 32] = std::array::from_fn(|i| 128 + pattern(i as u64));
        for (active, count) in [(u64::MAX >> 32, 1), (0x5555_1234, 1), (u64::MAX >> 32, 3)] {
            let active_lanes = || (0..32).filter(move |i| active >> i & 1 != 0);
            let shape = shape(4, count, false);
            let out = one(op(Op::LdLocal), shape, &addresses, &[], active, &mut g, &mut m, &mut private).unwrap();
            for (i, w) in active_lanes().flat_map(|i| (0..count as usize).map(move |w| (i, w))) {
                assert_eq!(out[w].0[i], word(&g, addresses[i] as usize + 4 * w), "pattern {n}, lane {i}, word {w}");
            }
            if count == 1 {
                let data = std::array::from_fn(|i| 1000 * n as u32 + i as u32);
                let mut expected = g.local.clone();
                for i in active_lanes() {
                    let at = addresses[i] as usize - 64;
                    expected[at..at + 4].copy_from_slice(&data[i].to_le_bytes());
                }
                one(op(Op::StLocal), shape, &addresses, &[data], active, &mut g, &mut m, &mut private).unwrap();
                assert!(g.local == expected, "pattern {n}");
            }
        }
    }
}

#[test]
fn faults_name_the_lane() {
    let (mut g, mut m, mut private) = (group::<8>(), Flat::new(), vec![Row([0; 8]); 4]);
    let mut at = |o, addresses: [u64; 8], active| {
        one(op(o), shape(4, 1, false), &addresses, &[[0; 8]], active, &mut g, &mut m, &mut private)
    };
    let mut addresses = [64, 68, 72, 76, 80, 84, 88, 64 + 1024];
    let fault = at(Op::LdLocal, addresses, 0xff).unwrap_err();
    assert!(matches!(fault, Fault::OutOfBounds { lane: 7, address: 1088, bytes: 4, access: "read", .. }), "{fault}");
    assert!(at(Op::LdLocal, addresses, 0x7f).is_ok(), "an inactive lane's address does not matter");
    addresses[2] = 60;
    let fault = at(Op::StLocal, addresses, 0x7f).unwrap_err();
    assert!(matches!(fault, Fault::OutOfBounds { lane: 2, address: 60, access: "write", .. }), "{fault}");
    addresses[2] = 66;
    let fault = at(Op::LdLocal, addresses, 0x7f).unwrap_err();
    assert!(matches!(fault, Fault::Misaligned { lane: 2, align: 4, .. }), "{fault}");
    let fault = at(Op::LdPrivate, [0, 4, 8, 16, 0, 0, 0, 0], 0xff).unwrap_err();
    assert!(matches!(fault, Fault::OutOfBounds { lane: 3, space: Space::Private, .. }), "{fault}");
}

/// One generic store, lanes in all three memories.
#[test]
fn generic_addresses_go_to_their_windows() {
    let (mut g, mut m, mut private) = (group::<8>(), Flat::new(), vec![Row([0; 8]); 4]);
    let addresses: [u64; 8] = std::array::from_fn(|i| match i % 3 {
        0 => Flat::BASE + 4 * i as u64,
        1 => LOCAL_WINDOW + 64 + 4 * i as u64,
        _ => PRIVATE_WINDOW + 8,
    });
    let data = [std::array::from_fn(|i| 100 + i as u32)];
    one(op(Op::StGeneric), shape(4, 1, false), &addresses, &data, 0xff, &mut g, &mut m, &mut private).unwrap();
    for i in 0..8 {
        let there = match i % 3 {
            0 => m.bytes[4 * i],
            1 => g.local[4 * i],
            _ => private[2].0[i] as u8,
        };
        assert_eq!(there, 100 + i as u8);
    }
}

/// All lanes add to one word: lane order decides what each sees.
#[test]
fn local_atomics_go_lane_by_lane() {
    let (mut g, mut m, mut private) = (group::<32>(), Flat::new(), vec![]);
    let s = AccessShape { element: 4, count: 1, atomic: AtomicOp::Add as u8, signed: false };
    let data = [std::array::from_fn(|i| i as u32 + 1)];
    let out = one(op(Op::AtomLocal), s, &[96; 32], &data, u64::MAX >> 32, &mut g, &mut m, &mut private).unwrap();
    for i in 0..32u32 {
        assert_eq!(out[0].0[i as usize], i * (i + 1) / 2);
    }
    assert_eq!(g.local[32..36], (32u32 * 33 / 2).to_le_bytes());
    assert_eq!(m.announced, [(Space::Local, u64::MAX >> 32, true, true)]);
}
