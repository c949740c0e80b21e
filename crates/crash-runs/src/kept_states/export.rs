//! A kept state for other programs: as an image of the disk, or as a log that device-mapper's tools
//! replay.

use super::{KeptContents, KeptState};
use crate::crash_run;
use fsarena_crash::log_writes::LogWriter;
use fsarena_crash::state::{CrashState, pieces};
use fsarena_vdisk::{Discarded, SECTOR_BYTES, Store, WriteLog};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter};
use std::os::unix::fs::FileExt as _;

/// Unit of holes, bytes.
const PIECE: u64 = 64 << 10;
/// Where the power went, and went a second time.
const CRASH_MARK: &str = "crash";
const RECOVERY_MARK: &str = "crash-during-recovery";

impl KeptContents {
    fn recovery_of<'s>(&'s self, state: &'s KeptState) -> Option<(&'s WriteLog, &'s CrashState)> {
        self.recovery.as_ref().zip(state.cut.as_ref())
    }

    /// Writes the whole disk into an empty file, with holes where there are zeros.
    ///
    /// # Errors
    /// Of the file.
    pub fn write_image(&self, state: &KeptState, to: &File) -> io::Result<()> {
        to.set_len(state.size_bytes)?;
        let base = Store::in_memory(state.size_bytes, Discarded::Zeros);
        let recovery = self.recovery_of(state);
        let view = crash_run::contents(&base, &self.log, &state.state, recovery)?;
        let of_work = pieces(&self.log, &state.state);
        let of_recovery = recovery.map(|(log, cut)| pieces(log, cut));
        let touched: BTreeSet<u64> = of_work
            .chain(of_recovery.into_iter().flatten())
            .flat_map(|piece| {
                let end = (piece.sector + piece.sectors) * SECTOR_BYTES;
                piece.sector * SECTOR_BYTES / PIECE..end.div_ceil(PIECE)
            })
            .collect();
        let mut data = vec![0; PIECE as usize];
        for piece in touched {
            let at = piece * PIECE;
            let Some(left) = state.size_bytes.checked_sub(at).filter(|left| *left > 0) else {
                continue;
            };
            let data = &mut data[..left.min(PIECE) as usize];
            view.read(at / SECTOR_BYTES, data)?;
            if data.iter().any(|byte| *byte != 0) {
                to.write_all_at(data, at)?;
            }
        }
        Ok(())
    }

    /// Writes what is on the medium as a log of `log-writes`, version 1: what is written before the
    /// mark `crash` is the state.
    ///
    /// # Errors
    /// Of the file.
    pub fn write_log_writes(&self, state: &KeptState, to: &File) -> io::Result<()> {
        let mut writer = LogWriter::new(BufWriter::new(to))?;
        writer.state(&self.log, &state.state)?;
        writer.mark(CRASH_MARK)?;
        if let Some((log, cut)) = self.recovery_of(state) {
            writer.state(log, cut)?;
            writer.mark(RECOVERY_MARK)?;
        }
        writer.finish().map(drop)
    }
}
