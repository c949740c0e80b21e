//! fsarena cli.
