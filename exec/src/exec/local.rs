//! Accesses to local memory, which belongs to the work-group.
use super::{AtomicReply, Fault, Group, Row, WarpAccess, atomic_result, lanes::blend, lanes::full_mask};
use crate::program::AtomicOp;

/// Checks bounds and alignment of every lane, quickly for all and then, at fault, one by one.
#[inline]
pub(super) fn check<const W: usize>(
    access: &WarpAccess<'_, W>,
    base: u64,
    bytes_there: u64,
    align: u32,
    name: &'static str,
) -> Result<(), Fault> {
    let bytes = access.shape.bytes();
    let limit = bytes_there.wrapping_sub(bytes as u64);
    let (mut all, mut most) = (0, 0);
    for (i, &a) in access.addresses.iter().enumerate() {
        let a = if access.mask >> i & 1 != 0 { a.wrapping_sub(base) } else { 0 };
        all |= a;
        most = most.max(a);
    }
    if bytes_there >= bytes as u64 && most <= limit && all & (align as u64 - 1) == 0 {
        return Ok(());
    }
    Err(fault(access, base, bytes_there, align, name))
}

#[cold]
fn fault<const W: usize>(
    access: &WarpAccess<'_, W>,
    base: u64,
    bytes_there: u64,
    align: u32,
    name: &'static str,
) -> Fault {
    let bytes = access.shape.bytes();
    let outside = |a: u64| a.wrapping_sub(base).checked_add(bytes as u64).is_none_or(|end| end > bytes_there);
    let misaligned = |a: u64| a.wrapping_sub(base) & (align as u64 - 1) != 0;
    let lanes = || (0..W).filter(|i| access.mask >> i & 1 != 0);
    let space = access.space;
    if let Some(lane) = lanes().find(|&i| outside(access.addresses[i])) {
        let near = format!("; the kernel has {bytes_there} bytes there, from {base:#x}");
        return Fault::OutOfBounds {
            access: name,
            bytes,
            address: access.addresses[lane],
            space,
            lane: lane as u32,
            near,
        };
    }
    let lane = lanes().find(|&i| misaligned(access.addresses[i])).unwrap_or(0);
    Fault::Misaligned { access: name, bytes, address: access.addresses[lane], space, lane: lane as u32, align }
}

/// How the lanes' addresses lie to each other.
enum Pattern {
    /// Each lane `stride` bytes behind the one before (all lanes active).
    Contiguous,
    /// All the same (all lanes active).
    Same,
    Any,
}

fn pattern<const W: usize>(access: &WarpAccess<'_, W>, stride: u64) -> Pattern {
    if access.mask != full_mask(W) {
        return Pattern::Any;
    }
    let first = access.addresses[0];
    let (mut same, mut contiguous) = (0, 0);
    for (i, &a) in access.addresses.iter().enumerate() {
        let step = a.wrapping_sub(first);
        same |= step;
        contiguous |= step ^ (i as u64 * stride);
    }
    if same == 0 {
        Pattern::Same
    } else if contiguous == 0 {
        Pattern::Contiguous
    } else {
        Pattern::Any
    }
}

/// Reads an element at byte `at`, which was checked.
#[inline(always)]
fn get<const N: usize>(memory: &[u8], at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&memory[at..at + N]);
    bytes
}

#[inline(always)]
fn each(mut mask: u64, mut f: impl FnMut(usize)) {
    while mask != 0 {
        f(mask.trailing_zeros() as usize);
        mask &= mask - 1;
    }
}

impl Group {
    /// Reads into `out`.
    pub(super) fn load<const W: usize>(&self, access: &WarpAccess<'_, W>, out: &mut [Row<W>]) -> Result<(), Fault> {
        let base = self.reserved as u64;
        check(access, base, self.local.len() as u64, access.shape.element as u32, "read")?;
        let memory = &self.local[..];
        let place = |lane: usize| (access.addresses[lane] - base) as usize;
        let (count, signed) = (access.shape.count as usize, access.shape.signed);
        match access.shape.element {
            4 if count == 1 => match pattern(access, 4) {
                Pattern::Contiguous => {
                    let bytes = &memory[place(0)..place(0) + 4 * W];
                    for (to, from) in out[0].0.iter_mut().zip(bytes.as_chunks::<4>().0) {
                        *to = u32::from_le_bytes(*from);
                    }
                }
                Pattern::Same => out[0].0 = [u32::from_le_bytes(get(memory, place(0))); W],
                Pattern::Any => each(access.mask, |i| out[0].0[i] = u32::from_le_bytes(get(memory, place(i)))),
            },
            4 | 8 => {
                for (word, row) in out[..access.shape.registers() as usize].iter_mut().enumerate() {
                    each(access.mask, |i| row.0[i] = u32::from_le_bytes(get(memory, place(i) + 4 * word)));
                }
            }
            2 => {
                for (e, row) in out[..count].iter_mut().enumerate() {
                    each(access.mask, |i| {
                        let v = u16::from_le_bytes(get(memory, place(i) + 2 * e));
                        row.0[i] = if signed { v as i16 as u32 } else { v as u32 };
                    });
                }
            }
            _ => {
                for (e, row) in out[..count].iter_mut().enumerate() {
                    each(access.mask, |i| {
                        let v = memory[place(i) + e];
                        row.0[i] = if signed { v as i8 as u32 } else { v as u32 };
                    });
                }
            }
        }
        Ok(())
    }

    /// Writes `data`, lanes in rising order.
    pub(super) fn store<const W: usize>(&mut self, access: &WarpAccess<'_, W>, data: &[Row<W>]) -> Result<(), Fault> {
        let base = self.reserved as u64;
        check(access, base, self.local.len() as u64, access.shape.element as u32, "write")?;
        let memory = &mut self.local[..];
        let place = |lane: usize| (access.addresses[lane] - base) as usize;
        let count = access.shape.count as usize;
        match access.shape.element {
            4 if count == 1 => match pattern(access, 4) {
                Pattern::Contiguous => {
                    let bytes = &mut memory[place(0)..place(0) + 4 * W];
                    for (to, from) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(&data[0].0) {
                        *to = from.to_le_bytes();
                    }
                }
                Pattern::Same | Pattern::Any => each(access.mask, |i| {
                    memory[place(i)..place(i) + 4].copy_from_slice(&data[0].0[i].to_le_bytes());
                }),
            },
            4 | 8 => {
                let rows = &data[..access.shape.registers() as usize];
                each(access.mask, |i| {
                    let to = &mut memory[place(i)..place(i) + 4 * rows.len()];
                    for (to, row) in to.as_chunks_mut::<4>().0.iter_mut().zip(rows) {
                        *to = row.0[i].to_le_bytes();
                    }
                });
            }
            2 => each(access.mask, |i| {
                for (e, row) in data[..count].iter().enumerate() {
                    memory[place(i) + 2 * e..][..2].copy_from_slice(&(row.0[i] as u16).to_le_bytes());
                }
            }),
            _ => each(access.mask, |i| {
                for (e, row) in data[..count].iter().enumerate() {
                    memory[place(i) + e] = row.0[i] as u8;
                }
            }),
        }
        Ok(())
    }

    /// Atomic of 4 or 8 bytes, lanes in rising order.
    pub(super) fn atomic<const W: usize>(
        &mut self,
        access: &WarpAccess<'_, W>,
        op: AtomicOp,
        data: &[Row<W>],
        compare: &[Row<W>],
        mut out: Option<&mut [Row<W>]>,
    ) -> Result<AtomicReply, Fault> {
        let base = self.reserved as u64;
        let bytes = access.shape.element as u32;
        check(access, base, self.local.len() as u64, bytes, "atomic")?;
        if bytes == 4 && access.shape.count == 1 {
            self.atomic_words(access, op, data, compare, out);
            return Ok(AtomicReply::Done);
        }
        let value = |rows: &[Row<W>], i: usize| {
            let low = rows.first().map_or(0, |r| r.0[i]) as u64;
            if bytes == 8 { low | (rows.get(1).map_or(0, |r| r.0[i]) as u64) << 32 } else { low }
        };
        each(access.mask, |i| {
            let at = (access.addresses[i] - base) as usize;
            let word = &mut self.local[at..at + bytes as usize];
            let mut old = [0; 8];
            old[..word.len()].copy_from_slice(word);
            let old = u64::from_le_bytes(old);
            let new = atomic_result(op, bytes, old, value(data, i), value(compare, i));
            word.copy_from_slice(&new.to_le_bytes()[..word.len()]);
            if let Some(out) = out.as_deref_mut() {
                out[0].0[i] = old as u32;
                if bytes == 8 {
                    out[1].0[i] = (old >> 32) as u32;
                }
            }
        });
        Ok(AtomicReply::Done)
    }

    /// Of whole words, checked: one loop for each operation that kernels use in bulk.
    fn atomic_words<const W: usize>(
        &mut self,
        access: &WarpAccess<'_, W>,
        op: AtomicOp,
        data: &[Row<W>],
        compare: &[Row<W>],
        out: Option<&mut [Row<W>]>,
    ) {
        let base = self.reserved as u64;
        let zero = Row([0; W]);
        let (data, compare) = (data.first().unwrap_or(&zero), compare.first().unwrap_or(&zero));
        let out = out.and_then(|rows| rows.first_mut());
        let words = Words { memory: &mut self.local, base, access, data, compare };
        match op {
            AtomicOp::Add => words.update(out, |old, data, _| old.wrapping_add(data)),
            AtomicOp::Inc => words.update(out, |old, _, _| old.wrapping_add(1)),
            AtomicOp::Sub => words.update(out, |old, data, _| old.wrapping_sub(data)),
            AtomicOp::Dec => words.update(out, |old, _, _| old.wrapping_sub(1)),
            AtomicOp::Or => words.update(out, |old, data, _| old | data),
            AtomicOp::UMax => words.update(out, |old, data, _| old.max(data)),
            AtomicOp::UMin => words.update(out, |old, data, _| old.min(data)),
            AtomicOp::SMax => words.update(out, |old, data, _| (old as i32).max(data as i32) as u32),
            AtomicOp::SMin => words.update(out, |old, data, _| (old as i32).min(data as i32) as u32),
            _ => words
                .update(out, |old, data, compare| atomic_result(op, 4, old.into(), data.into(), compare.into()) as u32),
        }
    }
}

/// Words of local memory that a checked access updates.
struct Words<'a, const W: usize> {
    memory: &'a mut [u8],
    base: u64,
    access: &'a WarpAccess<'a, W>,
    data: &'a Row<W>,
    compare: &'a Row<W>,
}

impl<const W: usize> Words<'_, W> {
    /// Lanes in rising order: `f` of old value, data and compare value.
    #[inline(always)]
    fn update(self, out: Option<&mut Row<W>>, f: impl Fn(u32, u32, u32) -> u32) {
        let Words { memory, base, access, data, compare } = self;
        let mut old_values = [0; W];
        let mut change = |i: usize| {
            let at = (access.addresses[i] - base) as usize;
            let Some(word) = memory.get_mut(at..at + 4) else { return };
            let old = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            old_values[i] = old;
            word.copy_from_slice(&f(old, data.0[i], compare.0[i]).to_le_bytes());
        };
        if access.mask == full_mask(W) {
            (0..W).for_each(change);
        } else {
            each(access.mask, &mut change);
        }
        if let Some(out) = out {
            blend(out, &old_values, access.mask);
        }
    }
}
