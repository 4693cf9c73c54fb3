//! One sparse matrix times a vector.

use std::sync::Arc;

use cuzk_core::backend::{Backend, Device, DeviceBlock, DeviceCodes, DeviceMatrix};
use cuzk_core::curve::Scalar;
use rand_core::RngCore;
use rayon::prelude::*;
use serde_json::{Map, json};

use super::{Measured, Timing, data, wrong};
use crate::args::ScalarsArg;
use crate::backends::Visitor;
use crate::exit::{Failure, Result};

/// Distinct coefficients: about as many as Filecoin's circuits have.
const DICTIONARY: usize = 1000;

pub(super) struct Product<'a> {
    pub(super) log_n: u32,
    pub(super) nnz: Option<u32>,
    pub(super) scalars: ScalarsArg,
    pub(super) timing: Timing<'a>,
}

/// A square CSR with its entries spread evenly over the rows and at random over the columns.
struct Csr {
    row_ptr: Vec<u32>,
    cols: Vec<u32>,
    codes: Vec<u16>,
    dictionary: Vec<Scalar>,
}

impl Csr {
    fn new(n: usize, nnz: u32) -> Self {
        let mut rng = data::rng(3);
        let row_ptr: Vec<u32> = (0..=n as u64).map(|row| (row * u64::from(nnz) / n as u64) as u32).collect();
        let mut cols: Vec<u32> = (0..nnz).map(|_| (rng.next_u64() % n as u64) as u32).collect();
        let codes = (0..nnz).map(|_| (rng.next_u32() as usize % DICTIONARY) as u16).collect();
        for row in row_ptr.windows(2) {
            if let [from, until] = *row
                && let Some(row) = cols.get_mut(from as usize..until as usize)
            {
                make_distinct(row, n as u32);
            }
        }
        Self { row_ptr, cols, codes, dictionary: data::scalars(DICTIONARY, ScalarsArg::Random, 4) }
    }

    /// Row by row, as the definition says.
    fn times(&self, z: &[Scalar]) -> Vec<Scalar> {
        let row = |row: &[u32]| {
            let range = row.first().copied().unwrap_or(0)..row.last().copied().unwrap_or(0);
            let entries =
                range.filter_map(|i| Some((self.cols.get(i as usize)?, self.codes.get(i as usize)?)));
            entries
                .filter_map(|(col, code)| Some(self.dictionary.get(*code as usize)? * z.get(*col as usize)?))
                .sum()
        };
        self.row_ptr.par_windows(2).map(row).collect()
    }
}

/// Sorts, and moves repeats to free neighbours: up, then back below `n`. A row has at most `n` entries.
fn make_distinct(row: &mut [u32], n: u32) {
    row.sort_unstable();
    let mut free = 0;
    for col in row.iter_mut() {
        *col = (*col).max(free);
        free = *col + 1;
    }
    let mut limit = n;
    for col in row.iter_mut().rev() {
        *col = (*col).min(limit.saturating_sub(1));
        limit = *col;
    }
}

impl Visitor for Product<'_> {
    type Output = Result<Measured>;

    fn visit<B: Backend>(self, backend: B) -> Result<Measured> {
        let n = 1usize << self.log_n;
        let most = (n as u64).saturating_mul(n as u64).min(1 << 31);
        let nnz = self.nnz.map_or_else(|| most.min(3 * n as u64), u64::from);
        if nnz > most {
            return Err(Failure::usage(format!(
                "--nnz: a matrix of {n} rows and columns has at most {most} entries"
            )));
        }
        let nnz = nnz as u32;
        let device = backend.device();
        let (matrix, vector) = (u64::from(nnz) * 6 + n as u64 * 4, n as u64 * 32);
        self.timing.expect_room(device.info(), device.memory(), matrix + 3 * vector, matrix + 2 * vector)?;
        let stream = device.stream("bench")?;
        let csr = Csr::new(n, nnz);
        let values = data::scalars(n, self.scalars, 1);
        let block = DeviceBlock {
            rows: n,
            repeat: 1,
            shifts: Vec::new(),
            row_ptr: Arc::new(device.upload_new(&stream, "row pointers", &csr.row_ptr)?),
            cols: Arc::new(device.upload_new(&stream, "columns", &csr.cols)?),
            codes: DeviceCodes::Narrow(Arc::new(device.upload_new(&stream, "codes", &csr.codes)?)),
        };
        let dictionary = Arc::new(device.upload_new(&stream, "dictionary", &csr.dictionary)?);
        let matrix = DeviceMatrix { rows: n, cols: n, dictionary, blocks: vec![block] };
        let z = device.upload_new(&stream, "z", &values)?;
        let mut out = device.alloc("product", n)?;
        backend.spmv(&stream, &matrix, &z, &mut out)?;
        if device.download_all(&stream, &out)? != csr.times(&values) {
            return Err(wrong("spmv", device));
        }
        let runs = self.timing.measure(|| {
            backend.spmv(&stream, &matrix, &z, &mut out)?;
            Ok(device.finish(&stream)?)
        })?;
        let facts =
            Map::from_iter([("nnz".into(), json!(nnz)), ("scalars".into(), json!(data::name(self.scalars)))]);
        Ok(Measured { device: device.info().clone(), runs, items: (nnz.into(), "entries"), facts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_ascending_and_distinct() {
        for (n, nnz) in [(1, 1), (4, 16), (8, 3), (64, 1000)] {
            let csr = Csr::new(n, nnz);
            assert_eq!(csr.row_ptr.last(), Some(&nnz));
            for row in csr.row_ptr.windows(2) {
                let cols = &csr.cols[row[0] as usize..row[1] as usize];
                assert!(
                    cols.windows(2).all(|w| w[0] < w[1]) && cols.iter().all(|c| (*c as usize) < n),
                    "{cols:?}"
                );
            }
        }
    }
}
