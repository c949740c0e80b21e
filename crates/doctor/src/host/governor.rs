//! Frequency governor of the processors (Documentation/admin-guide/pm/cpufreq.rst).

use crate::check::Said;
use crate::read;
use crate::scene::Scene;
use std::collections::BTreeSet;

pub(crate) fn look(scene: &Scene) -> Option<Said> {
    let dir = scene.roots.sys.join("devices/system/cpu");
    let is_cpu = |name: &String| name.strip_prefix("cpu").is_some_and(|n| n.parse::<u32>().is_ok());
    let cpus = match read::names(&dir) {
        Ok(names) => names.into_iter().filter(is_cpu),
        Err(reason) => return Some(Said::unknown(reason)),
    };
    let of = |cpu: String| read::text(&dir.join(cpu).join("cpufreq/scaling_governor")).ok();
    let found: BTreeSet<String> = cpus.filter_map(of).filter(|name| !name.is_empty()).collect();
    let list = found.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    Some(match found.len() {
        0 => Said::unknown(
            "this kernel does not set the frequency of the processors (no scaling_governor); the \
             firmware or the hypervisor does",
        ),
        1 if list == "performance" => Said::fine("the governor is performance"),
        _ => Said::warning(
            format!("the governor is {list}"),
            "it lowers the frequency while the work waits for the disk, so that short operations \
             are slower than long ones by an amount that changes",
        )
        .remedy("set the governor to performance while measuring")
        .command("sudo cpupower frequency-set -g performance"),
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::host;

    const FILE: &str = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";

    #[test]
    fn governors() {
        let weight = |files: &[(&str, &str)]| host("governor", files).0;
        assert_eq!(weight(&[(FILE, "performance\n")]), "fine");
        assert_eq!(weight(&[(FILE, "powersave\n")]), "warning");
        let other = FILE.replace("cpu0", "cpu1");
        let mixed = host("governor", &[(FILE, "performance\n"), (&other, "schedutil\n")]);
        assert_eq!(
            mixed,
            ("warning".to_owned(), "the governor is performance, schedutil".to_owned())
        );
        assert_eq!(weight(&[("sys/devices/system/cpu/cpu0/topology/core_id", "0\n")]), "unknown");
        assert_eq!(weight(&[(FILE, "\n")]), "unknown", "an empty file names no governor");
        assert_eq!(weight(&[]), "unknown");
    }
}
