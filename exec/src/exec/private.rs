//! Accesses to private memory, interleaved so that word `o / 4` of all lanes is one row.
use super::lanes::{blend, full_mask};
use super::local::check;
use super::{AtomicReply, Fault, Row, WarpAccess, atomic_result};
use crate::program::AtomicOp;

/// The row that all active lanes access, if it is the same.
fn common<const W: usize>(access: &WarpAccess<'_, W>) -> Option<usize> {
    let first = access.addresses[access.mask.trailing_zeros() as usize % W];
    let mut differ = 0;
    for (i, &a) in access.addresses.iter().enumerate() {
        differ |= if access.mask >> i & 1 != 0 { a ^ first } else { 0 };
    }
    (differ == 0).then_some(first as usize / 4)
}

fn check_private<const W: usize>(
    memory: &[Row<W>],
    access: &WarpAccess<'_, W>,
    name: &'static str,
) -> Result<(), Fault> {
    check(access, 0, memory.len() as u64 * 4, (access.shape.element as u32).min(4), name)
}

fn lanes<const W: usize>(mask: u64) -> impl Iterator<Item = usize> {
    (0..W).filter(move |&i| mask >> i & 1 != 0)
}

/// Reads into `out`.
pub(super) fn load<const W: usize>(
    memory: &[Row<W>],
    access: &WarpAccess<'_, W>,
    out: &mut [Row<W>],
) -> Result<(), Fault> {
    check_private(memory, access, "read")?;
    let shape = access.shape;
    let rows = &mut out[..shape.registers() as usize];
    if shape.element >= 4 {
        if let Some(first) = common(access) {
            for (to, from) in rows.iter_mut().zip(&memory[first..]) {
                if access.mask == full_mask(W) {
                    *to = *from;
                } else {
                    blend(to, &from.0, access.mask);
                }
            }
            return Ok(());
        }
        for i in lanes::<W>(access.mask) {
            let first = access.addresses[i] as usize / 4;
            for (to, from) in rows.iter_mut().zip(&memory[first..]) {
                to.0[i] = from.0[i];
            }
        }
        return Ok(());
    }
    let bits = 8 * shape.element as u32;
    for i in lanes::<W>(access.mask) {
        for (e, to) in rows.iter_mut().enumerate() {
            let at = access.addresses[i] as usize + e * shape.element as usize;
            let word = memory[at / 4].0[i] >> (8 * (at % 4)) << (32 - bits);
            to.0[i] = if shape.signed { (word as i32 >> (32 - bits)) as u32 } else { word >> (32 - bits) };
        }
    }
    Ok(())
}

/// Writes `data`.
pub(super) fn store<const W: usize>(
    memory: &mut [Row<W>],
    access: &WarpAccess<'_, W>,
    data: &[Row<W>],
) -> Result<(), Fault> {
    check_private(memory, access, "write")?;
    let shape = access.shape;
    let rows = &data[..shape.registers() as usize];
    if shape.element >= 4 {
        if let Some(first) = common(access) {
            for (to, from) in memory[first..].iter_mut().zip(rows) {
                if access.mask == full_mask(W) {
                    *to = *from;
                } else {
                    blend(to, &from.0, access.mask);
                }
            }
            return Ok(());
        }
        for i in lanes::<W>(access.mask) {
            let first = access.addresses[i] as usize / 4;
            for (to, from) in memory[first..].iter_mut().zip(rows) {
                to.0[i] = from.0[i];
            }
        }
        return Ok(());
    }
    let field = u32::MAX >> (32 - 8 * shape.element as u32);
    for i in lanes::<W>(access.mask) {
        for (e, from) in rows.iter().enumerate() {
            let at = access.addresses[i] as usize + e * shape.element as usize;
            let shift = 8 * (at % 4);
            let word = &mut memory[at / 4].0[i];
            *word = *word & !(field << shift) | (from.0[i] & field) << shift;
        }
    }
    Ok(())
}

/// Atomic (through a generic pointer): no other work-item sees private memory, so it is a plain read and write.
pub(super) fn atomic<const W: usize>(
    memory: &mut [Row<W>],
    access: &WarpAccess<'_, W>,
    op: AtomicOp,
    data: &[Row<W>],
    compare: &[Row<W>],
    mut out: Option<&mut [Row<W>]>,
) -> Result<AtomicReply, Fault> {
    check_private(memory, access, "atomic")?;
    let wide = access.shape.element == 8;
    let value = |rows: &[Row<W>], i: usize| {
        let low = rows.first().map_or(0, |r| r.0[i]) as u64;
        if wide { low | (rows.get(1).map_or(0, |r| r.0[i]) as u64) << 32 } else { low }
    };
    for i in lanes::<W>(access.mask) {
        let at = access.addresses[i] as usize / 4;
        let old = value(&memory[at..], i);
        let new = atomic_result(op, access.shape.element as u32, old, value(data, i), value(compare, i));
        memory[at].0[i] = new as u32;
        if wide {
            memory[at + 1].0[i] = (new >> 32) as u32;
        }
        if let Some(out) = out.as_deref_mut() {
            out[0].0[i] = old as u32;
            if wide {
                out[1].0[i] = (old >> 32) as u32;
            }
        }
    }
    Ok(AtomicReply::Done)
}
