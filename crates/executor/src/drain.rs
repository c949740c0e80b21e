//! The third clock: how long it takes until everything lies where it belongs.
//!
//! What is timed is the draining itself, from its call to its end, in the thread that does it. The
//! executor has to be woken before it can call, which takes tenths of a millisecond on a quiet
//! machine and more on a busy one; that is no work of the file system, and is recorded beside.

use crate::error::StepError;
use crate::filesystem::TestedFs;
use fsarena_devices::{cache, settle};
use fsarena_filesystems::Backing;
use fsarena_metrics::monotonic_ns;
use fsarena_model::record::Drained;
use fsarena_model::units::Nanos;

/// How a phase was drained, and when that was begun.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Drain {
    /// `CLOCK_MONOTONIC` right before the file system, or the device, was told to.
    pub(crate) called_monotonic_ns: u64,
    pub(crate) end: DrainEnd,
}

/// How it ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum DrainEnd {
    /// The file system was frozen after so long.
    Frozen { took_ns: u64 },
    /// The device had nothing to do any more after so long.
    Idle { took_ns: u64 },
    /// There is no device.
    NoDevice,
    /// It did not come to its end, or cannot be seen to.
    NotDrained { reason: String },
}

impl Drain {
    /// The third clock of a phase that was durable so long after its start.
    pub(crate) fn to_clock(&self, durable_ns: u64) -> Drained {
        let after = |took_ns: u64| durable_ns.saturating_add(took_ns);
        match &self.end {
            DrainEnd::Frozen { took_ns } => Drained::Frozen { drained_ns: after(*took_ns) },
            DrainEnd::Idle { took_ns } => Drained::Idle { drained_ns: after(*took_ns) },
            DrainEnd::NoDevice => Drained::NoDevice,
            DrainEnd::NotDrained { reason } => Drained::NotDrained { reason: reason.clone() },
        }
    }

    /// How long after `durable_monotonic_ns` it was begun; nothing where there was nothing to do.
    pub(crate) fn late_ns(&self, durable_monotonic_ns: u64) -> Option<u64> {
        let began = matches!(self.end, DrainEnd::Frozen { .. } | DrainEnd::Idle { .. });
        began.then(|| self.called_monotonic_ns.saturating_sub(durable_monotonic_ns))
    }
}

impl TestedFs<'_> {
    /// Drains the file system.
    pub(crate) fn drain(&self) -> Result<Drain, StepError> {
        let called_monotonic_ns = monotonic_ns();
        let end = self.drain_to_end(called_monotonic_ns)?;
        Ok(Drain { called_monotonic_ns, end })
    }

    fn drain_to_end(&self, called_ns: u64) -> Result<DrainEnd, StepError> {
        if self.driver.backing() == Backing::Memory {
            return Ok(DrainEnd::NoDevice);
        }
        if self.driver.freezes() {
            match settle::freeze_thaw(&self.work_root()?) {
                Ok(frozen) => return Ok(DrainEnd::Frozen { took_ns: frozen.freeze_ns }),
                Err(error @ settle::FreezeError::StillFrozen { .. }) => {
                    return Err(StepError::new(error.to_string()));
                }
                // The device tells instead.
                Err(settle::FreezeError::Unsupported { .. }) => {}
            }
        }
        let devices = self.device_names();
        if devices.is_empty() {
            let reason = match self.driver.backing() {
                Backing::Elsewhere => "it has no device of its own to be watched",
                _ => "its device is shared with the rest of the machine",
            };
            return Ok(DrainEnd::NotDrained { reason: reason.to_owned() });
        }
        // A server in user space writes through the page cache of the device. Where the device is
        // itself what is worked on, its cache stays, and `durable` has flushed it.
        let is_raw = self.spec.contender.levels.is_raw();
        if !is_raw {
            let all = self.spec.target.devices();
            all.into_iter().try_for_each(cache::flush_device)?;
        }
        let flushed_ns = monotonic_ns().saturating_sub(called_ns);
        Ok(match self.wait_idle(&devices)? {
            settle::Quiet::Idle { busy_ns } => DrainEnd::Idle { took_ns: flushed_ns + busy_ns },
            settle::Quiet::Capped => DrainEnd::NotDrained {
                reason: format!(
                    "the device was not idle for {} within {}",
                    Nanos(self.spec.drain.idle_ns),
                    Nanos(self.spec.drain.cap_ns)
                ),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An executor that was woken late, or that thaws slowly, makes no phase longer.
    #[test]
    fn only_the_draining_itself_is_in_the_clock() {
        let end = DrainEnd::Frozen { took_ns: 30 };
        let drain = Drain { called_monotonic_ns: 9_000, end };
        assert_eq!(drain.to_clock(500), Drained::Frozen { drained_ns: 530 });
        assert_eq!(drain.late_ns(8_500), Some(500));
        let idle = Drain { end: DrainEnd::Idle { took_ns: 7 }, ..drain.clone() };
        assert_eq!(idle.to_clock(500), Drained::Idle { drained_ns: 507 });
        let none = Drain { end: DrainEnd::NoDevice, ..drain };
        assert_eq!((none.to_clock(500), none.late_ns(8_500)), (Drained::NoDevice, None));
    }
}
