//! An open backend with a stream, and short ways to get values in and out.

use std::fmt::Display;
use std::sync::Arc;

use group::Group;
use rand_chacha::ChaCha8Rng;

use super::{Failure, Limits, Subject, values};
use crate::backend::{
    Backend, BackendError, Buffer, Device, DeviceBlock, DeviceBuffer, DeviceCodes, DeviceMatrix, OpenOptions,
    Result, Stream,
};
use crate::circuit::{Codes, Matrix};
use crate::curve::{Curve, Element, Scalar};

/// Fails the case with a message unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err($crate::conformance::Failure(format!($($message)+)));
        }
    };
}
pub(super) use ensure;

pub(super) struct Rig<B: Backend> {
    pub(super) backend: B,
    pub(super) stream: Stream<B>,
    pub(super) limits: Limits,
    pub(super) rng: ChaCha8Rng,
}

impl<B: Backend> Subject<B> {
    pub(super) fn rig(&self) -> Result<Rig<B>, Failure> {
        self.rig_with(&OpenOptions::default())
    }

    pub(super) fn rig_with(&self, options: &OpenOptions) -> Result<Rig<B>, Failure> {
        let backend = (self.open)(options).during("opening")?;
        let stream = backend.device().stream("conformance").during("making a stream")?;
        Ok(Rig { backend, stream, limits: self.limits, rng: values::rng() })
    }

    pub(super) fn open(&self, options: &OpenOptions) -> Result<B> {
        (self.open)(options)
    }
}

impl<B: Backend> Rig<B> {
    pub(super) fn device(&self) -> &B::Device {
        self.backend.device()
    }

    pub(super) fn upload<T: Element>(&self, content: &[T]) -> Result<Buffer<B, T>, Failure> {
        self.device().upload_new(&self.stream, "conformance input", content).during("uploading")
    }

    pub(super) fn download<T: Element>(&self, buffer: &Buffer<B, T>) -> Result<Vec<T>, Failure> {
        self.device().download_all(&self.stream, buffer).during("downloading")
    }

    /// A buffer for scalars that holds something else.
    pub(super) fn scalar_garbage(&mut self, len: usize) -> Result<Buffer<B, Scalar>, Failure> {
        let garbage = values::scalars(&mut self.rng, len);
        self.upload(&garbage)
    }

    /// A buffer for points that holds something else.
    pub(super) fn point_garbage<C: Curve>(&self, len: usize) -> Result<Buffer<B, C::Affine>, Failure> {
        let point = C::Affine::from(C::Projective::generator() * Scalar::from(0xbad));
        self.upload(&vec![point; len])
    }

    /// A matrix whose dictionary is `dictionary`.
    pub(super) fn matrix(
        &self,
        matrix: &Matrix,
        cols: usize,
        dictionary: &[Scalar],
    ) -> Result<DeviceMatrix<B::Device>, Failure> {
        let mut blocks = Vec::new();
        for block in &matrix.blocks {
            blocks.push(DeviceBlock {
                rows: block.rows(),
                repeat: block.repeat,
                shifts: block.shifts.clone(),
                row_ptr: Arc::new(self.upload(&block.row_ptr)?),
                cols: Arc::new(self.upload(&block.cols)?),
                codes: match &block.codes {
                    Codes::Narrow(codes) => DeviceCodes::Narrow(Arc::new(self.upload(codes)?)),
                    Codes::Wide(codes) => DeviceCodes::Wide(Arc::new(self.upload(codes)?)),
                },
            });
        }
        Ok(DeviceMatrix { rows: matrix.rows(), cols, dictionary: Arc::new(self.upload(dictionary)?), blocks })
    }

    /// Downloads and compares, byte for byte where elements have only one form.
    pub(super) fn expect<T: Element>(
        &self,
        buffer: &Buffer<B, T>,
        expected: &[T],
        what: impl Display,
    ) -> Result<(), Failure> {
        ensure!(
            buffer.len() == expected.len(),
            "{what}: {} elements instead of {}",
            buffer.len(),
            expected.len()
        );
        same(&self.download(buffer)?, expected, what)
    }
}

/// Compares bytes.
pub(super) fn same<T: Element>(found: &[T], expected: &[T], what: impl Display) -> Result<(), Failure> {
    let place = found.iter().zip(expected).position(|(f, e)| {
        crate::curve::as_bytes(std::slice::from_ref(f)) != crate::curve::as_bytes(std::slice::from_ref(e))
    });
    match place {
        None => Ok(()),
        Some(i) => Err(Failure(format!(
            "{what}: element {i} of {} is {:?} instead of {:?}",
            found.len(),
            found[i],
            expected[i]
        ))),
    }
}

/// Says what was being done when something failed.
pub(super) trait During<T> {
    fn during(self, what: impl Display) -> Result<T, Failure>;
}

impl<T> During<T> for Result<T> {
    fn during(self, what: impl Display) -> Result<T, Failure> {
        self.map_err(|error| Failure(format!("{what}: unexpected error: {error}")))
    }
}

/// The call must be refused as invalid.
pub(super) fn refused<T>(result: Result<T>, what: impl Display) -> Result<(), Failure> {
    match result {
        Err(BackendError::Invalid { .. }) => Ok(()),
        Err(other) => Err(Failure(format!("{what} must be refused as invalid, but: {other}"))),
        Ok(_) => Err(Failure(format!("{what} must be refused as invalid, and was accepted"))),
    }
}
