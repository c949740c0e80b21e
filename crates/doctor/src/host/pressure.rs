//! Tasks that wait for the disk or for memory (`/proc/pressure`, the last ten seconds).

use crate::check::Said;
use crate::read::percent;
use crate::scene::Scene;

/// Share of ten seconds in which something waited above which it is said.
const WAITED_MAX: f64 = 0.05;

pub(crate) fn look(scene: &Scene) -> Option<Said> {
    let load = fsarena_metrics::load_and_pressure(&scene.roots);
    let (Some(io), Some(memory)) = (load.io_pressure_10s, load.memory_pressure_10s) else {
        let reason = "this kernel does not tell who waits for the disk or memory (no PSI in \
                      /proc/pressure; psi=1 at boot switches it on)";
        return Some(Said::unknown(reason));
    };
    let reading = format!(
        "tasks waited for the disk {}, for memory {} of the last ten seconds",
        percent(io),
        percent(memory)
    );
    let why = "something else uses the disk or fills the memory; write-back of it goes on into \
               the first phases";
    Some(match io > WAITED_MAX || memory > WAITED_MAX {
        true => Said::warning(reading, why)
            .remedy("wait until it is over, or find out who it is")
            .command("cat /proc/pressure/io /proc/pressure/memory"),
        false => Said::fine(reading),
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::host;

    #[test]
    fn shares_of_ten_seconds() {
        let line = |share: &str| format!("some avg10={share} avg60=0.00 avg300=0.00 total=1\n");
        let said = |io: &str, memory: &str| {
            let files = [("proc/pressure/io", line(io)), ("proc/pressure/memory", line(memory))];
            host("pressure", &[(files[0].0, &files[0].1), (files[1].0, &files[1].1)])
        };
        assert_eq!(said("0.00", "1.00").0, "fine");
        assert_eq!(said("25.50", "0.00").0, "warning");
        assert_eq!(said("0.00", "25.50").0, "warning");
        assert!(said("25.50", "0.00").1.starts_with("tasks waited for the disk 26 %"));
        assert_eq!(said("many", "0.00").0, "unknown");
        assert_eq!(host("pressure", &[]).0, "unknown");
    }
}
