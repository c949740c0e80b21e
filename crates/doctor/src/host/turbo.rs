//! Frequencies above the nominal one: `intel_pstate/no_turbo`, `cpufreq/boost`.

use crate::check::Said;
use crate::read;
use crate::scene::Scene;

pub(crate) fn look(scene: &Scene) -> Option<Said> {
    let cpu = scene.roots.sys.join("devices/system/cpu");
    let (intel, boost) = (cpu.join("intel_pstate/no_turbo"), cpu.join("cpufreq/boost"));
    let (file, off, is_on) = if intel.exists() {
        let is_off = read::flag(&intel);
        (intel, "1", is_off.map(|off| !off))
    } else if boost.exists() {
        let is_on = read::flag(&boost);
        (boost, "0", is_on)
    } else {
        let reason = "this kernel does not tell whether the processors go above their nominal \
                      frequency (no intel_pstate/no_turbo, no cpufreq/boost)";
        return Some(Said::unknown(reason));
    };
    Some(match is_on {
        Err(reason) => Said::unknown(reason),
        Ok(false) => Said::fine("turbo is off"),
        Ok(true) => Said::note(
            "turbo is on",
            "how long the processors stay above their nominal frequency depends on heat and on \
             what the others do",
        )
        .remedy("switch it off where small differences matter")
        .command(read::echo(off, &file)),
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::host;

    #[test]
    fn turbo() {
        let weight = |file: &str, value: &str| host("turbo", &[(file, value)]).0;
        let intel = "sys/devices/system/cpu/intel_pstate/no_turbo";
        let boost = "sys/devices/system/cpu/cpufreq/boost";
        assert_eq!(weight(intel, "1\n"), "fine");
        assert_eq!(weight(intel, "0\n"), "note");
        assert_eq!(weight(boost, "0\n"), "fine");
        assert_eq!(weight(boost, "1\n"), "note");
        assert_eq!(weight(boost, "yes\n"), "unknown");
        assert_eq!(host("turbo", &[]).0, "unknown");
    }
}
