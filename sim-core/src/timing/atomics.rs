//! Global atomics under way: operands travel with the request, the effect comes in the L2's order.
//!
//! The L2 says in which order atomics take effect; the effects of an epoch are carried out at its end, behind the
//! epoch's plain stores. Their results reach a compute unit only after that, because the way back from the L2 takes at
//! least an epoch.
use crate::lanes::{self, Home};
use warpscope_exec::exec::{Row, Space, WarpAccess};
use warpscope_exec::program::{AccessShape, AtomicOp};
use warpscope_memory::device_memory::View;

/// One warp-wide atomic.
#[derive(Clone, Debug)]
struct Entry<const W: usize> {
    addresses: [u64; W],
    mask: u64,
    shape: AccessShape,
    op: AtomicOp,
    home: Home,
    data: [Row<W>; 2],
    compare: [Row<W>; 2],
    result: [Row<W>; 2],
}

/// The atomics of one compute unit that are under way.
#[derive(Clone, Debug, Default)]
pub(crate) struct AtomicTable<const W: usize> {
    entries: Vec<Entry<W>>,
    free: Vec<u32>,
}

impl<const W: usize> AtomicTable<W> {
    /// Keeps a checked access until [`AtomicTable::remove`].
    pub fn insert(
        &mut self,
        access: &WarpAccess<'_, W>,
        home: Home,
        op: AtomicOp,
        [data, compare]: [&[Row<W>]; 2],
    ) -> u32 {
        let zero = Row([0; W]);
        let pair = |rows: &[Row<W>]| [rows.first().copied().unwrap_or(zero), rows.get(1).copied().unwrap_or(zero)];
        let entry = Entry {
            addresses: *access.addresses,
            mask: access.mask,
            shape: access.shape,
            op,
            home,
            data: pair(data),
            compare: pair(compare),
            result: [zero; 2],
        };
        match self.free.pop() {
            Some(number) => {
                self.entries[number as usize] = entry;
                number
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        }
    }

    /// The lanes `lanes` of entry `number` take effect.
    pub fn perform(&mut self, view: &View, number: u32, lanes: u64) {
        let entry = &mut self.entries[number as usize];
        let access = WarpAccess {
            addresses: &entry.addresses,
            mask: entry.mask,
            shape: entry.shape,
            space: Space::Global,
            pc: 0,
            flags: 0,
        };
        let operands: [&[Row<W>]; 2] = [&entry.data, &entry.compare];
        lanes::atomic(view, entry.home, &access, lanes, entry.op, operands, Some(&mut entry.result));
    }

    /// The old values, lanes, and number of registers that they take; forgets the entry.
    pub fn remove(&mut self, number: u32) -> (&[Row<W>], u64) {
        self.free.push(number);
        let entry = &self.entries[number as usize];
        (&entry.result[..entry.shape.registers() as usize], entry.mask)
    }
}
