//! The terminal while the watch has it: raw, on its alternate screen, and given back however the
//! watch ends.
//!
//! The sequences are those that xterm and all its kind know (xterm control sequences, "DEC Private
//! Mode Set").

use crate::line::Size;
use crate::state::State;
use crate::target::WatchError;
use crate::view::{Theme, lines};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use rustix::time::Timespec;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, IsTerminal as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::panic;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What the user asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Key {
    /// End the watch.
    Quit,
    /// Hold the picture, or let it go on; the recording goes on meanwhile.
    Pause,
    /// Say what the keys and figures mean.
    Help,
    /// Anything else: takes the help away.
    Other,
}

/// Alternate screen, no cursor, and no line goes on in the next.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
/// All of that set back.
const LEAVE: &str = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

/// Ctrl-C, which is a byte and no signal in raw mode.
const INTERRUPT: u8 = 3;
/// What the sequences of arrows and function keys begin with.
const ESCAPE: u8 = 27;

/// The meaning of what was typed since the last look; of several keys an end, else the first.
#[must_use]
pub fn key(typed: &[u8]) -> Key {
    match typed {
        [ESCAPE, ..] | [] => Key::Other,
        all if all.iter().any(|byte| matches!(*byte, b'q' | b'Q' | INTERRUPT)) => Key::Quit,
        [b'p' | b'P' | b' ', ..] => Key::Pause,
        [b'?' | b'h', ..] => Key::Help,
        _ => Key::Other,
    }
}

/// Why a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Woken {
    /// The time was up, or a signal came.
    Time,
    Key(Key),
    /// The terminal has another size.
    Resized,
}

/// The terminal. Dropping it gives it back; a panic does so before its message is printed.
pub struct Screen {
    keys: OwnedFd,
    /// The settings that the terminal had; nothing once it has them again.
    before: Arc<Mutex<Option<Termios>>>,
    size: Size,
    /// What stands in each of its lines.
    shown: Vec<String>,
    theme: Theme,
}

impl Screen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// When there is none, or it cannot be set.
    pub fn open(theme: Theme) -> Result<Self, WatchError> {
        let opened = || -> io::Result<Self> {
            let keys = keyboard()?;
            let settings = tcgetattr(&keys)?;
            let size = size()?;
            let mut raw = settings.clone();
            raw.make_raw();
            tcsetattr(&keys, OptionalActions::Now, &raw)?;
            let before = Arc::new(Mutex::new(Some(settings)));
            let screen = Self { keys, before, size, shown: Vec::new(), theme };
            screen.give_back_on_panic()?;
            write(ENTER)?;
            Ok(screen)
        };
        opened().map_err(WatchError::Terminal)
    }

    fn give_back_on_panic(&self) -> io::Result<()> {
        let (keys, before) = (self.keys.try_clone()?, Arc::clone(&self.before));
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            give_back(&keys, &before);
            print(info);
        }));
        Ok(())
    }

    /// Draws what has changed.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn draw(&mut self, state: &State) -> Result<(), WatchError> {
        let drawn = self.changes(state).and_then(|changes| write(&changes));
        drawn.map_err(WatchError::Terminal)
    }

    /// The escape sequences that turn the lines on the screen into the present picture.
    fn changes(&mut self, state: &State) -> io::Result<String> {
        let size = size()?;
        let mut out = String::new();
        if size != self.size {
            self.size = size;
            self.shown.clear();
            out.push_str("\x1b[2J");
        }
        let lines = lines(state, size, self.theme);
        let mut lines: Vec<String> = lines.iter().map(|line| line.with_sequences()).collect();
        lines.resize(size.height, String::new());
        for (at, line) in lines.iter().enumerate() {
            if self.shown.get(at) != Some(line) {
                // To its first column; what it had is erased.
                let _ = write!(out, "\x1b[{};1H{line}\x1b[K", at + 1);
            }
        }
        self.shown = lines;
        Ok(out)
    }

    /// Waits for a key or another size, at most so long.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn wait(&self, most: Duration) -> Result<Woken, WatchError> {
        let gone = |error: io::Error| WatchError::Terminal(error);
        let time = Timespec {
            tv_sec: i64::try_from(most.as_secs()).unwrap_or(1),
            tv_nsec: most.subsec_nanos().into(),
        };
        let mut keyboard = [PollFd::new(&self.keys, PollFlags::IN)];
        match poll(&mut keyboard, Some(&time)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return self.typed().map(Woken::Key).map_err(gone),
            Err(error) => return Err(gone(error.into())),
        }
        let size = size().map_err(gone)?;
        Ok(if size == self.size { Woken::Time } else { Woken::Resized })
    }

    fn typed(&self) -> io::Result<Key> {
        let mut bytes = [0; 64];
        match rustix::io::read(&self.keys, &mut bytes)? {
            // The end of a terminal: it has hung up.
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            length => Ok(key(&bytes[..length])),
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back(&self.keys, &self.before);
    }
}

/// Once; a terminal that is gone needs nothing.
fn give_back(keys: &OwnedFd, before: &Mutex<Option<Termios>>) {
    if let Some(settings) = before.lock().unwrap_or_else(PoisonError::into_inner).take() {
        let _ = write(LEAVE);
        let _ = tcsetattr(keys, OptionalActions::Now, &settings);
    }
}

fn size() -> io::Result<Size> {
    let size = tcgetwinsize(io::stdout())?;
    Ok(Size { width: size.ws_col.into(), height: size.ws_row.into() })
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Where keys come from: standard input, or the terminal itself where that is something else.
fn keyboard() -> io::Result<OwnedFd> {
    let input = io::stdin();
    if input.is_terminal() {
        return input.as_fd().try_clone_to_owned();
    }
    Ok(File::open("/dev/tty")?.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    /// Set in the process that panics.
    const PANICS: &str = "FSARENA_TEST_SCREEN_PANICS";
    const NAME: &str = "screen::tests::a_panic_gives_the_terminal_back_before_its_message";

    fn panics() {
        let target = serde_json::json!({ "asked": "/x", "name": "sda", "path": "/dev/sda",
            "kind": "disk", "size_bytes": 1, "diskseq": null, "fstype": null, "mounted_at": null,
            "mount_options": null, "below": [], "notices": [] });
        let target = serde_json::from_value(target).unwrap();
        let mut screen = Screen::open(Theme { colour: false, blocks: false }).unwrap();
        screen.draw(&State::new(target, 1, None, "RUN 1".to_owned())).unwrap();
        panic!("the picture is up");
    }

    #[test]
    fn a_panic_gives_the_terminal_back_before_its_message() {
        if std::env::var_os(PANICS).is_some() {
            panics();
        }
        let program = std::env::current_exe().unwrap();
        let line = format!(
            "stty rows 24 cols 80; '{}' --exact {NAME} --nocapture; stty -a",
            program.display()
        );
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).env(PANICS, "1").env("TERM", "xterm");
        let ran = match command.stdin(Stdio::null()).output() {
            Ok(ran) => ran,
            Err(error) => return println!("not run: script(1): {error}"),
        };
        let text = String::from_utf8_lossy(&ran.stdout);
        let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words}: {text:?}"));
        let (enter, leave) = (at("\u{1b}[?1049h"), at("\u{1b}[?1049l"));
        assert!(enter < at("/dev/sda") && at("/dev/sda") < leave, "{text:?}");
        assert!(leave < at("the picture is up"), "{text:?}");
        let settings = &text[at("test result: FAILED")..];
        assert!(settings.contains(" icanon") && settings.contains(" echo "), "{text:?}");
    }

    #[test]
    fn keys_mean_what_the_help_says() {
        assert_eq!(key(b"q"), Key::Quit);
        assert_eq!(key(b"\x03"), Key::Quit);
        assert_eq!(key(b"pq"), Key::Quit, "an end is never lost");
        assert_eq!(key(b"p"), Key::Pause);
        assert_eq!(key(b" "), Key::Pause);
        assert_eq!(key(b"?"), Key::Help);
        assert_eq!(key(b"c"), Key::Other);
        assert_eq!(key(b"\x1bOQ"), Key::Other, "a function key");
        assert_eq!(key(b"\0"), Key::Other);
    }
}
