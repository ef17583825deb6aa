//! DRAM timing parameters in the memory system's time.
use crate::clock::{Ticks, ticks_of};
use warpscope_configs::specs::{ChipSpec, DramSpec};

/// Command gaps and the time of a burst. Names are JEDEC's.
#[derive(Copy, Clone, Debug)]
#[allow(missing_docs)]
pub struct DramTiming {
    /// One access of a granule on the data bus.
    pub burst: Ticks,
    pub rcd: Ticks,
    pub rp: Ticks,
    pub ras: Ticks,
    pub cl: Ticks,
    pub cwl: Ticks,
    pub wr: Ticks,
    pub rtp: Ticks,
    pub rrd: Ticks,
    pub faw: Ticks,
    pub ccd: Ticks,
    pub wtr: Ticks,
    pub rtw: Ticks,
    /// 0: no refresh.
    pub refi: Ticks,
    pub rfc: Ticks,
    pub request: Ticks,
    pub response: Ticks,
    pub starvation: Ticks,
}

impl DramTiming {
    /// For one of `channels` channels.
    pub fn new(spec: &DramSpec, chip: &ChipSpec, channels: u32) -> DramTiming {
        let ns = |t: f64| ticks_of(t, 1000.0, chip.core_mhz);
        let bytes_per_cycle = f64::from(spec.bus_bits) / 8.0 * 2.0 / f64::from(channels);
        DramTiming {
            burst: ticks_of(f64::from(spec.granule) / bytes_per_cycle, chip.dram_mhz, chip.core_mhz).max(1),
            rcd: ns(spec.t_rcd),
            rp: ns(spec.t_rp),
            ras: ns(spec.t_ras),
            cl: ns(spec.t_cl),
            cwl: ns(spec.t_cwl),
            wr: ns(spec.t_wr),
            rtp: ns(spec.t_rtp),
            rrd: ns(spec.t_rrd),
            faw: ns(spec.t_faw),
            ccd: ns(spec.t_ccd),
            wtr: ns(spec.t_wtr),
            rtw: ns(spec.t_rtw),
            refi: ns(spec.t_refi),
            rfc: ns(spec.t_rfc),
            request: ns(spec.request_latency),
            response: ns(spec.response_latency),
            starvation: ns(f64::from(spec.starvation)),
        }
    }

    /// From the decision to serve a request to its data, at most: how far ahead of the bus decisions are made.
    pub fn lead(&self) -> Ticks {
        self.rp + self.rcd + self.cl.max(self.cwl)
    }
}
