//! Space and inodes of the mounted file system, by statvfs(3).

use crate::trial::Trial;
use fsarena_model::capacity::Predicted;
use fsarena_model::record::Space;

impl Trial<'_> {
    /// Capacity and use of the mounted file system by statvfs(3), bytes.
    pub(crate) fn space_used(&self) -> Option<(u64, u64)> {
        let stat = rustix::fs::statvfs(self.mounted.as_ref()?.path()).ok()?;
        let total = stat.f_blocks.saturating_mul(stat.f_frsize);
        Some((total, total.saturating_sub(stat.f_bfree.saturating_mul(stat.f_frsize))))
    }

    /// Free inodes, where their number is fixed.
    pub(crate) fn inodes_free(&self) -> Option<u64> {
        let stat = rustix::fs::statvfs(self.mounted.as_ref()?.path()).ok()?;
        (stat.f_files > 0).then_some(stat.f_ffree)
    }

    /// Says where there is more or less room than the plan went by.
    pub(crate) fn compare_with_prediction(&mut self) {
        let Some(predicted) = self.spec.predicted else { return };
        let Some(stat) = self.mounted.as_ref().and_then(|m| rustix::fs::statvfs(m.path()).ok())
        else {
            return;
        };
        let found = Predicted {
            free_bytes: stat.f_bavail.saturating_mul(stat.f_frsize),
            inodes: (stat.f_files > 0).then_some(stat.f_ffree),
        };
        if let Some(text) = predicted.is_off(&found) {
            let text = format!("after the mount statfs tells {text}");
            let remedy = "whether work fits was decided by the prediction: tell the authors";
            self.notice("prediction-off", text, Some(remedy.to_owned()));
        }
    }

    pub(crate) fn space(&self) -> Option<Space> {
        let stat = rustix::fs::statvfs(self.mounted.as_ref()?.path()).ok()?;
        let (total_bytes, used_bytes) = self.space_used()?;
        let fixed = stat.f_files > 0;
        Some(Space {
            total_bytes,
            used_bytes,
            used_empty_bytes: self.used_empty_bytes.unwrap_or(0),
            stored_bytes: self.stored_bytes.saturating_add(self.beside.bytes()),
            inodes_total: fixed.then_some(stat.f_files),
            inodes_free: fixed.then_some(stat.f_ffree),
        })
    }
}
