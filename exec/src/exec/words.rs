//! Lane addresses, and plain word accesses to local and private memory: what kernels do most, compiled for the host's
//! vector extensions. What is not of this kind (narrow elements, out of bounds, misaligned) is left to `local` and
//! `private`, which carry it out or find the fault.
use super::lanes::{Lanes, blend, each, full_mask};
use super::level::Level;
use super::semantics::{Outcome, Target};
use super::{Group, Row, Space};
use crate::program::{AccessShape, Operand, OperandKind};

/// Byte offsets of the lanes from the start of a memory; inactive lanes repeat the first active one's.
struct Offsets<const W: usize> {
    of: [u32; W],
    /// All are within bounds, below 2^31 and at whole words.
    plain: bool,
    /// All are the same.
    same: bool,
    /// Those of each part of [`PART`] lanes are the same.
    parts_same: bool,
    /// In each part lane `i` is `4 * i` behind the first.
    parts_contiguous: bool,
}

/// Neighbouring lanes whose accesses are looked at together: every width has whole parts, and work-groups' rows too.
const PART: usize = 8;

impl<const W: usize> Lanes<'_, W> {
    /// Leaves 64-bit addresses for the access that `outcome` names.
    #[inline(always)]
    pub fn at_address(&mut self, outcome: Outcome) -> Outcome {
        let offset = self.op.imm as i64 as u64;
        let mut addresses = self.longs(0);
        for a in &mut addresses {
            *a = a.wrapping_add(offset);
        }
        self.scratch.addresses = addresses;
        outcome
    }

    /// Leaves 32-bit offsets for the access that `outcome` names.
    #[inline(always)]
    pub fn at_offset(&mut self, outcome: Outcome) -> Outcome {
        let offset = self.op.imm as u32;
        let addresses = each(&self.words(0), |a| a.wrapping_add(offset) as u64);
        self.scratch.addresses = addresses;
        outcome
    }

    /// Offsets in a memory of `size` bytes that begins at `base`.
    #[inline(always)]
    fn offsets(&self, base: u32, size: usize, bytes: u32) -> Offsets<W> {
        let shift = (self.op.imm as u32).wrapping_sub(base);
        let a = self.words(0);
        let mut of = [0; W];
        for i in 0..W {
            of[i] = a[i].wrapping_add(shift);
        }
        if self.mask != full_mask(W) {
            let mut row = Row([of[self.mask.trailing_zeros() as usize % W]; W]);
            blend(&mut row, &of, self.mask);
            of = row.0;
        }
        let first = of[0];
        let (mut most, mut bits, mut differ, mut differ_part, mut gap) = (0, 0, 0, 0, 0);
        for i in 0..W {
            let first_of_part = of[i / PART * PART];
            most = of[i].max(most);
            bits |= of[i];
            differ |= of[i] ^ first;
            differ_part |= of[i] ^ first_of_part;
            gap |= of[i] ^ first_of_part.wrapping_add(4 * (i % PART) as u32);
        }
        let fits = (bytes as usize..=i32::MAX as usize).contains(&size) && most as usize <= size - bytes as usize;
        Offsets {
            of,
            plain: fits && bits & 3 == 0,
            same: differ == 0,
            parts_same: differ_part == 0,
            parts_contiguous: gap == 0,
        }
    }

    /// The shape, if it is of whole words.
    #[inline(always)]
    fn word_shape(&self) -> Option<AccessShape> {
        let shape = AccessShape::unpack(self.op.imm2);
        // Pairs must lie at multiples of 8 in local memory: left to the careful path.
        (shape.element == 4).then_some(shape)
    }

    #[inline(always)]
    pub fn load_local<L: Level>(&mut self, group: &Group) -> Outcome {
        let careful = self.at_offset(Outcome::Load(Target::Known(Space::Local)));
        let Some(shape) = self.word_shape().filter(|_| !self.op.dst.is_none()) else { return careful };
        let at = self.offsets(group.reserved, group.local.len(), shape.bytes());
        if !at.plain {
            return careful;
        }
        for word in 0..shape.count as usize {
            let memory = group.local[4 * word..].as_ptr();
            let mut d = [0; W];
            // SAFETY: all offsets are at most the memory's size less the access's bytes, of which 4 * word are behind
            // `memory`, so each read of 4 bytes ends within it; where contiguous, so does the part's last one.
            unsafe {
                let part = |n: usize| memory.add(at.of[n * PART] as usize);
                let parts = d.as_chunks_mut::<PART>().0.iter_mut().enumerate();
                if at.parts_same {
                    parts.for_each(|(n, d)| *d = [part(n).cast::<u32>().read_unaligned(); PART]);
                } else if at.parts_contiguous {
                    parts.for_each(|(n, d)| *d = part(n).cast::<[u32; PART]>().read_unaligned());
                } else {
                    d = L::gather(memory, &at.of);
                }
            }
            self.store(Operand(self.op.dst.0.wrapping_add(word as u16)), &each(&d, u32::from_le));
        }
        Outcome::Announce(Space::Local, false)
    }

    #[inline(always)]
    pub fn store_local(&mut self, group: &mut Group) -> Outcome {
        let careful = self.at_offset(Outcome::Store(Target::Known(Space::Local)));
        let Some(shape) = self.word_shape().filter(|s| s.count == 1) else { return careful };
        let at = self.offsets(group.reserved, group.local.len(), shape.bytes());
        if !at.plain {
            return careful;
        }
        let data = each(&self.words(1), u32::to_le);
        let memory = group.local.as_mut_ptr();
        let full = self.mask == full_mask(W);
        // SAFETY: all offsets are at most the memory's size less 4; where contiguous, the part's last one is.
        unsafe {
            if full && at.parts_contiguous {
                for (n, data) in data.as_chunks::<PART>().0.iter().enumerate() {
                    memory.add(at.of[n * PART] as usize).cast::<[u32; PART]>().write_unaligned(*data);
                }
            } else if full {
                for i in 0..W {
                    memory.add(at.of[i] as usize).cast::<u32>().write_unaligned(data[i]);
                }
            } else {
                let mut mask = self.mask;
                while mask != 0 {
                    let i = mask.trailing_zeros() as usize % W;
                    memory.add(at.of[i] as usize).cast::<u32>().write_unaligned(data[i]);
                    mask &= mask - 1;
                }
            }
        }
        Outcome::Announce(Space::Local, true)
    }

    #[inline(always)]
    pub fn load_private(&mut self) -> Outcome {
        let careful = self.at_offset(Outcome::Load(Target::Known(Space::Private)));
        let shape = AccessShape::unpack(self.op.imm2);
        if shape.element < 4 || self.op.dst.is_none() {
            return careful;
        }
        let at = self.offsets(0, 4 * self.warp.private.len(), shape.bytes());
        if !at.plain {
            return careful;
        }
        for word in 0..shape.registers() as usize {
            let d = if at.same {
                self.warp.private[at.of[0] as usize / 4 + word].0
            } else {
                let memory = &self.warp.private[word..];
                let mut d = [0; W];
                for i in 0..W {
                    d[i] = memory[at.of[i] as usize / 4].0[i];
                }
                d
            };
            self.store(Operand(self.op.dst.0.wrapping_add(word as u16)), &d);
        }
        Outcome::Announce(Space::Private, false)
    }

    #[inline(always)]
    pub fn store_private(&mut self) -> Outcome {
        let careful = self.at_offset(Outcome::Store(Target::Known(Space::Private)));
        let shape = AccessShape::unpack(self.op.imm2);
        if shape.element < 4 {
            return careful;
        }
        let at = self.offsets(0, 4 * self.warp.private.len(), shape.bytes());
        if !(at.plain && at.same) {
            return careful;
        }
        if let OperandKind::Uniform(_) = self.op.src[1].kind() {
            self.scratch.spread(self.op.src[1], shape.registers() as usize, self.warp);
        }
        for word in 0..shape.registers() as usize {
            let data = *self.row(Operand(self.op.src[1].0.wrapping_add(word as u16)));
            let row = &mut self.warp.private[at.of[0] as usize / 4 + word];
            if self.mask == full_mask(W) {
                *row = data;
            } else {
                blend(row, &data.0, self.mask);
            }
        }
        Outcome::Announce(Space::Private, true)
    }
}
