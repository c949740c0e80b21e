//! Puts our changes into a source: patches by `patch`, then new files.

use super::digest;
use super::embedded::{Embedded, OVERLAY, PATCHES_6_1, PATCHES_6_12};
use super::source::Series;
use fsarena_process::cmd;
use fsarena_process::guarded::Guarded;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Far more than any patch takes.
const LIMIT: Duration = Duration::from_secs(60);

/// A source that our changes do not fit.
#[derive(Debug, thiserror::Error)]
pub enum PatchError {
    #[error("{tree}: {patch} does not fit this source: {what}")]
    DoesNotFit { tree: PathBuf, patch: String, what: String },
    #[error("patch(1) is not installed")]
    NoPatch,
    #[error("{path}: {error}")]
    File { path: PathBuf, error: io::Error },
}

fn patches(series: Series) -> &'static [Embedded] {
    match series {
        Series::Since6_1 => PATCHES_6_1,
        Series::Since6_11 => PATCHES_6_12,
    }
}

/// Hash of what is put into a source; of all that there is, where the series is not known yet.
pub fn digest_of(series: Option<Series>) -> String {
    let patches = match series {
        Some(series) => patches(series).to_vec(),
        None => [PATCHES_6_1, PATCHES_6_12].concat(),
    };
    let all = patches.iter().chain(OVERLAY);
    digest::of_parts(all.flat_map(|one| [one.name.as_bytes(), one.text.as_bytes()]))
}

/// Puts everything into `tree`; errors name it as `shown`.
///
/// # Errors
/// Where a patch does not fit. The tree is of no use then.
pub fn apply(tree: &Path, shown: &Path, series: Series) -> Result<(), PatchError> {
    apply_all(tree, shown, patches(series))?;
    for file in OVERLAY {
        let path = tree.join(file.name);
        let made = fs::create_dir_all(path.parent().unwrap_or(tree));
        let done = made.and_then(|()| fs::write(&path, file.text));
        done.map_err(|error| PatchError::File { path, error })?;
    }
    Ok(())
}

/// Whether the patches fit `tree`, tried on a copy of the files that they change, which is made as
/// `copy`.
///
/// # Errors
/// As [`apply`].
pub fn try_on(tree: &Path, series: Series, copy: &Path) -> Result<(), PatchError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| PatchError::File { path, error }
    };
    fs::create_dir(copy).map_err(failed(copy))?;
    for file in patches(series).iter().flat_map(|patch| changed(patch.text)) {
        let (from, to) = (tree.join(file), copy.join(file));
        fs::create_dir_all(to.parent().unwrap_or(&to)).map_err(failed(&to))?;
        // What is not there is the patch's to complain about.
        if from.is_file() {
            fs::copy(&from, &to).map_err(failed(&from))?;
        }
    }
    apply_all(copy, tree, patches(series))
}

fn apply_all(tree: &Path, shown: &Path, patches: &[Embedded]) -> Result<(), PatchError> {
    let tool = cmd::find("patch").ok_or(PatchError::NoPatch)?;
    for patch in patches {
        // Where it goes with the tree, whatever ends this process.
        let file = tempfile::NamedTempFile::new_in(tree).and_then(|file| {
            fs::write(file.path(), patch.text)?;
            Ok(file)
        });
        let file = file.map_err(|error| PatchError::File { path: tree.to_owned(), error })?;
        let args: Vec<OsString> =
            ["-p1", "-F0", "--batch", "--forward", "-r", "-", "-i"].map(OsString::from).into();
        let args = [args, vec![file.path().into()]].concat();
        let env = [("LC_ALL", "C".into())];
        let call = Guarded {
            tool: &tool,
            args: &args,
            env: &env,
            dir: tree,
            log: None,
            fixed_addresses: false,
        };
        let ran = call.run(Some(LIMIT), None);
        let ran = ran.map_err(|error| PatchError::File { path: tool.path().to_owned(), error })?;
        if ran.succeeded() {
            continue;
        }
        let what = rejected(&format!("{}{}", ran.stdout, ran.stderr));
        let patch = patch.name.to_owned();
        return Err(PatchError::DoesNotFit { tree: shown.to_owned(), patch, what });
    }
    Ok(())
}

/// Files that a patch changes.
fn changed(patch: &str) -> impl Iterator<Item = &str> {
    let name = |line: &'_ str| -> Option<usize> { line.find("b/").map(|at| at + 2) };
    patch.lines().filter(|line| line.starts_with("+++ ")).filter_map(move |line| {
        let rest = &line[name(line)?..];
        rest.split_whitespace().next()
    })
}

/// The first refusal in what `patch` said, in a few words.
pub(crate) fn rejected(output: &str) -> String {
    let mut file = "";
    for line in output.lines() {
        if let Some(name) = line.strip_prefix("patching file ") {
            file = name;
        }
        if let Some(rest) = line.strip_prefix("Hunk #")
            && let Some((number, at)) = rest.split_once(" FAILED at ")
        {
            let at = at.split('.').next().unwrap_or(at);
            return format!("{file}: hunk {number} fails at line {at}");
        }
        if line.contains("previously applied") {
            return format!("{file}: it is in this source already");
        }
        if let Some(name) = line.strip_prefix("|+++ b/") {
            file = name.split_whitespace().next().unwrap_or(name);
        }
        if line.starts_with("No file to patch") {
            return format!("{file} is not there");
        }
    }
    output.lines().last().unwrap_or("patch(1) gave no reason").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: Embedded = Embedded {
        name: "0001-two-files.patch",
        text: "--- a/one.c\n+++ b/one.c\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n\
               --- a/sub/two.c\n+++ b/sub/two.c\n@@ -1,3 +1,4 @@\n 1\n 2\n+more\n 3\n",
    };

    fn tree(one: &str, two: Option<&str>) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("sub")).unwrap();
        fs::write(dir.path().join("one.c"), one).unwrap();
        if let Some(two) = two {
            fs::write(dir.path().join("sub/two.c"), two).unwrap();
        }
        dir
    }

    fn refused(dir: &tempfile::TempDir) -> String {
        let error = apply_all(dir.path(), Path::new("SOURCE"), &[PATCH]).unwrap_err();
        error.to_string()
    }

    #[test]
    fn a_patch_that_fits_is_applied() {
        let dir = tree("a\nb\nc\n", Some("1\n2\n3\n"));
        apply_all(dir.path(), dir.path(), &[PATCH]).unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("one.c")).unwrap(), "a\nB\nc\n");
        assert_eq!(fs::read_to_string(dir.path().join("sub/two.c")).unwrap(), "1\n2\nmore\n3\n");
        assert!(refused(&dir).contains("already"), "{}", refused(&dir));
    }

    #[test]
    fn a_hunk_that_does_not_fit_is_named() {
        let text = refused(&tree("a\nb\nc\n", Some("x\ny\nz\n")));
        let expected = "SOURCE: 0001-two-files.patch does not fit this source: sub/two.c: hunk 1 \
                        fails at line 1";
        assert_eq!(text, expected);
        let text = refused(&tree("a\nb\nc\n", None));
        assert!(text.ends_with("does not fit this source: sub/two.c is not there"), "{text}");
    }

    #[test]
    fn files_that_patches_change_are_found() {
        assert_eq!(changed(PATCH.text).collect::<Vec<_>>(), ["one.c", "sub/two.c"]);
        for series in [Series::Since6_1, Series::Since6_11] {
            for patch in patches(series) {
                assert!(changed(patch.text).next().is_some(), "{}", patch.name);
            }
        }
        assert_ne!(digest_of(Some(Series::Since6_1)), digest_of(Some(Series::Since6_11)));
    }

    /// Trying writes nothing into the tree, and names the tree and not the copy.
    #[test]
    fn a_tree_of_the_users_is_only_read() {
        let (dir, other) = (tree("a\n", None), tempfile::tempdir().unwrap());
        let copy = other.path().join("tried");
        let error = try_on(dir.path(), Series::Since6_1, &copy).unwrap_err().to_string();
        assert!(error.starts_with(&dir.path().display().to_string()), "{error}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
