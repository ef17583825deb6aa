//! Plain stores of a compute unit that the other units do not see yet.
//!
//! A store is visible to its own compute unit at once and to the others at the end of the epoch, when every unit's
//! log is published in the order of the units. So what a load sees does not depend on how windows are cut or on the
//! number of host threads, whatever races a kernel has.
use crate::lanes::{for_lanes, range_of};
use warpscope_exec::exec::{Row, WarpAccess};
use warpscope_memory::device_memory::Word;

const SECTOR: u64 = 32;
const START: usize = 256;
const FREE: u32 = u32::MAX;
const FILTER_WORDS: usize = 16;
/// An index with this many slots a block is emptied block by block.
const SPARSE: usize = 16;

/// Bytes of one 32-byte block of host memory.
#[derive(Copy, Clone, Debug)]
struct Block {
    /// Host address divided by the block's size.
    number: u64,
    /// Bytes written.
    mask: u32,
    data: [u8; SECTOR as usize],
}

/// The log, with an index for loads.
#[derive(Clone, Debug)]
pub(crate) struct Overlay {
    blocks: Vec<Block>,
    /// Open-addressed index from number to position.
    index: Vec<u32>,
    /// Bit per hash of a block number; and the range of numbers: what lies outside has not been stored to.
    filter: [u64; FILTER_WORDS],
    low: u64,
    high: u64,
}

fn hash(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}

impl Overlay {
    pub fn new() -> Overlay {
        Overlay { blocks: Vec::new(), index: vec![FREE; START], filter: [0; FILTER_WORDS], low: u64::MAX, high: 0 }
    }

    /// Whether nothing is waiting to be published.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Logs the lanes of a checked store, rising.
    pub fn store<const W: usize>(&mut self, access: &WarpAccess<'_, W>, data: &[Row<W>]) {
        if access.shape.element == 4
            && access.shape.count == 1
            && let Some(range) = range_of(access)
        {
            self.store_range(range.start, &data[0]);
            return;
        }
        match access.shape.element {
            1 => self.store_elements::<W, 1>(access, data),
            2 => self.store_elements::<W, 2>(access, data),
            4 => self.store_elements::<W, 4>(access, data),
            _ => self.store_elements::<W, 8>(access, data),
        }
    }

    /// Words of all lanes, one behind the other from `start` on, which is aligned to words.
    fn store_range<const W: usize>(&mut self, start: u64, data: &Row<W>) {
        let mut lane = 0;
        while lane < W {
            let address = start + 4 * lane as u64;
            let position = self.position(address / SECTOR);
            let block = &mut self.blocks[position];
            let at = (address % SECTOR) as usize;
            let count = ((SECTOR as usize - at) / 4).min(W - lane);
            let words = &data.0[lane..lane + count];
            for (to, from) in block.data[at..].as_chunks_mut::<4>().0.iter_mut().zip(words) {
                *to = from.to_le_bytes();
            }
            block.mask |= (((1u64 << (4 * count)) - 1) << at) as u32;
            lane += count;
        }
    }

    /// For elements of `E` bytes.
    #[inline]
    fn store_elements<const W: usize, const E: usize>(&mut self, access: &WarpAccess<'_, W>, data: &[Row<W>]) {
        let count = access.shape.count as usize;
        let mut last = (u64::MAX, 0usize);
        for_lanes::<W>(access.mask, |lane| {
            for e in 0..count {
                let address = access.addresses[lane] + (e * E) as u64;
                let number = address / SECTOR;
                if last.0 != number {
                    last = (number, self.position(number));
                }
                let block = &mut self.blocks[last.1];
                // An element is aligned, so it lies in one block.
                let at = (address % SECTOR) as usize / E * E;
                let word = |n: usize| data[n].0[lane];
                let bytes = match E {
                    8 => (u64::from(word(2 * e)) | u64::from(word(2 * e + 1)) << 32).to_le_bytes(),
                    _ => u64::from(word(e)).to_le_bytes(),
                };
                block.data[at..][..E].copy_from_slice(&bytes[..E]);
                block.mask |= (((1u64 << E) - 1) << at) as u32;
            }
        });
    }

    /// Position of a block, new where it is not there yet.
    fn position(&mut self, number: u64) -> usize {
        let mask = self.index.len() - 1;
        let mut slot = hash(number) as usize & mask;
        while self.index[slot] != FREE {
            let position = self.index[slot] as usize;
            if self.blocks[position].number == number {
                return position;
            }
            slot = (slot + 1) & mask;
        }
        self.index[slot] = self.blocks.len() as u32;
        self.blocks.push(Block { number, mask: 0, data: [0; SECTOR as usize] });
        let h = hash(number) as usize;
        self.filter[h / 64 % FILTER_WORDS] |= 1 << (h % 64);
        self.low = self.low.min(number);
        self.high = self.high.max(number);
        if self.blocks.len() * 2 > self.index.len() {
            self.grow();
        }
        self.blocks.len() - 1
    }

    fn grow(&mut self) {
        let mask = self.index.len() * 2 - 1;
        self.index.clear();
        self.index.resize(mask + 1, FREE);
        for (position, block) in self.blocks.iter().enumerate() {
            let mut slot = hash(block.number) as usize & mask;
            while self.index[slot] != FREE {
                slot = (slot + 1) & mask;
            }
            self.index[slot] = position as u32;
        }
    }

    fn find(&self, number: u64) -> Option<&Block> {
        let h = hash(number) as usize;
        if self.filter[h / 64 % FILTER_WORDS] >> (h % 64) & 1 == 0 {
            return None;
        }
        let mask = self.index.len() - 1;
        let mut slot = h & mask;
        while self.index[slot] != FREE {
            let block = &self.blocks[self.index[slot] as usize];
            if block.number == number {
                return Some(block);
            }
            slot = (slot + 1) & mask;
        }
        None
    }

    /// Replaces what a checked load has read from memory by what this unit has stored since.
    #[inline]
    pub fn patch<const W: usize>(&self, access: &WarpAccess<'_, W>, out: &mut [Row<W>]) {
        if self.blocks.is_empty() {
            return;
        }
        let (low, high) = (self.low * SECTOR, self.high * SECTOR + (SECTOR - 1));
        let bytes = u64::from(access.shape.bytes());
        if let Some(range) = range_of(access) {
            if range.start <= high && range.end > low {
                self.patch_lanes(access, out);
            }
            return;
        }
        let mut inside = false;
        for_lanes::<W>(access.mask, |lane| {
            let address = access.addresses[lane];
            inside |= (address <= high) & (address + bytes > low);
        });
        if inside {
            self.patch_lanes(access, out);
        }
    }

    #[inline(never)]
    fn patch_lanes<const W: usize>(&self, access: &WarpAccess<'_, W>, out: &mut [Row<W>]) {
        let (element, count) = (access.shape.element as usize, access.shape.count as usize);
        for_lanes::<W>(access.mask, |lane| {
            for e in 0..count {
                let address = access.addresses[lane] + (e * element) as u64;
                let Some(block) = self.find(address / SECTOR) else { continue };
                let at = (address % SECTOR) as usize;
                let wanted = block.mask >> at & ((1u64 << element) - 1) as u32;
                if wanted != 0 {
                    patch_element(block, at, wanted, access.shape.signed, (element, e, lane), out);
                }
            }
        });
    }

    /// Writes everything to memory, in the order in which blocks were first stored to, and forgets it.
    pub fn publish(&mut self) {
        for block in &self.blocks {
            let base = block.number * SECTOR;
            // SAFETY: every byte in the mask was checked to lie in a live, writable allocation when it was stored, and
            // the launch's view keeps that alive.
            unsafe { write(base, block) };
        }
        if self.blocks.len() * SPARSE < self.index.len() {
            self.clear_index();
        } else {
            self.index.truncate(64 * START);
            self.index.fill(FREE);
        }
        self.blocks.clear();
        self.filter = [0; FILTER_WORDS];
        (self.low, self.high) = (u64::MAX, 0);
    }

    /// Frees the slots of the index that the blocks have, one by one.
    fn clear_index(&mut self) {
        let mask = self.index.len() - 1;
        for (position, block) in self.blocks.iter().enumerate() {
            let mut slot = hash(block.number) as usize & mask;
            while self.index[slot] as usize != position {
                slot = (slot + 1) & mask;
            }
            self.index[slot] = FREE;
        }
    }
}

/// Overwrites the bytes in `wanted` (bit 0: byte `at` of the block) of an element that was read.
#[inline(never)]
fn patch_element<const W: usize>(
    block: &Block,
    at: usize,
    wanted: u32,
    signed: bool,
    (element, e, lane): (usize, usize, usize),
    out: &mut [Row<W>],
) {
    let mut bytes = [0u8; 8];
    if element == 8 {
        bytes[..4].copy_from_slice(&out[2 * e].0[lane].to_le_bytes());
        bytes[4..].copy_from_slice(&out[2 * e + 1].0[lane].to_le_bytes());
    } else {
        bytes[..4].copy_from_slice(&out[e].0[lane].to_le_bytes());
    }
    for (n, byte) in bytes.iter_mut().enumerate().take(element) {
        if wanted >> n & 1 != 0 {
            *byte = block.data[at + n];
        }
    }
    let low = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    match (element, signed) {
        (1, true) => out[e].0[lane] = bytes[0] as i8 as u32,
        (2, true) => out[e].0[lane] = low as u16 as i16 as u32,
        (1, false) => out[e].0[lane] = low & 0xff,
        (2, false) => out[e].0[lane] = low & 0xffff,
        (8, _) => {
            out[2 * e].0[lane] = low;
            out[2 * e + 1].0[lane] = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
        }
        _ => out[e].0[lane] = low,
    }
}

/// # Safety
/// The bytes in the block's mask, at `base` and behind, are valid for writes.
unsafe fn write(base: u64, block: &Block) {
    let pointer = |at: u64| std::ptr::with_exposed_provenance_mut::<u8>((base + at) as usize);
    if block.mask == u32::MAX {
        for (n, part) in block.data.as_chunks::<8>().0.iter().enumerate() {
            // SAFETY: the whole block is valid for writes, and aligned.
            unsafe { u64::store(pointer(8 * n as u64).cast(), u64::from_le_bytes(*part)) };
        }
        return;
    }
    for (n, part) in block.data.as_chunks::<4>().0.iter().enumerate() {
        let mask = block.mask >> (4 * n) & 15;
        if mask == 15 {
            // SAFETY: the word is valid for writes, and aligned.
            unsafe { u32::store(pointer(4 * n as u64).cast(), u32::from_le_bytes(*part)) };
            continue;
        }
        for (k, byte) in part.iter().enumerate() {
            if mask >> k & 1 != 0 {
                // SAFETY: the byte is valid for writes.
                unsafe { u8::store(pointer((4 * n + k) as u64), *byte) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpscope_exec::exec::Space;
    use warpscope_exec::program::AccessShape;

    const W: usize = 8;

    fn access(addresses: &[u64; W], mask: u64, element: u8, count: u8, signed: bool) -> WarpAccess<'_, W> {
        let shape = AccessShape { element, count, atomic: 0, signed };
        WarpAccess { addresses, mask, shape, space: Space::Global, pc: 0, flags: 0 }
    }

    #[test]
    fn own_stores_are_seen_at_once_and_reach_memory_when_published() {
        let mut memory = vec![0xffu8; 4096];
        let base = (memory.as_mut_ptr().expose_provenance() as u64).next_multiple_of(64);
        let mut overlay = Overlay::new();
        let words: [u64; W] = std::array::from_fn(|l| base + 4 * l as u64);
        let rows = [Row(std::array::from_fn(|l| 100 + l as u32))];
        overlay.store(&access(&words, 0xff, 4, 1, false), &rows);
        // Bytes and signed halves of the words; lane 7 reads behind them.
        let bytes: [u64; W] = std::array::from_fn(|l| base + 5 * l as u64);
        let mut out = [Row([0xff; W])];
        overlay.patch(&access(&bytes, 0xff, 1, 1, false), &mut out);
        assert_eq!(out[0].0, [100, 0, 0, 0, 105, 0, 0, 0xff]);
        // The highest lane wins, and a second store of part of a word keeps the rest.
        let same = [base + 1; W];
        overlay.store(&access(&same, 0xff, 1, 1, false), &[Row(std::array::from_fn(|l| 0x80 + l as u32))]);
        let mut out = [Row([0; W])];
        overlay.patch(&access(&[base; W], 1, 2, 1, true), &mut out);
        assert_eq!(out[0].0[0], 0x8764u16 as i16 as u32);
        overlay.publish();
        assert!(overlay.is_empty());
        // SAFETY: these words lie in `memory`, which lives until the end of the test.
        let at = |n: u64| unsafe { u32::load(std::ptr::with_exposed_provenance_mut((base + 4 * n) as usize)) };
        assert_eq!([at(0), at(1), at(7), at(8)], [0x8764, 101, 107, u32::MAX]);
        drop(memory);
    }

    #[test]
    fn many_scattered_blocks_are_found() {
        let mut memory = vec![0u64; 1 << 16];
        let base = (memory.as_mut_ptr().expose_provenance() as u64).next_multiple_of(64);
        let mut overlay = Overlay::new();
        for n in 0..500u64 {
            let to: [u64; W] = std::array::from_fn(|l| base + (n * 8 + l as u64) * 64);
            let rows = [Row([n as u32; W]), Row([7; W])];
            overlay.store(&access(&to, 0xff, 8, 1, false), &rows);
        }
        let from: [u64; W] = std::array::from_fn(|l| base + (499 * 8 + l as u64) * 64);
        let mut out = [Row([0; W]); 2];
        overlay.patch(&access(&from, 0xff, 8, 1, false), &mut out);
        assert_eq!((out[0].0, out[1].0), ([499; W], [7; W]));
        overlay.publish();
        drop(memory);
    }
}
