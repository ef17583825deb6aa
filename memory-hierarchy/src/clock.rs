//! Time, rates and ports that are reserved in order.

/// Time inside the memory system: core cycles in steps of 1/256, so that other clocks and fractional rates fit.
pub type Ticks = u64;

/// Steps in a core cycle.
pub const TICKS: u64 = 256;

/// The first cycle that begins at or after a time.
#[inline(always)]
pub const fn cycle_at(ticks: Ticks) -> u64 {
    ticks.div_ceil(TICKS)
}

/// Cycles of another clock (or nanoseconds: `mhz` = 1000) in core time, to the nearest step.
pub fn ticks_of(cycles: f64, mhz: f64, core_mhz: f64) -> Ticks {
    (cycles * core_mhz / mhz * TICKS as f64).round() as Ticks
}

/// A resource that serves one after the other: all that is known of it is when it is free next.
#[derive(Copy, Clone, Debug, Default)]
pub struct Port {
    free: Ticks,
}

impl Port {
    /// Reserves the port for `length` from `at` or as soon after as it is free; gives the start.
    #[inline(always)]
    pub fn reserve(&mut self, at: Ticks, length: Ticks) -> Ticks {
        let start = at.max(self.free);
        self.free = start + length;
        start
    }

    /// When the port is free next.
    #[inline(always)]
    pub fn free(&self) -> Ticks {
        self.free
    }
}

/// A data rate as the time that each unit (a sector, a header) takes.
pub fn ticks_per(bytes: u32, bytes_per_cycle: f64, mhz: f64, core_mhz: f64) -> Ticks {
    ticks_of(f64::from(bytes) / bytes_per_cycle, mhz, core_mhz)
}

/// Exact division of addresses by a number known only at run time, without a divide instruction.
#[derive(Copy, Clone, Debug)]
pub struct Divisor {
    divisor: u64,
    /// ceil(2^64 / divisor); 0 for 1.
    magic: u64,
}

impl Divisor {
    /// For dividends below 2^40 and divisors below 2^24: there the error of the reciprocal is below one unit.
    pub fn new(divisor: u64) -> Divisor {
        assert!((1..1 << 24).contains(&divisor), "divisor out of range");
        Divisor { divisor, magic: if divisor == 1 { 0 } else { u64::MAX / divisor + 1 } }
    }

    /// Quotient and remainder.
    #[inline(always)]
    pub fn divide(&self, n: u64) -> (u64, u64) {
        debug_assert!(n < 1 << 40);
        let quotient = if self.magic == 0 { n } else { ((u128::from(n) * u128::from(self.magic)) >> 64) as u64 };
        (quotient, n - quotient * self.divisor)
    }
}

/// Mixes all bits of a number (the finaliser of SplitMix64).
#[inline(always)]
pub const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_is_exact() {
        for d in [1, 2, 3, 7, 48, 94, 96, 128, 1021, (1 << 24) - 1] {
            let divisor = Divisor::new(d);
            for n in (0..1000).chain((1 << 40) - 1000..1 << 40).chain((0..1000).map(|i| mix(i) >> 24)) {
                assert_eq!(divisor.divide(n), (n / d, n % d), "{n} / {d}");
            }
        }
    }

    #[test]
    fn a_port_serves_in_order() {
        let mut port = Port::default();
        assert_eq!(port.reserve(10, 5), 10);
        assert_eq!(port.reserve(11, 5), 15);
        assert_eq!(port.reserve(100, 1), 100);
        assert_eq!(port.free(), 101);
        assert_eq!(cycle_at(257), 2);
        assert_eq!(ticks_of(1.0, 1000.0, 2000.0), 2 * TICKS);
    }
}
