//! From a warp's addresses to the lines and sectors that they touch.
use crate::device_memory::full_mask;
use crate::request::ones;

/// What one warp access wants of one line.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct LineAccess {
    /// Simulated address of the line.
    pub line: u64,
    /// Lanes that touch it.
    pub lanes: u64,
    /// 32nds of the line that the lanes cover wholly.
    pub covered: u32,
    /// Sectors touched.
    pub sectors: u8,
    /// Passes of an atomic where they are more than its sectors: lanes to one address take turns, so a sector takes as many
    /// as most lanes have in common there.
    pub passes: u8,
}

impl LineAccess {
    /// Passes that it takes as an atomic.
    #[inline(always)]
    pub fn atomic_passes(&self) -> u32 {
        u32::from(self.passes).max(ones(self.sectors))
    }
}

/// Most lines that one access can touch: 64 lanes, each across a line's end.
pub const MOST_LINES: usize = 128;

const TABLE: usize = 256;
const FREE: u8 = u8::MAX;

/// Geometry and scratch space of the coalescer.
#[derive(Clone, Debug)]
pub struct Coalescer {
    line_shift: u32,
    sector_shift: u32,
    /// log2 of the bytes that one bit of `bytes` stands for.
    unit_shift: u32,
    lines: [LineAccess; MOST_LINES],
    len: usize,
    /// Bytes covered of each line.
    bytes: [u128; MOST_LINES],
    /// Open-addressed index from line to position; all `FREE` between accesses.
    table: [u8; TABLE],
    /// Place in the table of each line.
    places: [u8; MOST_LINES],
}

impl Coalescer {
    /// For lines and sectors of these sizes (powers of two, at most 8 sectors a line).
    pub fn new(line: u32, sector: u32) -> Coalescer {
        Coalescer {
            line_shift: line.trailing_zeros(),
            sector_shift: sector.trailing_zeros(),
            unit_shift: line.trailing_zeros().saturating_sub(7),
            lines: [LineAccess::default(); MOST_LINES],
            len: 0,
            bytes: [0; MOST_LINES],
            table: [FREE; TABLE],
            places: [0; MOST_LINES],
        }
    }

    /// log2 of the line size.
    pub fn line_shift(&self) -> u32 {
        self.line_shift
    }

    /// The lines that lanes in `mask` touch with `bytes` bytes each at `addresses` + `offset`, in order of first touch.
    /// With `atomic`, the passes are counted.
    pub fn coalesce(&mut self, addresses: &[u64], offset: u64, mask: u64, bytes: u32, atomic: bool) -> &[LineAccess] {
        if mask == full_mask(addresses.len()) && is_consecutive(addresses, u64::from(bytes)) {
            self.coalesce_range(addresses[0].wrapping_add(offset), addresses.len(), bytes)
        } else {
            self.coalesce_any(addresses, offset, mask, bytes, atomic)
        }
    }

    /// The lines that `lanes` lanes, all of a warp, touch whose addresses follow each other from `first` on.
    pub fn coalesce_range(&mut self, first: u64, lanes: usize, bytes: u32) -> &[LineAccess] {
        self.len = 0;
        self.range(first, lanes, bytes);
        &self.lines[..self.len]
    }

    /// As [`Coalescer::coalesce`], without looking whether the addresses follow each other.
    pub fn coalesce_any(
        &mut self,
        addresses: &[u64],
        offset: u64,
        mask: u64,
        bytes: u32,
        atomic: bool,
    ) -> &[LineAccess] {
        self.len = 0;
        // Aligned lanes lie in one sector each and cover whole 32nds of their line.
        let aligned = bytes.is_power_of_two() && bytes >> self.sector_shift <= 1 && bytes << 5 >> self.line_shift != 0;
        if !aligned || !self.scatter_aligned(addresses, offset, mask, bytes) {
            self.scatter(addresses, offset, mask, bytes);
        }
        if atomic {
            self.count_passes(addresses, offset, mask);
        }
        &self.lines[..self.len]
    }

    /// Consecutive lanes: a range of bytes.
    fn range(&mut self, start: u64, lanes: usize, lane_bytes: u32) {
        let step = u64::from(lane_bytes);
        let end = start + lanes as u64 * step;
        let mut line = start >> self.line_shift;
        while line << self.line_shift < end {
            let base = line << self.line_shift;
            let (from, to) = (start.max(base), end.min(base + (1 << self.line_shift)));
            let (lo, hi) = ((from - base) >> self.sector_shift, (to - 1 - base) >> self.sector_shift);
            let part = self.line_shift - 5;
            let covered_from = (from - base).div_ceil(1 << part);
            let covered_to = (to - base) >> part;
            // Most accesses lie in one line and need no division.
            let lane_lo = if from == start { 0 } else { (from - start) / step };
            let lane_hi = if to == end { lanes as u64 } else { (to - start).div_ceil(step) };
            self.lines[self.len] = LineAccess {
                line: base,
                lanes: full_mask(lane_hi as usize) & !((1u64 << lane_lo) - 1),
                covered: bits(covered_from, covered_to) as u32,
                sectors: bits(lo, hi + 1) as u8,
                passes: 0,
            };
            self.len += 1;
            line += 1;
        }
    }

    fn scatter(&mut self, addresses: &[u64], offset: u64, mask: u64, bytes: u32) {
        let mut last_line = u64::MAX;
        let mut last = 0;
        let mut left = mask;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            let start = addresses[lane].wrapping_add(offset);
            let end = start + u64::from(bytes);
            let mut from = start;
            while from < end {
                let line = from >> self.line_shift;
                if line != last_line {
                    last = self.position(line);
                    last_line = line;
                }
                let base = line << self.line_shift;
                let to = end.min(base + (1 << self.line_shift));
                let entry = &mut self.lines[last];
                entry.lanes |= 1 << lane;
                let (lo, hi) = ((from - base) >> self.sector_shift, (to - 1 - base) >> self.sector_shift);
                entry.sectors |= bits(lo, hi + 1) as u8;
                let unit = self.unit_shift;
                self.bytes[last] |= wide_bits((from - base).div_ceil(1 << unit), (to - base) >> unit);
                from = to;
            }
        }
        for at in 0..self.len {
            self.table[usize::from(self.places[at])] = FREE;
            self.lines[at].covered = self.parts(self.bytes[at]);
        }
    }

    /// As `scatter`, for lanes whose addresses are multiples of `bytes`; `false` (and nothing done) where one is not.
    fn scatter_aligned(&mut self, addresses: &[u64], offset: u64, mask: u64, bytes: u32) -> bool {
        let (line_shift, sector_shift) = (self.line_shift, self.sector_shift);
        // Parts of a line: 32nds.
        let part_shift = line_shift - 5;
        let in_line = (1u64 << line_shift) - 1;
        let parts = (1u64 << (bytes >> part_shift)) - 1;
        let mut low = 0;
        let mut last_line = u64::MAX;
        let mut last = 0;
        let mut left = mask;
        while left != 0 {
            let lane = left.trailing_zeros();
            left &= left - 1;
            let start = addresses[lane as usize].wrapping_add(offset);
            low |= start;
            let line = start >> line_shift;
            if line != last_line {
                last = self.position(line);
                last_line = line;
            }
            let within = start & in_line;
            let entry = &mut self.lines[last];
            entry.lanes |= 1 << lane;
            entry.sectors |= 1 << (within >> sector_shift);
            self.bytes[last] |= u128::from(parts << (within >> part_shift));
        }
        let aligned = low & u64::from(bytes - 1) == 0;
        for at in 0..self.len {
            self.table[usize::from(self.places[at])] = FREE;
            self.lines[at].covered = self.bytes[at] as u32;
        }
        if !aligned {
            self.len = 0;
        }
        aligned
    }

    /// Position of a line among those seen, added where it is new.
    fn position(&mut self, line: u64) -> usize {
        let slot = self.slot(line);
        if self.table[slot] == FREE {
            self.table[slot] = self.len as u8;
            self.places[self.len] = slot as u8;
            self.lines[self.len] = LineAccess { line: line << self.line_shift, ..Default::default() };
            self.bytes[self.len] = 0;
            self.len += 1;
        }
        usize::from(self.table[slot])
    }

    /// Slot of a line in the table: where it is, or where it would go.
    fn slot(&self, line: u64) -> usize {
        let mut slot = (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize;
        loop {
            let at = self.table[slot];
            if at == FREE || self.lines[usize::from(at)].line == line << self.line_shift {
                return slot;
            }
            slot = (slot + 1) % TABLE;
        }
    }

    /// The 32nds of a line all of whose bytes are covered.
    fn parts(&self, bytes: u128) -> u32 {
        let per = ((1u32 << self.line_shift) / 32) >> self.unit_shift;
        let whole = (1u128 << per) - 1;
        (0..32).fold(0, |mask, i| mask | (u32::from(bytes >> (i * per) & whole == whole) << i))
    }

    /// Sets `passes` of each line.
    fn count_passes(&mut self, addresses: &[u64], offset: u64, mask: u64) {
        for at in 0..self.len {
            let line = self.lines[at];
            let mut most = [0u8; 8];
            let mut lanes = line.lanes & mask;
            while lanes != 0 {
                let address = addresses[lanes.trailing_zeros() as usize].wrapping_add(offset);
                let mut same = 0u64;
                let mut rest = lanes;
                while rest != 0 {
                    let lane = rest.trailing_zeros();
                    rest &= rest - 1;
                    same |= u64::from(addresses[lane as usize].wrapping_add(offset) == address) << lane;
                }
                // An access across a line's end (which atomics never are) counts where it begins.
                let sector = (address.saturating_sub(line.line) >> self.sector_shift) as usize % most.len();
                most[sector] = most[sector].max(same.count_ones() as u8);
                lanes &= !same;
            }
            self.lines[at].passes = most.iter().sum();
        }
    }
}

/// Whether each lane's address follows the one before by `step`.
#[inline]
pub(crate) fn is_consecutive(addresses: &[u64], step: u64) -> bool {
    let first = addresses[0];
    // Mostly the second lane tells already.
    if addresses.get(1).is_some_and(|second| *second != first.wrapping_add(step)) {
        return false;
    }
    let (mut expected, mut differ) = (first, 0);
    for &address in addresses {
        differ |= address ^ expected;
        expected = expected.wrapping_add(step);
    }
    differ == 0
}

/// Bits `from..to` of a word; none where the range is empty.
fn bits(from: u64, to: u64) -> u64 {
    if from >= to { 0 } else { full_mask(to as usize) & !((1 << from) - 1) }
}

fn wide_bits(from: u64, to: u64) -> u128 {
    if from >= to { 0 } else { (u128::MAX >> (128 - (to - from))) << from }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coalescer() -> Coalescer {
        Coalescer::new(128, 32)
    }

    /// Byte by byte, as the definition says.
    fn reference(addresses: &[u64], mask: u64, bytes: u32) -> Vec<LineAccess> {
        let mut out: Vec<(LineAccess, [bool; 128])> = vec![];
        for (lane, &a) in addresses.iter().enumerate().filter(|(l, _)| mask >> l & 1 != 0) {
            for byte in a..a + u64::from(bytes) {
                let line = byte / 128 * 128;
                let at = out.iter().position(|(l, _)| l.line == line).unwrap_or_else(|| {
                    out.push((LineAccess { line, ..Default::default() }, [false; 128]));
                    out.len() - 1
                });
                out[at].0.lanes |= 1 << lane;
                out[at].0.sectors |= 1 << (byte % 128 / 32);
                out[at].1[(byte % 128) as usize] = true;
            }
        }
        out.iter()
            .map(|(l, b)| {
                let covered = (0..32).filter(|g| b[g * 4..g * 4 + 4].iter().all(|x| *x)).map(|g| 1u32 << g).sum();
                LineAccess { covered, ..*l }
            })
            .collect()
    }

    #[test]
    fn lines_sectors_and_covered_bytes_are_the_definition_s() {
        let mut c = coalescer();
        let strides = [0u64, 1, 2, 4, 8, 12, 16, 20, 32, 36, 64, 128, 132, 4096];
        for width in [8usize, 16, 32, 64] {
            for stride in strides {
                for bytes in [1u32, 2, 4, 8, 12, 16] {
                    for start in [0u64, 4, 28, 124, 1 << 40] {
                        for mask in [u64::MAX, 1, 0x5555_5555_5555_5555, 0x00ff_00f0_0ff0_0103] {
                            let mask = mask & full_mask(width);
                            let addresses: Vec<u64> = (0..width as u64).map(|l| start + l * stride).collect();
                            let got = c.coalesce(&addresses, 0, mask, bytes, false);
                            assert_eq!(got, reference(&addresses, mask, bytes), "{width} {stride} {bytes} {start}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn random_addresses_and_an_offset() {
        let mut c = coalescer();
        for round in 0..200u64 {
            let addresses: Vec<u64> =
                (0..32).map(|l| crate::clock::mix(round * 32 + l) % (1 << (8 + round % 20)) / 4 * 4).collect();
            let shifted: Vec<u64> = addresses.iter().map(|a| a.wrapping_sub(1 << 50)).collect();
            let got = c.coalesce(&shifted, 1 << 50, 0xffff_ffff, 4, false);
            assert_eq!(got, reference(&addresses, 0xffff_ffff, 4));
        }
    }

    /// 20 lanes to one word and 2 to each of 6 others of a sector. As the H200 counts (57 501 passes of 8192 warps over 8 random
    /// bins), lanes to different words of a sector go together.
    #[test]
    fn lanes_to_one_address_take_turns() {
        let mut c = coalescer();
        let addresses: Vec<u64> = (0..32u64).map(|l| if l < 20 { 4 } else { 128 + l / 2 * 4 }).collect();
        let got = c.coalesce(&addresses, 0, 0xffff_ffff, 4, true);
        assert_eq!(got.iter().map(|l| l.passes).collect::<Vec<_>>(), [20, 2]);
        let words: Vec<u64> = (0..32u64).map(|l| l % 8 * 4).collect();
        assert_eq!(c.coalesce(&words, 0, 0xffff_ffff, 4, true)[0].passes, 4);
        let row: Vec<u64> = (0..32u64).map(|l| l * 4).collect();
        assert_eq!(c.coalesce(&row, 0, 0xffff_ffff, 4, true)[0].atomic_passes(), 4);
    }
}
