//! Swap of the machine (`/proc/swaps`).

use crate::check::Said;
use crate::scene::{Scene, swaps};
use fsarena_model::units::Bytes;

pub(crate) fn look(scene: &Scene) -> Option<Said> {
    let areas = match swaps(&scene.roots) {
        Ok(areas) => areas,
        Err(reason) => return Some(Said::unknown(reason)),
    };
    let all = Bytes(areas.iter().fold(0, |sum, area| sum + area.all_bytes));
    let used = Bytes(areas.iter().fold(0, |sum, area| sum + area.used_bytes));
    Some(match (areas.is_empty(), used.0) {
        (true, _) => Said::fine("there is no swap"),
        (false, 0) => Said::note(
            format!("{all} of swap, not in use"),
            "memory may be written to a disk during a phase; a phase in which that happens says so",
        )
        .remedy("switch it off while measuring")
        .command("sudo swapoff -a"),
        (false, _) => Said::warning(
            format!("{used} of {all} of swap are in use"),
            "what was swapped out is read again when it is touched, which may be in a phase",
        )
        .remedy("stop other programs, and switch swap off while measuring")
        .command("sudo swapoff -a"),
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::host;

    #[test]
    fn areas_of_swap() {
        let said = |lines: &str| {
            let text = format!("Filename Type Size Used Priority\n{lines}");
            host("swap", &[("proc/swaps", &text)])
        };
        assert_eq!(said("").0, "fine");
        let idle = said("/dev/sda2 partition 1048576 0 -2\n");
        assert_eq!(idle, ("note".to_owned(), "1 GiB of swap, not in use".to_owned()));
        let used = said("/dev/sda2 partition 1048576 512 -2\n/swap file 1048576 512 -3\n");
        assert_eq!(used, ("warning".to_owned(), "1 MiB of 2 GiB of swap are in use".to_owned()));
        assert_eq!(said("/dev/sda2 partition much\n").0, "unknown");
        assert_eq!(host("swap", &[]).0, "unknown");
    }
}
