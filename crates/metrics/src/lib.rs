//! fsarena metrics.
