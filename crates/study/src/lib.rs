//! fsarena study.
