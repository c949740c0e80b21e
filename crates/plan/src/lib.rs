//! fsarena plan.
