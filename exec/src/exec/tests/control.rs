//! Divergence: random structured programs give each lane what it computes alone.
use super::*;
use crate::exec::lanes::full_mask;
use crate::ops::Cond;
use crate::program::{AccessShape, NO_RECONVERGENCE, Special, flags};

fn r(n: u16) -> Operand {
    Operand::register(n)
}
fn p(n: u8) -> Operand {
    Operand::predicate(n, false)
}

/// Emits random code: registers 0..4 are data, 4 the lane, 8.. loop counters.
struct Generator {
    random: Random,
    ops: Vec<MachineOp>,
    constants: Vec<u32>,
    loops: Vec<(u32, Vec<usize>)>,
    depth: u32,
}

impl Generator {
    fn constant(&mut self, v: u32) -> Operand {
        self.constants.push(v);
        Operand::constant(self.constants.len() as u16 - 1)
    }
    fn emit(&mut self, o: Op, dst: Operand, src: &[Operand], imm: i32) -> usize {
        let mut m = op(o);
        m.dst = dst;
        m.src[..src.len()].copy_from_slice(src);
        m.imm = imm;
        self.ops.push(m);
        self.ops.len() - 1
    }
    /// Predicate 0 = a data-dependent condition.
    fn condition(&mut self) {
        let bits = self.random.next() as u32 & 7;
        let c = self.constant(bits);
        let below = self.random.below(3) as u32;
        let z = self.constant(below);
        let which = self.random.below(5) as u16;
        self.emit(Op::And32, r(5), &[r(which), c], 0);
        self.emit(Op::ICmp32, p(0), &[r(5), z], Cond::UGt as i32);
    }
    fn branch(&mut self, guard: Guard) -> usize {
        let at = self.emit(Op::Bra, Operand::NONE, &[], 0);
        self.ops[at].guard = guard;
        at
    }
    fn land(&mut self, at: usize) {
        self.ops[at].imm = self.ops.len() as i32;
    }
    fn statements(&mut self) {
        for _ in 0..1 + self.random.below(4) {
            self.statement();
        }
    }
    fn statement(&mut self) {
        let deep = self.depth >= 4;
        match self.random.below(if deep { 2 } else { 10 }) {
            0..=2 => {
                let factor = self.random.below(1000) as u32 | 1;
                let c = self.constant(factor);
                let (a, b) = (self.random.below(4) as u16, self.random.below(5) as u16);
                self.emit(Op::IMad32, r(a), &[r(a), c, r(b)], 0);
            }
            3..=5 => {
                self.depth += 1;
                self.condition();
                let skip = self.branch(Guard::new(0, true));
                self.statements();
                if self.random.below(2) == 0 {
                    let end = self.branch(Guard::ALWAYS);
                    self.land(skip);
                    self.statements();
                    self.land(end);
                } else {
                    self.land(skip);
                }
                self.depth -= 1;
            }
            6 | 7 => {
                self.depth += 1;
                let counter = r(8 + self.depth as u16);
                let (most, from) = (self.random.below(8) as u32, self.random.below(5) as u16);
                let c = self.constant(most);
                let one = self.constant(1);
                self.emit(Op::And32, counter, &[r(from), c], 0);
                let head = self.ops.len() as u32;
                self.loops.push((head, vec![]));
                let zero = self.constant(0);
                self.emit(Op::ICmp32, p(1), &[counter, zero], Cond::Eq as i32);
                let leave = self.branch(Guard::new(1, false));
                self.emit(Op::ISub32, counter, &[counter, one], 0);
                self.statements();
                let back = self.branch(Guard::ALWAYS);
                self.ops[back].imm = head as i32;
                self.land(leave);
                let (_, breaks) = self.loops.pop().unwrap();
                for b in breaks {
                    self.land(b);
                }
                self.depth -= 1;
            }
            8 if !self.loops.is_empty() => {
                self.condition();
                let b = self.branch(Guard::new(0, false));
                if self.random.below(2) == 0 {
                    self.loops.last_mut().unwrap().1.push(b);
                } else {
                    self.ops[b].imm = self.loops.last().unwrap().0 as i32;
                }
            }
            9 if self.random.below(2) == 0 => {
                self.condition();
                let at = self.emit(Op::Exit, Operand::NONE, &[], 0);
                self.ops[at].guard = Guard::new(0, false);
            }
            _ => {
                self.emit(Op::IAdd32, r(0), &[r(0), r(1)], 0);
            }
        }
    }
}

/// Sets each branch's reconvergence point to its immediate post-dominator. Exits are edges to a virtual end, or no
/// edges at all.
fn set_reconvergence(ops: &mut [MachineOp], exits_count: bool) {
    let n = ops.len();
    let successors: Vec<Vec<usize>> = ops
        .iter()
        .enumerate()
        .map(|(i, o)| match o.op {
            Op::Bra if o.guard == Guard::ALWAYS => vec![o.imm as usize],
            Op::Bra => vec![o.imm as usize, i + 1],
            Op::Exit if o.guard == Guard::ALWAYS => vec![n],
            Op::Exit if exits_count => vec![n, i + 1],
            _ => vec![i + 1],
        })
        .collect();
    let mut sets = vec![vec![true; n + 1]; n + 1];
    sets[n] = (0..=n).map(|i| i == n).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for i in (0..n).rev() {
            let new: Vec<bool> = (0..=n).map(|j| j == i || successors[i].iter().all(|&s| sets[s][j])).collect();
            if new != sets[i] {
                sets[i] = new;
                changed = true;
            }
        }
    }
    for i in 0..n {
        if ops[i].op == Op::Bra || ops[i].op == Op::Brx {
            // The nearest post-dominator is the one with the most post-dominators of its own.
            let nearest = (0..=n)
                .filter(|&j| j != i && sets[i][j])
                .max_by_key(|&j| sets[j].iter().filter(|&&b| b).count())
                .unwrap();
            ops[i].imm2 = if nearest == n { NO_RECONVERGENCE } else { nearest as u32 };
        }
    }
}

fn lanes_alone<const W: usize>(seed: u64) {
    let mut g = Generator { random: Random(seed), ops: vec![], constants: vec![], loops: vec![], depth: 0 };
    g.emit(Op::ReadSpecial, r(4), &[], Special::SubGroupLocalId as i32);
    let c = g.constant(0x9e37_79b9);
    for i in 0..4 {
        g.emit(Op::IMad32, r(i), &[r(4), c, r(i)], 0);
        let shift = g.constant(5 + i as u32 * 6);
        g.emit(Op::LShr32, r(i), &[r(i), shift], 0);
    }
    for _ in 0..4 {
        g.statements();
    }
    g.emit(Op::Exit, Operand::NONE, &[], 0);
    set_reconvergence(&mut g.ops, seed & 1 == 0);
    let program = program::<W>(g.ops, &g.constants);
    let constants = rows::<W>(&program);
    let code = Code::new(&program, &constants);
    let mut together = Warp::<W>::new(&program);
    together.reset(0, [W as u32, 1, 1]);
    let capacity = together.stack.capacity();
    run(&code, &mut together, &mut group::<W>(), &mut Flat::new()).unwrap();
    assert_eq!(together.stack.capacity(), capacity, "the stack has grown");
    for lane in 0..W {
        let mut alone = Warp::<W>::new(&program);
        alone.reset(0, [W as u32, 1, 1]);
        alone.active = 1 << lane;
        alone.alive = 1 << lane;
        run(&code, &mut alone, &mut group::<W>(), &mut Flat::new()).unwrap();
        for register in 0..16 {
            assert_eq!(
                together.rows[register].0[lane], alone.rows[register].0[lane],
                "lane {lane}, register {register}, seed {seed}"
            );
        }
    }
}

#[test]
fn divergent_programs_compute_what_lanes_compute_alone() {
    for seed in 0..300 {
        lanes_alone::<8>(seed);
        lanes_alone::<32>(seed);
        lanes_alone::<64>(seed);
    }
}

/// if (lane < 5) { barrier } is an error; lanes that have ended do not count.
#[test]
fn barrier_needs_all_lanes_that_live() {
    let build = |exit: bool| {
        let mut ops = vec![op(Op::ReadSpecial), op(Op::ICmp32), op(Op::Exit), op(Op::Bar), op(Op::Exit)];
        ops[0].dst = r(0);
        ops[0].imm = Special::SubGroupLocalId as i32;
        ops[1].dst = p(0);
        ops[1].src[..2].copy_from_slice(&[r(0), Operand::constant(0)]);
        ops[1].imm = Cond::UGe as i32;
        ops[2].guard = Guard::new(0, false);
        if !exit {
            ops[2] = op(Op::Nop);
            ops[3].guard = Guard::new(0, true);
        }
        program::<8>(ops, &[5])
    };
    for exit in [true, false] {
        let program = build(exit);
        let constants = rows::<8>(&program);
        let mut warp = Warp::new(&program);
        warp.reset(0, [8, 1, 1]);
        let outcome = run(&Code::new(&program, &constants), &mut warp, &mut group::<8>(), &mut Flat::new());
        assert_eq!(outcome, if exit { Ok(()) } else { Err(Fault::DivergentBarrier) });
    }
}

/// A switch over 5 targets, the last for all larger values; each adds its own number, all meet again.
#[test]
fn jump_tables_split_and_meet() {
    let mut ops = vec![op(Op::ReadSpecial), op(Op::Brx)];
    ops[0].dst = r(0);
    ops[0].imm = Special::SubGroupLocalId as i32;
    ops[1].src[0] = r(0);
    ops[1].imm2 = 12;
    for case in 0..5 {
        let mut add = op(Op::IAdd32);
        add.dst = r(1);
        add.src[..2].copy_from_slice(&[r(1), Operand::constant(case)]);
        let mut end = op(Op::Bra);
        end.imm = 12;
        end.imm2 = NO_RECONVERGENCE;
        ops.extend([add, end]);
    }
    let mut count = op(Op::Ballot);
    count.dst = r(2);
    count.src[0] = Operand::predicate(7, true);
    ops.extend([count, op(Op::Exit)]);
    let mut program = program::<16>(ops, &[10, 11, 12, 13, 14]);
    program.jump_tables = vec![vec![2, 4, 6, 8, 10]];
    let constants = rows::<16>(&program);
    let mut warp = Warp::new(&program);
    warp.reset(0, [16, 1, 1]);
    run(&Code::new(&program, &constants), &mut warp, &mut group::<16>(), &mut Flat::new()).unwrap();
    let expected: [u32; 16] = std::array::from_fn(|i| 10 + i.min(4) as u32);
    assert_eq!(warp.rows[1].0, expected);
    assert_eq!(warp.rows[2].0, [0xffff; 16], "all lanes meet before the ballot");
}

#[test]
fn last_sub_group_may_be_smaller_and_ids_run_x_first() {
    let program = program::<8>(vec![op(Op::Exit)], &[]);
    let mut warp = Warp::<8>::new(&program);
    warp.reset(1, [3, 2, 2]);
    assert_eq!((warp.sub_group_size, warp.active), (4, full_mask(4)));
    let ids = [0, 1, 2].map(|of| warp.local_id(of, [3, 2, 2]));
    assert_eq!(ids.map(|ids| ids[..4].to_vec()), [[2, 0, 1, 2], [0, 1, 1, 1], [1, 1, 1, 1]]);
    warp.reset(1, [16, 2, 1]);
    let ids = [0, 1, 2].map(|of| warp.local_id(of, [16, 2, 1]));
    assert_eq!(ids, [[8, 9, 10, 11, 12, 13, 14, 15], [0; 8], [0; 8]], "all in one line");
}

/// A ghost changes nothing; a uniform result is there for every lane, also for inactive ones.
#[test]
fn ghosts_and_uniform_operations() {
    let mut ops = vec![op(Op::IAdd32), op(Op::IAdd32), op(Op::Exit)];
    for o in &mut ops[..2] {
        o.src[..2].copy_from_slice(&[Operand::constant(0), Operand::constant(1)]);
    }
    ops[0].dst = r(0);
    ops[0].flags = flags::GHOST;
    ops[1].dst = Operand::uniform(2);
    ops[1].flags = flags::UNIFORM;
    let program = program::<8>(ops, &[40, 2]);
    let constants = rows::<8>(&program);
    let mut warp = Warp::new(&program);
    warp.reset(0, [8, 1, 1]);
    warp.active = 0b1100;
    run(&Code::new(&program, &constants), &mut warp, &mut group::<8>(), &mut Flat::new()).unwrap();
    assert_eq!(warp.rows[0].0, [0; 8]);
    assert_eq!(warp.uniform(2), 42);
}

/// Uniform registers as pairs, as data of a store and as the target of a load, across the rows that hold `W` of them each.
#[test]
fn uniform_registers_are_the_same_for_all_lanes() {
    let four_words = AccessShape { element: 4, count: 4, atomic: 0, signed: false }.pack();
    let (c, u) = (Operand::constant, Operand::uniform);
    let make = |o: Op, dst: Operand, src: [Operand; 2], imm2: u32| {
        let mut made = op(o);
        (made.dst, made.imm2) = (dst, imm2);
        made.src[..2].copy_from_slice(&src);
        made
    };
    let ops = vec![
        make(Op::Mov64, u(7), [c(0), Operand::NONE], 0),
        make(Op::Mov64, u(9), [c(2), Operand::NONE], 0),
        make(Op::IAdd64, r(0), [u(7), u(9)], 0),
        make(Op::StPrivate, Operand::NONE, [c(4), u(7)], four_words),
        make(Op::LdPrivate, u(12), [c(4), Operand::NONE], four_words),
        make(Op::IAdd32, r(2), [u(12), u(15)], 0),
        op(Op::Exit),
    ];
    let program = program::<8>(ops, &[5, 6, 7, 8, 16]);
    let constants = rows::<8>(&program);
    let mut warp = Warp::new(&program);
    warp.reset(0, [8, 1, 1]);
    warp.active = 0b1100;
    run(&Code::new(&program, &constants), &mut warp, &mut group::<8>(), &mut Flat::new()).unwrap();
    let in_active = |value| [0, 0, value, value, 0, 0, 0, 0];
    assert_eq!([0, 1, 2].map(|row| warp.rows[row].0), [12, 14, 13].map(in_active));
    assert_eq!([4, 5, 6, 7].map(|row| warp.private[row].0), [5, 6, 7, 8].map(in_active));
    assert_eq!([12, 13, 14, 15].map(|register| warp.uniform(register)), [5, 6, 7, 8]);
}
