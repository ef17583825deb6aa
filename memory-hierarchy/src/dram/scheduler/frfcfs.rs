//! First ready, first come first served: the request whose data can come first, the oldest among equals; one that has
//! waited too long goes before all.
use crate::clock::Ticks;
use crate::dram::channel::{Access, Rank};

pub(super) fn choose(rank: &Rank, waiting: &[Access], now: Ticks) -> Option<usize> {
    let mut best = None;
    let mut earliest = Ticks::MAX;
    for (i, access) in waiting.iter().enumerate() {
        if access.ready > now {
            continue;
        }
        if best.is_none() && now - access.ready > rank.timing().starvation {
            return Some(i);
        }
        let data = rank.earliest_data(access, now);
        if data < earliest {
            (best, earliest) = (Some(i), data);
            if data <= rank.bus_free() {
                // Nothing can be earlier than the bus itself.
                break;
            }
        }
    }
    best
}
