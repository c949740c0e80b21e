//! A crash state that is to be looked at, its contents, and what was seen.

use fsarena_crash::observation::{MountAttempt, Observation};
use fsarena_crash::state::{CrashState, pieces, view};
use fsarena_vdisk::{SECTOR_BYTES, Store, View, WriteLog};

/// One state, and what is asked of it.
#[derive(Clone, Copy)]
pub(crate) struct ToCheck<'s> {
    pub(crate) state: &'s CrashState,
    /// What recovery wrote over it, and the power cut in that.
    pub(crate) recovery: Option<(&'s WriteLog, &'s CrashState)>,
    /// Whether what is written to it is wanted.
    pub(crate) is_logged: bool,
    /// Whether the time of its recovery on the modelled disk is wanted.
    pub(crate) is_timed: bool,
}

pub(crate) struct InspectedState {
    pub(crate) seen: Observation,
    /// What was written to it, where that was wanted.
    pub(crate) log: Option<WriteLog>,
}

/// Whether it could not be mounted at the first attempt, or not be unmounted: other
/// states that were looked at before it, or beside it, may have done it.
pub(crate) fn is_doubtful(mounts: &[MountAttempt], unmount_errno: Option<i32>) -> bool {
    mounts.first().is_none_or(|mount| mount.errno.is_some()) || unmount_errno.is_some()
}

/// What is on the medium in a state of a log over `base`, or after a power cut in its recovery.
///
/// # Errors
/// Of the logs' files.
pub fn contents<'v>(
    base: &'v Store,
    log: &'v WriteLog,
    state: &CrashState,
    recovery: Option<(&WriteLog, &CrashState)>,
) -> std::io::Result<View<'v>> {
    let mut view = view(base, log, state);
    let Some((log, cut)) = recovery else { return Ok(view) };
    let mut data = Vec::new();
    for piece in pieces(log, cut) {
        let entry = &log.entries()[piece.entry as usize];
        if entry.kind.is_write() {
            data.resize(usize::try_from(piece.sectors * SECTOR_BYTES).unwrap_or(0), 0);
            log.data(entry, piece.sector, &mut data)?;
            view.write(piece.sector, &data)?;
        }
    }
    Ok(view)
}
