//! Limits of the control groups that this program runs in, up to the root (cgroup v2 and v1).

use crate::check::Said;
use crate::read;
use crate::scene::Scene;
use fsarena_model::units::Bytes;
use std::path::Path;

/// From so many bytes on a limit of v1 is none: it is the largest number, cut to pages.
const NO_LIMIT_BYTES: u64 = 1 << 62;

pub(crate) fn look(scene: &Scene) -> Option<Said> {
    let own = match read::text(&scene.roots.proc.join("self/cgroup")) {
        Ok(own) => own,
        Err(reason) => return Some(Said::unknown(reason)),
    };
    let mount = scene.roots.sys.join("fs/cgroup");
    let (mut limits, mut seen) = (Vec::new(), false);
    for line in own.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(names), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            let reason = format!("/proc/self/cgroup: line {line:?} is not understood");
            return Some(Said::unknown(reason));
        };
        let unified = mount.join("unified");
        let root = match names {
            "" if unified.is_dir() => unified,
            "" => mount.clone(),
            names => mount.join(names.trim_start_matches("name=")),
        };
        let leaf = Path::new(path.trim_start_matches('/'));
        for group in leaf.ancestors() {
            seen |= of_group(&root.join(group), &mut limits);
        }
    }
    limits.sort();
    limits.dedup();
    Some(if !limits.is_empty() {
        Said::warning(
            format!("the control group of this program has limits: {}", limits.join(", ")),
            "they slow the work down or throw pages of the cache away, and nothing in the figures \
             shows it",
        )
        .remedy("run outside of the container or slice that sets them")
        .command("cat /proc/self/cgroup")
    } else if seen {
        Said::fine("no control group limits memory, processors or I/O")
    } else {
        Said::unknown("the limits of control groups cannot be read: none of their files is there")
    })
}

/// Adds the limits in force of one group; whether it had any of the files.
fn of_group(dir: &Path, limits: &mut Vec<String>) -> bool {
    let mut seen = false;
    let mut take = |file: &str, limit: &dyn Fn(&str) -> Option<String>| {
        if let Ok(text) = read::text(&dir.join(file)) {
            seen = true;
            limits.extend(limit(&text).map(|text| format!("{file} {text}")));
        }
    };
    let memory = |text: &str| {
        let bytes = text.parse().ok().filter(|bytes| *bytes < NO_LIMIT_BYTES)?;
        Some(Bytes(bytes).to_string())
    };
    let first_of_two =
        |text: &str| (!text.is_empty() && !text.starts_with("max")).then(|| text.to_owned());
    let lines =
        |text: &str| (!text.is_empty()).then(|| text.lines().collect::<Vec<_>>().join("; "));
    let quota = |text: &str| text.parse::<u64>().ok().map(|us| format!("{us} µs"));
    for file in ["memory.max", "memory.high", "memory.limit_in_bytes"] {
        take(file, &memory);
    }
    take("cpu.max", &first_of_two);
    take("io.max", &lines);
    take("cpu.cfs_quota_us", &quota);
    for what in ["read_bps", "write_bps", "read_iops", "write_iops"] {
        take(&format!("blkio.throttle.{what}_device"), &lines);
    }
    seen
}

#[cfg(test)]
mod tests {
    use crate::stage::host;

    fn v2(files: &[(&str, &str)]) -> (String, String) {
        let mut all = vec![("proc/self/cgroup", "0::/user.slice/work\n")];
        all.extend(files);
        host("cgroup-limits", &all)
    }

    #[test]
    fn version_2() {
        let none = [
            ("sys/fs/cgroup/user.slice/work/memory.max", "max\n"),
            ("sys/fs/cgroup/user.slice/cpu.max", "max 100000\n"),
        ];
        assert_eq!(v2(&none).0, "fine");
        let above = [("sys/fs/cgroup/user.slice/memory.high", "1073741824\n")];
        let reading = "the control group of this program has limits: memory.high 1 GiB";
        assert_eq!(v2(&above), ("warning".to_owned(), reading.to_owned()));
        let io = [("sys/fs/cgroup/user.slice/work/io.max", "8:0 rbps=1048576 wbps=max\n")];
        assert_eq!(v2(&io).0, "warning");
        assert_eq!(v2(&[("sys/fs/cgroup/cpu.max", "50000 100000\n")]).0, "warning");
        assert_eq!(v2(&[]).0, "unknown");
    }

    #[test]
    fn version_1() {
        let v1 = |bytes: &str| {
            let own = ("proc/self/cgroup", "4:memory:/box\n0::/\n");
            host("cgroup-limits", &[own, ("sys/fs/cgroup/memory/box/memory.limit_in_bytes", bytes)])
                .0
        };
        assert_eq!(v1("9223372036854771712\n"), "fine");
        assert_eq!(v1("67108864\n"), "warning");
    }

    #[test]
    fn what_cannot_be_known_is_not_fine() {
        assert_eq!(host("cgroup-limits", &[]).0, "unknown");
        assert_eq!(host("cgroup-limits", &[("proc/self/cgroup", "odd\n")]).0, "unknown");
    }
}
