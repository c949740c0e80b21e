//! `fsarena report --open`: showing a page in the user's browser. A browser is never started as
//! root: under sudo it is that of the user who called sudo.

use anyhow::{Result, bail};
use fsarena_process::cmd::{self, find};
use fsarena_process::program::TrustedProgram;
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

/// Starts what opens pages on a desktop.
const OPENER: &str = "xdg-open";
/// Starts a program as another user.
const AS_USER: &str = "runuser";
/// How long an opener is waited for, which may be the browser itself: failures come early.
const EARLY: Duration = Duration::from_secs(2);
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);

/// Opens the page at `path`.
///
/// # Errors
/// Where nothing here opens pages, or it says no; the page is there in any case.
pub fn open(path: &Path) -> Result<()> {
    let path = std::fs::canonicalize(path)?;
    let shown = path.display();
    let Some(opener) = find(OPENER) else {
        bail!(
            "--open: nothing here opens pages ({OPENER} of the package xdg-utils is not \
             installed); open {shown} in a browser"
        );
    };
    if !crate::context::is_root() {
        return start(&opener, &[path.as_os_str()], &[], &path);
    }
    let Some(user) = caller() else {
        bail!("--open: a browser is not started as root; open {shown} as a user of the desktop");
    };
    let Some(as_user) = find(AS_USER) else {
        bail!(
            "--open: a browser is not started as root, and {AS_USER} of the package util-linux, \
             which starts it as {}, is not installed; open {shown} as {}",
            user.name,
            user.name
        );
    };
    let args: [&OsStr; 5] = [
        "-u".as_ref(),
        user.name.as_ref(),
        "--".as_ref(),
        opener.path().as_os_str(),
        path.as_os_str(),
    ];
    let runtime_dir = format!("/run/user/{}", user.uid);
    let env = [("HOME", user.home.as_str()), ("XDG_RUNTIME_DIR", runtime_dir.as_str())];
    start(&as_user, &args, &env, &path)
}

fn start(tool: &TrustedProgram, args: &[&OsStr], env: &[(&str, &str)], path: &Path) -> Result<()> {
    match cmd::start(tool, args, env, EARLY) {
        Ok(()) => Ok(()),
        Err(error) => bail!(
            "--open: {error}; open {} in a browser, or write it to a place that its user may read \
             with -o FILE",
            path.display()
        ),
    }
}

/// Who called sudo.
struct Caller {
    name: String,
    uid: u32,
    home: String,
}

/// `None` where nobody did, or root itself.
fn caller() -> Option<Caller> {
    let name = std::env::var("SUDO_USER").ok()?;
    let getent = find("getent")?;
    let line = cmd::run(&getent, &["passwd", &name], LOOKUP_TIMEOUT).ok()?.stdout;
    parse_passwd(line.trim()).filter(|caller| caller.uid != 0)
}

/// A line of passwd(5).
fn parse_passwd(line: &str) -> Option<Caller> {
    let fields: Vec<&str> = line.split(':').collect();
    let [name, _, uid, _, _, home, ..] = fields.as_slice() else { return None };
    Some(Caller { name: (*name).to_owned(), uid: uid.parse().ok()?, home: (*home).to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_passwd() {
        let ann = parse_passwd("ann:x:1000:1000:Ann,,,:/srv/ann:/bin/bash").unwrap();
        assert_eq!((ann.name.as_str(), ann.uid, ann.home.as_str()), ("ann", 1000, "/srv/ann"));
        assert!(parse_passwd("").is_none() && parse_passwd("ann:x:zero:1::/:/bin/sh").is_none());
    }
}
