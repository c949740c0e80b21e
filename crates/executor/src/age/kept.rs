//! Images of aged devices: which state of which file system each is of, and what is noted of it.
//!
//! An image is called by a hash of what its contents follow from: the file system and how it was
//! made, kernel, device, and age. A description beside it (JSON) says this in words, with the
//! SHA-256 of the image and what the age was told by when it was made. Both are files of this
//! user's alone in a directory that is held: what lies at its path by then is not used.

use crate::error::StepError;
use crate::stop::Stop;
use fsarena_bounded::Bounded;
use fsarena_devices::{TargetError, kept_image};
use fsarena_filesystems::Backing;
use fsarena_model::age::{Age, AgeImage, AgeRecord};
use fsarena_model::contender::{Discard, FsLevel};
use fsarena_model::device::SsdPolicy;
use fsarena_model::record::Effective;
use fsarena_model::seed::hex;
use fsarena_model::spec::{TargetSpec, TrialSpec, Under};
use fsarena_process::held::HeldDir;
use rustix::fs::{AtFlags, FlockOperation, flock, statat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::Duration;

/// Of the description, and of how ages are made: another number is another image.
const SCHEMA: u32 = 1;
/// Longest description that is read.
const MAX_DESCRIPTION_BYTES: u64 = 1 << 20;
/// Between two looks whether another RUN is done with keeping an image.
const LOCK_PAUSE: Duration = Duration::from_millis(100);
/// Hex digits of the hash in a name.
const NAME_DIGITS: usize = 24;

/// What the contents of an aged device follow from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgedState {
    schema: u32,
    fs: FsLevel,
    /// Without the path of the device, of which the identifier is made where mkfs takes one: a
    /// device of another name has another state.
    mkfs_argv: Vec<String>,
    tool_version: Option<String>,
    features: BTreeMap<String, String>,
    /// Release and version of the kernel: one that was built again is another one.
    kernel: String,
    device_bytes: u64,
    /// Of the device, what decides how it is written.
    device_facts: BTreeMap<String, String>,
    age: Age,
}

impl AgedState {
    /// Of what a trial makes; nothing where it is not in the one device alone.
    fn of_trial(spec: &TrialSpec, made: &Effective, age: &Age) -> Option<Self> {
        let levels = &spec.contender.levels;
        let TargetSpec::Block { device, size_bytes, under, members, .. } = &spec.target else {
            return None;
        };
        let prepares = levels.discard != Discard::None || levels.ssd != SsdPolicy::None;
        let driver = fsarena_filesystems::driver(&levels.fs).ok()?;
        let is_inside = driver.backing() == Backing::Block && levels.fs.external.is_none();
        if prepares || !is_inside || matches!(under, Under::Guest { .. }) || !members.is_empty() {
            return None;
        }
        let path = device.to_string_lossy();
        let argv = made.mkfs_argv.iter().filter(|word| **word != path);
        let facts = ["logical_sector_bytes", "physical_sector_bytes", "rotational"];
        let fact = |name: &str| spec.device.get(name).cloned().unwrap_or_default();
        Some(Self {
            schema: SCHEMA,
            fs: levels.fs.clone(),
            mkfs_argv: argv.cloned().collect(),
            tool_version: made.tool_version.clone(),
            features: made.features.clone(),
            kernel: kernel(),
            device_bytes: *size_bytes,
            device_facts: facts.map(|name| (name.to_owned(), fact(name))).into(),
            age: age.clone(),
        })
    }
}

/// What lies beside an image.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    state: AgedState,
    sha256: String,
    record: AgeRecord,
}

/// The image of one aged state, there or not.
#[derive(Debug)]
pub(super) struct KeptAge {
    state: AgedState,
    dir: HeldDir,
    image: String,
    description: String,
}

impl KeptAge {
    /// Of the trial's file system, which was made just now; nothing where no images are kept, or
    /// the state is not in the one device alone: below a file system that discards there are holes,
    /// an SSD that was prepared would not be any more, and what a command makes is not known.
    pub(super) fn of_trial(
        spec: &TrialSpec,
        made: &Effective,
        age: &Age,
    ) -> Result<Option<Self>, StepError> {
        let Some(dir) = spec.age_image_dir.as_deref() else { return Ok(None) };
        let Some(state) = AgedState::of_trial(spec, made, age) else { return Ok(None) };
        let dir = kept_image::open_directory(dir).map_err(TargetError::from)?;
        Ok(Some(Self::new(state, dir)))
    }

    fn new(state: AgedState, dir: HeldDir) -> Self {
        let words = serde_json::to_vec(&state).expect("a state is plain data");
        let hash = hex(&Sha256::digest(words));
        let name = format!("{}-{}", state.fs.name, &hash[..NAME_DIGITS]);
        let [image, description] = ["img", "json"].map(|ending| format!("{name}.{ending}"));
        Self { state, dir, image, description }
    }

    /// Has nobody else keep an image in the directory as long as what is returned lives.
    pub(super) fn lock(&self, stop: &Stop) -> Result<File, StepError> {
        let path = self.dir.path().display();
        let failed = |error: io::Error| StepError::new(format!("lock {path}: {error}"));
        let lock = self.dir.reopened().map_err(failed)?;
        loop {
            match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(lock),
                Err(Errno::WOULDBLOCK) if stop.asked() => return Err(StepError::Stopped),
                Err(Errno::WOULDBLOCK) => std::thread::sleep(LOCK_PAUSE),
                Err(errno) => return Err(failed(errno.into())),
            }
        }
    }

    /// Puts the state onto the device, where it is kept; what was noted of it.
    pub(super) fn restore(
        &self,
        target: &TargetSpec,
        stop: &Stop,
    ) -> Result<Option<AgeRecord>, StepError> {
        let is_there = statat(&self.dir, &self.image, AtFlags::SYMLINK_NOFOLLOW).is_ok();
        let Some(description) = self.described()?.filter(|_| is_there) else {
            return Ok(None);
        };
        let (go_on, image) = (|| !stop.asked(), (&self.dir, self.image.as_str()));
        if !kept_image::restore(target, image, &description.sha256, &go_on)? {
            return Err(StepError::Stopped);
        }
        let image = AgeImage { sha256: description.sha256, restored: true };
        Ok(Some(AgeRecord { image: Some(image), ..description.record }))
    }

    /// Keeps the state of the device, of which this was noted.
    pub(super) fn keep(
        &self,
        target: &TargetSpec,
        record: &AgeRecord,
        stop: &Stop,
    ) -> Result<AgeImage, StepError> {
        let go_on = || !stop.asked();
        let kept = kept_image::keep(target, &self.dir, &self.image, &go_on)?;
        let sha256 = kept.ok_or(StepError::Stopped)?;
        let description = Description { state: self.state.clone(), sha256, record: record.clone() };
        self.describe(&description).map_err(|error| {
            StepError::new(format!("write {}: {error}", self.description_path().display()))
        })?;
        Ok(AgeImage { sha256: description.sha256, restored: false })
    }

    /// The description beside the image; none where there is none yet.
    fn described(&self) -> Result<Option<Description>, StepError> {
        let refused = |why: String| StepError::Failed {
            error: format!("{}: {why}", self.description_path().display()),
            remedy: Some("remove it: the age is then made anew, and kept".to_owned()),
        };
        let opened = self.dir.open_own_file(&self.description);
        let read = opened.and_then(|file| Bounded::new(file, MAX_DESCRIPTION_BYTES).whole());
        let text = match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(refused(error.to_string())),
            Ok(text) => text,
        };
        let description: Description = serde_json::from_slice(&text)
            .map_err(|error| refused(format!("it describes no kept image: {error}")))?;
        if description.state != self.state {
            return Err(refused("it describes another state than its name says".to_owned()));
        }
        Ok(Some(description))
    }

    /// Writes the description, which has no name until it is whole and on the disk.
    fn describe(&self, description: &Description) -> io::Result<()> {
        let mut file = self.dir.unnamed_file(0o600)?;
        serde_json::to_writer_pretty(&mut file, description)?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        self.dir.name_file(&file, &self.description)
    }

    fn description_path(&self) -> PathBuf {
        self.dir.path().join(&self.description)
    }
}

fn kernel() -> String {
    let own = rustix::system::uname();
    format!("{} {}", own.release().to_string_lossy(), own.version().to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn state() -> AgedState {
        AgedState {
            schema: SCHEMA,
            fs: FsLevel::plain("ext4"),
            mkfs_argv: vec!["mkfs.ext4".to_owned(), "-q".to_owned()],
            tool_version: Some("1.47".to_owned()),
            features: BTreeMap::from([("features".to_owned(), "extent".to_owned())]),
            kernel: "6.1".to_owned(),
            device_bytes: 1 << 30,
            device_facts: BTreeMap::from([("rotational".to_owned(), "0".to_owned())]),
            age: Age::filled(80),
        }
    }

    fn record() -> AgeRecord {
        fsarena_testkit::records::age_record(1)
    }

    fn kept_in(dir: &Path) -> KeptAge {
        KeptAge::new(state(), kept_image::open_directory(dir).unwrap())
    }

    fn whole() -> Description {
        Description { state: state(), sha256: "ab".repeat(32), record: record() }
    }

    #[test]
    fn a_description_is_read_back_and_one_of_another_state_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let kept = kept_in(dir.path());
        assert_eq!(kept.described().unwrap().map(|one| one.sha256), None);
        kept.describe(&whole()).unwrap();
        assert_eq!(kept.described().unwrap(), Some(whole()));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing beside it");

        let other = AgedState { kernel: "6.2".to_owned(), ..state() };
        kept.describe(&Description { state: other, ..whole() }).unwrap();
        let refused = |words: &str| {
            let Err(StepError::Failed { error, remedy }) = kept.described() else {
                panic!("it was taken")
            };
            assert!(error.contains(words) && error.contains(".json"), "{error}");
            assert!(remedy.unwrap().contains("remove it"));
        };
        refused("another state");
        std::fs::write(kept.description_path(), "{").unwrap();
        refused("it describes no kept image");
        set_mode(&kept.description_path(), 0o666);
        refused("not believed");
    }

    fn set_mode(path: &Path, mode: u32) {
        let rights = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(path, rights).unwrap();
    }

    /// A link in the place of what is written is replaced, and what it leads to stays.
    #[test]
    fn nothing_is_written_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (inner, secret) = (dir.path().join("ages"), dir.path().join("secret"));
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(&secret, "secret").unwrap();
        let kept = kept_in(&inner);
        for name in [kept.description.clone(), format!("{}.new", kept.description)] {
            std::os::unix::fs::symlink(&secret, inner.join(name)).unwrap();
        }
        assert!(kept.described().is_err(), "a link is no description");
        kept.describe(&whole()).unwrap();
        assert_eq!(std::fs::read(&secret).unwrap(), b"secret");
        assert_eq!(kept.described().unwrap(), Some(whole()));
    }

    /// Whoever owns a directory above puts another one in the place between a look and its use.
    #[test]
    fn a_directory_that_is_exchanged_is_not_used() {
        let dir = tempfile::tempdir().unwrap();
        let [inner, theirs] = ["ages", "theirs"].map(|name| dir.path().join(name));
        [&inner, &theirs].into_iter().for_each(|made| std::fs::create_dir(made).unwrap());
        let kept = kept_in(&inner);
        let attack = kept_in(&theirs);
        attack.describe(&whole()).unwrap();
        std::fs::write(theirs.join(&attack.image), "theirs").unwrap();
        std::fs::rename(&inner, dir.path().join("aside")).unwrap();
        std::fs::rename(&theirs, &inner).unwrap();
        let target = TargetSpec::Memory { size_bytes: 1 };
        assert!(kept.restore(&target, &Stop::default()).unwrap().is_none(), "theirs was taken");
        kept.describe(&whole()).unwrap();
        assert!(dir.path().join("aside").join(&kept.description).exists());
        if !rustix::process::geteuid().is_root() {
            println!("not run: root alone gives directories away");
            return;
        }
        std::os::unix::fs::chown(dir.path(), Some(65_533), None).unwrap();
        let refused = kept_image::open_directory(&inner).unwrap_err().to_string();
        assert!(refused.contains("belongs to user 65533"), "{refused}");
    }
}
