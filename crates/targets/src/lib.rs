//! fsarena targets.
