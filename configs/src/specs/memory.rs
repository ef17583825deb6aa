//! L1, local memory, interconnect, L2 and DRAM.
use crate::spec;
use serde::{Deserialize, Serialize};

/// Which entry of a full set makes room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplacementPolicy {
    /// The least recently used one.
    Lru,
    /// The one that was filled first.
    Fifo,
    /// Any one but the most recently used (not-recently-used bits).
    Nru,
    /// A pseudo-random one.
    Random,
}

/// How a line's address chooses its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SetHash {
    /// The line number modulo the number of sets.
    Modulo,
    /// Like `modulo`, with all higher address bits mixed in.
    Mixed,
    /// The line number modulo the number of sets, turned by a hash of the quotient: neighbouring lines go to
    /// different sets, and so do lines that are any power of two apart.
    Turned,
}

/// What a store does in the L1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum L1WritePolicy {
    /// To the L2 at once; sectors that the L1 holds are updated, others are not brought in.
    WriteThrough,
    /// To the L2 at once; sectors that the L1 holds are dropped.
    WriteAround,
    /// To the L2 at once; sectors written whole are kept in the L1.
    WriteThroughAllocate,
}

/// How an address chooses its L2 slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SliceHash {
    /// Round robin: interleave unit number modulo slices.
    Modulo,
    /// Round robin within each group of as many units as there are slices, rotated by a hash of the group's number:
    /// even for any sequence, and no power-of-two stride stays on few slices.
    Rotated,
}

/// Which request a DRAM channel serves next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DramScheduler {
    /// First ready, first come first served: the request whose data can come first (row hits, then idle banks), the
    /// oldest among equals.
    FrFcfs,
    /// First come, first served.
    Fcfs,
}

/// What a DRAM bank does with its row after an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowPolicy {
    /// Leave it open.
    Open,
    /// Close it unless another waiting request wants it.
    Closed,
}

spec! {
    /// The memory hierarchy. A request's way: coalescer, L1 tags, interconnect, L2 slice, DRAM channel, and back.
    pub struct MemorySpec {
        keys {
            /// Bytes in a sector, the unit of transfer. A line has at most 8.
            sector: u32 ["B"] = 8..=256,
            /// Bytes in a cache line, of the L1 and of the L2.
            line: u32 ["B"] = 32..=1024,
        }
        sections {
            /// Load/store unit: where memory instructions of the sub-cores meet.
            lsu: LsuSpec,
            /// L1 data cache.
            l1: L1Spec,
            /// Local (work-group) memory.
            local: LocalMemorySpec,
            /// Network between the compute units and the L2.
            interconnect: InterconnectSpec,
            /// L2 cache.
            l2: L2Spec,
            /// DRAM behind the L2.
            dram: DramSpec,
        }
    }
}

spec! {
    /// Load/store unit of a compute unit.
    pub struct LsuSpec {
        keys {
            /// Memory instructions that wait in the unit; a full queue holds the sub-cores back.
            queue: u32 ["instructions"] = 1..=256,
            /// Cycles between two memory instructions that the unit starts.
            interval: u32 ["cycles"] = 1..=64,
            /// Lanes whose addresses are coalesced in one cycle.
            lanes: u32 ["lanes"] = 1..=64,
        }
    }
}

spec! {
    /// L1 data cache of a compute unit. Its capacity is what the local memory leaves of `local.combined`; its data lie in
    /// the local memory's banks.
    pub struct L1Spec {
        keys {
            /// Whether global and constant loads use the L1 (private memory always does).
            enabled: bool [""],
            /// Ways of a set.
            ways: u32 [""] = 1..=1024,
            /// How an address chooses its set.
            set_hash: SetHash [""],
            /// Which entry makes room.
            replacement: ReplacementPolicy [""],
            /// What a store does.
            write: L1WritePolicy [""],
            /// Whether stores to private memory stay in the L1 until their line leaves.
            private_write_back: bool [""],
            /// Whether a launch begins with an empty L1.
            invalidate_at_launch: bool [""],
            /// Tag banks, by line address; each looks up one line a cycle.
            tag_banks: u32 [""] = 1..=64,
            /// A hit, from the load/store unit to the data's arrival at its register, without conflicts.
            latency: u32 ["cycles"] = 1..=1000,
            /// From the load/store unit to a miss's entry into the interconnect.
            miss_latency: u32 ["cycles"] = 1..=1000,
            /// From a response's arrival to the data's arrival at its register.
            fill_latency: u32 ["cycles"] = 1..=1000,
            /// Misses (lines) under way at once.
            mshrs: u32 ["lines"] = 1..=8192,
        }
    }
}

spec! {
    /// Local (work-group) memory and its split with the L1.
    pub struct LocalMemorySpec {
        keys {
            /// L1 and local memory together, per compute unit.
            combined: u32 ["B"] = 1024..=16777216,
            /// Most local memory that one work-group may use.
            max_per_group: u32 ["B"] = 0..=16777216,
            /// Local memory reserved for each work-group beyond what it asks for; local addresses start there.
            reserved_per_group: u32 ["B"] = 16..=65536,
            /// Local memory is handed out in units of this many bytes.
            granularity: u32 ["B"] = 1..=65536,
            /// Splits that the hardware can choose: bytes of local memory, smallest first.
            carve_outs: Vec<u32> ["B"],
            /// Banks.
            banks: u32 [""] = 1..=256,
            /// Bytes a bank delivers each cycle.
            bank_width: u32 ["B"] = 4..=16,
            /// Cycles from one wavefront of a warp's loads and stores to its next one; those of others come in between.
            warp_interval: u32 ["cycles"] = 1..=64,
            /// A load, from the load/store unit to the data's arrival at its register, without conflicts.
            latency: u32 ["cycles"] = 1..=1000,
            /// The same for an atomic that returns the old value.
            atomic_latency: u32 ["cycles"] = 1..=1000,
            /// Cycles that each wavefront of a local atomic occupies the banks.
            atomic_interval: u32 ["cycles"] = 1..=64,
            /// Cycles that a local atomic occupies the banks at least.
            atomic_minimum: u32 ["cycles"] = 1..=64,
        }
    }
}

spec! {
    /// Network between the compute units and the L2, one port a compute unit in each direction.
    pub struct InterconnectSpec {
        keys {
            /// From a compute unit's port to a slice in the same half of the L2.
            request_latency: u32 ["cycles"] = 1..=10000,
            /// From a slice to the port of a compute unit in the same half.
            response_latency: u32 ["cycles"] = 1..=10000,
            /// Data that a compute unit sends.
            request_bytes: f64 ["B/cycle"] = 1.0..=4096.0,
            /// Data that a compute unit receives.
            response_bytes: f64 ["B/cycle"] = 1.0..=4096.0,
            /// Size of a request's or response's head, sent before its data.
            header: u32 ["B"] = 0..=256,
            /// Byte mask that goes with a store that leaves bytes of its sectors out.
            mask: u32 ["B"] = 0..=256,
            /// A store to sectors to which the compute unit has stored within this time goes with that store.
            combine: u32 ["cycles"] = 0..=10000,
            /// Sectors of stores under way from a compute unit at which the next one waits.
            stores: u32 ["sectors"] = 1..=65536,
            /// Sectors of atomics, with all their passes, that have not left a compute unit's exit, at which the next one waits.
            atomics: u32 ["sectors"] = 1..=65536,
        }
    }
}

spec! {
    /// L2 cache: slices, in one or two halves. Every address has a home slice; a compute unit asks the slice of its own
    /// half first, which passes on what is at home in the other one.
    pub struct L2Spec {
        keys {
            /// Capacity of all slices.
            capacity: u64 ["B"] = 4096..=1099511627776,
            /// Slices, in all halves together.
            slices: u32 [""] = 1..=1024,
            /// Halves; the first half of the compute units is in the first one.
            halves: u32 [""] = 1..=2,
            /// Consecutive compute units of which loads of the same sectors are one while these are under way; 1: none.
            coalesce_units: u32 [""] = 1..=1024,
            /// A load can join another one for this long after that has come to its slice.
            coalesce_window: u32 ["cycles"] = 0..=100000,
            /// Address bits whose parity says which half is home; 0: the halves' slices take turns like any others.
            half_bits: u64 [""] = 0..=1099511627775,
            /// Consecutive bytes that lie in one slice: a multiple of the line.
            interleave: u32 ["B"] = 32..=1048576,
            /// How an address chooses its slice.
            slice_hash: SliceHash [""],
            /// Ways of a set.
            ways: u32 [""] = 1..=1024,
            /// How an address chooses its set in a slice.
            set_hash: SetHash [""],
            /// Which entry makes room.
            replacement: ReplacementPolicy [""],
            /// Whether a slice keeps what it fetched from the other half.
            keep_far: bool [""],
            /// Whether a partly written sector that is written back or read is first completed from DRAM.
            fill_partial: bool [""],
            /// Bytes that a missing sector brings along, from DRAM or the other half: aligned, a power of two, at least a
            /// sector and at most a line. At least `dram.granule` bytes come from DRAM.
            fetch: u32 ["B"] = 8..=1024,
            /// Ways of a set that may hold lines newer than the DRAM's; one more, and the least recently used of them is
            /// written back.
            dirty_ways: u32 [""] = 1..=1024,
            /// Lines of a slice that may have partly written sectors; one more, and that which has been so longest is
            /// completed and written back.
            partial_lines: u32 [""] = 1..=16777216,
            /// Answers take up to so many cycles longer, by where slice and compute unit lie.
            distance: u32 ["cycles"] = 0..=1000,
            /// From a request's start in a slice to its data's leaving, for a hit.
            latency: u32 ["cycles"] = 1..=10000,
            /// Cycles of the L2 clock between two requests (lines) that a slice starts.
            interval: f64 ["L2 cycles"] = 0.0..=1000.0,
            /// Data that a slice reads for the network.
            read_bytes: f64 ["B/L2 cycle"] = 1.0..=4096.0,
            /// Data that a slice writes: what is stored, and what comes from DRAM.
            write_bytes: f64 ["B/L2 cycle"] = 1.0..=4096.0,
            /// The same where a store leaves bytes of a sector out: the whole sector is counted.
            partial_write_bytes: f64 ["B/L2 cycle"] = 1.0..=4096.0,
            /// The same where other bytes of the sector have been stored before, which are read and checked first, and the rest
            /// of it is not there.
            merge_write_bytes: f64 ["B/L2 cycle"] = 1.0..=4096.0,
            /// Misses (lines) under way at once in a slice, to DRAM and to the other half each.
            mshrs: u32 ["lines"] = 1..=65535,
            /// From a slice of one half to a slice of the other one.
            far_latency: u32 ["cycles"] = 0..=10000,
            /// Data between a slice and the other half, each way.
            far_bytes: f64 ["B/L2 cycle"] = 1.0..=4096.0,
            /// Extra time of an atomic: from reading its sector to the result.
            atomic_latency: u32 ["cycles"] = 0..=10000,
            /// Cycles of the L2 clock for which a pass of an atomic (distinct words of one sector) occupies its home slice.
            atomic_interval: f64 ["L2 cycles"] = 0.0..=1000.0,
            /// The same for the first pass over a sector all of whose words take part.
            atomic_whole_interval: f64 ["L2 cycles"] = 0.0..=1000.0,
            /// Passes of atomics that a slice takes ahead; more stay at the exits of their compute units, which take turns,
            /// and hold up what these send behind them.
            atomic_queue: u32 ["passes"] = 1..=1048576,
        }
    }
}

spec! {
    /// DRAM: one channel behind each L2 slice. The peak is bus_bits / 8 * 2 * chip.dram_mhz, shared evenly by the channels.
    pub struct DramSpec {
        keys {
            /// Data pins of all channels together; two bits a pin and cycle of the DRAM clock.
            bus_bits: u32 ["bit"] = 8..=1048576,
            /// Bytes that one access transfers: a multiple of the sector, at most a line.
            granule: u32 ["B"] = 8..=1024,
            /// Banks of a channel.
            banks: u32 [""] = 1..=1024,
            /// Bytes of a row of one bank.
            row: u32 ["B"] = 64..=1048576,
            /// Whether the bank number is mixed with row bits.
            hash_banks: bool [""],
            /// Which request goes next.
            scheduler: DramScheduler [""],
            /// What happens to a row after an access.
            row_policy: RowPolicy [""],
            /// Waiting requests among which the scheduler chooses.
            window: u32 ["requests"] = 1..=1024,
            /// A request older than this goes before all others.
            starvation: u32 ["ns"] = 0..=1000000,
            /// Waiting writes of a channel; a full queue holds its slice back.
            write_queue: u32 ["requests"] = 1..=65536,
            /// Waiting writes at which the channel turns to writing.
            write_high: u32 ["requests"] = 1..=65536,
            /// Waiting writes at which it turns back to reading.
            write_low: u32 ["requests"] = 0..=65536,
            /// Controller and physical interface, from the slice to the first command.
            request_latency: f64 ["ns"] = 0.0..=10000.0,
            /// From the last data on the bus to the slice.
            response_latency: f64 ["ns"] = 0.0..=10000.0,
            /// Activate to read or write (tRCD).
            t_rcd: f64 ["ns"] = 0.0..=1000.0,
            /// Precharge to activate (tRP).
            t_rp: f64 ["ns"] = 0.0..=1000.0,
            /// Activate to precharge of the same bank (tRAS).
            t_ras: f64 ["ns"] = 0.0..=1000.0,
            /// Read to its first data (tCL).
            t_cl: f64 ["ns"] = 0.0..=1000.0,
            /// Write to its first data (tCWL).
            t_cwl: f64 ["ns"] = 0.0..=1000.0,
            /// Last written data to precharge (tWR).
            t_wr: f64 ["ns"] = 0.0..=1000.0,
            /// Read to precharge (tRTP).
            t_rtp: f64 ["ns"] = 0.0..=1000.0,
            /// Activate to activate of another bank (tRRD).
            t_rrd: f64 ["ns"] = 0.0..=1000.0,
            /// Window in which there are at most four activates (tFAW).
            t_faw: f64 ["ns"] = 0.0..=1000.0,
            /// Read or write to the next one of the same bank (tCCD_L).
            t_ccd: f64 ["ns"] = 0.0..=1000.0,
            /// Last written data to a read (tWTR).
            t_wtr: f64 ["ns"] = 0.0..=1000.0,
            /// Idle bus between read and written data.
            t_rtw: f64 ["ns"] = 0.0..=1000.0,
            /// Between two refreshes of a channel (tREFI); 0: no refresh.
            t_refi: f64 ["ns"] = 0.0..=1000000.0,
            /// Length of a refresh (tRFC).
            t_rfc: f64 ["ns"] = 0.0..=100000.0,
        }
    }
}
