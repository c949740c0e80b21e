//! fsarena runner.
