//! fsarena testkit.
