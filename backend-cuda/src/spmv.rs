//! Sparse matrix times vector; see kernels/spmv.cu.

use cuzk_core::backend::{BackendError, DeviceBlock, DeviceBuffer, DeviceCodes, DeviceMatrix, Result};
use cuzk_core::circuit::Block;
use cuzk_core::curve::Scalar;

use crate::backend::CudaBackend;
use crate::device::CudaDevice;
use crate::driver::{Args, Launch};
use crate::memory::{CudaBuffer, CudaStream};
use crate::params::{Limits, Shifts};

/// Sparse products need the shifts of a block in four registers each.
const _: () = assert!(Block::MAX_SHIFTS == 4);

fn shifts(block: &DeviceBlock<CudaDevice>) -> Result<Shifts> {
    let mut out = Shifts::default();
    if block.shifts.len() > Block::MAX_SHIFTS {
        return Err(BackendError::Invalid {
            op: "spmv",
            what: "shifted ranges of a block at most",
            expected: Block::MAX_SHIFTS as u64,
            found: block.shifts.len() as u64,
        });
    }
    for (i, shift) in block.shifts.iter().enumerate() {
        out.count += 1;
        (out.from[i], out.until[i], out.stride[i]) = (shift.from, shift.until, shift.stride);
    }
    Ok(out)
}

impl CudaBackend {
    pub(crate) fn run_spmv(
        &self,
        stream: &CudaStream,
        matrix: &DeviceMatrix<CudaDevice>,
        z: &CudaBuffer<Scalar>,
        out: &mut CudaBuffer<Scalar>,
    ) -> Result<()> {
        BackendError::expect_len("spmv", "length of z", matrix.cols, z.len())?;
        let rows: usize = matrix.blocks.iter().map(|b| b.rows * b.repeat as usize).sum();
        BackendError::expect_len("spmv", "rows of the blocks", matrix.rows, rows)?;
        if out.len() < rows {
            let (expected, found) = (rows as u64, out.len() as u64);
            return Err(BackendError::Invalid {
                op: "spmv",
                what: "length of out at least",
                expected,
                found,
            });
        }
        let target = out.on(stream);
        let mut row = 0;
        for block in &matrix.blocks {
            self.run_block(stream, matrix, block, z, target + row * 32)?;
            row += block.rows as u64 * u64::from(block.repeat);
        }
        stream.raw.clear(target + row * 32, (out.len() - rows) * 32)
    }

    fn run_block(
        &self,
        stream: &CudaStream,
        matrix: &DeviceMatrix<CudaDevice>,
        block: &DeviceBlock<CudaDevice>,
        z: &CudaBuffer<Scalar>,
        out: u64,
    ) -> Result<()> {
        let (name, codes, code_count) = match &block.codes {
            DeviceCodes::Narrow(codes) => ("spmv_narrow", codes.on(stream), codes.len()),
            DeviceCodes::Wide(codes) => ("spmv_wide", codes.on(stream), codes.len()),
        };
        BackendError::expect_len("spmv", "row pointers of a block", block.rows + 1, block.row_ptr.len())?;
        BackendError::expect_len("spmv", "codes of a block", block.cols.len(), code_count)?;
        let total = block.rows as u64 * u64::from(block.repeat);
        let limits = [block.cols.len(), matrix.dictionary.len(), matrix.cols];
        let args = Args::new()
            .arg(block.row_ptr.on(stream))
            .arg(block.cols.on(stream))
            .arg(codes)
            .arg(matrix.dictionary.on(stream))
            .arg(z.on(stream))
            .arg(out)
            .arg(block.rows as u32)
            .arg(total)
            .arg(Limits(limits.map(|limit| limit as u64)))
            .arg(shifts(block)?);
        Launch::cover(total, 128).run(&stream.raw, self.kernels.get(name)?, args)
    }
}
