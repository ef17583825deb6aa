//! Which slice an address is at home in, and where in it.
use crate::clock::{Divisor, mix};
use warpscope_configs::specs::{L2Spec, SliceHash};

/// Home of a line.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Home {
    /// Slice; slices of the same half are consecutive.
    pub slice: u32,
    /// Address inside the slice and its DRAM channel.
    pub local: u64,
}

/// The address map.
#[derive(Clone, Debug)]
pub struct AddressMap {
    interleave_shift: u32,
    /// Address bits whose parity is the half, or 0; the lowest is left out of the address inside the half.
    half_bits: u64,
    half_shift: u32,
    by_slices: Divisor,
    slices: u64,
    hash: SliceHash,
    /// Slices of a half.
    half: u32,
    halves: u32,
    /// The first compute unit of the second half.
    second: u16,
    /// Extra cycles of answers, at most; and compute units in a row that are equally far from a slice.
    distance: u64,
    neighbours: Divisor,
}

impl AddressMap {
    /// As the specification says, for so many compute units.
    pub fn new(spec: &L2Spec, units: u32) -> AddressMap {
        // Slices among which addresses are shared out once the half is known, where bits tell it.
        let sharing = u64::from(if spec.half_bits == 0 { spec.slices } else { spec.slices / spec.halves });
        AddressMap {
            interleave_shift: spec.interleave.trailing_zeros(),
            half_bits: spec.half_bits,
            half_shift: spec.half_bits.trailing_zeros() % 64,
            by_slices: Divisor::new(sharing),
            slices: sharing,
            hash: spec.slice_hash,
            half: spec.slices / spec.halves,
            halves: spec.halves,
            second: units.div_ceil(2).min(u32::from(u16::MAX)) as u16,
            distance: u64::from(spec.distance),
            neighbours: Divisor::new(spec.coalesce_units.clamp(1, u32::from(u16::MAX)).into()),
        }
    }

    /// Home of the line at a simulated address.
    #[inline]
    pub fn home(&self, address: u64) -> Home {
        if self.half_bits == 0 {
            return self.share(address);
        }
        let low = address & ((1 << self.half_shift) - 1);
        let home = self.share(address >> (self.half_shift + 1) << self.half_shift | low);
        let half = (address & self.half_bits).count_ones() & 1;
        Home { slice: home.slice + half * self.half, ..home }
    }

    #[inline]
    fn share(&self, address: u64) -> Home {
        let (group, mut slice) = self.by_slices.divide(address >> self.interleave_shift);
        if self.hash == SliceHash::Rotated {
            slice += ((mix(group) >> 32) * self.slices) >> 32;
            if slice >= self.slices {
                slice -= self.slices;
            }
        }
        let within = address & ((1 << self.interleave_shift) - 1);
        Home { slice: slice as u32, local: group << self.interleave_shift | within }
    }

    /// The slice that a compute unit asks: the home slice, or the one in the same place of the unit's own half.
    #[inline(always)]
    pub fn near(&self, home: u32, unit: u16) -> u32 {
        if self.halves == 1 {
            return home;
        }
        let place = if home >= self.half { home - self.half } else { home };
        place + u32::from(unit >= self.second) * self.half
    }

    /// Cycles that an answer of a slice takes longer to a compute unit than to the nearest one. Which slice is how far from
    /// which unit is not known; that they differ makes the slowest of several lines late.
    #[inline(always)]
    pub fn distance(&self, slice: u32, unit: u16) -> u64 {
        if self.distance == 0 {
            return 0;
        }
        let place = u64::from(slice) << 16 | self.neighbours.divide(unit.into()).0;
        ((mix(place) >> 32) * (self.distance + 1)) >> 32
    }

    /// The slice in the same place of the other half.
    #[inline(always)]
    pub fn opposite(&self, slice: u32) -> u32 {
        if self.halves == 1 {
            slice
        } else if slice >= self.half {
            slice - self.half
        } else {
            slice + self.half
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn map(hash: SliceHash) -> AddressMap {
        let machine = crate::tests::h200();
        AddressMap::new(&L2Spec { slice_hash: hash, ..machine.memory.l2 }, 132)
    }

    #[test]
    fn every_line_has_its_own_place() {
        for (hash, half_bits) in [(SliceHash::Modulo, 0), (SliceHash::Rotated, 0), (SliceHash::Rotated, 0x2aaaaab000)] {
            let machine = crate::tests::h200();
            let map = AddressMap::new(&L2Spec { slice_hash: hash, half_bits, ..machine.memory.l2 }, 132);
            let mut seen = HashSet::new();
            for line in 0..96 * 1024u64 {
                assert!(seen.insert({
                    let home = map.home(line * 128);
                    (home.slice, home.local)
                }));
            }
        }
    }

    #[test]
    fn sequences_and_power_of_two_strides_spread_evenly() {
        let map = map(SliceHash::Rotated);
        for shift in [7, 9, 12, 15, 16, 20, 21] {
            let mut load = vec![0u32; 96];
            for i in 0..96 * 64u64 {
                load[map.home((1 << 40) + (i << shift)).slice as usize] += 1;
            }
            let (low, high) = (load.iter().min().unwrap(), load.iter().max().unwrap());
            assert!(*low >= 24 && *high <= 128, "stride 2^{shift}: {low} to {high}, mean 64");
        }
    }

    #[test]
    fn near_and_opposite_agree() {
        let map = map(SliceHash::Rotated);
        assert_eq!((map.near(5, 65), map.near(5, 66), map.near(53, 0), map.near(53, 131)), (5, 53, 5, 53));
        assert_eq!((map.opposite(5), map.opposite(53)), (53, 5));
    }

    /// Halves of the first 4 KiB blocks of an H200 buffer, from the latency of a first load: near (F) or far (S).
    #[test]
    fn the_halves_alternate_as_measured() {
        let map = map(SliceHash::Rotated);
        let measured = "FSSFFSSFSFFSSFFSFSSFFSSFSFFSSFFSSFFSSFFSFSSFFSSFSFFSSFFSFSSFFSSF";
        for (block, half) in measured.bytes().enumerate() {
            let home = map.home((1 << 40) + block as u64 * 4096);
            assert_eq!(home.slice >= 48, half == b'S', "block {block}");
        }
    }
}
