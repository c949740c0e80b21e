//! Two hardware threads on one core (`smt/active`).

use crate::check::Said;
use crate::read;
use crate::scene::Scene;

pub(crate) fn look(scene: &Scene) -> Option<Said> {
    let dir = scene.roots.sys.join("devices/system/cpu/smt");
    Some(match read::flag(&dir.join("active")) {
        Err(reason) => Said::unknown(reason),
        Ok(false) => Said::fine("no core runs two threads (SMT is off or absent)"),
        Ok(true) => Said::note(
            "SMT is on: two processors share a core",
            "a worker is slower while something runs on the other half of its core, and CPU load \
             is not proportional to work",
        )
        .remedy("switch it off where CPU figures matter, or keep to whole cores with --cpus")
        .command(read::echo("off", &dir.join("control"))),
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::host;

    #[test]
    fn smt() {
        let weight = |value: &str| host("smt", &[("sys/devices/system/cpu/smt/active", value)]).0;
        assert_eq!(weight("0\n"), "fine");
        assert_eq!(weight("1\n"), "note");
        assert_eq!(weight("maybe\n"), "unknown");
        assert_eq!(host("smt", &[]).0, "unknown");
    }
}
