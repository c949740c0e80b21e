//! Time that the hypervisor gives to others (`/proc/stat`, steal).

use crate::check::Said;
use crate::read::percent;
use crate::scene::Scene;
use fsarena_metrics::disturb::STEAL_SHARE_MAX;

pub(crate) fn look(scene: &Scene) -> Option<Said> {
    let stolen = match scene.sample.processors().and_then(|processors| processors.stolen) {
        Ok(stolen) => stolen,
        Err(reason) => return Some(Said::unknown(reason)),
    };
    let reading = format!("{} of the processors' time stolen in one second", percent(stolen));
    Some(match stolen {
        stolen if stolen > STEAL_SHARE_MAX => Said::warning(
            reading,
            "the hypervisor runs other guests while the work waits, and no clock here sees that",
        )
        .remedy("run when the physical host is quiet, or on one with processors of its own"),
        _ => Said::fine(reading),
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::{busy, host_with, quiet};

    #[test]
    fn stolen_time() {
        assert_eq!(host_with("steal", &[], busy(0.5, 0.0)).0, "fine");
        let stolen = host_with("steal", &[], busy(0.5, 0.05));
        let reading = "5.0 % of the processors' time stolen in one second";
        assert_eq!(stolen, ("warning".to_owned(), reading.to_owned()));
        let mut old = quiet();
        old.counters.as_mut().unwrap().remove("cpu.steal_ns");
        assert_eq!(host_with("steal", &[], old).0, "unknown");
    }
}
