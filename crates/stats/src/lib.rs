//! fsarena stats.
