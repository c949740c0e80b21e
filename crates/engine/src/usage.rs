//! Processor time and faults of the calling thread, or of the children of this process.

use fsarena_model::work::WorkerUsage;

/// A reading of getrusage(2).
pub(crate) struct Usage(libc::rusage);

impl Usage {
    /// Of this thread, as it is now.
    pub fn now() -> Self {
        Self::of(libc::RUSAGE_THREAD)
    }

    /// Of all children that were waited for, and theirs.
    pub fn of_children() -> Self {
        Self::of(libc::RUSAGE_CHILDREN)
    }

    fn of(who: libc::c_int) -> Self {
        // SAFETY: rusage is plain integers, for which all zeros are a value.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a live rusage. With the callers' arguments it cannot fail.
        unsafe { libc::getrusage(who, &raw mut usage) };
        Self(usage)
    }

    /// What was used since `before`, a reading of the same.
    pub fn since(&self, before: &Self) -> WorkerUsage {
        let (now, before) = (&self.0, &before.0);
        let time_ns = |time: &libc::timeval| {
            (time.tv_sec * 1_000_000 + time.tv_usec).cast_unsigned().saturating_mul(1000)
        };
        let since = |now: i64, before: i64| (now - before).max(0).cast_unsigned();
        WorkerUsage {
            user_ns: time_ns(&now.ru_utime).saturating_sub(time_ns(&before.ru_utime)),
            system_ns: time_ns(&now.ru_stime).saturating_sub(time_ns(&before.ru_stime)),
            minor_faults: since(now.ru_minflt, before.ru_minflt),
            major_faults: since(now.ru_majflt, before.ru_majflt),
            voluntary_switches: since(now.ru_nvcsw, before.ru_nvcsw),
            involuntary_switches: since(now.ru_nivcsw, before.ru_nivcsw),
        }
    }
}

/// What several threads used together.
pub(crate) fn sum(usages: impl Iterator<Item = WorkerUsage>) -> WorkerUsage {
    usages.fold(WorkerUsage::default(), |sum, one| WorkerUsage {
        user_ns: sum.user_ns + one.user_ns,
        system_ns: sum.system_ns + one.system_ns,
        minor_faults: sum.minor_faults + one.minor_faults,
        major_faults: sum.major_faults + one.major_faults,
        voluntary_switches: sum.voluntary_switches + one.voluntary_switches,
        involuntary_switches: sum.involuntary_switches + one.involuntary_switches,
    })
}
