//! A machine of synthetic warps around the memory hierarchy.
#![allow(dead_code)]
use std::collections::{BTreeMap, BTreeSet};
use warpscope_configs::MachineSpec;
use warpscope_memory::coalescer::Coalescer;
use warpscope_memory::compute_unit::{Accepted, AccessKind, Completion, CuMemory, TimedAccess};
use warpscope_memory::l2::L2System;
use warpscope_memory::request::{AtomicSink, L2Request};

pub fn machine(name: &str, set: &[&str]) -> MachineSpec {
    warpscope_configs::load(name, set).unwrap().spec
}

/// One access of a synthetic warp.
#[derive(Clone, Debug)]
pub struct Access {
    pub kind: AccessKind,
    pub addresses: Vec<u64>,
    pub mask: u64,
    pub bytes: u32,
}

impl Access {
    pub fn new(kind: AccessKind, bytes: u32, addresses: impl Iterator<Item = u64>) -> Access {
        let addresses: Vec<u64> = addresses.collect();
        let mask = if addresses.len() == 64 { u64::MAX } else { (1 << addresses.len()) - 1 };
        Access { kind, addresses, mask, bytes }
    }

    /// 32 lanes, `stride` bytes apart.
    pub fn strided(kind: AccessKind, bytes: u32, base: u64, stride: u64) -> Access {
        Access::new(kind, bytes, (0..32).map(|l| base + l * stride))
    }
}

/// How the warps of a run behave.
pub struct Load<F: Fn(usize, usize, usize) -> Option<Access>> {
    pub units: usize,
    pub warps: usize,
    /// Accesses of a warp under way at once.
    pub depth: usize,
    /// Access number `.2` of warp `.1` of unit `.0`.
    pub access: F,
}

/// What a run did.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    /// First cycle at which everything was over, the L2's own work apart.
    pub end: u64,
    /// Cycle of every end, by unit and token.
    pub ends: BTreeMap<(usize, u32), u64>,
    /// Atomics in their order: unit, token, lanes.
    pub atomics: Vec<(u16, u32, u64)>,
}

struct Log(Vec<(u16, u32, u64)>);

impl AtomicSink for Log {
    fn perform(&mut self, r: &L2Request) {
        self.0.push((r.unit, r.token, r.lanes));
    }
}

pub struct System {
    pub units: Vec<CuMemory>,
    pub l2: L2System,
    coalescer: Coalescer,
    pub now: u64,
    pub window: u64,
}

struct Warp {
    next: usize,
    in_flight: usize,
    /// An access that was refused.
    held: Option<Access>,
    over: bool,
}

impl System {
    pub fn new(spec: &MachineSpec) -> System {
        let units = (0..spec.chip.compute_units).map(|i| CuMemory::new(&spec.memory, &spec.chip, i as u16)).collect();
        let l2 = L2System::new(&spec.memory, &spec.chip);
        let window = l2.longest_window();
        let coalescer = Coalescer::new(spec.memory.line, spec.memory.sector);
        System { units, l2, coalescer, now: 0, window }
    }

    pub fn invalidate(&mut self) {
        self.l2.invalidate();
        self.units.iter_mut().for_each(CuMemory::invalidate);
    }

    /// Runs until all is over; panics where a request is lost or answered twice. Tokens are 65536 * warp + number.
    pub fn run<F: Fn(usize, usize, usize) -> Option<Access>>(&mut self, load: &Load<F>) -> Outcome {
        let mut outcome = Outcome::default();
        let mut log = Log(vec![]);
        let fresh = || Warp { next: 0, in_flight: 0, held: None, over: false };
        let mut warps: Vec<Vec<Warp>> = (0..load.units).map(|_| (0..load.warps).map(|_| fresh()).collect()).collect();
        let mut ends: Vec<BTreeSet<(u64, u32)>> = vec![BTreeSet::new(); load.units];
        let mut turn = vec![0; load.units];
        let start = self.now;
        let (mut requests, mut responses) = (vec![], vec![]);
        for round in 0.. {
            if round >= 20_000_000 / self.window {
                let over: Vec<Vec<bool>> = warps.iter().map(|u| u.iter().map(|w| w.over).collect()).collect();
                let flying: Vec<Vec<usize>> = warps.iter().map(|u| u.iter().map(|w| w.in_flight).collect()).collect();
                let idle: Vec<bool> = self.units.iter().map(CuMemory::is_idle).collect();
                panic!("no end in sight: over {over:?}, in flight {flying:?}, idle {idle:?}, L2 {}", self.l2.is_idle());
            }
            let until = self.now + self.window;
            for unit in 0..self.units.len() {
                if unit < load.units {
                    let (w, e) = (&mut warps[unit], &mut ends[unit]);
                    self.run_unit(load, unit, until, w, e, &mut turn[unit], &mut outcome);
                }
                requests.append(self.units[unit].requests());
            }
            self.now = until;
            self.l2.advance(until, &mut requests, &mut responses, &mut log);
            for response in responses.drain(..) {
                assert!(response.at >= until, "a response arrives in a window that is over");
                self.units[usize::from(response.unit)].deliver(response);
            }
            if warps.iter().flatten().all(|w| w.over) && ends.iter().all(BTreeSet::is_empty) {
                let idle = self.units.iter().take(load.units).all(CuMemory::is_idle);
                if idle && self.l2.is_idle() {
                    break;
                }
            }
        }
        assert!(warps.iter().flatten().all(|w| w.in_flight == 0), "an access got lost");
        outcome.end -= start;
        outcome.atomics = log.0;
        outcome
    }

    #[allow(clippy::too_many_arguments)]
    fn run_unit<F: Fn(usize, usize, usize) -> Option<Access>>(
        &mut self,
        load: &Load<F>,
        unit: usize,
        until: u64,
        warps: &mut [Warp],
        ends: &mut BTreeSet<(u64, u32)>,
        turn: &mut usize,
        outcome: &mut Outcome,
    ) {
        let (memory, coalescer) = (&mut self.units[unit], &mut self.coalescer);
        let mut done: Vec<Completion> = vec![];
        for now in self.now..until {
            memory.advance(now, &mut done);
            for c in done.drain(..).filter(|c| !c.left) {
                assert!(c.at >= now && ends.insert((c.at, c.token)));
            }
            while let Some(&(at, token)) = ends.first().filter(|(at, _)| *at <= now) {
                ends.pop_first();
                let warp = &mut warps[token as usize >> 16];
                warp.in_flight = warp.in_flight.checked_sub(1).expect("answered once");
                assert!(outcome.ends.insert((unit, token), at).is_none(), "answered twice");
                outcome.end = outcome.end.max(at);
            }
            for i in 0..warps.len() {
                let w = (*turn + i) % warps.len();
                let warp = &mut warps[w];
                if warp.over || warp.in_flight >= load.depth {
                    continue;
                }
                let Some(access) = warp.held.take().or_else(|| (load.access)(unit, w, warp.next)) else {
                    warp.over = true;
                    continue;
                };
                let token = (w << 16 | warp.next) as u32;
                let timed = TimedAccess {
                    kind: access.kind,
                    addresses: &access.addresses,
                    offset: 0,
                    mask: access.mask,
                    bytes: access.bytes,
                    warp: w as u32,
                    token,
                };
                match memory.access(now, &timed, coalescer) {
                    Accepted::Done(at) => assert!(ends.insert((at.max(now), token))),
                    Accepted::Pending | Accepted::Inside => {}
                    Accepted::Busy(at) => {
                        assert!(at > now);
                        warp.held = Some(access);
                        break;
                    }
                    Accepted::Wait => {
                        warp.held = Some(access);
                        break;
                    }
                }
                warp.next += 1;
                warp.in_flight += 1;
                *turn = w + 1;
                break;
            }
        }
    }
}
