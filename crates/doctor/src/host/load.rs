//! Work of others: the share of the processors that is busy while nothing is measured yet.

use crate::check::Said;
use crate::read::percent;
use crate::scene::Scene;

/// Busy share of the machine above which it is said.
const BUSY_NOTE: f64 = 0.05;
/// Above which it changes figures: a quarter of the machine is gone.
const BUSY_WARNING: f64 = 0.25;

pub(crate) fn look(scene: &Scene) -> Option<Said> {
    let processors = match scene.sample.processors() {
        Ok(processors) => processors,
        Err(reason) => return Some(Said::unknown(reason)),
    };
    let average = fsarena_metrics::load_and_pressure(&scene.roots).load_1m;
    let average = average.map(|load| format!("; load average {load:.2}")).unwrap_or_default();
    let cpus = match scene.host.cpus {
        1 => "the processor".to_owned(),
        cpus => format!("{cpus} processors"),
    };
    let reading = format!("{} of {cpus} busy in one second{average}", percent(processors.busy));
    let why = "programs of others take processors, memory and the disk from the work, at times \
               that cannot be repeated";
    let said = match processors.busy {
        busy if busy > BUSY_WARNING => Said::warning(reading, why),
        busy if busy > BUSY_NOTE => Said::note(reading, why),
        _ => return Some(Said::fine(reading)),
    };
    Some(said.remedy("find out who it is, and stop it").command("top -o %CPU"))
}

#[cfg(test)]
mod tests {
    use crate::sample::Sample;
    use crate::stage::{busy, host_with};

    #[test]
    fn shares_of_the_machine() {
        let files = [
            ("proc/loadavg", "0.25 0.20 0.10 1/99 4242\n"),
            ("sys/devices/system/cpu/online", "0-1"),
        ];
        let said = |share| host_with("load", &files, busy(share, 0.0));
        let reading = "1.0 % of 2 processors busy in one second; load average 0.25";
        assert_eq!(said(0.01), ("fine".to_owned(), reading.to_owned()));
        assert_eq!(said(0.06).0, "note");
        assert_eq!(said(0.5).0, "warning");
        let odd = host_with("load", &[("proc/loadavg", "odd\n")], busy(0.0, 0.0));
        assert!(!odd.1.contains("average"), "{odd:?}");
        let none = Sample { counters: Err("no /proc/stat".to_owned()), ..busy(0.0, 0.0) };
        assert_eq!(
            host_with("load", &[], none),
            ("unknown".to_owned(), "no /proc/stat".to_owned())
        );
    }
}
