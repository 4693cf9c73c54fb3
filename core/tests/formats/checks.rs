//! Checks of a key's points, and remembering their outcome.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use cuzk_core::curve::{BaseField, Curve, Fp, G1, G1Affine};
use cuzk_core::format::{Source, params, zkey};
use cuzk_core::key::{CheckError, CheckedCache, EncodedPoints, ProvingKey, check_key};
use cuzk_core::progress::{Control, Observer, Progress, Stage};

use crate::{CIRCUITS, bellman, fixture, path};

fn check(key: &ProvingKey) -> Result<(), CheckError> {
    check_key(key, &Control::default())
}

#[test]
fn good_keys_pass() {
    for name in CIRCUITS {
        check(&zkey::read(&fixture(&format!("{name}/circuit.zkey"))).unwrap().key).unwrap();
    }
    check(&bellman::small_key()).unwrap();
}

/// A point of a fixture replaced, query by query: the message names query, index and offset.
#[test]
fn bad_points_are_named() {
    let good = fixture("mul3/circuit.zkey").bytes().to_vec();
    let key = zkey::read(&fixture("mul3/circuit.zkey")).unwrap().key;
    let queries = [
        ("H", key.h.offset(), 96, 8),
        ("L", key.l.points.offset(), 96, 6),
        ("A", key.a.points.offset(), 96, 8),
        ("B in G1", key.b1.points.offset(), 96, 8),
        ("B in G2", key.b2.points.offset(), 192, 8),
    ];
    // x = 4 is on the curve and outside the subgroup; its y is the square root of 68.
    let off_curve = |p: &mut [u8]| p[0] ^= 1;
    let not_below_p = |p: &mut [u8]| p[40..48].fill(0xff);
    let identity = |p: &mut [u8]| p.fill(0);
    for (query, offset, size, count) in queries {
        for index in [0, count - 1] {
            let at = offset + index * size;
            let with = |edit: &dyn Fn(&mut [u8])| {
                let mut bytes = good.clone();
                edit(&mut bytes[at..at + size]);
                check(&zkey::read(&Source::from_bytes("bad.zkey", bytes)).unwrap().key)
            };
            for (edit, found) in
                [(&off_curve as &dyn Fn(&mut [u8]), "not on the curve"), (&not_below_p, "b9feffffffffaaab")]
            {
                let message = with(edit).unwrap_err().to_string();
                let expected =
                    format!("bad.zkey: {query} query, point {index} at byte {at}: expected a point of ");
                assert!(message.starts_with(&expected) && message.ends_with(found), "{message}");
            }
            match with(&identity) {
                Ok(()) => assert_ne!(query, "H", "a Lagrange polynomial never vanishes at tau"),
                Err(e) => assert!(query == "H" && e.to_string().contains("the identity"), "{query}: {e}"),
            }
        }
    }
}

#[test]
fn params_have_no_identity() {
    let key = bellman::small_key();
    let mut bytes = Vec::new();
    params::write(&mut bytes, &key).unwrap();
    for (query, at, size) in [
        ("H", key.h.offset(), 96),
        ("L", key.l.points.offset(), 96),
        ("A", key.a.points.offset(), 96),
        ("B in G1", key.b1.points.offset(), 96),
        ("B in G2", key.b2.points.offset(), 192),
    ] {
        let mut bad = bytes.clone();
        bad[at..at + size].fill(0);
        bad[at] = 0x40;
        let key = params::read(&Source::from_bytes("bad.params", bad), None).unwrap();
        let message = check(&key).unwrap_err().to_string();
        assert!(message.contains(&format!("{query} query, point 0 at byte {at}")), "{message}");
    }
}

/// With two bad points in different chunks it is always the first that is named.
#[test]
fn the_first_bad_point_is_named() {
    let mut key = zkey::read(&fixture("mul3/circuit.zkey")).unwrap().key;
    let good = cuzk_core::format::point::decode::<G1>(key.h.chunk(0..1), key.h.encoding()).unwrap();
    let (x, _) = G1::coordinates(&good);
    let bad = G1::from_coordinates(x, Fp::from_montgomery([1, 0, 0, 0, 0, 0]).unwrap());
    // (0, 2) has order 3.
    let outside = G1::from_coordinates(Fp::default(), Fp::ONE.double());
    for (bad, what) in [(bad, "not on the curve"), (outside, "not in the subgroup of order r")] {
        let mut points: Vec<G1Affine> = vec![good; 20_000];
        key.a.points = EncodedPoints::from_points(&points);
        check(&key).unwrap();
        points[19_999] = bad;
        points[9_000] = bad;
        key.a.points = EncodedPoints::from_points(&points);
        for _ in 0..3 {
            let message = check(&key).unwrap_err().to_string();
            assert!(message.contains("A query, point 9000 ") && message.ends_with(what), "{message}");
        }
    }
}

#[derive(Default)]
struct Recorder(Mutex<Vec<(Stage, Progress)>>);

impl Observer for Recorder {
    fn event(&self, stage: Stage, progress: Progress, _: Instant) {
        self.0.lock().unwrap().push((stage, progress));
    }
}

#[test]
fn progress_and_cancellation() {
    let key = zkey::read(&fixture("sort16/circuit.zkey")).unwrap().key;
    let recorder = Arc::new(Recorder::default());
    let control = Control { observer: recorder.clone(), ..Control::default() };
    check_key(&key, &control).unwrap();
    let total = (key.h.len() + key.l.points.len() + 3 * key.a.points.len()) as u64;
    let events = recorder.0.lock().unwrap();
    assert_eq!(events.first().unwrap(), &(Stage::CheckPoints, Progress::Begin { total }));
    assert!(events.contains(&(Stage::CheckPoints, Progress::Advance { done: total })));
    assert!(matches!(events.last().unwrap(), (Stage::CheckPoints, Progress::End { .. })));
    control.cancel.cancel();
    drop(events);
    assert_eq!(check_key(&key, &control), Err(CheckError::Cancelled));
}

#[test]
fn outcome_is_remembered_for_one_state_of_one_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("k.zkey");
    std::fs::copy(path("mul3/circuit.zkey"), &file).unwrap();
    let identity = || Source::open(&file).unwrap().identity().unwrap().clone();
    let folder = dir.path().join("deep/cache");
    let cache = CheckedCache::new(Some(folder.clone()));
    let first = identity();
    assert!(!cache.is_checked(&first));
    cache.remember(&first).unwrap();
    assert!(cache.is_checked(&first));
    assert!(CheckedCache::new(Some(folder.clone())).is_checked(&first), "another process");
    assert!(!CheckedCache::new(None).is_checked(&first));
    CheckedCache::new(None).remember(&first).unwrap();

    // Touched, replaced, moved: another state.
    for change in [
        cuzk_core::format::FileIdentity { mtime: first.mtime + 1, ..first.clone() },
        cuzk_core::format::FileIdentity { size: first.size + 1, ..first.clone() },
        cuzk_core::format::FileIdentity { inode: first.inode + 1, ..first.clone() },
        cuzk_core::format::FileIdentity { path: dir.path().join("other"), ..first.clone() },
    ] {
        assert!(!cache.is_checked(&change), "{change:?}");
    }

    // A damaged record, or one that was copied to another file's name, is no record.
    let records: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(records.len(), 1, "nothing but the record is left in the folder");
    let good = std::fs::read(&records[0]).unwrap();
    for bad in [&b""[..], &good[..good.len() - 1], b"{}", b"null", &[0xff; 100]] {
        std::fs::write(&records[0], bad).unwrap();
        assert!(!cache.is_checked(&first));
    }
    let other = cuzk_core::format::FileIdentity { path: dir.path().join("other"), ..first.clone() };
    cache.remember(&other).unwrap();
    let record =
        std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).find(|p| *p != records[0]).unwrap();
    std::fs::copy(&record, &records[0]).unwrap();
    assert!(cache.is_checked(&other) && !cache.is_checked(&first));
    cache.remember(&first).unwrap();
    assert!(cache.is_checked(&first));

    // A folder that cannot be made is an error to the one who remembers, not to the one who asks.
    let blocked = CheckedCache::new(Some(file.join("x")));
    assert!(!blocked.is_checked(&first) && blocked.remember(&first).is_err());
}
