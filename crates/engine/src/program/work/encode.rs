//! `flac` and `oggenc`: every wav file of a directory encoded into another.

use super::products::{stem, tree_bytes};
use super::{Amounts, Args, Starts, Work};
use crate::Root;
use crate::program::ProgramError;
use fsarena_model::work::JobTask;
use std::ffi::OsString;
use std::io;
use std::path::Path;

/// Names that one start takes, bytes: what every kernel takes as arguments.
const NAMES_BYTES: usize = 96 << 10;

/// All files by one start, as long as their names fit.
#[derive(Debug)]
pub(super) struct Flac;

/// A start for each file: `oggenc` puts several beside their sources.
#[derive(Debug)]
pub(super) struct Ogg;

impl Work for Flac {
    fn starts(&self, _: &JobTask, _: &Path) -> Result<Starts, ProgramError> {
        Ok(Starts::OverWavs(flac))
    }

    fn amounts(&self, task: &JobTask, root: &Root, wavs: u64) -> io::Result<Amounts> {
        encoded(task, root, wavs)
    }

    fn fills_directory(&self) -> bool {
        true
    }
}

impl Work for Ogg {
    fn starts(&self, _: &JobTask, _: &Path) -> Result<Starts, ProgramError> {
        Ok(Starts::OverWavs(ogg))
    }

    fn amounts(&self, task: &JobTask, root: &Root, wavs: u64) -> io::Result<Amounts> {
        encoded(task, root, wavs)
    }

    fn fills_directory(&self) -> bool {
        true
    }
}

fn encoded(task: &JobTask, root: &Root, wavs: u64) -> io::Result<Amounts> {
    let written_bytes = tree_bytes(root, Path::new(&task.name))?;
    Ok(Amounts { ops: wavs, read_bytes: task.contents.bytes, written_bytes })
}

pub(super) fn flac(task: &JobTask, wavs: &[OsString]) -> Vec<Args> {
    let first = || -> Args {
        let prefix = format!("--output-prefix={}/", task.name);
        vec!["--best".into(), "--silent".into(), prefix.into(), "--".into()]
    };
    let mut starts: Vec<Args> = Vec::new();
    let mut room_bytes = 0;
    for wav in wavs {
        let path = task.input.join(wav).into_os_string();
        if path.len() > room_bytes {
            starts.push(first());
            room_bytes = NAMES_BYTES;
        }
        room_bytes = room_bytes.saturating_sub(path.len() + 1);
        starts.last_mut().expect("one was just begun").push(path);
    }
    starts
}

pub(super) fn ogg(task: &JobTask, wavs: &[OsString]) -> Vec<Args> {
    let one = |wav: &OsString| {
        let mut output = Path::new(&task.name).join(stem(wav)).into_os_string();
        output.push(".ogg");
        let input = task.input.join(wav);
        let mut args: Args = ["-q", "10", "--quiet", "-o"].map(OsString::from).to_vec();
        args.extend([output, "--".into(), input.into()]);
        args
    };
    wavs.iter().map(one).collect()
}
