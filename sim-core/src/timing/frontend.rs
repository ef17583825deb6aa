//! Instruction and constant fetch of a compute unit: sub-core caches, the unit's cache, the second level, and from
//! there requests to the L2.
use super::fetch_cache::{FetchCache, PENDING};
use crate::FetchCounters;
use warpscope_configs::specs::FrontendSpec;
use warpscope_memory::host_cache::prefetch;

/// A line that somebody waits for: in bytes divided by the second level's line.
type FarLine = u64;
const NO_LINE: FarLine = u64::MAX;

/// Bytes of a line, a power of two: its number needs no division.
#[derive(Copy, Clone, Debug)]
struct LineSize {
    bytes: u64,
    shift: u32,
}

impl LineSize {
    fn new(bytes: u32) -> LineSize {
        debug_assert!(bytes.is_power_of_two());
        LineSize { bytes: u64::from(bytes), shift: bytes.trailing_zeros() }
    }

    /// Number of the line at an address.
    #[inline]
    fn number(self, address: u64) -> u64 {
        address >> self.shift
    }
}

/// State that outlives launches: what the caches hold.
#[derive(Clone, Debug)]
pub(crate) struct Frontend {
    sub: Vec<SubFrontend>,
    l1: FetchCache,
    l1_constant: FetchCache,
    far: FetchCache,
    /// Ports of the second level for instructions, and for constants used as operands.
    ports: [SharedPort; 2],
    constant_latency: u64,
    /// Bytes of a line of each cache.
    l0_line: LineSize,
    l1_line: LineSize,
    operand_line: LineSize,
    indexed_line: LineSize,
    far_line: LineSize,
    prefetch: u64,
    /// Lines to ask the L2 for, with the cycle at which the request leaves.
    requests: Vec<(u64, FarLine)>,
    /// Lines asked for, by token; [`NO_LINE`] where the token is free.
    tokens: Vec<FarLine>,
    free_tokens: Vec<u32>,
    /// Lines that have just come from the L2: whoever waits for one gets it, even where no cache had room to keep it.
    arrived: Vec<FarLine>,
    pub counters: FetchCounters,
}

/// A compute unit's part of a port that others use too.
#[derive(Clone, Debug, Default)]
struct SharedPort {
    /// Between two lines for this unit.
    interval: u64,
    /// How long the first line waits for those of the units whose turns come first.
    turn: u64,
    /// When the next line can be delivered.
    free: u64,
    idle: bool,
}

impl SharedPort {
    /// For one of `sharers` units whose lines take `interval` cycles each, `alone` at least, and of which `before` lines
    /// come first.
    fn new(interval: f64, alone: u64, before: u64, sharers: u64) -> SharedPort {
        let cycles = |lines: u64| (interval * lines as f64).round() as u64;
        SharedPort { interval: alone.max(cycles(sharers)), turn: cycles(before), free: 0, idle: true }
    }

    /// When a line asked for at `at` is delivered.
    fn start(&mut self, at: u64) -> u64 {
        let turn = if std::mem::take(&mut self.idle) { self.turn } else { 0 };
        let start = (at + turn).max(self.free);
        self.free = start + self.interval;
        start
    }
}

#[derive(Clone, Debug)]
struct SubFrontend {
    l0: FetchCache,
    constant: FetchCache,
    /// The stream buffer has asked for lines up to this one (exclusive).
    stream: u64,
}

impl Frontend {
    pub fn new(spec: &FrontendSpec, sub_cores: u32) -> Frontend {
        let sub = SubFrontend {
            l0: FetchCache::new(&spec.l0_instruction),
            constant: FetchCache::new(&spec.l0_constant),
            stream: 0,
        };
        Frontend {
            sub: vec![sub; sub_cores as usize],
            l1: FetchCache::new(&spec.l1_instruction),
            l1_constant: FetchCache::new(&spec.l1_constant),
            far: FetchCache::new(&spec.l2_fetch),
            ports: Default::default(),
            constant_latency: u64::from(spec.constant_latency),
            l0_line: LineSize::new(spec.l0_instruction.line),
            l1_line: LineSize::new(spec.l1_instruction.line),
            operand_line: LineSize::new(spec.l0_constant.line),
            indexed_line: LineSize::new(spec.l1_constant.line),
            far_line: LineSize::new(spec.l2_fetch.line),
            prefetch: u64::from(spec.prefetch_lines),
            requests: Vec::new(),
            tokens: Vec::new(),
            free_tokens: Vec::new(),
            arrived: Vec::new(),
            counters: FetchCounters::default(),
        }
    }

    /// A launch of `groups` groups begins on `units` compute units, of which this is number `number`.
    pub fn share(&mut self, spec: &FrontendSpec, groups: u64, number: u32, units: u32) {
        let most = u64::from(spec.shared_units.min(units)).max(1);
        let sharers = (groups * most).div_ceil(u64::from(units).max(1)).clamp(1, most);
        let before = u64::from(number) % sharers * u64::from(spec.shared_burst);
        let alone = u64::from(spec.l2_fetch.interval);
        self.ports = [spec.shared_interval, spec.constant_interval]
            .map(|interval| SharedPort::new(interval, alone, before, sharers));
        self.ports[0].turn += u64::from(spec.first_fetch);
    }

    /// A launch has brought these bytes into the second-level cache.
    pub fn preload(&mut self, address: u64, bytes: u64) {
        for line in self.far_line.number(address)..self.far_line.number(address + bytes + self.far_line.bytes - 1) {
            if !self.far.contains(line) {
                self.far.insert(line, 0);
            }
        }
    }

    /// Lets the host bring near the state of the sub-cores,
    pub fn prefetch(&self) {
        prefetch(&self.sub);
    }

    /// and what looking up the line at byte address `address` and the next one will read.
    pub fn prefetch_instruction(&self, sub: usize, address: u64) {
        let line = self.l0_line.number(address);
        self.sub[sub].l0.prefetch(line);
        self.sub[sub].l0.prefetch(line + 1);
    }

    /// When the instructions of the line at byte address `address` are in the sub-core, if asked for at `at`; lines up
    /// to `end` may be prefetched. [`PENDING`]: the L2 has been asked; call again after [`Frontend::arrive`].
    pub fn instruction(&mut self, sub: usize, address: u64, end: u64, at: u64) -> u64 {
        let line = self.l0_line.number(address);
        self.counters.l0_requests += 1;
        let end = self.l0_line.number(end + self.l0_line.bytes - 1);
        let ready = match self.sub[sub].l0.lookup(line) {
            Some(ready) => {
                // Goes on with the stream that brought the line; other hits leave the buffer alone.
                let stream = self.sub[sub].stream;
                if (line + 1..=line + self.prefetch).contains(&stream) {
                    self.stream(sub, stream, line, end, at);
                }
                ready
            }
            None => {
                self.counters.l0_misses += 1;
                let ready = self.load_l0(sub, line, at);
                self.stream(sub, line + 1, line, end, at);
                ready
            }
        };
        if ready == PENDING { PENDING } else { ready.max(at) }
    }

    /// The stream buffer asks for the lines from `from` on that lie up to `prefetch` lines behind `line`.
    fn stream(&mut self, sub: usize, from: u64, line: u64, end: u64, at: u64) {
        let target = (line + 1 + self.prefetch).min(end);
        for next in from..target {
            if !self.sub[sub].l0.contains(next) {
                self.load_l0(sub, next, at);
            }
        }
        self.sub[sub].stream = target.max(line + 1);
    }

    fn load_l0(&mut self, sub: usize, line: u64, at: u64) -> u64 {
        let ready = self.load_l1(line * self.l0_line.bytes, at);
        self.sub[sub].l0.insert(line, ready);
        ready
    }

    fn load_l1(&mut self, address: u64, at: u64) -> u64 {
        let line = self.l1_line.number(address);
        self.counters.l1_requests += 1;
        let start = self.l1.start(at);
        let there = start + self.l1.latency;
        match self.l1.lookup(line) {
            Some(PENDING) => PENDING,
            Some(ready) => there.max(ready),
            None => {
                self.counters.l1_misses += 1;
                let ready = self.load_instructions(address, there);
                self.l1.insert(line, ready);
                ready
            }
        }
    }

    fn load_instructions(&mut self, address: u64, at: u64) -> u64 {
        let there = self.ports[0].start(at) + self.far.latency;
        self.look_up_far(address, there)
    }

    fn load_constants(&mut self, address: u64, at: u64) -> u64 {
        let there = self.ports[1].start(at) + self.constant_latency;
        self.look_up_far(address, there)
    }

    fn look_up_far(&mut self, address: u64, there: u64) -> u64 {
        let line = self.far_line.number(address);
        self.counters.shared_requests += 1;
        match self.far.lookup(line) {
            Some(PENDING) => PENDING,
            Some(ready) => there.max(ready),
            None if self.arrived.contains(&line) => there,
            None => {
                self.counters.shared_misses += 1;
                self.far.insert(line, PENDING);
                if !self.is_asked_for(line) {
                    self.requests.push((there, line));
                }
                PENDING
            }
        }
    }

    /// Whether a request for the line is under way. It may be although the cache does not know of it: a set whose lines
    /// are all pending keeps no other.
    fn is_asked_for(&self, line: FarLine) -> bool {
        self.tokens.contains(&line) || self.requests.iter().any(|request| request.1 == line)
    }

    /// When a constant operand at byte address `address` of the constant bank can be read by the sub-core.
    pub fn operand(&mut self, sub: usize, address: u64, at: u64) -> u64 {
        let line = self.operand_line.number(address);
        let ready = match self.sub[sub].constant.lookup(line) {
            Some(ready) => ready,
            None => {
                self.counters.constant_misses += 1;
                let ready = self.load_constants(address, at);
                self.sub[sub].constant.insert(line, ready);
                ready
            }
        };
        if ready == PENDING { PENDING } else { ready.max(at) }
    }

    /// An indexed load takes the port of the unit's constant cache for its `words`; when it starts.
    pub fn start_indexed(&mut self, words: u64, at: u64) -> u64 {
        self.counters.constant_requests += 1;
        let start = self.l1_constant.start(at);
        self.l1_constant.occupy(words.saturating_sub(1));
        start
    }

    /// When an indexed load that started at `start` has the line at byte address `address` in the constant cache.
    pub fn indexed(&mut self, address: u64, start: u64) -> u64 {
        let line = self.indexed_line.number(address);
        match self.l1_constant.lookup(line) {
            Some(PENDING) => PENDING,
            Some(ready) => start.max(ready),
            None => {
                self.counters.constant_misses += 1;
                let ready = self.load_constants(address, start);
                self.l1_constant.insert(line, ready);
                ready
            }
        }
    }

    /// Gives the misses since the last call to `fetch`: cycle, address, and the token of [`Frontend::arrive_request`].
    pub fn send(&mut self, mut fetch: impl FnMut(u64, u64, u32)) {
        for (at, line) in self.requests.drain(..) {
            let token = match self.free_tokens.pop() {
                Some(token) => token,
                None => {
                    self.tokens.push(0);
                    self.tokens.len() as u32 - 1
                }
            };
            self.tokens[token as usize] = line;
            fetch(at, line * self.far_line.bytes, token);
        }
    }

    /// The answer to a request has arrived.
    pub fn arrive_request(&mut self, token: u32, at: u64) {
        self.free_tokens.push(token);
        let line = std::mem::replace(&mut self.tokens[token as usize], NO_LINE);
        self.arrive(line, at);
    }

    /// All that waited for the lines that have arrived have been served.
    pub fn forget_arrived(&mut self) {
        self.arrived.clear();
    }

    /// The L2's answer has arrived: the line is in every cache that waits for it.
    fn arrive(&mut self, line: FarLine, at: u64) {
        self.far.arrive(line, at);
        self.arrived.push(line);
        let (from, to) = (line * self.far_line.bytes, (line + 1) * self.far_line.bytes);
        for part in from / self.l1_line.bytes..to.div_ceil(self.l1_line.bytes) {
            self.l1.arrive(part, at);
        }
        for part in from / self.indexed_line.bytes..to.div_ceil(self.indexed_line.bytes) {
            self.l1_constant.arrive(part, at);
        }
        for part in from / self.operand_line.bytes..to.div_ceil(self.operand_line.bytes) {
            for sub in &mut self.sub {
                sub.constant.arrive(part, at);
            }
        }
        for part in from / self.l0_line.bytes..to.div_ceil(self.l0_line.bytes) {
            for sub in &mut self.sub {
                sub.l0.arrive(part, at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpscope_configs::specs::FetchCacheSpec;

    fn spec(prefetch_lines: u32) -> FrontendSpec {
        let cache = |capacity, line, latency| FetchCacheSpec { capacity, line, ways: 4, latency, interval: 1 };
        FrontendSpec {
            instruction_bytes: 16,
            prefetch_lines,
            refill: 0,
            launch_preload: 0,
            shared_units: 1,
            shared_interval: 0.0,
            shared_burst: 1,
            first_fetch: 0,
            constant_latency: 80,
            constant_interval: 0.0,
            constant_replay: 1,
            l0_instruction: cache(1024, 128, 0),
            l1_instruction: cache(4096, 128, 20),
            l0_constant: cache(512, 64, 0),
            l1_constant: cache(1024, 64, 26),
            l2_fetch: cache(16384, 128, 80),
        }
    }

    #[test]
    fn a_miss_goes_all_the_way_and_its_answer_fills_every_level() {
        let mut f = Frontend::new(&spec(0), 2);
        assert_eq!(f.instruction(0, 0x1000, 0x2000, 100), PENDING);
        assert_eq!(f.requests, [(100 + 20 + 80, 0x20)]);
        assert_eq!(f.instruction(1, 0x1000, 0x2000, 101), PENDING);
        assert_eq!(f.requests.len(), 1, "the second sub-core joins the first one's miss");
        f.arrive(0x20, 500);
        assert_eq!((f.instruction(0, 0x1000, 0x2000, 500), f.instruction(1, 0x1000, 0x2000, 510)), (500, 510));
    }

    #[test]
    fn the_stream_buffer_runs_ahead_and_stops_at_the_end() {
        let mut f = Frontend::new(&spec(3), 1);
        f.instruction(0, 0, 128 * 3, 0);
        let lines: Vec<u64> = f.requests.iter().map(|r| r.1).collect();
        assert_eq!(lines, [0, 1, 2]);
        f.instruction(0, 128, 128 * 8, 0);
        assert_eq!(f.requests.len(), 5);
    }

    /// 16 of 132 units share a port, two cycles a line, three lines in a row: 32 groups are on four units of each set.
    #[test]
    fn units_take_turns_at_the_shared_port() {
        let shared =
            FrontendSpec { shared_units: 16, shared_interval: 2.0, shared_burst: 3, first_fetch: 40, ..spec(0) };
        let first = |groups, number| {
            let mut f = Frontend::new(&shared, 1);
            f.share(&shared, groups, number, 132);
            f.preload(0, 1024);
            [f.instruction(0, 0, 1024, 0), f.instruction(0, 128, 1024, 0), f.instruction(0, 256, 1024, 500)]
        };
        assert_eq!(first(1, 0), [40 + 20 + 80, 40 + 20 + 80 + 2, 500 + 20 + 80], "alone");
        assert_eq!(first(32, 7)[0], 3 * 3 * 2 + 40 + 20 + 80, "the fourth of four");
        assert_eq!(first(32, 7)[1] - first(32, 7)[0], 4 * 2);
        assert_eq!(first(1000, 131)[0], 3 * 3 * 2 + 40 + 20 + 80, "the fourth of sixteen");
    }

    #[test]
    fn an_indexed_load_takes_the_port_for_each_word() {
        let mut f = Frontend::new(&spec(0), 1);
        f.preload(0, 256);
        assert_eq!(f.start_indexed(32, 10), 10);
        assert_eq!(f.start_indexed(1, 11), 10 + 32, "a word a cycle in this specification");
        assert_eq!((f.indexed(0, 42), f.indexed(0, 200)), (42 + 80, 200));
    }

    /// Two warps whose lines share the only way that there is, at every level: each gets its line when it comes.
    #[test]
    fn an_answer_serves_those_that_wait_though_no_cache_kept_its_line() {
        let one = |line| FetchCacheSpec { capacity: line, line, ways: 1, latency: 0, interval: 1 };
        let mut f = Frontend::new(
            &FrontendSpec { l0_instruction: one(128), l1_instruction: one(128), l2_fetch: one(128), ..spec(0) },
            2,
        );
        assert_eq!(f.instruction(0, 0, 512, 0), PENDING);
        assert_eq!(f.instruction(1, 128, 512, 0), PENDING);
        let mut asked = Vec::new();
        f.send(|_, address, token| asked.push((address, token)));
        assert_eq!(asked.iter().map(|a| a.0).collect::<Vec<_>>(), [0, 128]);
        assert_eq!(f.instruction(1, 128, 512, 10), PENDING);
        assert!(f.requests.is_empty(), "a request for the line is under way");
        f.arrive_request(asked[1].1, 300);
        assert_eq!(f.instruction(0, 0, 512, 300), PENDING);
        assert!((300..310).contains(&f.instruction(1, 128, 512, 300)));
        f.forget_arrived();
        f.arrive_request(asked[0].1, 400);
        assert_eq!(f.instruction(0, 0, 512, 400), 400);
    }

    #[test]
    fn the_caches_for_constants_have_lines_of_their_own() {
        let mut wide = spec(0);
        wide.l1_constant.line = 128;
        let mut f = Frontend::new(&wide, 1);
        f.preload(0, 128);
        assert_eq!((f.indexed(0, 0), f.counters.constant_misses), (80, 1));
        assert_eq!((f.indexed(124, 100), f.counters.constant_misses), (100, 1), "the same line of 128 bytes");
        f.operand(0, 0, 200);
        f.operand(0, 64, 200);
        assert_eq!(f.counters.constant_misses, 3, "two lines of 64 bytes");
    }

    #[test]
    fn constants_come_from_the_second_level() {
        let mut f = Frontend::new(&spec(0), 1);
        assert_eq!(f.operand(0, 0, 10), PENDING);
        f.arrive(0, 300);
        // The other half of the same second-level line.
        assert_eq!(f.operand(0, 64, 400), 480);
        assert_eq!(f.operand(0, 64, 500), 500);
    }
}
