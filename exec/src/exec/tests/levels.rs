//! Every level of vector extensions yields the same bits.
use super::*;
use crate::exec::level::HostLevel;
use crate::exec::semantics::{Execute, Outcome};
use crate::ops::{Conversion, IntFn, MathFn, Rounding, Ty};

/// Numbers that floats and integers have trouble with.
pub(crate) const SPECIAL: [u32; 24] = [
    0,
    1,
    2,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x7fa0_0001,
    0x0080_0000,
    0x0000_3c00,
    0x3ff0_0000,
    0x7ff0_0000,
    0x7c00,
    0x4b00_0001,
];

fn random_word(random: &mut Random) -> u32 {
    match random.below(4) {
        0 => SPECIAL[random.below(SPECIAL.len() as u64) as usize],
        1 => random.below(300) as u32,
        2 => ((random.next() as i32 as f32) * 1e-6).to_bits(),
        _ => random.next() as u32,
    }
}

fn random_immediate(op: Op, random: &mut Random) -> (i32, u32) {
    let n = random.next() as i32;
    match op {
        Op::Convert => {
            let number = |random: &mut Random| Ty::ALL[1 + random.below(7) as usize];
            let conversion = Conversion {
                from: number(random),
                to: number(random),
                from_signed: n & 1 != 0,
                to_signed: n & 2 != 0,
                rounding: Rounding::ALL[random.below(4) as usize],
                saturate: n & 4 != 0,
            };
            (conversion.pack(), 0)
        }
        Op::FCmpF32 | Op::FCmpF64 | Op::ICmp32 => (n & 0x7f, random.below(8) as u32),
        Op::IntFn => (n & 0xff, 1 + (random.below(4) as u32)),
        Op::MathF16 | Op::MathF32 | Op::MathF64 => (0, random.below(MathFn::ALL.len() as u64) as u32),
        _ => (n & 0x7f, 0),
    }
}

fn agree<const W: usize>() {
    let mut random = Random(W as u64);
    for &o in Op::ALL {
        for _ in 0..12 {
            let mut m = op(o);
            let wide = |random: &mut Random| 2 * random.below(8) as u16;
            m.dst = Operand::register(16 + wide(&mut random));
            m.dst2 = Operand::register(32 + wide(&mut random));
            for s in &mut m.src {
                *s = Operand::register(wide(&mut random));
            }
            match o {
                Op::Sel32 | Op::Sel64 => m.src[2] = Operand::predicate(1, false),
                Op::PredToReg | Op::Ballot => m.src[0] = Operand::predicate(2, true),
                Op::PAnd | Op::POr | Op::PXor | Op::PMov | Op::PSel | Op::VoteAll | Op::VoteAny => {
                    m.src = [1, 2, 3, 4].map(|p| Operand::predicate(p, p & 1 != 0));
                    m.dst = Operand::predicate(5, false);
                }
                Op::ICmp8 | Op::ICmp16 | Op::ICmp32 | Op::ICmp64 | Op::FCmpF16 | Op::FCmpF32 | Op::FCmpF64 => {
                    m.src[2] = Operand::predicate(3, false);
                    m.dst = Operand::predicate(5, false);
                }
                Op::RegToPred | Op::Test32 | Op::WarpElect | Op::WarpFull => m.dst = Operand::predicate(5, false),
                _ => {}
            }
            (m.imm, m.imm2) = random_immediate(o, &mut random);
            let program = program::<W>(vec![m], &[]);
            let mut start = Warp::<W>::new(&program);
            start.reset(0, [W as u32, 1, 1]);
            for row in &mut start.rows {
                row.0.fill_with(|| random_word(&mut random));
            }
            start.predicates.fill_with(|| random.next() & lanes::full_mask(W));
            let mask = if random.below(2) == 0 { lanes::full_mask(W) } else { random.next() & lanes::full_mask(W) | 1 };
            let outcome = |level| {
                let mut code = Code::new(&program, &[]);
                code.execute = Execute::of(level);
                let mut warp = start.clone();
                let mut scratch = Scratch::new(&program);
                let done = code.execute.run(&m, &code, &mut warp, &mut group::<W>(), &mut scratch, mask);
                (done == Outcome::Done, warp.rows, warp.predicates, scratch.addresses)
            };
            let expected = outcome(HostLevel::Base);
            for level in HostLevel::available() {
                assert_eq!(outcome(level), expected, "{m:?} at {level:?}, width {W}");
            }
        }
    }
    assert!(IntFn::ALL.len() < 256);
}

#[test]
fn levels_agree() {
    agree::<8>();
    agree::<16>();
    agree::<32>();
    agree::<64>();
}
