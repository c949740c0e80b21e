//! What a RUN's verdicts hold for: this machine, in these boots, at this time.

use crate::compare::machine_line;
use crate::view::Scope;
use fsarena_model::contender::{Contender, DeviceLevel, kernel_release};
use fsarena_model::run::{RunHeader, RunSession};
use fsarena_model::score::TrialScore;
use std::collections::BTreeSet;

/// Where and when the trials were done; `sessions` are the uninterrupted pieces of the RUN.
pub(super) fn scope(header: &RunHeader, sessions: &[RunSession], scores: &[TrialScore]) -> Scope {
    let boot = |score: &TrialScore| {
        let piece = sessions.iter().rev().find(|piece| piece.first_sequence <= score.sequence);
        piece.map_or(header.host.boot_id.as_str(), |piece| piece.boot_id.as_str())
    };
    let boots: BTreeSet<&str> = scores.iter().map(boot).collect();
    let end = |score: &TrialScore| score.started_unix_ns.saturating_add(score.elapsed_ns);
    Scope {
        machine: machine_line(&header.host),
        boots: boots.len(),
        sessions: sessions.len().max(usize::from(!scores.is_empty())),
        started_unix_ns: scores.iter().map(|score| score.started_unix_ns).min(),
        ended_unix_ns: scores.iter().map(end).max(),
        virtual_on: virtual_on(header),
    }
}

/// Kernels and disks of a RUN in virtual time.
fn virtual_on(header: &RunHeader) -> Option<String> {
    let mut all: Vec<String> = Vec::new();
    for contender in &header.plan.contenders {
        let DeviceLevel::Virtual { model, kernel, syscall_ns, .. } = &contender.levels.device
        else {
            return None;
        };
        let is_other = |contender: &Contender| match &contender.levels.device {
            DeviceLevel::Virtual { kernel: other, .. } => {
                other != kernel && kernel_release(other) == kernel_release(kernel)
            }
            _ => false,
        };
        let release = match header.plan.contenders.iter().any(is_other) {
            true => kernel,
            false => kernel_release(kernel),
        };
        let price = match syscall_ns {
            0 => String::new(),
            price_ns => format!(" with {price_ns} ns for each system call"),
        };
        let one = format!("Linux {release} on {model}{price}");
        if !all.contains(&one) {
            all.push(one);
        }
    }
    (!all.is_empty()).then(|| all.join(", "))
}

impl Scope {
    /// What the verdicts hold for, to be put behind a comma: `on this machine, this boot, in these
    /// 4 minutes`; nothing where no trial was done.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        if let Some(on) = &self.virtual_on {
            let seeds = "each block is another seed (layout, angle of the disk, start)";
            return Some(format!(
                "in virtual time, for {on}: the disk alone takes time, the processor none; {seeds}, \
                 and a seed gives the same figures again"
            ));
        }
        let span_ns = self.ended_unix_ns?.saturating_sub(self.started_unix_ns?);
        let boots = match self.boots {
            0 | 1 => "this boot".to_owned(),
            boots => format!("these {boots} boots"),
        };
        let minutes = span_ns.div_ceil(60_000_000_000).max(1);
        let time = match (self.sessions, minutes) {
            (2.., _) => format!("at these {} times", self.sessions),
            (_, 1) => "in this minute".to_owned(),
            (_, 2..=119) => format!("in these {minutes} minutes"),
            _ => format!("in these {} hours", minutes.div_ceil(60)),
        };
        Some(format!("on this machine, {boots}, {time}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(boots: usize, sessions: usize, seconds: u64) -> Option<String> {
        let scope = Scope {
            machine: String::new(),
            boots,
            sessions,
            started_unix_ns: Some(1),
            ended_unix_ns: Some(1 + seconds * 1_000_000_000),
            virtual_on: None,
        };
        scope.words()
    }

    #[test]
    fn machine_boot_and_minutes() {
        let said = |boots, sessions, seconds| over(boots, sessions, seconds).unwrap();
        assert_eq!(said(1, 1, 232), "on this machine, this boot, in these 4 minutes");
        assert_eq!(said(1, 1, 5), "on this machine, this boot, in this minute");
        assert_eq!(said(1, 1, 3 * 3600), "on this machine, this boot, in these 3 hours");
        assert_eq!(said(2, 2, 9999), "on this machine, these 2 boots, at these 2 times");
        let none = Scope {
            machine: String::new(),
            boots: 0,
            sessions: 0,
            started_unix_ns: None,
            ended_unix_ns: None,
            virtual_on: None,
        };
        assert_eq!(none.words(), None);
    }
}
