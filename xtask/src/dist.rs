//! `cargo xtask dist`: what is handed to people who have no toolchain, in `target/dist`.
//!
//! A static program, its manual pages and completions (made by the program itself), and a Debian
//! package of them by cargo-deb. Then the package is installed into an empty root directory,
//! without a C library or a shell, and the program has to work there. Nothing but `target` changes.

use anyhow::{Context as _, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A C library of Debian that can be linked in; musl would need a second C compiler.
const TARGET: &str = "x86_64-unknown-linux-gnu";
const STATIC: &str = "-C target-feature=+crt-static";
const SHELLS: [(&str, &str); 3] =
    [("bash", "fsarena.bash"), ("zsh", "_fsarena"), ("fish", "fsarena.fish")];

/// Builds and checks everything; `false` where a part could not be checked.
pub fn run() -> Result<bool> {
    ensure!(cfg!(target_arch = "x86_64"), "`dist` is written for x86_64");
    let root = crate::tidy::root();
    let dist = root.join("target/dist");
    if dist.exists() {
        fs::remove_dir_all(&dist).with_context(|| format!("{}", dist.display()))?;
    }
    fs::create_dir_all(dist.join("completions"))?;
    let program = build(&root, &dist)?;
    is_static(&program)?;
    describe(&program, &dist)?;
    let package = package(&root, &dist)?;
    println!("{}: {} bytes", package.display(), fs::metadata(&package)?.len());
    check(&package)
}

fn build(root: &Path, dist: &Path) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).env("RUSTFLAGS", STATIC);
    command.args(["build", "--profile", "dist", "--package", "fsarena-cli", "--target", TARGET]);
    finish(&mut command)?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let built = target.join(TARGET).join("dist/fsarena");
    let program = dist.join("fsarena");
    fs::copy(&built, &program).with_context(|| format!("{}", built.display()))?;
    finish(Command::new("strip").arg("--strip-debug").arg(&program))?;
    Ok(program)
}

/// A static program names no interpreter, which the kernel would look for in vain.
fn is_static(program: &Path) -> Result<()> {
    let said = output(Command::new("readelf").arg("--program-headers").arg(program))?;
    ensure!(!said.contains("INTERP"), "{} is not static:\n{said}", program.display());
    Ok(())
}

fn describe(program: &Path, dist: &Path) -> Result<()> {
    for (shell, name) in SHELLS {
        let script = output(Command::new(program).args(["completions", shell]))?;
        fs::write(dist.join("completions").join(name), script)?;
    }
    finish(Command::new(program).arg("man").arg("--dir").arg(dist.join("man1")))
}

fn package(root: &Path, dist: &Path) -> Result<PathBuf> {
    let mut command = Command::new(cargo_deb(root)?);
    command.current_dir(root).args(["--package", "fsarena-cli", "--no-build", "--no-strip"]);
    // The version of the file is that of the workspace, without a revision of a distribution.
    command.args(["--deb-revision", "", "--output"]).arg(dist);
    finish(&mut command)?;
    let files = fs::read_dir(dist)?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut packages = files.filter(|path| path.extension().is_some_and(|end| end == "deb"));
    packages.next().context("cargo-deb has made no package")
}

/// One on the PATH, or one of our own in `target/tools`, which is built where it is missing.
fn cargo_deb(root: &Path) -> Result<PathBuf> {
    if let Some(found) = fsarena_process::cmd::find("cargo-deb") {
        return Ok(found.path().to_owned());
    }
    let tools = root.join("target/tools");
    let own = tools.join("bin/cargo-deb");
    if !own.is_file() {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(["install", "--locked", "--quiet", "cargo-deb", "--version", "^3", "--root"]);
        command.arg(&tools).env("CARGO_TARGET_DIR", tools.join("build"));
        finish(&mut command)?;
    }
    Ok(own)
}

/// Installs the package into an empty directory and uses it there.
fn check(package: &Path) -> Result<bool> {
    if !rustix::process::geteuid().is_root() {
        println!("not run: the check of the package needs root (dpkg --root, chroot)");
        return Ok(false);
    }
    let dir = tempfile::Builder::new().prefix("fsarena-dist-").tempdir_in("/var/tmp")?;
    let root = dir.path();
    for name in ["var/lib/dpkg/info", "var/lib/dpkg/updates", "proc", "work", "root", "tmp", "dev"]
    {
        fs::create_dir_all(root.join(name))?;
    }
    fs::write(root.join("var/lib/dpkg/status"), "")?;
    let mut install = Command::new("dpkg");
    finish(install.arg("--root").arg(root).arg("--install").arg(package))?;
    for name in ["usr/bin/fsarena", "usr/share/man/man1/fsarena-run.1.gz"] {
        ensure!(root.join(name).is_file(), "the package has no {name}");
    }
    let inside = |words: &[&str]| inside(root, words);
    ensure!(inside(&["--version"])?.starts_with("fsarena "), "no version");
    ensure!(inside(&["experiments"])?.contains("What each costs here"), "no experiments");
    ensure!(inside(&["doc", "guide"])?.starts_with("# Guide"), "no documentation");
    inside(&["doctor"])?;
    let work = ["--on", "/work", "--workload", "tiny-files", "--scale", "0.01", "--runs", "1"];
    let shown = inside(&[&["run"], &work[..]].concat())?;
    ensure!(shown.contains("tiny-files / create"), "a RUN in a directory printed:\n{shown}");
    ensure!(inside(&["list"])?.contains("done"), "the RUN is not in the list");
    println!("installed and used in an empty root directory: {}", package.display());
    Ok(true)
}

/// What the program says in that root. The mounts are in a namespace that ends with it; the root is
/// one of them, as in a container: executors make the mounts of their root private.
fn inside(root: &Path, words: &[&str]) -> Result<String> {
    let script = "mount --bind \"$1\" \"$1\" && mount -t proc proc \"$1/proc\" && root=$1 && shift \
                  && exec chroot \"$root\" /usr/bin/fsarena \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "--fork", "--pid", "--", "sh", "-c", script, "sh"]).arg(root);
    command.args(words).env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    output(command.env("HOME", "/root")).with_context(|| format!("fsarena {}", words.join(" ")))
}

fn finish(command: &mut Command) -> Result<()> {
    let status = command.stdin(Stdio::null()).status();
    let status = status.with_context(|| format!("{:?}", command.get_program()))?;
    ensure!(status.success(), "{:?} ended with {status}", command.get_program());
    Ok(())
}

fn output(command: &mut Command) -> Result<String> {
    let done = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let done = done.with_context(|| format!("{:?}", command.get_program()))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stdout);
        bail!("{:?} ended with {}\n{said}", command.get_program(), done.status);
    }
    Ok(String::from_utf8(done.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the package is made of is there, or is made by this task.
    #[test]
    fn the_assets_of_the_package_exist() {
        let path = crate::tidy::root().join("crates/cli/Cargo.toml");
        let manifest: toml::Table = fs::read_to_string(&path).unwrap().parse().unwrap();
        let deb = &manifest["package"]["metadata"]["deb"];
        let assets = deb["assets"].as_array().unwrap();
        assert!(assets.len() >= 8);
        let made: Vec<String> = SHELLS
            .iter()
            .map(|(_, name)| format!("completions/{name}"))
            .chain(["fsarena", "man1/*.1"].map(str::to_owned))
            .collect();
        for asset in assets {
            let source = asset[0].as_str().unwrap();
            if let Some(name) = source.strip_prefix("../../target/dist/") {
                assert!(made.iter().any(|known| known == name), "{source} is made by nobody");
                continue;
            }
            let place = path.parent().unwrap().join(source);
            let (folder, name) = (place.parent().unwrap(), place.file_name().unwrap());
            let ending = name.to_str().unwrap().trim_start_matches('*').to_owned();
            let mut files =
                fs::read_dir(folder).unwrap_or_else(|error| panic!("{source}: {error}"));
            let there = |file: fs::DirEntry| file.file_name().to_string_lossy().ends_with(&ending);
            assert!(files.any(|file| there(file.unwrap())), "{source} is not there");
        }
        let program = assets.iter().find(|asset| asset[1].as_str() == Some("usr/bin/")).unwrap();
        assert_eq!(program[2].as_str(), Some("755"));
    }

    #[test]
    fn a_dynamic_program_is_refused() {
        let error = is_static(&std::env::current_exe().unwrap()).unwrap_err();
        assert!(error.to_string().contains("is not static"), "{error}");
    }
}
