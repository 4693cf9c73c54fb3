//! Powers of roots of unity, made once per process.
//!
//! Level k is the half table w^0 .. w^(2^(k-1) - 1) of w, a primitive 2^k-th root; a transform of any length reads the levels up to its own,
//! each contiguously. Levels up to 2^19 points are kept (16 MiB for all of them per root and direction); above, factors are made from
//! two short tables with one multiplication more.

use std::sync::OnceLock;

use ff::Field;
use rayon::prelude::*;

use crate::backend::{BackendError, Direction, Result};
use crate::curve::{Root, Scalar};

/// Highest level that is kept.
pub(super) const TABLED: u32 = 19;

/// Levels of one root in one direction.
struct Levels([OnceLock<Vec<Scalar>>; TABLED as usize + 1]);

static LEVELS: [Levels; 4] = [const { Levels([const { OnceLock::new() }; TABLED as usize + 1]) }; 4];

/// The primitive 2^log_n-th root whose powers a transform multiplies by: w, or its inverse.
pub(super) fn root(root: Root, direction: Direction, log_n: u32) -> Result<Scalar> {
    let too_large = BackendError::Invalid {
        op: "ntt",
        what: "log2 of the length at most",
        expected: Root::MAX_LOG_N.into(),
        found: log_n.into(),
    };
    let w = root.of_unity(log_n).ok_or(too_large)?;
    // A root of unity is not zero; w^(n-1) is its inverse.
    Ok(match direction {
        Direction::Forward => w,
        Direction::Inverse => w.pow_vartime([(1u64 << log_n) - 1]),
    })
}

/// Access to the levels of one root and direction.
#[derive(Clone, Copy)]
pub(super) struct Twiddles {
    root: Root,
    direction: Direction,
}

impl Twiddles {
    pub(super) fn new(root: Root, direction: Direction) -> Self {
        Self { root, direction }
    }

    /// Level k, 1 <= k <= [`TABLED`].
    pub(super) fn level(self, k: u32) -> Result<&'static [Scalar]> {
        let set = match (self.root, self.direction) {
            (Root::Five, Direction::Forward) => 0,
            (Root::Five, Direction::Inverse) => 1,
            (Root::Seven, Direction::Forward) => 2,
            (Root::Seven, Direction::Inverse) => 3,
        };
        let w = root(self.root, self.direction, k)?;
        Ok(table(&LEVELS[set].0[k as usize], w, 1 << k.saturating_sub(1)))
    }

    /// w of level k.
    pub(super) fn root(self, k: u32) -> Result<Scalar> {
        root(self.root, self.direction, k)
    }
}

/// The content of `cell`, made on first use.
///
/// Made outside the initialiser: [`powers`] runs on the thread pool, and a thread that waits there for others may take up another
/// transform, which would enter the initialiser again, or block on one that waits for it. Two threads may thus make the same
/// table; one of them is kept.
fn table(cell: &OnceLock<Vec<Scalar>>, w: Scalar, len: usize) -> &[Scalar] {
    if let Some(table) = cell.get() {
        return table;
    }
    let made = powers(w, len);
    cell.get_or_init(|| made)
}

/// w^0 .. w^(len - 1).
pub(super) fn powers(w: Scalar, len: usize) -> Vec<Scalar> {
    const PIECE: usize = 1 << 12;
    let mut out = vec![Scalar::ONE; len];
    out.par_chunks_mut(PIECE).enumerate().for_each(|(piece, out)| {
        let mut power = w.pow_vartime([(piece * PIECE) as u64]);
        for x in out {
            *x = power;
            power *= &w;
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    /// Many tasks of one pool need the same tables, none of which is made yet.
    #[test]
    fn tables_are_made_by_many_threads_at_once() {
        const LOG_LEN: u32 = 15;
        let (done, finished) = channel();
        // Not scoped: were it to hang, the test must end nevertheless.
        std::thread::spawn(move || {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
            let w = root(Root::Seven, Direction::Forward, LOG_LEN + 1).unwrap();
            let cells: Vec<OnceLock<Vec<Scalar>>> = (0..50).map(|_| OnceLock::new()).collect();
            let right = pool.install(|| {
                let halfway = w.pow_vartime([1 << (LOG_LEN - 1)]);
                cells.iter().all(|cell| {
                    (0..32).into_par_iter().all(|_| {
                        let table = table(cell, w, 1 << LOG_LEN);
                        table.len() == 1 << LOG_LEN && table[1] == w && table[1 << (LOG_LEN - 1)] == halfway
                    })
                })
            });
            done.send(right).unwrap();
        });
        let outcome = finished.recv_timeout(Duration::from_secs(120));
        assert_eq!(outcome, Ok(true), "the threads wait for each other, or a table is wrong");
    }
}
