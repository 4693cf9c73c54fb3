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
