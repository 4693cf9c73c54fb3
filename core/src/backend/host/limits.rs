//! How much memory the machine, or the control groups this process lives in, have.

use std::fs;
use std::path::Path;

/// Where nothing can be learned: large enough to plan with, small enough not to invite swapping.
const FALLBACK: u64 = 4 << 30;

/// Where control groups (version 2) are mounted.
const GROUPS: &str = "/sys/fs/cgroup";

/// The tightest of machine and control groups, in bytes.
pub(super) fn total() -> u64 {
    let machine = meminfo("MemTotal:").unwrap_or(FALLBACK);
    groups().into_iter().map(|group| group.max).fold(machine, u64::min)
}

/// What could be had now without swapping; `None` where the system does not tell.
pub(super) fn free() -> Option<u64> {
    let machine = meminfo("MemAvailable:")?;
    Some(groups().into_iter().filter_map(|group| group.left()).fold(machine, u64::min))
}

/// A field of /proc/meminfo, in bytes.
fn meminfo(field: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|l| l.starts_with(field))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok()?.checked_mul(1024)
}

/// A control group that limits memory, in bytes.
#[derive(Debug, PartialEq, Eq)]
struct Group {
    max: u64,
    current: Option<u64>,
}

impl Group {
    fn left(&self) -> Option<u64> {
        self.current.map(|current| self.max.saturating_sub(current))
    }
}

fn groups() -> Vec<Group> {
    let membership = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    limiting(Path::new(GROUPS), &membership)
}

/// The groups with a limit from this process's own up to the root: every one of them binds. `membership` is /proc/self/cgroup.
///
/// Inside a container the path may name a group of the host that is not mounted; then what is mounted at the root is this group.
fn limiting(root: &Path, membership: &str) -> Vec<Group> {
    let Some(path) = membership.lines().find_map(|line| line.strip_prefix("0::/")) else { return Vec::new() };
    // "max", or no file, is no limit.
    let number =
        |group: &Path, file| fs::read_to_string(root.join(group).join(file)).ok()?.trim().parse::<u64>().ok();
    let group = |path: &Path| {
        Some(Group { max: number(path, "memory.max")?, current: number(path, "memory.current") })
    };
    Path::new(path).ancestors().filter_map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_up_to_the_root_counts() {
        let root = std::env::temp_dir().join(format!("cuzk-limits-{}", std::process::id()));
        fs::create_dir_all(root.join("a/b/c")).unwrap();
        let write = |file: &str, text: &str| fs::write(root.join(file), text).unwrap();
        write("memory.max", "9000\n");
        write("a/memory.max", "1000\n");
        write("a/memory.current", "400\n");
        write("a/b/memory.max", "max\n");
        write("a/b/c/memory.max", "5000\n");
        write("a/b/c/memory.current", "300\n");
        let found = limiting(&root, "1:cpu:/x\n0::/a/b/c\n");
        let unmounted = limiting(&root, "0::/elsewhere/d\n");
        let at_root = limiting(&root, "0::/\n");
        let none = limiting(&root, "1:cpu:/x\n");
        fs::remove_dir_all(&root).unwrap();
        let expected = [(5000, Some(300)), (1000, Some(400)), (9000, None)];
        assert_eq!(found, expected.map(|(max, current)| Group { max, current }));
        assert_eq!(found.iter().filter_map(Group::left).min(), Some(600));
        for found in [unmounted, at_root] {
            assert_eq!(found, [Group { max: 9000, current: None }]);
        }
        assert_eq!(none, []);
    }
}
