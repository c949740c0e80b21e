//! What keys mean, by the bytes that a terminal in raw mode sends for them.

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

#[cfg(test)]
mod tests {
    use super::*;

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
