//! The process: found, started with a profile of its own, ended with the value.

use crate::browser::wire::{Error, Wire};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Debian's name and that of others.
const NAMES: [&str; 2] = ["chromium", "chromium-browser"];
/// Between the closing of the pipe and the signal.
const GRACE: Duration = Duration::from_secs(3);
/// The browser reads the protocol from descriptor 3 and writes it to 4. The shell puts stdin and
/// stdout there, which needs no code of ours between fork and exec.
const ON_PIPES: &str = "exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null";
/// Nothing is fetched: neither updates and lists of its own, nor anything that a page names.
const ARGUMENTS: &[&str] = &[
    "--headless=new",
    "--remote-debugging-pipe",
    // The pages are ours, and as root there is no other way.
    "--no-sandbox",
    "--disable-gpu",
    // /dev/shm is small in containers.
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--mute-audio",
    "--no-default-browser-check",
    "--no-first-run",
    "--password-store=basic",
    "--use-mock-keychain",
    "about:blank",
];

/// A browser without a window; it ends with the value, or with the process of the test.
#[derive(Debug)]
pub struct Browser {
    wire: RefCell<Wire>,
    child: Child,
    /// Held until the browser has ended.
    _profile: TempDir,
}

/// The installed browser.
#[must_use]
pub fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let all = NAMES.iter().flat_map(|name| places.iter().map(move |place| place.join(name)));
    all.into_iter().find(|file| file.is_file())
}

impl Browser {
    /// Starts one.
    ///
    /// # Errors
    /// [`Error::NotInstalled`], or why it does not start.
    pub fn launch() -> Result<Self, Error> {
        let program = find().ok_or(Error::NotInstalled)?;
        let profile = TempDir::with_prefix("fsarena-browser-").map_err(Error::Start)?;
        let stderr = profile.path().join("stderr");
        let mut child = Command::new("sh")
            .args(["-c", ON_PIPES])
            .arg(program)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .args(ARGUMENTS)
            .env("HOME", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&stderr).map_err(Error::Start)?)
            .process_group(0)
            .spawn()
            .map_err(Error::Start)?;
        let (out, from) = (child.stdin.take(), child.stdout.take());
        let wire = Wire::new(
            out.expect("stdin was asked for"),
            from.expect("stdout was asked for"),
            &stderr,
        );
        let browser = Self { wire: RefCell::new(wire), child, _profile: profile };
        browser.call(None, "Browser.getVersion", json!({}))?;
        Ok(browser)
    }

    /// As [`Browser::launch`] for a test: where it is not installed, prints the line that takes the
    /// test out of the passed ones, and gives none.
    ///
    /// # Panics
    /// When it is installed and does not start.
    #[must_use]
    #[allow(clippy::print_stdout, reason = "the line is how a test says that it was not run")]
    pub fn for_test() -> Option<Self> {
        match Self::launch() {
            Ok(browser) => Some(browser),
            Err(error @ Error::NotInstalled) => {
                println!("not run: {error}");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    pub(crate) fn call(
        &self,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Result<Value, Error> {
        self.wire.borrow_mut().call(session, method, params)
    }

    pub(crate) fn wait(&self, session: &str, event: &str) -> Result<(), Error> {
        self.wire.borrow_mut().wait(session, event)
    }

    pub(crate) fn events(&self, session: &str) -> Vec<Value> {
        self.wire.borrow_mut().take(session)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.wire.borrow_mut().close();
        let until = Instant::now() + GRACE;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        // Its children too; nothing is left to signal where all have ended.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}
