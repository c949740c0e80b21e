//! Lines and strings of a TOML file.

use std::fmt::Write as _;

pub(super) fn line(out: &mut String, key: &str, value: &str) {
    // Writing to a String does not fail.
    let _ = writeln!(out, "{key} = {value}");
}

/// A basic string of TOML.
pub(super) fn quoted(text: &str) -> String {
    ::toml::Value::String(text.to_owned()).to_string()
}

/// Text of several lines: as it is where TOML allows that, else as a basic string.
pub(super) fn text_block(text: &str) -> String {
    let odd = |c: char| c.is_control() && c != '\n' && c != '\t';
    if text.contains("'''") || text.ends_with('\'') || text.contains(odd) {
        return quoted(text);
    }
    format!("'''\n{text}'''")
}
