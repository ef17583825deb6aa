//! What the memory hierarchy counts. The documentation of each counter is its definition in reports.
use warpscope_configs::counters;

counters! {
    /// Load/store unit, L1 and local memory of the compute units.
    pub struct CuCounters {
        counters {
            /// Warp-level global (and constant) loads.
            load_requests: u64 ["requests"],
            /// Sectors that global loads asked of the L1.
            load_sectors: u64 ["sectors"],
            /// Sectors of global loads whose data were in the L1.
            load_sector_hits: u64 ["sectors"],
            /// Sectors of global loads that were already under way from the L2.
            load_sector_merges: u64 ["sectors"],
            /// Warp-level global stores.
            store_requests: u64 ["requests"],
            /// Sectors of global stores.
            store_sectors: u64 ["sectors"],
            /// Warp-level global atomics, with and without result.
            atomic_requests: u64 ["requests"],
            /// Sectors of global atomics; lanes to one address take their sector in turn.
            atomic_sectors: u64 ["sectors"],
            /// Warp-level loads of private memory.
            private_load_requests: u64 ["requests"],
            /// Sectors of private loads.
            private_load_sectors: u64 ["sectors"],
            /// Sectors of private loads whose data were in the L1.
            private_load_sector_hits: u64 ["sectors"],
            /// Warp-level stores to private memory.
            private_store_requests: u64 ["requests"],
            /// Sectors of private stores.
            private_store_sectors: u64 ["sectors"],
            /// Lines that left the L1 to make room.
            evictions: u64 ["lines"],
            /// Dirty sectors (private memory) written to the L2 by evictions.
            write_back_sectors: u64 ["sectors"],
            /// Misses that brought nothing into the L1 because every entry of the set was waiting for data.
            bypasses: u64 ["lines"],
            /// Cycles of the L1 tag stage.
            tag_cycles: u64 ["cycles"],
            /// Cycles of the data banks for global and private accesses.
            data_wavefronts: u64 ["cycles"],
            /// Warp-level accesses of local memory: loads.
            local_load_requests: u64 ["requests"],
            /// Stores to local memory.
            local_store_requests: u64 ["requests"],
            /// Atomics on local memory.
            local_atomic_requests: u64 ["requests"],
            /// Cycles of the data banks for local memory.
            local_wavefronts: u64 ["cycles"],
            /// Cycles of the data banks for local memory beyond those that the accesses would take without conflicts.
            local_conflicts: u64 ["cycles"],
            /// Accesses that had to wait in the load/store unit for a miss register or a store's place.
            stalled_requests: u64 ["requests"],
            /// Requests sent to the L2 (lines).
            requests_sent: u64 ["requests"],
            /// Sectors sent to the L2 (stores and atomics).
            sectors_sent: u64 ["sectors"],
            /// Sectors received from the L2 for loads and atomics.
            sectors_received: u64 ["sectors"],
            /// Sectors received for instruction and constant fetches.
            fetch_sectors: u64 ["sectors"],
        }
    }
}

counters! {
    /// L2 slices and the links between the halves.
    pub struct L2Counters {
        counters {
            /// Requests (lines) that compute units sent.
            requests: u64 ["requests"],
            /// Sectors that slices were asked to read: by compute units, and again what one half asked of the other.
            read_sectors: u64 ["sectors"],
            /// Sectors of loads that went with another compute unit's load of the same sectors, which alone was looked up.
            coalesced_sectors: u64 ["sectors"],
            /// Sectors that slices were asked to write, again counted in both halves where a store goes on to the other,
            /// and those that were completed from DRAM.
            write_sectors: u64 ["sectors"],
            /// Sectors of atomics, counted likewise.
            atomic_sectors: u64 ["sectors"],
            /// Sectors looked up and found, or already under way. A store always finds its place, and so does what is
            /// only passed on to the other half unread.
            lookup_hits: u64 ["sectors"],
            /// Sectors that had to be fetched, from DRAM or the other half: those missing, what comes along with them, and
            /// partly written ones that were completed.
            lookup_misses: u64 ["sectors"],
            /// Passes of atomics beyond one a sector: lanes of a warp to one address.
            atomic_repeats: u64 ["sectors"],
            /// Requests (lines) passed on to the other half.
            far_requests: u64 ["requests"],
            /// Sectors that crossed between the halves, in both directions.
            far_sectors: u64 ["sectors"],
            /// Lines that left to make room.
            evictions: u64 ["lines"],
            /// Dirty sectors written to DRAM.
            write_back_sectors: u64 ["sectors"],
            /// Partly written sectors that had to be completed from DRAM.
            partial_fills: u64 ["sectors"],
            /// Misses that brought nothing in because every entry of the set was waiting for data.
            bypasses: u64 ["lines"],
            /// Requests that waited for a miss register or for the write queue.
            stalled_requests: u64 ["requests"],
            /// Requests that waited at the exit of their compute unit for a crowded slice, or behind one that did.
            held_requests: u64 ["requests"],
        }
    }
}

counters! {
    /// DRAM channels.
    pub struct DramCounters {
        counters {
            /// Bytes read.
            read_bytes: u64 ["B"],
            /// Bytes written.
            write_bytes: u64 ["B"],
            /// Accesses that found their row open.
            row_hits: u64 ["accesses"],
            /// Accesses that found their bank closed.
            row_empties: u64 ["accesses"],
            /// Accesses that found another row open.
            row_conflicts: u64 ["accesses"],
            /// Changes of the bus between reading and writing.
            turnarounds: u64 ["changes"],
            /// Refreshes.
            refreshes: u64 ["refreshes"],
        }
    }
}
