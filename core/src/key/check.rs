//! Whether every point of a key is what it must be, and remembering that it was.
//!
//! A point off the curve or outside the subgroup gives proofs that do not verify at best; at worst it leaks: sums of such points
//! with secret scalars tell the scalars modulo small numbers. So every point of a file is checked once, before its first use.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::{EncodedPoints, ProvingKey};
use crate::backend::cpu::subgroup;
use crate::curve::{Curve, Element};
use crate::format::FileIdentity;
use crate::format::point::{self, Identity, PointError};
use crate::progress::{Control, Stage};

/// Points per task and between two looks at the cancellation: some tens of milliseconds.
const CHUNK: usize = 8192;

/// Why a key did not pass.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// A bad point: the first one of the first query that has any.
    #[error("{file}: {query} query, point {index} at byte {offset}: expected {expected}, found {found}")]
    Point {
        /// The key's file.
        file: Arc<str>,
        /// "A", "B in G2", ...
        query: &'static str,
        /// Index in the query.
        index: usize,
        /// Offset in the file.
        offset: usize,
        /// What should be there.
        expected: String,
        /// What is wrong with it.
        found: PointError,
    },
    /// Somebody asked to stop.
    #[error("cancelled while checking the points of a key")]
    Cancelled,
}

/// Checks every point of every query: coordinates below p, on the curve, in the subgroup.
///
/// The identity stands for a variable that does not occur: a `.zkey`, and a key exported from one, has it in A, B and C, while bellman's
/// `.params` leaves such variables out and never has it. In H it is never legal: a Lagrange polynomial or a power of tau that vanishes there means a tau
/// that anyone can find.
///
/// Reports points as progress of [`Stage::CheckPoints`].
///
/// # Errors
/// The first bad point, or that it was cancelled.
pub fn check_key(key: &ProvingKey, control: &Control) -> Result<(), CheckError> {
    let omitted = key.identity_of_absent();
    let lengths =
        [key.h.len(), key.l.points.len(), key.a.points.len(), key.b1.points.len(), key.b2.points.len()];
    let total = lengths.iter().map(|n| *n as u64).sum();
    let check = Check { file: &key.source, control, done: AtomicU64::new(0) };
    control.stage(Stage::CheckPoints, total, || {
        check.query(&key.h, "H", Identity::Refused)?;
        check.query(&key.l.points, "L", omitted)?;
        check.query(&key.a.points, "A", omitted)?;
        check.query(&key.b1.points, "B in G1", omitted)?;
        check.query(&key.b2.points, "B in G2", omitted)
    })
}

struct Check<'a> {
    file: &'a Arc<str>,
    control: &'a Control,
    done: AtomicU64,
}

impl Check<'_> {
    fn query<C: Curve>(
        &self,
        points: &EncodedPoints<C>,
        query: &'static str,
        identity: Identity,
    ) -> Result<(), CheckError> {
        let chunks = points.len().div_ceil(CHUNK);
        let range = |chunk: usize| chunk * CHUNK..points.len().min((chunk + 1) * CHUNK);
        // The first in the order of the file, whichever thread was first: messages must not change from run to run.
        let failed = (0..chunks)
            .into_par_iter()
            .find_map_first(|chunk| self.chunk(points, range(chunk), query, identity).err());
        failed.map_or(Ok(()), Err)
    }

    fn chunk<C: Curve>(
        &self,
        points: &EncodedPoints<C>,
        range: Range<usize>,
        query: &'static str,
        identity: Identity,
    ) -> Result<(), CheckError> {
        if self.control.cancel.is_cancelled() {
            return Err(CheckError::Cancelled);
        }
        let encoded = || range.clone().zip(points.chunk(range.clone()).chunks_exact(C::BYTES));
        let good = range.len() >= subgroup::WORTHWHILE && all_good(encoded().map(|e| e.1), points, identity);
        for (index, bytes) in encoded().filter(|_| !good) {
            if let Err(found) = point::decode_checked::<C>(bytes, points.encoding(), identity) {
                let offset = points.offset() + index * C::BYTES;
                let expected = match identity {
                    Identity::Allowed => format!("a point of {}", C::NAME),
                    Identity::Refused => format!("a point of {}, not the identity", C::NAME),
                };
                return Err(CheckError::Point {
                    file: self.file.clone(),
                    query,
                    index,
                    offset,
                    expected,
                    found,
                });
            }
        }
        let done = self.done.fetch_add(range.len() as u64, Ordering::Relaxed) + range.len() as u64;
        self.control.advance(Stage::CheckPoints, done);
        Ok(())
    }
}

/// Whether all points are good, found out together; if not, or if there is no randomness for it, they are looked at one by one.
fn all_good<'a, C: Curve>(
    encoded: impl Iterator<Item = &'a [u8]>,
    points: &EncodedPoints<C>,
    identity: Identity,
) -> bool {
    let one = |bytes| {
        let p = point::decode::<C>(bytes, points.encoding()).ok()?;
        let fine = if p == C::Affine::zeroed() { identity == Identity::Allowed } else { C::is_on_curve(&p) };
        fine.then_some(p)
    };
    let decoded: Option<Vec<C::Affine>> = encoded.map(one).collect();
    decoded.is_some_and(|decoded| subgroup::all_in_subgroup::<C>(&decoded).unwrap_or(false))
}

/// Remembers which files passed, in a folder that the caller names: one small file per state of a key file.
///
/// A remembered outcome counts only while path, size, modification time and inode are those of the file that was checked, and only
/// if the record says exactly that: a record that is damaged or of another version is no record.
#[derive(Clone, Debug)]
pub struct CheckedCache {
    dir: Option<PathBuf>,
}

/// What a record holds. The path is for people, and need not be UTF-8 in the file system: its exact bytes are in the record's name.
#[derive(Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Record {
    /// Which checks were made.
    version: u32,
    path: String,
    size: u64,
    mtime: i128,
    inode: u64,
}

impl Record {
    fn of(identity: &FileIdentity) -> Self {
        let FileIdentity { path, size, mtime, inode } = identity;
        let path = path.to_string_lossy().into_owned();
        Self { version: VERSION, path, size: *size, mtime: *mtime, inode: *inode }
    }
}

/// Changes when [`check_key`] checks more than it did.
const VERSION: u32 = 1;

impl CheckedCache {
    /// In `dir`, which is made when something is remembered; `None` remembers nothing.
    pub fn new(dir: Option<PathBuf>) -> Self {
        Self { dir }
    }

    /// Whether the points of this state of the file were checked and found good.
    pub fn is_checked(&self, identity: &FileIdentity) -> bool {
        let Some(path) = self.path(identity) else { return false };
        // A record is some hundred bytes; anything else in its place is not read.
        let small = std::fs::metadata(&path).is_ok_and(|meta| meta.is_file() && meta.len() < 64 << 10);
        let record = small.then(|| std::fs::read(&path).ok()).flatten();
        record.and_then(|bytes| serde_json::from_slice::<Record>(&bytes).ok()) == Some(Record::of(identity))
    }

    /// Remembers that the points of this state of the file are good.
    ///
    /// # Errors
    /// The folder cannot be made or written. The caller may go on: the check is then made again next time.
    pub fn remember(&self, identity: &FileIdentity) -> std::io::Result<()> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let Some((dir, path)) = self.dir.as_ref().zip(self.path(identity)) else { return Ok(()) };
        std::fs::create_dir_all(dir)?;
        let record = serde_json::to_vec(&Record::of(identity))?;
        // Written beside and renamed, so that no reader ever sees half of it.
        let unique = COUNTER.fetch_add(1, Ordering::Relaxed);
        let beside = path.with_extension(format!("{}-{unique}.tmp", std::process::id()));
        let outcome = std::fs::write(&beside, record).and_then(|()| std::fs::rename(&beside, &path));
        if outcome.is_err() {
            // Best effort: what could not be written may well not be there.
            let _ = std::fs::remove_file(&beside);
        }
        outcome
    }

    fn path(&self, identity: &FileIdentity) -> Option<PathBuf> {
        use sha2::Digest;
        let mut hasher = sha2::Sha256::new();
        hasher.update(identity.path.as_os_str().as_encoded_bytes());
        hasher.update([0]);
        hasher.update(identity.size.to_le_bytes());
        hasher.update(identity.mtime.to_le_bytes());
        hasher.update(identity.inode.to_le_bytes());
        let name = crate::format::digest::hex(&hasher.finalize()[..16]);
        Some(self.dir.as_ref()?.join(format!("checked-{name}.json")))
    }
}
