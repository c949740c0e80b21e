//! Whether this is a virtual machine.

use crate::check::Said;
use crate::scene::Scene;

pub(crate) fn look(scene: &Scene) -> Option<Said> {
    if let Some(name) = &scene.host.hypervisor {
        let why = "the host below has caches, limits and other guests that are not seen here; \
                   figures hold for this machine as it is, not for its disk";
        return Some(
            Said::note(format!("a virtual machine ({name})"), why)
                .remedy("name the kind of machine and its disk beside the figures"),
        );
    }
    let told = scene.roots.proc.join("cpuinfo").exists();
    Some(match told {
        true => Said::fine("no hypervisor"),
        false => Said::unknown("/proc/cpuinfo: not there, so a hypervisor would not be seen"),
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::host;

    #[test]
    fn machines() {
        let said = |flags: &str| host("virtual-machine", &[("proc/cpuinfo", flags)]);
        assert_eq!(said("processor : 0\nflags : fpu vme\n").0, "fine");
        let guest = said("processor : 0\nflags : fpu hypervisor\n");
        assert_eq!(guest, ("note".to_owned(), "a virtual machine (not named)".to_owned()));
        assert_eq!(host("virtual-machine", &[]).0, "unknown");
    }
}
