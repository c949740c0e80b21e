//! The clock that the kernel reads (Documentation/timers/timekeeping.rst).

use crate::check::Said;
use crate::read;
use crate::scene::Scene;

/// Read in the processor itself, in a few ns: x86, arm64, RISC-V, POWER and s390.
const QUICK: [&str; 6] = [
    "tsc",
    "arch_sys_counter",
    "riscv_clocksource",
    "timebase",
    "tod",
    "hyperv_clocksource_tsc_page",
];
/// Read in the processor with a page of the hypervisor.
const BY_PAGE: [&str; 2] = ["kvm-clock", "xen"];

pub(crate) fn look(scene: &Scene) -> Option<Said> {
    let dir = scene.roots.sys.join("devices/system/clocksource/clocksource0");
    let file = dir.join("current_clocksource");
    let name = match read::text(&file) {
        Ok(name) if !name.is_empty() => name,
        Ok(_) => return Some(Said::unknown(format!("{}: empty", file.display()))),
        Err(reason) => return Some(Said::unknown(reason)),
    };
    let reading = format!("the clock is {name}");
    if QUICK.contains(&name.as_str()) {
        return Some(Said::fine(reading));
    }
    let why = "reading the clock costs more than with tsc, and each operation reads it twice; \
               latencies of short operations are longer by that";
    let said = match BY_PAGE.contains(&name.as_str()) {
        true => Said::note(reading, why),
        false => Said::warning(reading, why),
    };
    let others = read::text(&dir.join("available_clocksource")).unwrap_or_default();
    Some(match others.split_whitespace().any(|other| other == "tsc") {
        true => said.remedy("use tsc").command(read::echo("tsc", &file)),
        false => said.remedy("find out in the kernel's log why tsc is not used (dmesg | grep tsc)"),
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::host;

    const FILE: &str = "sys/devices/system/clocksource/clocksource0/current_clocksource";

    #[test]
    fn clocks() {
        let weight = |name: &str| host("clock-source", &[(FILE, name)]).0;
        assert_eq!(weight("tsc\n"), "fine");
        assert_eq!(weight("kvm-clock\n"), "note");
        assert_eq!(weight("hpet\n"), "warning");
        assert_eq!(weight("\n"), "unknown");
        assert_eq!(host("clock-source", &[]).0, "unknown");
    }
}
