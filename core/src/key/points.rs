//! Points as a file holds them: a range of shared bytes, decoded one at a time or in chunks.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use crate::backend::{PointEncoding, SharedBytes};
use crate::curve::Curve;

/// `len` encoded points inside a mapped file or a vector.
#[derive(Clone)]
pub struct EncodedPoints<C: Curve> {
    bytes: SharedBytes,
    range: Range<usize>,
    encoding: PointEncoding,
    curve: PhantomData<C>,
}

impl<C: Curve> EncodedPoints<C> {
    /// The points in `bytes[range]`; `None` if the range is not inside the bytes or not a whole number of points.
    pub fn new(bytes: SharedBytes, range: Range<usize>, encoding: PointEncoding) -> Option<Self> {
        let inside = range.start <= range.end && range.end <= (*bytes).as_ref().len();
        (inside && (range.end - range.start).is_multiple_of(C::BYTES)).then_some(Self {
            bytes,
            range,
            encoding,
            curve: PhantomData,
        })
    }

    /// Points already in memory, in the devices' own form.
    pub fn from_points(points: &[C::Affine]) -> Self {
        let bytes: SharedBytes = Arc::new(crate::curve::as_bytes(points).to_vec());
        Self { bytes, range: 0..size_of_val(points), encoding: PointEncoding::Montgomery, curve: PhantomData }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        (self.range.end - self.range.start) / C::BYTES
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// How they are written.
    pub fn encoding(&self) -> PointEncoding {
        self.encoding
    }
    /// The same bytes, read as another encoding.
    pub(crate) fn with_encoding(mut self, encoding: PointEncoding) -> Self {
        self.encoding = encoding;
        self
    }
    /// Offset of the first byte in the file.
    pub fn offset(&self) -> usize {
        self.range.start
    }
    /// The encoded bytes of all points.
    pub fn bytes(&self) -> &[u8] {
        &(*self.bytes).as_ref()[self.range.clone()]
    }
    /// The bytes that hold them all, and the range of these points within.
    pub fn shared(&self) -> (&SharedBytes, Range<usize>) {
        (&self.bytes, self.range.clone())
    }
    /// The encoded bytes of some points.
    pub fn chunk(&self, points: Range<usize>) -> &[u8] {
        &self.bytes()[points.start * C::BYTES..points.end * C::BYTES]
    }
}

impl<C: Curve> std::fmt::Debug for EncodedPoints<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} points at byte {}, {:?}", self.len(), C::NAME, self.range.start, self.encoding)
    }
}
