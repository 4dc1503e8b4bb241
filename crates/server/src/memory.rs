//! How much memory the server may use: what the machine has, or less where a container says so.

use std::fs;
use std::path::{Path, PathBuf};

/// Where Linux shows control groups.
const GROUPS: &str = "/sys/fs/cgroup";

/// The bytes this process may use, if anything says so.
pub(crate) fn limit_bytes() -> Option<u64> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let of_groups = group_limits(Path::new(GROUPS), &own);
    let of_machine = fs::read_to_string("/proc/meminfo").ok().as_deref().and_then(total_bytes);
    of_groups.chain(of_machine).min()
}

/// The limits of the groups a process is in and of those around them. In a container that does not see
/// where its groups lie, they lie at the top.
fn group_limits(root: &Path, own: &str) -> impl Iterator<Item = u64> {
    // No limit is written as `max`, or as a number beyond all memory.
    let limit = |file: PathBuf| fs::read_to_string(file).ok()?.trim().parse().ok();
    let files = own.lines().flat_map(|line| limit_files(root, line).unwrap_or_default());
    files.filter_map(limit)
}

/// Where the limits are of a group and those around it, as a line of `/proc/self/cgroup` names it:
/// `number:controllers:path`, and no controllers in version 2.
fn limit_files(root: &Path, line: &str) -> Option<Vec<PathBuf>> {
    let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
    let (root, file) = match controllers {
        "" => (root.to_owned(), "memory.max"),
        _ if controllers.split(',').any(|name| name == "memory") => {
            (root.join("memory"), "memory.limit_in_bytes")
        }
        _ => return None,
    };
    let own = root.join(path.trim_start_matches('/'));
    let around = own.ancestors().take_while(|group| group.starts_with(&root));
    Some(around.map(|group| group.join(file)).collect())
}

/// What `/proc/meminfo` says there is.
fn total_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib * 1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn least(own: &str, limits: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().unwrap();
        for (file, limit) in limits {
            let file = root.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, format!("{limit}\n")).unwrap();
        }
        group_limits(root.path(), own).min()
    }

    #[test]
    fn the_least_limit_of_all_groups_around_counts() {
        let own = "0::/system.slice/punctual.service\n";
        let service = "system.slice/punctual.service/memory.max";
        assert_eq!(least(own, &[]), None);
        assert_eq!(least(own, &[(service, "max")]), None);
        assert_eq!(least(own, &[(service, "1000")]), Some(1_000));
        let slice = ("system.slice/memory.max", "500");
        assert_eq!(least(own, &[(service, "1000"), slice]), Some(500));
        assert_eq!(least(own, &[("other/memory.max", "1")]), None);
    }

    #[test]
    fn both_versions_of_groups_are_read() {
        let own = "12:pids:/a\n5:cpu,memory:/docker/b\n0::/\n";
        let first = ("memory/docker/b/memory.limit_in_bytes", "2000");
        assert_eq!(least(own, &[first]), Some(2_000));
        // In a container the path is that of its host, and its own group is at the top.
        let top = ("memory/memory.limit_in_bytes", "3000");
        assert_eq!(least(own, &[top]), Some(3_000));
        assert_eq!(least(own, &[("memory.max", "4000"), top]), Some(3_000));
    }

    #[test]
    fn what_the_machine_has_is_read() {
        assert_eq!(total_bytes("MemTotal:       2048 kB\nMemFree: 1 kB\n"), Some(2 << 20));
        assert_eq!(total_bytes("nonsense"), None);
    }
}
