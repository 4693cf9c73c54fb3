//! Points of keys: checks, decoding, multiples of a fixed base; see kernels/keys.cuh.

use cuzk_core::backend::{
    BackendError, Device, DeviceBuffer, Pending, PendingResult, PointEncoding, PointReport, Result,
};
use cuzk_core::curve::{Curve, Scalar, as_bytes};

use crate::backend::CudaBackend;
use crate::driver::{Args, Launch};
use crate::memory::{CudaBuffer, CudaStream, InFlight, download_pinned};
use crate::msm::group_of;

/// Windows of a fixed base, and multiples in each.
const FIXED_WINDOWS: u32 = 32;
const FIXED_MULTIPLES: u32 = 255;
/// Scalars multiplied at a time: their sums wait in XYZZ form.
const FIXED_ROUND: usize = 1 << 20;
/// Points that share an inversion.
const INVERSE_BATCH: usize = 32;

/// First indices of each kind on their way, all ones where there is none.
struct Report(InFlight<u32>);

impl PendingResult<PointReport> for Report {
    fn is_ready(&self) -> Result<bool> {
        self.0.is_done()
    }
    fn wait(self: Box<Self>) -> Result<PointReport> {
        let found = self.0.take()?;
        let at = |i: usize| found.get(i).filter(|index| **index != u32::MAX).map(|index| *index as usize);
        Ok(PointReport { malformed: at(0), off_curve: at(1), outside_subgroup: at(2) })
    }
}

/// Kernels count points in 32 bits.
fn count(op: &'static str, n: usize) -> Result<u32> {
    let too_many =
        |_| BackendError::Invalid { op, what: "points at most", expected: u32::MAX.into(), found: n as u64 };
    u32::try_from(n).map_err(too_many)
}

impl CudaBackend {
    /// A report that says that nothing was found.
    pub(crate) fn report(&self, stream: &CudaStream) -> Result<CudaBuffer<u32>> {
        let memory = self.device.scratch("point report", 12, stream)?;
        let report = CudaBuffer::new(memory, "point report", 3);
        stream.raw.fill(report.on(stream), 0xff, 12)?;
        Ok(report)
    }

    fn send_report(&self, stream: &CudaStream, report: &CudaBuffer<u32>) -> Result<Pending<PointReport>> {
        let host = self.device.pinned("point report", 3)?;
        Ok(Box::new(Report(download_pinned(stream, report, 0, host)?)))
    }

    pub(crate) fn run_check<C: Curve>(
        &self,
        stream: &CudaStream,
        points: &CudaBuffer<C::Affine>,
    ) -> Result<Pending<PointReport>> {
        let n = count("check_points", points.len())?;
        let report = self.report(stream)?;
        let args = Args::new().arg(points.on(stream)).arg(n).arg(report.on(stream));
        let kernel = self.kernels.get(&format!("check_{}", group_of::<C>().suffix))?;
        Launch::cover(n.into(), 128).run(&stream.raw, kernel, args)?;
        self.send_report(stream, &report)
    }

    pub(crate) fn run_convert<C: Curve>(
        &self,
        stream: &CudaStream,
        bytes: &CudaBuffer<u8>,
        encoding: PointEncoding,
        out: &mut CudaBuffer<C::Affine>,
    ) -> Result<Pending<PointReport>> {
        let n = count("convert_points", out.len())?;
        BackendError::expect_len("convert_points", "bytes", out.len() * C::BYTES, bytes.len())?;
        let report = self.report(stream)?;
        let args = Args::new()
            .arg(bytes.on(stream))
            .arg(n)
            .arg(encoding_code(encoding))
            .arg(out.on(stream))
            .arg(report.on(stream));
        let kernel = self.kernels.get(&format!("convert_{}", group_of::<C>().suffix))?;
        Launch::cover(n.into(), 128).run(&stream.raw, kernel, args)?;
        self.send_report(stream, &report)
    }

    pub(crate) fn run_fixed_base<C: Curve>(
        &self,
        stream: &CudaStream,
        base: &C::Affine,
        scalars: &CudaBuffer<Scalar>,
        out: &mut CudaBuffer<C::Affine>,
    ) -> Result<()> {
        BackendError::expect_len("fixed_base", "length of out", scalars.len(), out.len())?;
        let group = group_of::<C>();
        let kernel = |name: &str| self.kernels.get(&format!("{name}_{}", group.suffix));
        let multiples = u64::from(FIXED_WINDOWS * FIXED_MULTIPLES);
        let table = self.device.scratch("fixed base", (1 + multiples) * group.affine, stream)?;
        let (base_at, table_at) = (table.used_by(stream.slot), table.used_by(stream.slot) + group.affine);
        stream.raw.upload(as_bytes(std::slice::from_ref(base)), base_at)?;
        let launch = Launch { grid: (FIXED_WINDOWS, 1), block: FIXED_MULTIPLES, shared: 0 };
        launch.run(&stream.raw, kernel("fixed_table")?, Args::new().arg(base_at).arg(table_at))?;
        let round = scalars.len().min(FIXED_ROUND);
        // Sums in XYZZ form, and prefix products of one coordinate each.
        let room = round as u64 * (group.xyzz + group.affine / 2);
        let sums = self.device.scratch("fixed base sums", room, stream)?;
        let (sums_at, prefix_at) =
            (sums.used_by(stream.slot), sums.used_by(stream.slot) + round as u64 * group.xyzz);
        for start in (0..scalars.len()).step_by(FIXED_ROUND) {
            let n = (scalars.len() - start).min(FIXED_ROUND);
            let from = scalars.on(stream) + start as u64 * 32;
            let to = out.on(stream) + start as u64 * group.affine;
            let args = Args::new().arg(table_at).arg(from).arg(n as u32).arg(sums_at);
            Launch::cover(n as u64, 128).run(&stream.raw, kernel("fixed_multiply")?, args)?;
            let threads = n.div_ceil(INVERSE_BATCH) as u32;
            let args = Args::new().arg(sums_at).arg(n as u32).arg(threads).arg(prefix_at).arg(to);
            Launch::cover(threads.into(), 128).run(&stream.raw, kernel("normalise")?, args)?;
        }
        Ok(())
    }
}

/// How `kernels/keys.cuh` numbers the encodings.
pub(crate) fn encoding_code(encoding: PointEncoding) -> u32 {
    match encoding {
        PointEncoding::ZcashBigEndian => 0,
        PointEncoding::Montgomery => 1,
        PointEncoding::ZcashZeroIdentity => 2,
    }
}
