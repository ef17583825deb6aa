//! Checked access of a warp's lanes to device memory; both modes build on it.
use warpscope_exec::exec::{Fault, Row, WarpAccess, atomic_result};
use warpscope_exec::program::AtomicOp;
use warpscope_memory::device_memory::{Span, View, Word};

/// Lanes of a full warp.
pub(crate) const fn full_mask(width: usize) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// Calls `f` for each lane in `mask`, rising.
#[inline(always)]
pub(crate) fn for_lanes<const W: usize>(mask: u64, mut f: impl FnMut(usize)) {
    if mask == full_mask(W) {
        for lane in 0..W {
            f(lane);
        }
    } else {
        let mut rest = mask;
        while rest != 0 {
            f(rest.trailing_zeros() as usize % W);
            rest &= rest - 1;
        }
    }
}

/// What an access does.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Read,
    Write,
    Atomic,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::Atomic => "atomic",
        }
    }
}

/// Where the lanes of an access lie.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Home {
    /// All in one allocation.
    One(Span),
    /// In several.
    Many,
}

/// The bytes of an access by all lanes, each behind the one before.
#[inline(always)]
pub(crate) fn range_of<const W: usize>(access: &WarpAccess<'_, W>) -> Option<std::ops::Range<u64>> {
    let (first, step) = (access.addresses[0], u64::from(access.shape.bytes()));
    // Mostly the second lane tells already.
    if access.mask != full_mask(W) || access.addresses[1] != first.wrapping_add(step) {
        return None;
    }
    let (mut expected, mut differ) = (first, 0);
    for &address in access.addresses {
        differ |= address ^ expected;
        expected = expected.wrapping_add(step);
    }
    (differ == 0 && expected > first).then_some(first..expected)
}

/// Checks bounds, alignment and permission of every lane. `last` is the allocation that this operation used last.
#[inline(always)]
pub(crate) fn check<const W: usize>(
    view: &View,
    last: &mut Span,
    access: &WarpAccess<'_, W>,
    kind: Kind,
) -> Result<Home, Fault> {
    let bytes = u64::from(access.shape.bytes());
    let align = u64::from(access.shape.element) - 1;
    if let Some(range) = range_of(access) {
        let ok = range.start & align == 0
            && last.contains(range.start, range.end - range.start)
            && !(kind != Kind::Read && last.read_only());
        return if ok { Ok(Home::One(*last)) } else { check_slowly(view, last, access, kind) };
    }
    let mut misaligned = 0;
    for_lanes::<W>(access.mask, |lane| misaligned |= access.addresses[lane]);
    let ok = misaligned & align == 0
        && last.covers(access.addresses, access.mask, bytes)
        && !(kind != Kind::Read && last.read_only());
    if ok { Ok(Home::One(*last)) } else { check_slowly(view, last, access, kind) }
}

#[cold]
fn check_slowly<const W: usize>(
    view: &View,
    last: &mut Span,
    access: &WarpAccess<'_, W>,
    kind: Kind,
) -> Result<Home, Fault> {
    let bytes = access.shape.bytes();
    let align = u32::from(access.shape.element);
    for lane in 0..W as u32 {
        if access.mask >> lane & 1 == 0 {
            continue;
        }
        let address = access.addresses[lane as usize];
        let (name, space) = (kind.name(), access.space);
        if !address.is_multiple_of(u64::from(align)) {
            return Err(Fault::Misaligned { access: name, bytes, address, space, lane, align });
        }
        if !view.hold(last, address, u64::from(bytes)) {
            let near = view.near(address);
            return Err(Fault::OutOfBounds { access: name, bytes, address, space, lane, near });
        }
        if kind != Kind::Read && last.read_only() {
            return Err(Fault::ReadOnly { address, lane });
        }
    }
    let one = last.covers(access.addresses, access.mask, u64::from(bytes));
    Ok(if one { Home::One(*last) } else { Home::Many })
}

/// Calls `f` with the span and the lanes in it: once for [`Home::One`], else once a lane.
#[inline(always)]
pub(crate) fn for_spans<const W: usize>(
    view: &View,
    home: Home,
    access: &WarpAccess<'_, W>,
    mut f: impl FnMut(&Span, u64),
) {
    match home {
        Home::One(span) => f(&span, access.mask),
        Home::Many => for_lanes::<W>(access.mask, |lane| {
            let bytes = u64::from(access.shape.bytes());
            // `check` found it there.
            if let Some(span) = view.find(access.addresses[lane], bytes) {
                f(&span, 1 << lane);
            }
        }),
    }
}

/// Reads the lanes of a checked access.
#[inline(always)]
pub(crate) fn load<const W: usize>(view: &View, home: Home, access: &WarpAccess<'_, W>, out: &mut [Row<W>]) {
    for_spans(view, home, access, |span, mask| {
        let lanes = Lanes { span, addresses: access.addresses, mask };
        let count = access.shape.count as usize;
        match (access.shape.element, access.shape.signed) {
            (1, false) => lanes.load::<u8>(count, out, u32::from),
            (1, true) => lanes.load::<u8>(count, out, |v| v as i8 as u32),
            (2, false) => lanes.load::<u16>(count, out, u32::from),
            (2, true) => lanes.load::<u16>(count, out, |v| v as i16 as u32),
            (4, _) => lanes.load::<u32>(count, out, |v| v),
            _ => lanes.load64(count, out),
        }
    });
}

/// Writes the lanes of a checked access.
#[inline(always)]
pub(crate) fn store<const W: usize>(view: &View, home: Home, access: &WarpAccess<'_, W>, data: &[Row<W>]) {
    for_spans(view, home, access, |span, mask| {
        let lanes = Lanes { span, addresses: access.addresses, mask };
        let count = access.shape.count as usize;
        match access.shape.element {
            1 => lanes.store::<u8>(count, data, |v| v as u8),
            2 => lanes.store::<u16>(count, data, |v| v as u16),
            4 => lanes.store::<u32>(count, data, |v| v),
            _ => lanes.store64(count, data),
        }
    });
}

/// Lanes in one allocation, checked.
struct Lanes<'a, const W: usize> {
    span: &'a Span,
    addresses: &'a [u64; W],
    mask: u64,
}

impl<const W: usize> Lanes<'_, W> {
    #[inline(always)]
    fn load<T: Word>(&self, count: usize, out: &mut [Row<W>], widen: impl Fn(T) -> u32) {
        for (element, row) in out.iter_mut().take(count).enumerate() {
            let offset = (element * size_of::<T>()) as u64;
            for_lanes::<W>(self.mask, |lane| {
                // SAFETY: the whole access was checked for bounds and alignment; the launch's view is alive.
                row.0[lane] = widen(unsafe { self.span.load::<T>(self.addresses[lane] + offset) });
            });
        }
    }

    #[inline(always)]
    fn load64(&self, count: usize, out: &mut [Row<W>]) {
        for (element, rows) in out.chunks_exact_mut(2).take(count).enumerate() {
            for_lanes::<W>(self.mask, |lane| {
                // SAFETY: as in `load`.
                let value = unsafe { self.span.load::<u64>(self.addresses[lane] + 8 * element as u64) };
                rows[0].0[lane] = value as u32;
                rows[1].0[lane] = (value >> 32) as u32;
            });
        }
    }

    #[inline(always)]
    fn store<T: Word>(&self, count: usize, data: &[Row<W>], narrow: impl Fn(u32) -> T) {
        // Lane by lane: where lanes overlap, the highest wins.
        for_lanes::<W>(self.mask, |lane| {
            for (element, row) in data.iter().take(count).enumerate() {
                let offset = (element * size_of::<T>()) as u64;
                // SAFETY: as in `load`, and `check` refused read-only memory.
                unsafe { self.span.store::<T>(self.addresses[lane] + offset, narrow(row.0[lane])) };
            }
        });
    }

    #[inline(always)]
    fn store64(&self, count: usize, data: &[Row<W>]) {
        for_lanes::<W>(self.mask, |lane| {
            for (element, rows) in data.chunks_exact(2).take(count).enumerate() {
                let value = u64::from(rows[0].0[lane]) | u64::from(rows[1].0[lane]) << 32;
                // SAFETY: as in `store`.
                unsafe { self.span.store::<u64>(self.addresses[lane] + 8 * element as u64, value) };
            }
        });
    }
}

/// Carries out the atomic of the lanes `lanes` of a checked access, rising; `operands` are data and compare value.
pub(crate) fn atomic<const W: usize>(
    view: &View,
    home: Home,
    access: &WarpAccess<'_, W>,
    lanes: u64,
    op: AtomicOp,
    operands: [&[Row<W>]; 2],
    mut out: Option<&mut [Row<W>]>,
) {
    let bytes = u32::from(access.shape.element);
    let value = |rows: &[Row<W>], lane: usize| {
        let word = |n: usize| rows.get(n).map_or(0, |row| u64::from(row.0[lane]));
        if bytes == 8 { word(0) | word(1) << 32 } else { word(0) }
    };
    for_spans(view, home, access, |span, mask| {
        for_lanes::<W>(mask & lanes, |lane| {
            let (data, compare) = (value(operands[0], lane), value(operands[1], lane));
            let address = access.addresses[lane];
            // SAFETY: the whole access was checked for bounds, alignment and permission; the launch's view is alive.
            let old = unsafe {
                match bytes {
                    8 => span.update::<u64>(address, |old| atomic_result(op, 8, old, data, compare)),
                    _ => u64::from(
                        span.update::<u32>(address, |old| atomic_result(op, 4, u64::from(old), data, compare) as u32),
                    ),
                }
            };
            if let Some(rows) = out.as_deref_mut() {
                rows[0].0[lane] = old as u32;
                if bytes == 8 {
                    rows[1].0[lane] = (old >> 32) as u32;
                }
            }
        });
    });
}
