//! fsarena report.
