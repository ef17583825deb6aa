//! A snapshot of the live allocations.
use super::{Allocation, Region, Span};
use std::sync::Arc;

/// The allocations that were live when it was made; it keeps them alive. Cheap to clone.
#[derive(Clone, Debug)]
pub struct View(Arc<Table>);

#[derive(Debug)]
struct Table {
    /// Rising by address.
    regions: Vec<Arc<Region>>,
    bases: Vec<u64>,
    /// Whether any two overlap, so that the nearest base below need not be the right one.
    overlapping: bool,
}

impl View {
    pub(super) fn new(regions: Vec<Arc<Region>>) -> View {
        let bases = regions.iter().map(|r| r.facts.address).collect();
        let overlapping = regions.windows(2).any(|p| p[0].facts.address + p[0].facts.size > p[1].facts.address);
        View(Arc::new(Table { regions, bases, overlapping }))
    }

    /// The allocation that holds `bytes` bytes at `address`.
    pub fn find(&self, address: u64, bytes: u64) -> Option<Span> {
        let table = &*self.0;
        let after = table.bases.partition_point(|&b| b <= address);
        let facts = |i: usize| &table.regions[i].facts;
        let nearest = after.checked_sub(1).map(facts).filter(|f| f.contains(address, bytes));
        if nearest.is_none() && table.overlapping {
            return (0..after).rev().map(facts).find(|f| f.contains(address, bytes)).map(Span::new);
        }
        nearest.map(Span::new)
    }

    /// Points `last` at the allocation that holds the range; `false` (and `last` unchanged) where there is none.
    #[inline(always)]
    pub fn hold(&self, last: &mut Span, address: u64, bytes: u64) -> bool {
        if !last.contains(address, bytes) {
            let Some(span) = self.find(address, bytes) else { return false };
            *last = span;
        }
        true
    }

    /// Live allocations, rising by address.
    pub fn allocations(&self) -> impl Iterator<Item = &Allocation> {
        self.0.regions.iter().map(|r| &r.facts)
    }

    /// The nearest allocation as text for a fault message: empty, or beginning with "; ".
    pub fn near(&self, address: u64) -> String {
        let distance = |a: &Allocation| match address.checked_sub(a.address) {
            None => a.address - address,
            Some(offset) => (offset + 1).saturating_sub(a.size),
        };
        let Some(nearest) = self.allocations().min_by_key(|a| distance(a)) else {
            return "; nothing is allocated".to_string();
        };
        let whole = format!("the allocation of {} bytes at {:#x}", nearest.size, nearest.address);
        match address.checked_sub(nearest.address) {
            None => format!("; {} bytes before {whole}", nearest.address - address),
            Some(offset) if offset < nearest.size => {
                format!("; {offset} bytes into {whole}, {} before its end", nearest.size - offset)
            }
            Some(offset) => format!("; {} bytes past the end of {whole}", offset - nearest.size),
        }
    }
}
