//! Tests of the device memory.
use super::*;

fn memory() -> DeviceMemory {
    DeviceMemory::new(64 << 20)
}

#[test]
fn the_device_memory_is_shareable() {
    fn check<T: Send + Sync>() {}
    check::<DeviceMemory>();
    check::<View>();
}

#[test]
fn simulated_addresses_follow_allocation_order_only() {
    let run = |frees: bool| {
        let m = memory();
        let mut seen = vec![];
        for i in 0..20u64 {
            let a = m.allocate(1000 + i * 777, 8, Access::ReadWrite).unwrap();
            seen.push(a.simulated);
            if frees && i % 2 == 0 {
                m.free(a.id).unwrap();
            }
        }
        seen
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn accesses_outside_allocations_are_found() {
    let m = memory();
    let a = m.allocate(100, 4, Access::ReadWrite).unwrap();
    let b = m.allocate(100, 4, Access::ReadOnly).unwrap();
    let view = m.view();
    assert_eq!(a.address % GUARD, 0);
    assert!(view.find(a.address, 100).is_some());
    assert!(view.find(a.address + 96, 4).is_some());
    assert!(view.find(a.address + 97, 4).is_none());
    assert!(view.find(a.address.wrapping_sub(1), 1).is_none());
    assert!(view.find(u64::MAX, 2).is_none());
    assert!(view.find(b.address, 4).unwrap().read_only());
    assert_eq!(
        view.near(a.address + 104),
        format!("; 4 bytes past the end of the allocation of 100 bytes at {:#x}", a.address)
    );
    m.free(a.id).unwrap();
    assert_eq!(m.free(a.id), Err(MemoryError::NotLive(a.id)));
    assert!(m.view().find(a.address, 4).is_none());
    assert!(m.write(a.address, &[1]).is_err());
    assert!(m.lookup(b.address + 99).is_some() && m.lookup(b.address + 100).is_none());
}

#[test]
fn a_view_keeps_what_is_freed_until_it_goes() {
    let m = memory();
    let a = m.allocate(1 << 20, 4096, Access::ReadWrite).unwrap();
    m.fill(a.address, &[7], a.size).unwrap();
    let view = m.view();
    m.free(a.id).unwrap();
    let other = m.allocate(1 << 20, 4096, Access::ReadWrite).unwrap();
    assert_ne!(a.address, other.address);
    let span = view.find(a.address, 4).unwrap();
    // SAFETY: in bounds, aligned, and the view is alive.
    assert_eq!(unsafe { span.load::<u32>(a.address + 64) }, 0x07070707);
    drop(view);
    let again = m.allocate(1 << 20, 4096, Access::ReadWrite).unwrap();
    assert_eq!(a.address, again.address);
    let mut bytes = vec![1; 1 << 20];
    m.read(again.address, &mut bytes).unwrap();
    assert!(bytes.iter().all(|&b| b == 0), "reused memory starts as zeros");
}

#[test]
fn warps_are_checked_lane_by_lane() {
    let m = memory();
    let a = m.allocate(128, 4, Access::ReadWrite).unwrap();
    let span = m.view().find(a.address, 1).unwrap();
    let mut lanes: [u64; 32] = std::array::from_fn(|i| a.address + 4 * i as u64);
    assert!(span.covers(&lanes, 0xffff_ffff, 4));
    assert!(!span.covers(&lanes, 0xffff_ffff, 8));
    lanes[5] = 0;
    assert!(!span.covers(&lanes, 0xffff_ffff, 4));
    assert!(span.covers(&lanes, !(1 << 5) & 0xffff_ffff, 4));
    assert!(!Span::EMPTY.covers(&lanes, 1 << 5, 1));
    assert!(!Span::EMPTY.contains(u64::MAX, 1));
}

#[test]
fn host_memory_is_used_in_place_and_aliases_keep_their_simulated_address() {
    let m = memory();
    let mut host = vec![0u32; 256];
    // SAFETY: `host` outlives the memory's use of it.
    let a = unsafe { m.register_host(host.as_mut_ptr().cast(), 1024, Access::ReadWrite) }.unwrap();
    m.write(a.address + 4, &5u32.to_le_bytes()).unwrap();
    assert_eq!(host[1], 5);
    let svm = m.allocate(4096, 4096, Access::ReadWrite).unwrap();
    // SAFETY: part of a live allocation.
    let alias = unsafe { m.register_host(svm.pointer().wrapping_add(64), 64, Access::ReadOnly) }.unwrap();
    assert_eq!(alias.simulated, svm.simulated + 64);
    let view = m.view();
    assert!(view.find(svm.address + 64, 64).is_some());
    assert!(view.find(svm.address + 64, 128).is_some(), "the outer allocation is found behind the alias");
    assert!(view.find(svm.address + 1024, 4).is_some());
    m.free(svm.id).unwrap();
    assert!(m.lookup(svm.address).is_none() && m.lookup(svm.address + 64).is_some());
}

#[test]
fn fill_and_copy() {
    let m = memory();
    let a = m.allocate(1000, 1, Access::ReadWrite).unwrap();
    m.fill(a.address + 1, &[1, 2, 3], 10).unwrap();
    m.copy(a.address + 1, a.address + 4, 10).unwrap();
    let mut out = [0; 15];
    m.read(a.address, &mut out).unwrap();
    assert_eq!(out, [0, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 0]);
    assert!(m.fill(a.address, &[], 4).is_err());
}

#[test]
fn capacity_alignment_and_bad_requests() {
    let m = memory();
    assert!(m.allocate(0, 1, Access::ReadWrite).is_err());
    assert!(m.allocate(1, 3, Access::ReadWrite).is_err());
    let a = m.allocate(60 << 20, 1 << 20, Access::ReadWrite).unwrap();
    assert_eq!(a.address % (1 << 20), 0);
    assert!(matches!(m.allocate(5 << 20, 1, Access::ReadWrite), Err(MemoryError::OutOfDeviceMemory { .. })));
    assert_eq!(m.used(), 60 << 20);
    m.free(a.id).unwrap();
    assert_eq!(m.used(), 0);
    assert!(DeviceMemory::new(1 << 20).allocate(u64::MAX, 1, Access::ReadWrite).is_err());
}

#[test]
fn updates_are_atomic_between_host_threads() {
    let m = memory();
    let a = m.allocate(4, 4, Access::ReadWrite).unwrap();
    let view = m.view();
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                let span = view.find(a.address, 4).unwrap();
                for _ in 0..10_000 {
                    // SAFETY: in bounds, aligned, writable, and the view is alive.
                    unsafe { span.update::<u32>(a.address, |v| v + 1) };
                }
            });
        }
    });
    let mut out = [0; 4];
    m.read(a.address, &mut out).unwrap();
    assert_eq!(u32::from_le_bytes(out), 40_000);
}
