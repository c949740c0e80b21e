//! fsarena engine.
