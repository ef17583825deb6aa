//! The way from a compute unit into the interconnect, and back.
use crate::clock::{Port, TICKS, Ticks, cycle_at};
use crate::coalescer::LineAccess;
use crate::request::{L2Request, RequestKind};

/// Rates of the ports, in time for a header and for a sector.
#[derive(Copy, Clone, Debug)]
pub(super) struct Rates {
    pub(super) send_header: Ticks,
    pub(super) send_sector: Ticks,
    pub(super) receive_header: Ticks,
    pub(super) receive_sector: Ticks,
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
    /// Sectors of stores and atomics without an answer yet, and at how many the next must wait.
    pub(super) stores: u32,
    most_stores: u32,
    pub(super) requests: Vec<L2Request>,
}

impl Outbox {
    pub(super) fn new(unit: u16, rates: Rates, most_stores: u32) -> Outbox {
        Outbox {
            unit,
            sequence: 0,
            rates,
            send: Port::default(),
            receive: Port::default(),
            fetch_send: Port::default(),
            fetch_receive: Port::default(),
            stores: 0,
            most_stores,
            requests: Vec::new(),
        }
    }

    /// Whether another store or atomic may leave.
    #[inline(always)]
    pub(super) fn has_credit(&self) -> bool {
        self.stores < self.most_stores
    }

    /// Sends a request that is ready at `cycle`. Stores and atomics take a credit.
    pub(super) fn send(&mut self, cycle: u64, kind: RequestKind, access: &LineAccess, slot: u16, token: u32) {
        let data = match kind {
            RequestKind::Load | RequestKind::Fetch => 0,
            RequestKind::Store | RequestKind::Atomic | RequestKind::Reduction => {
                self.stores += access.sectors.count_ones();
                u64::from(access.sectors.count_ones()) * self.rates.send_sector
            }
        };
        let port = if kind == RequestKind::Fetch { &mut self.fetch_send } else { &mut self.send };
        let length = self.rates.send_header + data;
        let at = cycle_at(port.reserve(cycle * TICKS, length) + length);
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
            repeats: access.repeats,
            slot,
        });
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// Takes in a response that is at the port at `cycle`; gives the cycle at which all of it is in.
    pub(super) fn receive(&mut self, cycle: u64, kind: RequestKind, sectors: u8) -> u64 {
        let port = if kind == RequestKind::Fetch { &mut self.fetch_receive } else { &mut self.receive };
        let length = self.rates.receive_header + u64::from(sectors.count_ones()) * self.rates.receive_sector;
        cycle_at(port.reserve(cycle * TICKS, length) + length)
    }
}
