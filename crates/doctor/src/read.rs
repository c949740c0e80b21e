//! Small files of the kernel, each with the reason where there is no value.

use fsarena_process::cmd;
use std::fs;
use std::path::Path;

/// The value without the white space around it, or why there is none.
pub(crate) fn text(path: &Path) -> Result<String, String> {
    match fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).trim().to_owned()),
        Err(error) => Err(format!("{}: {}", path.display(), plain(&error))),
    }
}

/// What went wrong, without the number of the error.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    text[..end].to_lowercase()
}

/// A whole number.
pub(crate) fn number(path: &Path) -> Result<u64, String> {
    parsed(path, "a whole number", |text| text.parse().ok())
}

/// `0` or `1`.
pub(crate) fn flag(path: &Path) -> Result<bool, String> {
    parsed(path, "0 or 1", |text| match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    })
}

/// A value read by `parse`, which gives `None` for what it does not understand.
pub(crate) fn parsed<T>(
    path: &Path,
    expected: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, String> {
    let text = text(path)?;
    parse(&text).ok_or_else(|| {
        let found: String = text.chars().take(40).collect();
        format!("{}: found {found:?}, expected {expected}", path.display())
    })
}

/// Names in a directory, sorted.
pub(crate) fn names(dir: &Path) -> Result<Vec<String>, String> {
    let entries =
        fs::read_dir(dir).map_err(|error| format!("{}: {}", dir.display(), plain(&error)))?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// `echo VALUE > FILE` for a shell, as root.
pub(crate) fn echo(value: &str, path: &Path) -> String {
    format!("echo {value} | sudo tee {}", cmd::quoted(&path.to_string_lossy()))
}

/// `12 %`, `0.4 %`.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value >= 9.95 { format!("{value:.0} %") } else { format!("{value:.1} %") }
}
