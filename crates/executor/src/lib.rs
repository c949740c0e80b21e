//! fsarena executor.
