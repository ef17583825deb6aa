//! Device memory in timing mode: the functional side of an access at issue, and what timing needs to know of it.
use super::atomics::AtomicTable;
use super::overlay::Overlay;
use crate::lanes::{self, Home, Kind, for_lanes};
use warpscope_exec::exec::{AtomicReply, Fault, LaneMemory, Row, Space, WarpAccess};
use warpscope_exec::program::AtomicOp;
use warpscope_memory::banks::Banks;
use warpscope_memory::device_memory::{Span, View};

/// What an access asks of the memory system.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Request {
    Load,
    Store,
    /// Atomic with a result; global ones have an entry in the table of atomics.
    Atomic,
    /// Atomic without a result.
    Reduction,
}

/// An access as timing sees it.
#[derive(Clone, Debug)]
pub(crate) struct Captured<const W: usize> {
    pub request: Request,
    pub space: Space,
    /// Simulated addresses (global, constant) or offsets (local, private).
    pub addresses: [u64; W],
    pub mask: u64,
    /// Bytes of each lane.
    pub bytes: u32,
    /// Entry in the table of atomics, for global atomics.
    pub atomic: u32,
    /// Wavefronts of an access to local memory, whose addresses are not kept.
    pub wavefronts: u32,
}

/// A generic access touches at most global, local and private memory.
const MOST: usize = 3;

/// The accesses of the operation that is being carried out.
#[derive(Clone, Debug)]
pub(crate) struct Capture<const W: usize> {
    parts: [Captured<W>; MOST],
    count: usize,
}

impl<const W: usize> Capture<W> {
    pub fn new() -> Capture<W> {
        let none = Captured {
            request: Request::Load,
            space: Space::Global,
            addresses: [0; W],
            mask: 0,
            bytes: 0,
            atomic: 0,
            wavefronts: 0,
        };
        Capture { parts: [none.clone(), none.clone(), none], count: 0 }
    }

    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// A memory instruction none of whose lanes take part.
    pub fn set_idle(&mut self, request: Request) {
        let part = &mut self.parts[0];
        (part.request, part.space, part.mask, part.bytes, part.wavefronts) = (request, Space::Local, 0, 4, 1);
        self.count = 1;
    }

    pub fn parts(&self) -> &[Captured<W>] {
        &self.parts[..self.count]
    }

    pub fn part_mut(&mut self, part: usize) -> &mut Captured<W> {
        &mut self.parts[part]
    }

    #[inline(always)]
    fn push(&mut self, access: &WarpAccess<'_, W>, request: Request) -> &mut Captured<W> {
        let part = &mut self.parts[self.count.min(MOST - 1)];
        self.count = (self.count + 1).min(MOST);
        part.request = request;
        part.space = access.space;
        part.mask = access.mask;
        part.bytes = access.shape.bytes();
        part
    }
}

/// Memory as `step` sees it while a compute unit runs its window.
pub(crate) struct WindowMemory<'a, const W: usize> {
    pub view: &'a View,
    /// For each operation the allocation that it used last.
    pub spans: &'a mut [Span],
    pub overlay: &'a mut Overlay,
    pub atomics: &'a mut AtomicTable<W>,
    pub capture: &'a mut Capture<W>,
    pub banks: &'a Banks,
}

impl<const W: usize> WindowMemory<'_, W> {
    #[inline(always)]
    fn check(&mut self, access: &WarpAccess<'_, W>, kind: Kind) -> Result<Home, Fault> {
        lanes::check(self.view, &mut self.spans[access.pc as usize], access, kind)
    }

    /// Notes the access with its simulated addresses.
    #[inline(always)]
    fn note(&mut self, access: &WarpAccess<'_, W>, home: Home, request: Request) -> &mut Captured<W> {
        let part = self.capture.push(access, request);
        match home {
            Home::One(span) => {
                for (to, from) in part.addresses.iter_mut().zip(access.addresses) {
                    *to = span.simulated(*from);
                }
            }
            Home::Many => {
                let (view, bytes) = (self.view, u64::from(part.bytes));
                for_lanes::<W>(access.mask, |lane| {
                    let address = access.addresses[lane];
                    part.addresses[lane] = view.find(address, bytes).map_or(address, |s| s.simulated(address));
                });
            }
        }
        part
    }
}

impl<const W: usize> LaneMemory<W> for WindowMemory<'_, W> {
    #[inline]
    fn load(&mut self, access: &WarpAccess<'_, W>, out: &mut [Row<W>]) -> Result<(), Fault> {
        let home = self.check(access, Kind::Read)?;
        lanes::load(self.view, home, access, out);
        self.overlay.patch(access, out);
        self.note(access, home, Request::Load);
        Ok(())
    }

    #[inline]
    fn store(&mut self, access: &WarpAccess<'_, W>, data: &[Row<W>]) -> Result<(), Fault> {
        let home = self.check(access, Kind::Write)?;
        self.overlay.store(access, data);
        self.note(access, home, Request::Store);
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
        let home = self.check(access, Kind::Atomic)?;
        let request = if out.is_some() { Request::Atomic } else { Request::Reduction };
        let entry = self.atomics.insert(access, home, op, [data, compare]);
        self.note(access, home, request).atomic = entry;
        Ok(AtomicReply::Deferred)
    }

    #[inline]
    fn announce(&mut self, access: &WarpAccess<'_, W>, store: bool, atomic: bool) {
        let request = match (store, atomic) {
            (_, true) => Request::Atomic,
            (true, false) => Request::Store,
            (false, false) => Request::Load,
        };
        let part = self.capture.push(access, request);
        match (access.space, atomic) {
            (Space::Local, false) => {
                part.wavefronts = self.banks.wavefronts(access.addresses, access.mask, part.bytes);
            }
            (Space::Local, true) => {
                part.wavefronts = self.banks.atomic_wavefronts(access.addresses, access.mask, part.bytes);
            }
            _ => part.addresses = *access.addresses,
        }
    }
}
