//! When written data leave memory (Documentation/admin-guide/sysctl/vm.rst).

use crate::check::Said;
use crate::read;
use crate::scene::Scene;

/// What the kernel begins with; `_bytes` of 0 leave it to the ratio.
const DEFAULTS: [(&str, u64); 7] = [
    ("dirty_background_ratio", 10),
    ("dirty_ratio", 20),
    ("dirty_background_bytes", 0),
    ("dirty_bytes", 0),
    ("dirty_expire_centisecs", 3000),
    ("dirty_writeback_centisecs", 500),
    ("laptop_mode", 0),
];

pub(crate) fn look(scene: &Scene) -> Option<Said> {
    let dir = scene.roots.proc.join("sys/vm");
    let mut values = Vec::new();
    for (name, default) in DEFAULTS {
        match read::number(&dir.join(name)) {
            Ok(value) => values.push((name, value, default)),
            // The latest kernels have no laptop mode.
            Err(_) if name == "laptop_mode" && !dir.join(name).exists() => {}
            Err(reason) => return Some(Said::unknown(reason)),
        }
    }
    let in_bytes = |name: &str| {
        let bytes = name.replace("ratio", "bytes");
        bytes != name && values.iter().any(|&(other, value, _)| other == bytes && value > 0)
    };
    let differs =
        |&&(name, value, default): &&(&str, u64, u64)| value != default && !in_bytes(name);
    let differing: Vec<_> = values.iter().filter(differs).collect();
    if differing.is_empty() {
        return Some(Said::fine("dirty limits are the kernel's own (10 % and 20 %, 5 s and 30 s)"));
    }
    let show = |(name, value, default): &&(&str, u64, u64)| {
        format!("vm.{name} is {value} (not {default})")
    };
    let list = differing.iter().map(show).collect::<Vec<_>>().join(", ");
    let set = |(name, _, default): &&(&str, u64, u64)| format!("vm.{name}={default}");
    let back = differing.iter().map(set).collect::<Vec<_>>().join(" ");
    let why = "these decide how much of the work only fills memory; times until `returned` are \
               not those of a machine with the kernel's own limits";
    Some(
        Said::note(list, why)
            .remedy("use the kernel's own limits, or say these beside the figures")
            .command(format!("sudo sysctl {back}")),
    )
}

#[cfg(test)]
mod tests {
    use super::DEFAULTS;
    use crate::stage::host;

    fn said(changed: &[(&str, &str)]) -> (String, String) {
        let mut files: Vec<(String, String)> = DEFAULTS
            .iter()
            .map(|(name, value)| (format!("proc/sys/vm/{name}"), format!("{value}\n")))
            .collect();
        for (name, value) in changed {
            files.push((format!("proc/sys/vm/{name}"), (*value).to_owned()));
        }
        let files: Vec<(&str, &str)> =
            files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        host("dirty-limits", &files)
    }

    #[test]
    fn limits() {
        assert_eq!(said(&[]).0, "fine");
        let more = said(&[("dirty_ratio", "60\n")]);
        assert_eq!(more, ("note".to_owned(), "vm.dirty_ratio is 60 (not 20)".to_owned()));
        let bytes = said(&[("dirty_ratio", "0\n"), ("dirty_bytes", "67108864\n")]);
        assert_eq!(
            bytes.1, "vm.dirty_bytes is 67108864 (not 0)",
            "the ratio is 0 where bytes rule"
        );
        assert_eq!(said(&[("laptop_mode", "5\n")]).0, "note");
        assert_eq!(said(&[("dirty_ratio", "lots\n")]).0, "unknown");
        assert_eq!(host("dirty-limits", &[]).0, "unknown");
    }
}
