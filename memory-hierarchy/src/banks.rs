//! Conflicts in the banks that hold local memory and L1 data.
use crate::coalescer::is_consecutive;
use crate::device_memory::full_mask;

const MOST_BANKS: usize = 256;

/// Bank geometry.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Banks {
    banks: u32,
    width_shift: u32,
    /// Whether the number of banks is a power of two, as a mask; otherwise `None`.
    mask: Option<u64>,
}

impl Banks {
    /// `banks` banks (at most 256), each `width` bytes (a power of two) wide.
    pub fn new(banks: u32, width: u32) -> Banks {
        let banks = banks.clamp(1, MOST_BANKS as u32);
        let mask = banks.is_power_of_two().then(|| u64::from(banks) - 1);
        Banks { banks, width_shift: width.trailing_zeros(), mask }
    }

    /// Bytes that all banks together deliver each cycle.
    pub fn bytes(&self) -> u32 {
        self.banks << self.width_shift
    }

    /// Wavefronts that an access takes: lanes go in groups that fill the banks once; in a group, each bank serves one
    /// word a wavefront, to all lanes that want that word.
    pub fn wavefronts(&self, addresses: &[u64], mask: u64, bytes: u32) -> u32 {
        if mask == full_mask(addresses.len()) {
            if is_consecutive(addresses, u64::from(bytes))
                && let Some(wavefronts) = self.wavefronts_of_range(addresses[0], addresses.len(), bytes)
            {
                return wavefronts;
            }
            // Bits that differ between lanes, and that any lane has.
            let (mut differ, mut any) = (0, 0);
            for &address in addresses {
                differ |= address ^ addresses[0];
                any |= address;
            }
            if differ == 0 && bytes <= 4 {
                return 1;
            }
            // Aligned lanes that agree in all bits but those within a row lie in it.
            let row = u64::from(self.bytes());
            if row.is_power_of_two() && bytes.is_power_of_two() && bytes <= self.bytes() {
                if differ >= row {
                    let strided = self.strided(addresses, bytes);
                    return strided.unwrap_or_else(|| self.conflicts::<true>(addresses, mask, bytes));
                }
                if any & u64::from(bytes - 1) == 0 {
                    return addresses.len().div_ceil(self.lanes_at_once(addresses.len(), bytes)) as u32;
                }
            }
        }
        self.in_one_row(addresses, mask, bytes).unwrap_or_else(|| self.conflicts::<true>(addresses, mask, bytes))
    }

    /// Wavefronts of all lanes of a warp whose addresses follow each other from `first` on; `None` where words are cut.
    pub fn wavefronts_of_range(&self, first: u64, lanes: usize, bytes: u32) -> Option<u32> {
        let aligned = first & ((1 << self.width_shift) - 1) == 0;
        aligned.then(|| (lanes as u32 * bytes).div_ceil(self.bytes()))
    }

    /// Wavefronts of all lanes of a warp, each in one word that lies a constant number of words behind the one before; `None`
    /// where they do not, or where that is not as simple.
    fn strided(&self, addresses: &[u64], bytes: u32) -> Option<u32> {
        let (lanes, banks) = (addresses.len() as u32, self.banks);
        let step = addresses.get(1)?.wrapping_sub(addresses[0]);
        let cut = ((1u64 << self.width_shift) - 1) & (step | addresses[0]);
        let simple = bytes << 1 > 1 << self.width_shift && bytes <= 1 << self.width_shift;
        if !simple || cut != 0 || step == 0 || !banks.is_power_of_two() || !lanes.is_multiple_of(banks) {
            return None;
        }
        // As many lanes as banks go at once: a stride of a multiple of 2^n words uses each 2^n-th bank that many times.
        let same = (step >> self.width_shift).trailing_zeros().min(banks.trailing_zeros());
        is_consecutive(addresses, step).then_some((lanes / banks) << same)
    }

    /// Lanes that fill the banks once.
    fn lanes_at_once(&self, lanes: usize, bytes: u32) -> usize {
        (self.bytes() / bytes).clamp(1, lanes as u32) as usize
    }

    /// Wavefronts of lanes that all lie in one row across the banks, of which each bank has one word: no conflict is
    /// possible. `None` where they do not.
    fn in_one_row(&self, addresses: &[u64], mask: u64, bytes: u32) -> Option<u32> {
        if mask == 0 || bytes > self.bytes() || !self.bytes().is_power_of_two() {
            return None;
        }
        let shift = self.bytes().trailing_zeros();
        let row = addresses[mask.trailing_zeros() as usize] >> shift;
        let last = u64::from(self.bytes() - bytes);
        let outside = |address: u64| (address >> shift != row) | (address & ((1 << shift) - 1) > last);
        let any = if mask == full_mask(addresses.len()) {
            addresses.iter().fold(false, |any, address| any | outside(*address))
        } else {
            let lanes = addresses.iter().enumerate();
            lanes.fold(false, |any, (lane, address)| any | ((mask >> lane & 1 != 0) & outside(*address)))
        };
        let lanes = self.lanes_at_once(addresses.len(), bytes);
        let starts = (0..addresses.len()).step_by(lanes);
        (!any).then(|| starts.filter(|start| mask >> start & full_mask(lanes) != 0).count() as u32)
    }

    /// Wavefronts of an atomic: each lane takes its bank for itself.
    pub fn atomic_wavefronts(&self, addresses: &[u64], mask: u64, bytes: u32) -> u32 {
        self.conflicts::<false>(addresses, mask, bytes)
    }

    fn conflicts<const SHARE: bool>(&self, addresses: &[u64], mask: u64, bytes: u32) -> u32 {
        let group = self.lanes_at_once(addresses.len(), bytes);
        let mut total = 0;
        for start in (0..addresses.len()).step_by(group) {
            let lanes = mask >> start & full_mask(group);
            if lanes != 0 {
                // The usual geometry has little scratch space to clear: a group is at most one row of the banks, and
                // unaligned lanes touch twice as many words.
                total += match self.banks {
                    0..=32 => self.group::<SHARE, 32, 64>(&addresses[start..], lanes, bytes),
                    _ => self.group::<SHARE, MOST_BANKS, 256>(&addresses[start..], lanes, bytes),
                };
            }
        }
        total.max(1)
    }

    /// For at most `BANKS` banks and `WORDS` words.
    fn group<const SHARE: bool, const BANKS: usize, const WORDS: usize>(
        &self,
        addresses: &[u64],
        mut lanes: u64,
        bytes: u32,
    ) -> u32 {
        let mut count = [0u8; BANKS];
        // Words seen, chained by bank.
        let mut words = [0u64; WORDS];
        let mut next = [0u8; WORDS];
        let mut head = [0u8; BANKS];
        let (mut seen, mut most) = (0usize, 1);
        let mut before = u64::MAX;
        while lanes != 0 {
            let address = addresses[lanes.trailing_zeros() as usize];
            lanes &= lanes - 1;
            // Neighbours often share a word.
            if SHARE && address == std::mem::replace(&mut before, address) {
                continue;
            }
            let last = (address + u64::from(bytes) - 1) >> self.width_shift;
            for word in address >> self.width_shift..=last {
                let bank = match self.mask {
                    Some(mask) => word & mask,
                    None => word % u64::from(self.banks),
                } as usize;
                if SHARE {
                    let mut at = head[bank];
                    let mut left = count[bank];
                    while left > 0 && words[usize::from(at)] != word {
                        at = next[usize::from(at)];
                        left -= 1;
                    }
                    if left > 0 {
                        continue;
                    }
                    if seen == words.len() {
                        continue;
                    }
                    words[seen] = word;
                    next[seen] = head[bank];
                    head[bank] = seen as u8;
                    seen += 1;
                }
                count[bank] += 1;
                most = most.max(u32::from(count[bank]));
            }
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stride(words: u64) -> Vec<u64> {
        (0..32).map(|l| 1024 + l * words * 4).collect()
    }

    /// The H200's measured wavefronts a warp load (micro lds_stride, lds_f4).
    #[test]
    fn strided_loads_conflict_as_measured() {
        let banks = Banks::new(32, 4);
        let all = 0xffff_ffff;
        for (words, expected) in [(0, 1), (1, 1), (2, 2), (4, 4), (8, 8), (16, 16), (32, 32), (33, 1), (3, 1)] {
            assert_eq!(banks.wavefronts(&stride(words), all, 4), expected, "stride {words}");
        }
        assert_eq!(banks.wavefronts(&stride(4), all, 16), 4);
        assert_eq!(banks.wavefronts(&stride(2), all, 8), 2);
        assert_eq!(banks.wavefronts(&stride(32), 0xff, 4), 8);
    }

    /// The short cut for constant strides agrees with counting.
    #[test]
    fn constant_strides_conflict_as_counted() {
        let mut short = 0;
        for (banks, width) in [(32, 4), (16, 4), (64, 4), (16, 8), (31, 4)] {
            let banks = Banks::new(banks, width);
            for step in (0..300).map(|n| n * 4).chain([1, 2, 6, 4096, u64::MAX - 3, u64::MAX - 131]) {
                for lanes in [32, 64] {
                    for bytes in [1, 2, 4, 8] {
                        let start = 1 << 20 | u64::from(bytes);
                        let addresses: Vec<u64> =
                            (0..lanes).map(|l| (start & !3).wrapping_add(step.wrapping_mul(l))).collect();
                        let counted = banks.conflicts::<true>(&addresses, full_mask(lanes as usize), bytes);
                        if let Some(wavefronts) = banks.strided(&addresses, bytes) {
                            assert_eq!(wavefronts, counted, "step {step}, {lanes} lanes of {bytes} bytes");
                            short += 1;
                        }
                        let whole = banks.wavefronts(&addresses, full_mask(lanes as usize), bytes);
                        assert!(whole == counted || step == 0, "step {step}, {lanes} lanes of {bytes} bytes");
                    }
                }
            }
        }
        assert!(short > 1000);
    }

    /// The short cut for lanes in one row agrees with counting.
    #[test]
    fn lanes_in_one_row_never_conflict() {
        let mut short = 0;
        for (banks, width) in [(32, 4), (16, 8), (31, 4), (64, 4)] {
            let banks = Banks::new(banks, width);
            for round in 0..400u64 {
                let start = round % 7 * 60 + 4096;
                let lanes = if round & 1 == 0 { 32 } else { 64 };
                let place = |lane| start + crate::clock::mix(round * 64 + lane) % (1 << (round % 8)) / 2 * 2;
                let addresses: Vec<u64> = (0..lanes).map(place).collect();
                let some = (crate::clock::mix(round) | 1 << (round % 32)) & full_mask(lanes as usize);
                let mask = if round % 3 == 0 { full_mask(lanes as usize) } else { some };
                for bytes in [1, 2, 4, 8, 16] {
                    if let Some(wavefronts) = banks.in_one_row(&addresses, mask, bytes) {
                        let counted = banks.conflicts::<true>(&addresses, mask, bytes);
                        assert_eq!(wavefronts, counted, "{addresses:?} {mask:x} {bytes}");
                        short += 1;
                    }
                }
            }
        }
        assert!(short > 1000);
    }

    #[test]
    fn atomics_on_one_address_go_one_by_one() {
        let banks = Banks::new(32, 4);
        assert_eq!(banks.atomic_wavefronts(&stride(0), 0xffff_ffff, 4), 32);
        assert_eq!(banks.atomic_wavefronts(&stride(1), 0xffff_ffff, 4), 1);
        assert_eq!(banks.atomic_wavefronts(&stride(0), 0b101, 4), 2);
    }

    #[test]
    fn other_geometries() {
        let banks = Banks::new(16, 8);
        assert_eq!(banks.wavefronts(&stride(1), 0xffff_ffff, 4), 1);
        assert_eq!(banks.wavefronts(&stride(32), 0xffff_ffff, 4), 32);
        let odd = Banks::new(31, 4);
        assert_eq!(odd.wavefronts(&stride(31), 0xffff_ffff, 4), 31 + 1);
    }
}
