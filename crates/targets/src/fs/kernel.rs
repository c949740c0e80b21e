//! The running kernel, as far as it decides what can be mounted.

use std::fs;
use std::path::Path;

/// A kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// First two numbers of its release, such as (6, 12); absent where they are not known.
    pub version: Option<(u32, u32)>,
    /// Its page, bytes.
    pub page_bytes: u64,
}

impl Kernel {
    /// The running one; `proc_root` is `/proc`.
    #[must_use]
    pub fn running(proc_root: &Path) -> Self {
        let release = fs::read_to_string(proc_root.join("sys/kernel/osrelease"));
        let version = version(&release.unwrap_or_default());
        Self { version, page_bytes: rustix::param::page_size() as u64 }
    }

    /// Whether it is this one or a later one; one that is not known is.
    #[must_use]
    pub fn is_at_least(&self, major: u32, minor: u32) -> bool {
        self.version.is_none_or(|version| version >= (major, minor))
    }
}

/// `6.18.44-fc` as (6, 18).
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.trim().split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_is_read() {
        assert_eq!(version("6.18.44-fc-v595\n"), Some((6, 18)));
        assert_eq!(version("6.12-rc1"), Some((6, 12)));
        assert_eq!(version(""), None);
        let old = Kernel { version: Some((6, 11)), page_bytes: 4096 };
        assert!(!old.is_at_least(6, 12) && old.is_at_least(5, 19));
        assert!(Kernel { version: None, ..old }.is_at_least(6, 12));
        assert!(Kernel::running(Path::new("/proc")).page_bytes >= 4096);
    }
}
