//! What can go wrong between a test and its browser.

use std::io;

/// Why the browser did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not installed.
    #[error("chromium is not installed; install it (`apt-get install chromium` on Debian)")]
    NotInstalled,
    /// It could not be started.
    #[error("chromium cannot be started: {0}")]
    Start(#[source] io::Error),
    /// It has ended, or has closed its side of the pipe.
    #[error("chromium has ended before `{asked}` was answered; its last words:\n{last_words}")]
    Ended {
        /// The method that was called.
        asked: String,
        /// The end of what it wrote on stderr.
        last_words: String,
    },
    /// It did not answer in time.
    #[error("chromium did not answer `{asked}` within {seconds} s")]
    Silent {
        /// The method that was called, or the event that was waited for.
        asked: String,
        /// How long was waited, s.
        seconds: u64,
    },
    /// It refused.
    #[error("chromium refused `{asked}`: {why}")]
    Refused {
        /// The method that was called.
        asked: String,
        /// Its own words.
        why: String,
    },
    /// A script of the test threw.
    #[error("the script of the test failed in the page: {0}")]
    Script(String),
    /// An answer is not as the protocol has it.
    #[error("the answer to `{asked}` has no `{lacks}`")]
    Answer {
        /// The method that was called.
        asked: String,
        /// What is not there.
        lacks: String,
    },
}
