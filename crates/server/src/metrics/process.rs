//! What the process needs of the machine, as the machine tells it; nothing where it does not.

use std::time::{SystemTime, UNIX_EPOCH};

/// What the process needs.
#[derive(Debug, Clone, Default)]
pub(super) struct Process {
    pub(super) resident_bytes: Option<u64>,
    pub(super) open_fds: Option<u64>,
    pub(super) cpu_seconds: Option<f64>,
}

impl Process {
    /// What it needs now.
    pub(super) fn now() -> Self {
        let pages = std::fs::read_to_string("/proc/self/statm").ok();
        let pages = pages.and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok());
        let fds = std::fs::read_dir("/proc/self/fd").ok();
        Self {
            resident_bytes: pages.map(|pages| pages * rustix::param::page_size() as u64),
            // One is open for looking.
            open_fds: fds.map(|fds| (fds.count() as u64).saturating_sub(1)),
            cpu_seconds: cpu_seconds(),
        }
    }
}

/// The time processors have spent on it.
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is a name in parentheses, in which anything may stand.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// The time by the machine's clock, in seconds.
pub(crate) fn unix_seconds() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_needs_something() {
        let process = Process::now();
        assert!(process.resident_bytes.is_some_and(|bytes| bytes > 1 << 20));
        assert!(process.open_fds.is_some_and(|fds| fds >= 3));
        assert!(process.cpu_seconds.is_some_and(|seconds| seconds < 10_000.0));
    }
}
