//! The applications that are built in: the files of `applications/`.

use super::description::Application;

/// The files of `applications/`, by name.
const FILES: &[(&str, &str)] = &[
    ("sqlite-wal", include_str!("../../../../applications/sqlite-wal.toml")),
    ("sqlite-delete", include_str!("../../../../applications/sqlite-delete.toml")),
    ("sqlite-extra", include_str!("../../../../applications/sqlite-extra.toml")),
    ("sqlite-off", include_str!("../../../../applications/sqlite-off.toml")),
    ("git", include_str!("../../../../applications/git.toml")),
    ("git-fsync-all", include_str!("../../../../applications/git-fsync-all.toml")),
    ("maildir", include_str!("../../../../applications/maildir.toml")),
    ("postgresql", include_str!("../../../../applications/postgresql.toml")),
];

/// The names of the applications that are built in.
#[must_use]
pub fn application_names() -> Vec<&'static str> {
    FILES.iter().map(|(name, _)| *name).collect()
}

/// An application that is built in.
///
/// # Panics
/// Never: a test reads the files.
#[must_use]
pub fn application(name: &str) -> Option<Application> {
    let (_, text) = FILES.iter().find(|(known, _)| *known == name)?;
    let file = format!("applications/{name}.toml");
    Some(Application::parse(text, &file).expect("a test reads every built-in application"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_read_and_named_as_it_is() {
        for name in application_names() {
            assert_eq!(application(name).unwrap().name, name);
        }
        assert_eq!(application("none"), None);
    }
}
