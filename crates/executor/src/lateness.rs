//! A modelled disk in a trial: fresh at its beginning, and believed where its answers came in time.

use crate::context::Trial;
use crate::error::StepError;
use fsarena_devices::{cache, served};
use fsarena_vdisk::Served;

/// Share of the modelled time of a phase that answers may be late by, summed.
const LATE_MAX: f64 = 0.05;
const PERCENT: f64 = 100.0;

/// How late the answers of one phase were; nothing where the disk is no model.
pub(crate) struct Lateness(Option<Served>);

impl Lateness {
    /// Refuses a phase in which the disk was not that of its model.
    pub(crate) fn believe(&self, phase: &str) -> Result<(), StepError> {
        let Some(served) = self.0.as_ref().filter(|served| served.late_share() > LATE_MAX) else {
            return Ok(());
        };
        Err(StepError::Failed {
            error: format!(
                "{phase}: the disk answered later than its model, by {:.1} % of the modelled time \
                 of {} requests (at most {:.0} % are allowed; 99 of 100 answers were late by at \
                 most {:.0} us)",
                served.late_share() * PERCENT,
                served.timed,
                LATE_MAX * PERCENT,
                micros(served.late_p99_ns),
            ),
            remedy: Some(
                "stop other programs, or use --on virtual:SIZE:model=MODEL, which is never late"
                    .to_owned(),
            ),
        })
    }
}

impl Trial<'_> {
    /// An empty disk whose chances are those of this trial; its time begins now.
    pub(crate) fn renew_model(&mut self) -> Result<(), StepError> {
        let target = &self.spec.target;
        let Some((socket, device)) = served::socket(target).zip(target.device()) else {
            return Ok(());
        };
        served::fresh(socket, self.spec.seed.tag())?;
        // What was read of the old one.
        Ok(cache::flush_device(device)?)
    }

    /// Counts begin here.
    pub(crate) fn begin_lateness(&self) -> Result<(), StepError> {
        if let Some(socket) = served::socket(&self.spec.target) {
            served::report(socket)?;
        }
        Ok(())
    }

    /// What was late since then; the worst of all phases is in the record.
    pub(crate) fn lateness(&mut self) -> Result<Lateness, StepError> {
        let Some(socket) = served::socket(&self.spec.target) else { return Ok(Lateness(None)) };
        let served = served::report(socket)?;
        for (name, value) in [
            ("answers_late_percent", served.late_share() * PERCENT),
            ("answers_late_p99_us", micros(served.late_p99_ns)),
        ] {
            let known = self.record.device.get(name).and_then(|text| text.parse::<f64>().ok());
            let worst = known.map_or(value, |known| known.max(value));
            self.record.device.insert(name.to_owned(), format!("{worst:.2}"));
        }
        Ok(Lateness(Some(served)))
    }

    /// Why a modelled disk serves nothing any more, where that is so: the cause of what failed.
    pub(crate) fn served_no_more(&self) -> Option<String> {
        let socket = served::socket(&self.spec.target)?;
        served::report(socket).err().map(|error| error.to_string())
    }
}

#[expect(clippy::cast_precision_loss, reason = "a time for people")]
fn micros(ns: u64) -> f64 {
    ns as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_whose_answers_were_late_is_refused_with_figures() {
        let served = |late_ns| Served {
            timed: 10,
            modelled_ns: 1_000_000,
            late_ns,
            late_p99_ns: 9000,
            ..Served::default()
        };
        assert!(Lateness(None).believe("create").is_ok());
        assert!(Lateness(Some(Served::default())).believe("create").is_ok(), "no request at all");
        assert!(Lateness(Some(served(50_000))).believe("create").is_ok());
        let Err(StepError::Failed { error, .. }) = Lateness(Some(served(60_000))).believe("create")
        else {
            panic!("believed");
        };
        assert!(error.starts_with("create: the disk answered later than its model, by 6.0 %"));
        assert!(error.contains("at most 9 us"), "{error}");
    }
}
