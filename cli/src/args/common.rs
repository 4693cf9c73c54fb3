//! Flags that several commands share.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use clap::builder::BoolishValueParser;

/// Flags of every command.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Output")]
pub struct Global {
    /// Put exactly one JSON object on stdout
    #[arg(long, global = true, env = "CUZK_JSON", value_parser = BoolishValueParser::new())]
    pub json: bool,
    /// No progress, no notes; warnings and errors stay
    #[arg(long, short, global = true, env = "CUZK_QUIET", value_parser = BoolishValueParser::new())]
    pub quiet: bool,
}

/// How much of the host a command may use.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Resources")]
pub struct ComputeArgs {
    /// CPU threads; all cores if not given
    #[arg(long, value_name = "N", env = "CUZK_THREADS", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub threads: Option<u16>,
    /// Most host memory to plan with: bytes, or with KiB, MiB, GiB, TiB (or KB, MB, GB, TB)
    #[arg(long, value_name = "SIZE", env = "CUZK_HOST_MEMORY_LIMIT")]
    pub host_memory_limit: Option<Size>,
}

/// Where the heavy work runs.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Backend")]
pub struct BackendArgs {
    /// auto, naive, cpu, wgpu, cuda, or dual:A,B (runs both and compares after every operation)
    ///
    /// A named backend is that backend, or exit code 3 with the reason. auto takes cuda, then a real GPU through wgpu,
    /// then cpu, takes the CPU at once where the circuit is too small to gain, and says which and why.
    #[arg(long, value_name = "NAME", default_value = "auto", env = "CUZK_BACKEND")]
    pub backend: BackendName,
    /// Device index, several separated by commas, or all
    #[arg(long, value_name = "N[,N]|all", default_value = "0", env = "CUZK_DEVICE")]
    pub device: DevicesArg,
    /// Plan as if the device had this much memory
    #[arg(long, value_name = "SIZE", env = "CUZK_DEVICE_MEMORY_LIMIT")]
    pub device_memory_limit: Option<Size>,
}

/// What is kept from one run to the next.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Cache")]
pub struct CacheArgs {
    /// Folder that keeps compiled GPU kernels and remembers which keys' points have been checked [default: the user's cache folder]
    #[arg(long, value_name = "FOLDER", env = "CUZK_CACHE_DIR")]
    pub cache_dir: Option<PathBuf>,
}

/// A backend's name, checked for its form; whether it is there is found when it is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackendName {
    /// The best there is.
    Auto,
    /// This one or none.
    Named(String),
}

/// Names a single backend may have.
pub const SINGLE_BACKENDS: [&str; 4] = ["naive", "cpu", "wgpu", "cuda"];

impl FromStr for BackendName {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        if s == "auto" {
            return Ok(Self::Auto);
        }
        let known = |name: &str| SINGLE_BACKENDS.contains(&name);
        let good = match s.strip_prefix("dual:") {
            Some(pair) => pair.split_once(',').is_some_and(|(a, b)| known(a) && known(b)),
            None => known(s),
        };
        if good {
            Ok(Self::Named(s.to_owned()))
        } else {
            Err("expected auto, naive, cpu, wgpu, cuda, or dual:A,B of two of the last four".to_owned())
        }
    }
}

impl std::fmt::Display for BackendName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Named(name) => name,
        })
    }
}

/// Which devices of a backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DevicesArg {
    /// Every one it has.
    All,
    /// These, without repeats.
    These(Vec<usize>),
}

impl FromStr for DevicesArg {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        if s == "all" {
            return Ok(Self::All);
        }
        let mut devices = Vec::new();
        for part in s.split(',') {
            let index = part.parse().map_err(|_| format!("`{part}` is not a device index"))?;
            if devices.contains(&index) {
                return Err(format!("device {index} is named twice"));
            }
            devices.push(index);
        }
        Ok(Self::These(devices))
    }
}

impl DevicesArg {
    /// The device that a single proof runs on, and whether more were named than it can use.
    pub fn first(&self) -> (usize, bool) {
        match self {
            DevicesArg::All => (0, false),
            DevicesArg::These(devices) => (devices.first().copied().unwrap_or(0), devices.len() > 1),
        }
    }
}

/// A number of bytes: "1000", "512MiB", "1.5GiB", "8GB".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub u64);

const UNITS: [(&str, u64); 11] = [
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    // Last, for every other unit ends in it.
    ("b", 1),
    ("bytes", 1),
    ("", 1),
];

impl FromStr for Size {
    type Err = String;

    /// Exact for whole numbers; a fraction of a byte is dropped.
    fn from_str(s: &str) -> Result<Self, String> {
        let lower = s.trim().to_ascii_lowercase();
        let split = lower.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(lower.len());
        let (number, unit) = lower.split_at(split);
        let bad = || {
            format!(
                "`{s}` is not a size: expected bytes or a number with KiB, MiB, GiB, TiB, KB, MB, GB or TB"
            )
        };
        let factor = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(bad)?.1;
        let (whole, fraction) = number.trim().split_once('.').unwrap_or((number.trim(), ""));
        let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(fraction) || fraction.len() > 9 {
            return Err(bad());
        }
        let too_large = || format!("`{s}` is more than 2^64 - 1 bytes");
        let mut bytes = u128::from(whole.parse::<u64>().map_err(|_| too_large())?) * u128::from(factor);
        if !fraction.is_empty() {
            let numerator: u128 = fraction.parse().map_err(|_| bad())?;
            bytes += numerator * u128::from(factor) / 10u128.pow(fraction.len() as u32);
        }
        match u64::try_from(bytes) {
            Ok(0) => Err("a limit of 0 bytes leaves nothing to work with".to_owned()),
            Ok(bytes) => Ok(Self(bytes)),
            Err(_) => Err(too_large()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let size = |s: &str| s.parse::<Size>().map(|s| s.0);
        assert_eq!(size("1000"), Ok(1000));
        assert_eq!(size("8GiB"), Ok(8 << 30));
        assert_eq!(size("512 MiB"), Ok(512 << 20));
        assert_eq!(size("1.5gib"), Ok(3 << 29));
        assert_eq!(size("8GB"), Ok(8_000_000_000));
        assert_eq!(size("18446744073709551615"), Ok(u64::MAX));
        for bad in [
            "",
            "GiB",
            "-1",
            "1e3",
            "8 GiBs",
            "1..5GiB",
            "0x10",
            "18446744073709551616",
            "16777216TiB",
            "0",
            "NaN",
        ] {
            assert!(size(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn backends_and_devices() {
        for good in ["auto", "naive", "cpu", "wgpu", "cuda", "dual:cpu,naive", "dual:cuda,cpu"] {
            assert_eq!(good.parse::<BackendName>().map(|b| b.to_string()), Ok(good.to_owned()));
        }
        for bad in ["", "CPU", "dual:cpu", "dual:auto,cpu", "dual:cpu,naive,cpu", "opencl"] {
            assert!(bad.parse::<BackendName>().is_err(), "{bad:?}");
        }
        assert_eq!("0,2".parse(), Ok(DevicesArg::These(vec![0, 2])));
        assert_eq!("all".parse(), Ok(DevicesArg::All));
        for bad in ["", "0,", "-1", "1,1", "x"] {
            assert!(bad.parse::<DevicesArg>().is_err(), "{bad:?}");
        }
    }
}
