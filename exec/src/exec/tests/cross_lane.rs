//! Operations between the lanes of a warp.
use super::*;

#[test]
fn cross_lane_operations() {
    fn at<const W: usize>() {
        let mut random = Random(3);
        for o in [Op::ShflIdx, Op::ShflXor, Op::ShflUp, Op::ShflDown] {
            let mut m = op(o);
            m.dst = Operand::register(8);
            m.src[..2].copy_from_slice(&[Operand::register(0), Operand::register(1)]);
            let program = program::<W>(vec![m], &[]);
            let mut warp = Warp::<W>::new(&program);
            warp.reset(0, [W as u32, 1, 1]);
            warp.rows[0].0.fill_with(|| random.next() as u32);
            warp.rows[1].0.fill_with(|| random.below(W as u64) as u32);
            once(&Code::new(&program, &[]), &mut warp, &mut group::<W>(), &mut Flat::new()).unwrap();
            for lane in 0..W {
                let b = warp.rows[1].0[lane] as usize;
                let from = match o {
                    Op::ShflIdx => b,
                    Op::ShflXor => lane ^ b,
                    Op::ShflUp => lane.checked_sub(b).unwrap_or(lane),
                    _ => Some(lane + b).filter(|&l| l < W).unwrap_or(lane),
                };
                assert_eq!(warp.rows[8].0[lane], warp.rows[0].0[from], "{o:?}, lane {lane} of {W}");
            }
        }
        for active in [lanes::full_mask(W), 0b1011_0110] {
            let set = 0b0011_0101_1010_0110 & lanes::full_mask(W);
            let mut ops = vec![op(Op::Ballot), op(Op::VoteAny), op(Op::VoteAll), op(Op::VoteAll)];
            ops[0].dst = Operand::register(4);
            for (m, p) in ops[1..].iter_mut().zip(5..) {
                m.dst = Operand::predicate(p, false);
            }
            for m in &mut ops[..3] {
                m.src[0] = Operand::predicate(1, false);
            }
            // The last asks for the active lanes themselves.
            ops[3].src[0] = Operand::predicate(2, false);
            let program = program::<W>(ops, &[]);
            let mut warp = Warp::<W>::new(&program);
            warp.reset(0, [W as u32, 1, 1]);
            (warp.predicates[1], warp.predicates[2], warp.active) = (set, active, active);
            for _ in 0..4 {
                once(&Code::new(&program, &[]), &mut warp, &mut group::<W>(), &mut Flat::new()).unwrap();
            }
            let lane = active.trailing_zeros() as usize;
            let word = |r: usize| warp.rows[r].0[lane] as u64;
            assert_eq!([word(4) | word(5) << 32, word(6), word(7)], [set & active, 0, 0]);
            assert_eq!([5, 6, 7].map(|p| warp.predicates[p] >> lane & 1), [1, 0, 1]);
        }
    }
    at::<8>();
    at::<16>();
    at::<32>();
    at::<64>();
}

/// Sums, minima and so on of the active lanes, against loops over them.
#[test]
fn warp_functions() {
    fn at<const W: usize>() {
        use crate::program::AtomicOp as A;
        let kinds = [A::Add, A::Sub, A::And, A::Or, A::Xor, A::SMin, A::SMax, A::UMin, A::UMax];
        for active in [lanes::full_mask(W), 0b1011_0110, 0b100] {
            let mut ops: Vec<MachineOp> = kinds.iter().map(|_| op(Op::WarpReduce)).collect();
            for (n, (m, kind)) in ops.iter_mut().zip(kinds).enumerate() {
                (m.dst, m.imm) = (Operand::register(4 + n as u16), kind as i32);
            }
            ops.extend([op(Op::WarpScan), op(Op::WarpElect), op(Op::WarpFull)]);
            ops[9].dst = Operand::register(14);
            ops[10].dst = Operand::predicate(1, false);
            ops[11].dst = Operand::predicate(2, false);
            ops.iter_mut().for_each(|m| m.src[0] = Operand::register(0));
            let count = ops.len();
            let program = program::<W>(ops, &[]);
            let mut warp = Warp::<W>::new(&program);
            warp.reset(0, [W as u32, 1, 1]);
            warp.active = active;
            let value = |lane: usize| (lane as u32 + 1).wrapping_mul(0x9e37_79b1) >> (lane % 3);
            warp.rows[0].0 = std::array::from_fn(value);
            for _ in 0..count {
                once(&Code::new(&program, &[]), &mut warp, &mut group::<W>(), &mut Flat::new()).unwrap();
            }
            let lanes: Vec<usize> = (0..W).filter(|l| active >> l & 1 != 0).collect();
            let values: Vec<u32> = lanes.iter().map(|&l| value(l)).collect();
            let sum = values.iter().fold(0u32, |a, &b| a.wrapping_add(b));
            let signed = || values.iter().map(|&v| v as i32);
            let expected = [
                sum,
                sum,
                values.iter().fold(u32::MAX, |a, b| a & b),
                values.iter().fold(0, |a, b| a | b),
                values.iter().fold(0, |a, b| a ^ b),
                signed().min().unwrap() as u32,
                signed().max().unwrap() as u32,
                *values.iter().min().unwrap(),
                *values.iter().max().unwrap(),
            ];
            let mut scan = 0u32;
            for &lane in &lanes {
                for (n, e) in expected.iter().enumerate() {
                    assert_eq!(warp.rows[4 + n].0[lane], *e, "{:?} of {active:x}", kinds[n]);
                }
                scan = scan.wrapping_add(value(lane));
                assert_eq!(warp.rows[14].0[lane], scan);
                assert_eq!(warp.predicates[1] >> lane & 1 != 0, value(lane) == expected[8]);
                assert_eq!(warp.predicates[2] >> lane & 1 != 0, lanes.len() == W);
            }
        }
    }
    at::<8>();
    at::<32>();
    at::<64>();
}
