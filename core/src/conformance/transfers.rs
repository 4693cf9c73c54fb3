//! What goes in comes out, and nothing beside it changes.

use std::fmt::Display;
use std::ops::Range;
use std::sync::Arc;

use super::rig::{During, Rig, ensure, refused, same};
use super::values::{self, Known};
use super::{Outcome, Subject};
use crate::backend::{Backend, BackendError, Device, DeviceBuffer, RegisteredPages, SharedBytes};
use crate::curve::{Element, G1, G2, as_bytes_mut};

/// `n` different elements of any type; of points and scalars too only the bytes matter here.
fn pattern<T: Element>(n: usize, salt: u8) -> Vec<T> {
    let mut out = vec![T::zeroed(); n];
    for (i, byte) in as_bytes_mut(&mut out).iter_mut().enumerate() {
        *byte = (i.wrapping_mul(151) >> 3) as u8 ^ i as u8 ^ salt;
    }
    out
}

fn offsets<B: Backend, T: Element>(rig: &Rig<B>) -> Outcome {
    let device = rig.device();
    for (len, pieces) in [
        (0, vec![0..0, 0..0]),
        (1, vec![0..1, 1..1]),
        (77, vec![0..1, 1..4, 4..7, 7..77, 77..77, 3..9, 76..77]),
    ] {
        let mut expected = pattern::<T>(len, 1);
        let mut buffer = device.alloc::<T>("conformance offsets", len).during("alloc")?;
        ensure!(
            buffer.len() == len && buffer.is_empty() == (len == 0),
            "a buffer of {len} says {}",
            buffer.len()
        );
        ensure!(buffer.label() == "conformance offsets", "a buffer calls itself {:?}", buffer.label());
        device.upload(&rig.stream, &expected, &mut buffer, 0).during("upload")?;
        for (salt, piece) in pieces.into_iter().enumerate() {
            let what = format!("{} {}, piece {piece:?}", len, T::NAME);
            let mut content = pattern::<T>(piece.len(), salt as u8 + 9);
            device.upload(&rig.stream, &content, &mut buffer, piece.start).during(&what)?;
            expected[piece.clone()].copy_from_slice(&content);
            // The source may be reused at once.
            content.fill(T::zeroed());
            rig.expect(&buffer, &expected, format_args!("{what} uploaded"))?;
            let mut part = pattern::<T>(piece.len(), 3);
            device.download(&rig.stream, &buffer, piece.start, &mut part).during(&what)?;
            same(&part, &expected[piece], format_args!("{what} downloaded"))?;
        }
    }
    Ok(())
}

/// Every element type, pieces of all alignments, nothing at all
pub fn at_offsets<B: Backend>(subject: &Subject<B>) -> Outcome {
    let mut rig = subject.rig()?;
    offsets::<B, u8>(&rig)?;
    offsets::<B, u16>(&rig)?;
    offsets::<B, u32>(&rig)?;
    offsets::<B, u64>(&rig)?;
    // Scalars and points of defined value: a device may hold them in another form as long as they come back.
    let scalars = values::mixed(&mut rig.rng, rig.limits.elements);
    rig.expect(&rig.upload(&scalars)?, &scalars, "scalars")?;
    let (g1, g2) = (Known::<G1>::line(&mut rig.rng, 100).points, Known::<G2>::line(&mut rig.rng, 100).points);
    rig.expect(&rig.upload(&g1)?, &g1, "points of G1")?;
    rig.expect(&rig.upload(&g2)?, &g2, "points of G2")
}

/// Pinned memory up and down, several copies on their way at once
pub fn pinned_both_ways<B: Backend>(subject: &Subject<B>) -> Outcome {
    let rig = subject.rig()?;
    let device = rig.device();
    for len in [0, 1, 5, 4096, 10_001] {
        let expected = pattern::<u32>(len * 3 + 4, 7);
        let mut buffer = rig.upload(&expected)?;
        let mut pending = Vec::new();
        for part in 0..3 {
            let mut pinned = device.pinned::<u32>("conformance pinned", len).during("pinned")?;
            ensure!(pinned.len() == len, "pinned memory of {len} elements has {}", pinned.len());
            pinned.copy_from_slice(&pattern::<u32>(len, 20 + part as u8));
            pending.push(
                device
                    .upload_pinned(&rig.stream, pinned, &mut buffer, 2 + part * len)
                    .during("upload_pinned")?,
            );
        }
        // In reverse: each comes back on its own.
        while let Some(pinned) = pending.pop() {
            let part = pending.len() as u8;
            same(
                &pinned.wait().during("upload_pinned")?,
                &pattern::<u32>(len, 20 + part),
                "pinned memory that came back",
            )?;
        }
        let mut whole = expected;
        for part in 0..3 {
            whole[2 + part * len..2 + (part + 1) * len]
                .copy_from_slice(&pattern::<u32>(len, 20 + part as u8));
        }
        rig.expect(&buffer, &whole, "what pinned memory uploaded")?;
        let pinned = device.pinned::<u32>("conformance pinned", len).during("pinned")?;
        let down = device.download_pinned(&rig.stream, &buffer, 2 + len, pinned).during("download_pinned")?;
        same(
            &down.wait().during("download_pinned")?,
            &whole[2 + len..2 + 2 * len],
            "what pinned memory downloaded",
        )?;
    }
    Ok(())
}

/// Registered pages upload what they hold; or the backend says it does not do that
pub fn registered_pages<B: Backend>(subject: &Subject<B>) -> Outcome {
    let rig = subject.rig()?;
    let device = rig.device();
    let content = pattern::<u8>(3 * 4096 + 17, 5);
    let shared: SharedBytes = Arc::new(content.clone());
    let pages = match device.register(shared) {
        Err(BackendError::Unsupported { .. }) => return Ok(()),
        other => Arc::new(other.during("register")?),
    };
    same(pages.bytes(), &content, "registered bytes")?;
    let mut expected = pattern::<u8>(9000, 6);
    let mut buffer = rig.upload(&expected)?;
    for (range, at) in [
        (0..100, 0),
        (4095..4097, 200),
        (content.len() - 1..content.len(), 8999),
        (5..5, 9000),
        (1..8001, 500),
    ] {
        device.upload_pages(&rig.stream, &pages, range.clone(), &mut buffer, at).during("upload_pages")?;
        expected[at..at + range.len()].copy_from_slice(&content[range]);
    }
    let outside = content.len()..content.len() + 1;
    refused(device.upload_pages(&rig.stream, &pages, outside, &mut buffer, 0), "bytes after the pages")?;
    refused(device.upload_pages(&rig.stream, &pages, 0..2, &mut buffer, 8999), "bytes after the buffer")?;
    drop(pages);
    rig.expect(&buffer, &expected, "what pages uploaded")
}

fn copies<B: Backend, T: Element>(rig: &Rig<B>) -> Outcome {
    let device = rig.device();
    let source = pattern::<T>(50, 1);
    let mut expected = pattern::<T>(40, 2);
    let (from, mut to) = (rig.upload(&source)?, rig.upload(&expected)?);
    for (range, at) in [(0..40, 0), (10..11, 39), (3..9, 5), (50..50, 40), (7..8, 1)] {
        device.copy(&rig.stream, &from, range.clone(), &mut to, at).during("copy")?;
        expected[at..at + range.len()].copy_from_slice(&source[range.clone()]);
        rig.expect(&to, &expected, format_args!("{} copied from {range:?} to {at}", T::NAME))?;
    }
    for range in [3..5, 0..1, 39..40, 7..7, 0..40] {
        device.clear(&rig.stream, &mut to, range.clone()).during("clear")?;
        expected[range.clone()].fill(T::zeroed());
        rig.expect(&to, &expected, format_args!("{} cleared in {range:?}", T::NAME))?;
    }
    rig.expect(&from, &source, "the source of copies")
}

/// On the device, all alignments
pub fn copy_and_clear<B: Backend>(subject: &Subject<B>) -> Outcome {
    let rig = subject.rig()?;
    copies::<B, u8>(&rig)?;
    copies::<B, u16>(&rig)?;
    copies::<B, u32>(&rig)?;
    copies::<B, u64>(&rig)
}

fn outside<B: Backend>(rig: &Rig<B>, range: Range<usize>, what: impl Display) -> Outcome {
    let device = rig.device();
    let content = pattern::<u32>(10, 1);
    let (other, mut buffer) = (rig.upload(&content)?, rig.upload(&content)?);
    let len = range.end.wrapping_sub(range.start);
    if len <= 20 {
        let mut host = vec![0u32; len];
        refused(device.upload(&rig.stream, &host, &mut buffer, range.start), format_args!("upload {what}"))?;
        refused(
            device.download(&rig.stream, &buffer, range.start, &mut host),
            format_args!("download {what}"),
        )?;
        let pinned = device.pinned::<u32>("conformance pinned", len)?;
        refused(
            device.upload_pinned(&rig.stream, pinned, &mut buffer, range.start),
            format_args!("upload_pinned {what}"),
        )?;
        let pinned = device.pinned::<u32>("conformance pinned", len)?;
        refused(
            device.download_pinned(&rig.stream, &buffer, range.start, pinned),
            format_args!("download_pinned {what}"),
        )?;
        if len <= 10 {
            refused(
                device.copy(&rig.stream, &other, 0..len, &mut buffer, range.start),
                format_args!("copy to {what}"),
            )?;
        }
    }
    refused(device.clear(&rig.stream, &mut buffer, range.clone()), format_args!("clear {what}"))?;
    refused(device.copy(&rig.stream, &other, range, &mut buffer, 0), format_args!("copy from {what}"))?;
    rig.expect(&buffer, &content, "a buffer after what was refused")
}

/// Ranges that end after a buffer, start after it, or are so far out that sums overflow
pub fn nothing_outside_a_buffer<B: Backend>(subject: &Subject<B>) -> Outcome {
    let rig = subject.rig()?;
    for range in [
        9..11,
        10..11,
        0..11,
        11..11,
        11..12,
        usize::MAX - 1..usize::MAX,
        usize::MAX / 4..usize::MAX / 4 + 2,
        0..usize::MAX,
    ] {
        outside(&rig, range.clone(), format_args!("{range:?} of 10 elements"))?;
    }
    Ok(())
}
