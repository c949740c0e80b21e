//! A trial that waits before one of its steps, so that a test can do something to it.

use super::{Live, Ran, TestEnv};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A run whose executor waits before a step.
pub struct Paused<'a> {
    live: Live<'a>,
    go_on: PathBuf,
}

impl TestEnv {
    /// Starts the program and waits until its executor is about to begin `step`: `reset`, or with
    /// a phase `measure read`.
    #[track_caller]
    pub fn pause(&self, args: &[&str], step: &str) -> Paused<'_> {
        self.pause_command(self.command(args), step)
    }

    /// As [`TestEnv::pause`], for a command that starts the program.
    #[track_caller]
    pub fn pause_command(&self, mut command: Command, step: &str) -> Paused<'_> {
        let go_on = self.path("go-on");
        let _ = fs::remove_file(&go_on);
        command.env("FSARENA_FAULT", format!("pause:{step}:{}", go_on.display()));
        let mut live = self.start_command(command);
        live.wait_for("asks for a pause");
        Paused { live, go_on }
    }
}

impl<'a> Paused<'a> {
    /// The root of the mounted file system, reached through the executor's mount namespace.
    #[track_caller]
    pub fn root(&self) -> PathBuf {
        self.live.mounted_root()
    }

    /// Lets it go on.
    pub fn release(self) -> Live<'a> {
        fs::write(&self.go_on, "").unwrap();
        self.live
    }

    /// Lets it go on and waits for its end.
    pub fn go_on(self) -> Ran {
        fs::write(&self.go_on, "").unwrap();
        self.live.end()
    }
}

/// The one image in `dir`.
#[track_caller]
pub fn image_in(dir: &Path) -> PathBuf {
    let images: Vec<_> = fs::read_dir(dir).unwrap().flatten().collect();
    assert_eq!(images.len(), 1, "{images:?}");
    images[0].path()
}
