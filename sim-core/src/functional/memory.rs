//! Device memory in functional mode: every access takes effect at once.
use crate::lanes::{self, Kind};
use warpscope_exec::exec::{AtomicReply, Fault, LaneMemory, Row, WarpAccess};
use warpscope_exec::program::AtomicOp;
use warpscope_memory::device_memory::{Span, View};

/// Direct access; remembers for each operation the allocation that it used last.
pub(crate) struct DirectMemory<'a> {
    view: &'a View,
    spans: Vec<Span>,
}

impl<'a> DirectMemory<'a> {
    pub fn new(view: &'a View, operations: usize) -> DirectMemory<'a> {
        DirectMemory { view, spans: vec![Span::EMPTY; operations] }
    }
}

impl<const W: usize> LaneMemory<W> for DirectMemory<'_> {
    #[inline]
    fn load(&mut self, access: &WarpAccess<'_, W>, out: &mut [Row<W>]) -> Result<(), Fault> {
        let home = lanes::check(self.view, &mut self.spans[access.pc as usize], access, Kind::Read)?;
        lanes::load(self.view, home, access, out);
        Ok(())
    }

    #[inline]
    fn store(&mut self, access: &WarpAccess<'_, W>, data: &[Row<W>]) -> Result<(), Fault> {
        let home = lanes::check(self.view, &mut self.spans[access.pc as usize], access, Kind::Write)?;
        lanes::store(self.view, home, access, data);
        Ok(())
    }

    fn atomic(
        &mut self,
        access: &WarpAccess<'_, W>,
        op: AtomicOp,
        data: &[Row<W>],
        compare: &[Row<W>],
        out: Option<&mut [Row<W>]>,
    ) -> Result<AtomicReply, Fault> {
        let home = lanes::check(self.view, &mut self.spans[access.pc as usize], access, Kind::Atomic)?;
        lanes::atomic(self.view, home, access, access.mask, op, [data, compare], out);
        Ok(AtomicReply::Done)
    }

    #[inline]
    fn announce(&mut self, _access: &WarpAccess<'_, W>, _store: bool, _atomic: bool) {}
}
