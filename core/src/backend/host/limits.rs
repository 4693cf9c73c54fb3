//! How much memory the machine, or the control group this process lives in, has.

use std::fs;

/// Where nothing can be learned: large enough to plan with, small enough not to invite swapping.
const FALLBACK: u64 = 4 << 30;

/// The tighter of machine and control group, in bytes.
pub(super) fn total() -> u64 {
    let machine = meminfo("MemTotal:").unwrap_or(FALLBACK);
    group("memory.max").map_or(machine, |max| max.min(machine))
}

/// What could be had now without swapping; `None` where the system does not tell.
pub(super) fn free() -> Option<u64> {
    let machine = meminfo("MemAvailable:")?;
    let group =
        group("memory.max").zip(group("memory.current")).map(|(max, current)| max.saturating_sub(current));
    Some(group.map_or(machine, |g| g.min(machine)))
}

/// A field of /proc/meminfo, in bytes.
fn meminfo(field: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|l| l.starts_with(field))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok()?.checked_mul(1024)
}

/// A number of this process's control group (version 2), as the process sees the hierarchy; `None` for "max" and where there is none.
fn group(file: &str) -> Option<u64> {
    let membership = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = membership.lines().find_map(|l| l.strip_prefix("0::"))?;
    // Inside a container the path may name a group of the host that is not mounted: then the root is this group.
    [format!("/sys/fs/cgroup{path}/{file}"), format!("/sys/fs/cgroup/{file}")]
        .iter()
        .find_map(|p| fs::read_to_string(p).ok())?
        .trim()
        .parse()
        .ok()
}
