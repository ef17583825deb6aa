//! The way from a compute unit into the interconnect, and back.
use crate::cache::SetIndex;
use crate::clock::{Port, TICKS, Ticks, cycle_at};
use crate::coalescer::LineAccess;
use crate::request::{L2Request, RequestKind, ones};
use warpscope_configs::specs::MemorySpec;

/// Rates of the ports, in time for a header and for a sector.
#[derive(Copy, Clone, Debug)]
pub(super) struct Rates {
    pub(super) send_header: Ticks,
    pub(super) send_sector: Ticks,
    /// The byte mask of a store that leaves bytes of its sectors out.
    pub(super) send_mask: Ticks,
    pub(super) receive_header: Ticks,
    pub(super) receive_sector: Ticks,
}

/// Lines of stores that are remembered.
const STORED: usize = 64;

/// A line that was stored to.
#[derive(Copy, Clone, Debug, Default)]
struct Stored {
    line: u64,
    sectors: u8,
    /// Until when further stores to these sectors go with it.
    until: u64,
}

/// Ports in both directions and the requests that the L2 has not yet taken.
#[derive(Clone, Debug)]
pub(super) struct Outbox {
    unit: u16,
    sequence: u32,
    rates: Rates,
    send: Port,
    receive: Port,
    /// Instruction and constant fetches have their own way in and out.
    fetch_send: Port,
    fetch_receive: Port,
    /// Sectors of stores without an answer yet, and of atomics at the exit; and at how many the next must wait.
    pub(super) stores: u32,
    most_stores: u32,
    pub(super) atomics: u32,
    most_atomics: u32,
    /// 32nds of a line that make a sector.
    parts: u32,
    /// Lines stored to of late, by line number, and for how long stores to one are combined.
    stored: [Stored; STORED],
    combine: u64,
    line_shift: u32,
    pub(super) requests: Vec<L2Request>,
}

impl Outbox {
    pub(super) fn new(unit: u16, rates: Rates, spec: &MemorySpec) -> Outbox {
        Outbox {
            unit,
            sequence: 0,
            rates,
            send: Port::default(),
            receive: Port::default(),
            fetch_send: Port::default(),
            fetch_receive: Port::default(),
            stores: 0,
            atomics: 0,
            most_atomics: spec.interconnect.atomics,
            most_stores: spec.interconnect.stores,
            parts: 32 * spec.sector / spec.line,
            stored: [Stored::default(); STORED],
            combine: u64::from(spec.interconnect.combine),
            line_shift: spec.line.trailing_zeros(),
            requests: Vec::new(),
        }
    }

    /// Whether another store may leave.
    #[inline(always)]
    pub(super) fn takes_store(&self) -> bool {
        self.stores < self.most_stores
    }

    /// Whether another atomic may leave.
    #[inline(always)]
    pub(super) fn takes_atomic(&self) -> bool {
        self.atomics < self.most_atomics
    }

    /// Whether every store and atomic has been answered.
    pub(super) fn is_idle(&self) -> bool {
        self.stores == 0 && self.atomics == 0
    }

    /// 32nds of a line that make these sectors.
    fn whole(&self, sectors: u8) -> u32 {
        ones(sectors) * self.parts
    }

    /// Sends a request that is ready at `cycle`. Stores and atomics take a credit.
    pub(super) fn send(&mut self, cycle: u64, kind: RequestKind, access: &LineAccess, slot: u16, token: u32) {
        // What goes with an earlier store only brings its bytes to that one's sectors.
        let joined = if kind == RequestKind::Store { access.sectors & self.combined(cycle, access) } else { 0 };
        let sectors = access.sectors & !joined;
        if kind == RequestKind::Store && joined != 0 {
            self.push(cycle, kind, LineAccess { sectors: joined, ..*access }, (slot, token), true);
        }
        if sectors == 0 {
            return;
        }
        let data = match kind {
            RequestKind::Load | RequestKind::Fetch => 0,
            RequestKind::Atomic | RequestKind::Reduction => u64::from(access.atomic_passes()) * self.rates.send_sector,
            RequestKind::Store => {
                let masked = access.covered.count_ones() < self.whole(access.sectors);
                let mask = if masked { self.rates.send_mask } else { 0 };
                u64::from(ones(sectors)) * self.rates.send_sector + mask
            }
        };
        let port = if kind == RequestKind::Fetch { &mut self.fetch_send } else { &mut self.send };
        let length = self.rates.send_header + data;
        let at = cycle_at(port.reserve(cycle * TICKS, length) + length);
        self.push(at, kind, LineAccess { sectors, ..*access }, (slot, token), false);
    }

    /// The sectors of the access's line to which a store has gone so shortly before `cycle` that another one goes with it.
    /// It is remembered as the latest.
    fn combined(&mut self, cycle: u64, access: &LineAccess) -> u8 {
        if self.combine == 0 {
            return 0;
        }
        let stored = &mut self.stored[(access.line >> self.line_shift) as usize % STORED];
        if stored.line == access.line && cycle < stored.until {
            let before = stored.sectors;
            stored.sectors |= access.sectors;
            return before;
        }
        *stored = Stored { line: access.line, sectors: access.sectors, until: cycle + self.combine };
        0
    }

    fn push(&mut self, at: u64, kind: RequestKind, access: LineAccess, (slot, token): (u16, u32), joined: bool) {
        match kind {
            RequestKind::Store => self.stores += ones(access.sectors),
            RequestKind::Atomic | RequestKind::Reduction => self.atomics += access.atomic_passes(),
            RequestKind::Load | RequestKind::Fetch => {}
        }
        self.requests.push(L2Request {
            at,
            line: access.line,
            lanes: access.lanes,
            token,
            sequence: self.sequence,
            unit: self.unit,
            written: access.covered,
            kind,
            sectors: access.sectors,
            passes: access.atomic_passes() as u8,
            slot,
            joined,
            home: 0,
            local: 0,
            set: SetIndex::default(),
        });
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// Takes in a response that is at the port at `cycle`; gives the cycle at which all of it is in.
    pub(super) fn receive(&mut self, cycle: u64, kind: RequestKind, sectors: u8) -> u64 {
        let port = if kind == RequestKind::Fetch { &mut self.fetch_receive } else { &mut self.receive };
        let length = self.rates.receive_header + u64::from(ones(sectors)) * self.rates.receive_sector;
        cycle_at(port.reserve(cycle * TICKS, length) + length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outbox() -> Outbox {
        let memory = crate::tests::h200().memory;
        let rates =
            Rates { send_header: 0, send_sector: TICKS, send_mask: TICKS, receive_header: 0, receive_sector: TICKS };
        Outbox::new(0, rates, &memory)
    }

    /// Stores to 4 bytes of each of `sectors`.
    fn part(line: u64, sectors: u8) -> LineAccess {
        LineAccess { line, lanes: 1, covered: 0, sectors, passes: 0 }
    }

    /// One unit of the H200 stores 4 bytes to 8 lines of 4 sectors in 40 cycles, to 32 lines of 1 sector in 64, and a
    /// whole line in 4.
    #[test]
    fn stores_take_the_measured_time() {
        let mut o = outbox();
        (0..8).for_each(|line| o.send(0, RequestKind::Store, &part(line * 128, 15), 0, 0));
        assert_eq!(o.requests.last().map(|r| r.at), Some(40));
        let mut o = outbox();
        (0..32).for_each(|line| o.send(0, RequestKind::Store, &part(line * 128, 1), 0, 0));
        assert_eq!(o.requests.last().map(|r| r.at), Some(64));
        let mut o = outbox();
        o.send(0, RequestKind::Store, &LineAccess { covered: u32::MAX, ..part(0, 15) }, 0, 0);
        assert_eq!(o.requests.last().map(|r| r.at), Some(4));
    }

    #[test]
    fn a_store_shortly_after_another_goes_with_it() {
        let mut o = outbox();
        o.send(0, RequestKind::Store, &part(0, 3), 0, 0);
        o.send(5, RequestKind::Store, &part(0, 6), 0, 0);
        let sent: Vec<_> = o.requests.iter().map(|r| (r.sectors, r.joined)).collect();
        assert_eq!(sent, [(3, false), (2, true), (4, false)]);
        assert_eq!(o.stores, 4, "each request is answered");
        o.send(100, RequestKind::Store, &part(0, 1), 0, 0);
        assert_eq!(o.requests.last().map(|r| r.joined), Some(false), "too late");
    }
}
