//! Names of files in a job file: all of them stay below the root of the trial.
//!
//! fio runs with the root as its working directory, so that a relative name is enough and no path
//! of the machine enters a job. `directory=` becomes a part of the names (fio refuses a directory
//! that does not exist yet, but makes those that stand in a name).

use crate::fio::syntax::{Fault, Setting};

/// fio's own names for files that have none.
pub(crate) const DEFAULT_FORMAT: &str = "$jobname.$jobnum.$filenum";

/// Checks `filename`, `directory` and `filename_format`.
pub(crate) fn check(setting: &Setting) -> Result<(), Fault> {
    let value = setting.value();
    match setting.key.as_str() {
        "filename" => value.split(':').try_for_each(|name| relative(setting, name)),
        "directory" if value.contains(':') => {
            let what = format!("directory={value} names several directories");
            let remedy = "name one; numjobs=N with filename_format=d$jobnum/f spreads the work";
            Err(Fault::new(setting.line, what, remedy))
        }
        "directory" => relative(setting, value),
        "filename_format" => {
            let plain = ["$jobname", "$jobnum", "$filenum"]
                .iter()
                .fold(value.to_owned(), |format, word| format.replace(word, "x"));
            if plain.contains('$') {
                let what = format!("filename_format={value} has a word that fsarena cannot follow");
                let remedy = "use $jobname, $jobnum and $filenum only";
                return Err(Fault::new(setting.line, what, remedy));
            }
            relative(setting, &plain)
        }
        _ => Ok(()),
    }
}

/// Whether `name` leads to a place below the root.
fn relative(setting: &Setting, name: &str) -> Result<(), Fault> {
    let Setting { key, line, .. } = setting;
    let fault = |why: &str, remedy: &str| {
        Err(Fault::new(*line, format!("{key}={} {why}", setting.value()), remedy))
    };
    if setting.value.is_none() || name.is_empty() {
        return fault("names no file", "give a name such as data.0");
    }
    if name.starts_with('/') {
        let remedy = match key.as_str() {
            "directory" => "remove the line: the work is done in the file system under test",
            _ => "write a name relative to the file system under test, such as data.0",
        };
        return fault("names a device or path outside the trial", remedy);
    }
    if name.contains(['\\', '`', '$', '\'', '"']) {
        return fault("has a character that fio or a shell may read otherwise", "use plain names");
    }
    if name == "-" {
        return fault("is standard input or output", "give a name such as data.0");
    }
    let steps: Vec<&str> = name.split('/').collect();
    // A directory gets a name behind it.
    let before_slash = if key == "directory" { &steps[..] } else { &steps[..steps.len() - 1] };
    if before_slash.iter().any(|step| step.ends_with([':', ',', '=', ' '])) {
        let why = "has a part that ends in a character behind which fio may see another path";
        return fault(why, "use plain names");
    }
    if steps.contains(&"..") {
        return fault("leaves the file system under test", "write a name without ..");
    }
    let dots = steps.iter().any(|step| step.is_empty() || *step == ".");
    if dots && !(key == "directory" && name == ".") {
        return fault("has an empty part or a dot in its path", "write it plainly: a/b/file");
    }
    Ok(())
}

/// `name` below `directory`.
pub(crate) fn below(directory: Option<&str>, name: &str) -> String {
    match directory.filter(|directory| *directory != ".") {
        Some(directory) => format!("{directory}/{name}"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(key: &str, value: &str) -> bool {
        let value = Some(value.to_owned());
        check(&Setting { key: key.to_owned(), value, line: 1 }).is_ok()
    }

    #[test]
    fn only_names_below_the_root_pass() {
        for name in ["a", "a/b", "a:b/c", "dev/sda", "a..b", "..."] {
            assert!(passes("filename", name), "{name}");
        }
        for name in [
            "",
            "/dev/sda",
            "a:/dev/sda",
            "/tmp/x",
            "../x",
            "a/../../x",
            "a/..",
            "-",
            "a:-",
            "a:",
            ":a",
            "a//b",
            "./a",
            "a/.",
        ] {
            assert!(!passes("filename", name), "{name}");
        }
        assert!(passes("directory", "a/b") && passes("directory", "."));
        assert!(!passes("directory", "a:b") && !passes("directory", "/mnt"));
        // The name of a file comes behind it.
        assert!(!passes("directory", "a=") && !passes("filename", "a=/b"));
        assert!(passes("directory", "a=b") && passes("filename", "b="));
        assert!(passes("filename_format", "d/$jobname.$jobnum.$filenum"));
        assert!(!passes("filename_format", "/$jobname") && !passes("filename_format", "$home/x"));
        assert!(!passes("filename_format", "../$jobnum"));
    }

    #[test]
    fn directories_become_part_of_names() {
        assert_eq!(below(Some("d"), "x"), "d/x");
        assert_eq!(below(Some("."), "x"), "x");
        assert_eq!(below(None, "x"), "x");
    }
}
