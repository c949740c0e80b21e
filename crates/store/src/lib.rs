//! fsarena store.
