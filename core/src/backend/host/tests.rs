use super::*;

fn small(limit: u64) -> HostDevice {
    let opts = OpenOptions { memory_limit: Some(limit), ..OpenOptions::default() };
    HostDevice::new("test", &opts).unwrap()
}

#[test]
fn memory_is_counted_limited_and_given_back() {
    let device = small(8 << 20);
    assert_eq!(device.memory().margin, 1 << 20);
    let a = device.alloc::<u64>("a", 1 << 18).unwrap();
    assert_eq!((device.memory().ours, device.memory().peak), (2 << 20, 2 << 20));
    match device.alloc::<u8>("too much", (5 << 20) + 1) {
        Err(BackendError::OutOfMemory { device, label, requested, available }) => {
            assert_eq!((device.as_str(), label.as_str()), ("test:0", "too much"));
            assert_eq!((requested, available), ((5 << 20) + 1, 5 << 20));
        }
        other => panic!("{other:?}"),
    }
    let b = device.alloc::<u8>("b", 5 << 20).unwrap();
    drop(a);
    assert_eq!((device.memory().ours, device.memory().peak), (5 << 20, 7 << 20));
    drop(b);
    assert_eq!(device.memory().ours, 0);
    assert!(matches!(device.alloc::<u64>("overflow", usize::MAX), Err(BackendError::OutOfMemory { .. })));
    assert!(matches!(device.charge("scratch", 8 << 20), Err(BackendError::OutOfMemory { .. })));
}

#[test]
fn pinned_memory_is_pooled_and_limited() {
    let device = small(8 << 20);
    let mut p = device.pinned::<u32>("p", 1000).unwrap();
    p[999] = 7;
    let address = p.as_ptr();
    assert!(device.memory().pinned >= 4000);
    drop(p);
    assert_eq!(device.memory().pinned, 0);
    let again = device.pinned::<u32>("again", 10).unwrap();
    assert_eq!((again.as_ptr(), again.len()), (address, 10));
    assert!(matches!(device.pinned::<u64>("p", 1 << 20), Err(BackendError::OutOfMemory { .. })));
}

#[test]
fn pinned_and_device_memory_share_one_budget() {
    let device = small(8 << 20);
    let pinned = device.pinned::<u8>("p", 4 << 20).unwrap();
    assert_eq!(device.memory().available(), 3 << 20);
    match device.alloc::<u8>("a", (3 << 20) + 1) {
        Err(BackendError::OutOfMemory { available, .. }) => assert_eq!(available, 3 << 20),
        other => panic!("{other:?}"),
    }
    let a = device.alloc::<u8>("a", 3 << 20).unwrap();
    assert!(matches!(device.pinned::<u8>("q", 1), Err(BackendError::OutOfMemory { .. })));
    let memory = device.memory();
    assert_eq!((memory.ours, memory.peak, memory.pinned), (3 << 20, 3 << 20, 4 << 20));
    // The idle buffer of 4 MiB no longer fits: a smaller one is made.
    drop((pinned, a));
    let _most = device.alloc::<u8>("most", 6 << 20).unwrap();
    assert_eq!(device.pinned::<u8>("small", 1 << 20).unwrap().len(), 1 << 20);
}

#[test]
fn concurrent_reservations_never_exceed_the_budget() {
    let device = small(8 << 20);
    let barrier = std::sync::Barrier::new(8);
    let got: Vec<bool> = std::thread::scope(|scope| {
        let take = |i: usize| {
            let (device, barrier) = (&device, &barrier);
            scope.spawn(move || {
                barrier.wait();
                // Each takes 3 of 7 MiB and keeps it until all have tried.
                let pinned = i.is_multiple_of(2).then(|| device.pinned::<u8>("p", 3 << 20));
                let buffer = (!i.is_multiple_of(2)).then(|| device.alloc::<u8>("a", 3 << 20));
                barrier.wait();
                pinned.is_some_and(|p| p.is_ok()) || buffer.is_some_and(|b| b.is_ok())
            })
        };
        let threads: Vec<_> = (0..8).map(take).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert_eq!(got.into_iter().filter(|got| *got).count(), 2);
    assert_eq!((device.memory().ours, device.memory().pinned), (0, 0));
}

#[test]
fn debug_output_tells_no_content() {
    let device = small(8 << 20);
    let s = device.stream("s").unwrap();
    let buffer = device.upload_new(&s, "witness", &[0x1234_5678u32; 3]).unwrap();
    assert_eq!(format!("{buffer:?}"), r#"HostBuffer { label: "witness", len: 3 }"#);
    let mut pinned = device.pinned::<u32>("witness", 2).unwrap();
    pinned.fill(0x1234_5678);
    assert_eq!(format!("{pinned:?}"), r#"HostPinned { label: "witness", len: 2 }"#);
    drop(pinned);
    let device = format!("{device:?}");
    assert!(!device.contains("305419896"), "{device}");
}

#[test]
fn copies_are_bounds_checked() {
    let device = small(8 << 20);
    let s = device.stream("s").unwrap();
    let a = device.upload_new(&s, "a", &[1u32, 2, 3, 4]).unwrap();
    let mut b = device.alloc::<u32>("b", 4).unwrap();
    device.clear(&s, &mut b, 0..4).unwrap();
    device.copy(&s, &a, 1..3, &mut b, 2).unwrap();
    assert_eq!(device.download_all(&s, &b).unwrap(), [0, 0, 2, 3]);
    let invalid = |r: Result<()>| assert!(matches!(r, Err(BackendError::Invalid { .. })), "{r:?}");
    invalid(device.copy(&s, &a, 1..5, &mut b, 0));
    invalid(device.copy(&s, &a, 0..4, &mut b, 1));
    #[expect(clippy::reversed_empty_ranges, reason = "must be refused")]
    invalid(device.copy(&s, &a, 3..1, &mut b, 0));
    invalid(device.upload(&s, &[1], &mut b, 4));
    invalid(device.upload(&s, &[1], &mut b, usize::MAX));
    invalid(device.download(&s, &a, 2, &mut [0; 3]));
    invalid(device.clear(&s, &mut b, 2..5));
    let pages = Arc::new(device.register(Arc::new(vec![9u8; 16])).unwrap());
    let mut bytes = device.alloc::<u8>("bytes", 4).unwrap();
    device.upload_pages(&s, &pages, 12..16, &mut bytes, 0).unwrap();
    assert_eq!(bytes.as_slice(), [9; 4]);
    invalid(device.upload_pages(&s, &pages, 13..17, &mut bytes, 0));
    let pinned = device.upload_pinned(&s, device.pinned("p", 4).unwrap(), &mut b, 0).unwrap().wait().unwrap();
    assert_eq!(device.download_pinned(&s, &a, 0, pinned).unwrap().wait().unwrap()[..], [1, 2, 3, 4]);
    assert!(device.elapsed(&device.record(&s).unwrap(), &device.record(&s).unwrap()).unwrap().is_some());
}

#[test]
fn only_device_zero_exists() {
    let opts = OpenOptions { device: 1, ..OpenOptions::default() };
    assert!(matches!(HostDevice::new("test", &opts), Err(BackendError::Unavailable { .. })));
}
