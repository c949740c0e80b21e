//! Vetting against hostile states: block devices that must not be written, built for real from
//! loop devices, zram and whatever the tools here can write, and trees of files that look like
//! `/sys` and `/proc` of other machines.
//!
//! Of every state that is refused, the SHA-256 of the whole backing image is the same after the
//! refusal. Needs root; what cannot be built says why. The disks of this machine are
//! only looked at.
//! `FSARENA_HOSTILE=word` runs the states that have the word in their name. Of the damaged ones
//! every fourth is run, and all with `FSARENA_FULL=1`, as `cargo xtask test --all` sets it; their
//! headers are recognised in the unit tests of `inventory::backup` every time.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests, with their helpers")]

mod between;
mod bytes;
mod damaged;
mod fake_trees;
mod fixture;
mod in_use;
mod no_device;
mod positive;
mod signatures;

use fixture::{Build, HostileFixture, NotRun, hash, output};
use fsarena_devices::Refusal;
use fsarena_devices::inventory::{Roots, recheck};
use fsarena_devices::vet::{VettedDevice, WipeConsent, vet_block};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Fewer states than this, run as root, are no test of vetting.
const AT_LEAST: usize = 60;

/// Images up to this are hashed after every refusal with every kind of consent.
const SMALL_BYTES: u64 = 64 << 20;

/// So often a refusal is repeated because the kernel wrote to swap meanwhile.
const SWAP_ATTEMPTS_MAX: u32 = 20;

/// Part of the refusal of what is held by somebody who cannot be named.
pub const HELD: &str = "exclusively";

/// One row: how a state is built, and what has to come of it.
pub struct State {
    pub name: String,
    pub play: Play,
}

type Play = Box<dyn Fn(&mut HostileFixture) -> Build<()>>;

impl State {
    pub fn new(name: &str, play: impl Fn(&mut HostileFixture) -> Build<()> + 'static) -> Self {
        Self { name: name.to_owned(), play: Box::new(play) }
    }
}

#[test]
fn loop_alone_no_hostile_state_is_accepted_and_none_is_changed() {
    if let Some(reason) = fsarena_testkit::why_no_loop_devices() {
        println!("not run: {reason}");
        return;
    }
    let is_full = std::env::var_os("FSARENA_FULL").is_some_and(|value| value == "1");
    let wanted = std::env::var("FSARENA_HOSTILE").unwrap_or_default();
    let tables: [(&str, Vec<State>); 6] = [
        ("no device", no_device::states()),
        ("signature", signatures::states()),
        ("damaged", damaged::states(is_full || !wanted.is_empty())),
        ("in use", in_use::states()),
        ("between vetting and mkfs", between::states()),
        ("allowed", positive::states()),
    ];
    let started = Instant::now();
    let (mut ran, mut not_run, mut failed) = (0, 0, Vec::new());
    for (group, states) in tables {
        for state in states.into_iter().filter(|state| state.name.contains(&wanted)) {
            let at = Instant::now();
            let mut fixture = HostileFixture::new();
            match catch_unwind(AssertUnwindSafe(|| (state.play)(&mut fixture))) {
                Ok(Ok(())) => {
                    ran += 1;
                    println!("{group}: {}: ok, {} ms", state.name, at.elapsed().as_millis());
                }
                Ok(Err(NotRun(reason))) => {
                    not_run += 1;
                    println!("not run: {group}: {}: {reason}", state.name);
                }
                Err(_) => failed.push(format!("{group}: {}", state.name)),
            }
        }
    }
    println!(
        "{ran} hostile states ran, {not_run} did not, {} failed, {} s",
        failed.len(),
        started.elapsed().as_secs()
    );
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(!wanted.is_empty() || ran >= AT_LEAST, "only {ran} states ran, {AT_LEAST} are needed");
}

pub fn roots() -> Roots {
    Roots::default()
}

pub fn consent(device: &Path, names: &[&str]) -> WipeConsent {
    let names: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let option = WipeConsent::option(device, &names);
    let text = option.strip_prefix("--wipe ").unwrap().trim_matches('\'');
    WipeConsent::parse(text).unwrap()
}

pub fn vet(target: &Path, consent: &[WipeConsent]) -> Result<VettedDevice, Refusal> {
    vet_block(target, consent, &[], &roots())
}

/// What wipefs lists, for a consent as good as the user can give it.
pub fn listed(target: &Path) -> Vec<String> {
    let args = ["--noheadings", "--output", "TYPE", target.to_str().unwrap()];
    let Ok(text) = output("wipefs", &args) else { return Vec::new() };
    let names: BTreeSet<String> = text.split_whitespace().map(str::to_owned).collect();
    names.into_iter().collect()
}

fn every_consent(target: &Path, exact: &[&str]) -> Vec<(&'static str, Vec<WipeConsent>)> {
    let without_gpt: Vec<&str> = exact.iter().copied().filter(|name| *name != "PMBR").collect();
    let other = Path::new("/dev/null");
    vec![
        ("none", vec![]),
        ("for another", vec![consent(other, exact)]),
        ("bare", vec![consent(target, &[])]),
        ("wrong", vec![consent(target, &["nosuchfs"])]),
        ("exact", vec![consent(target, exact)]),
        ("exact without PMBR", vec![consent(target, &without_gpt)]),
    ]
}

/// Refused with every consent there is, always for this reason, and not changed by that.
pub fn never(target: &Path, images: &[&Path], reason: &str) {
    let names = listed(target);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut before = Content::read(target, images);
    let mut consents = every_consent(target, &names);
    let bytes: u64 = images.iter().map(|image| image.metadata().unwrap().len()).sum();
    if bytes > SMALL_BYTES || reason == HELD || reason.ends_with("has it open") {
        // Slow ones: hashing takes long, or vetting waits for who holds it.
        consents.retain(|(label, _)| matches!(*label, "none" | "exact"));
    }
    for (label, consent) in consents {
        let refusal = match vet(target, &consent) {
            Ok(vetted) => panic!("accepted with consent {label}: {vetted:?}"),
            Err(refusal) => refusal.to_string(),
        };
        assert!(refusal.contains(reason), "consent {label}: no {reason:?} in: {refusal}");
        let mut after = Content::read(target, images);
        let mut attempts = 1;
        // The kernel writes to swap whenever memory is short: a refusal during which it did shows
        // nothing beyond the first page, and is repeated.
        while after.hashes != before.hashes && before.kernel_wrote(&after) {
            assert_eq!(after.heads, before.heads, "changed by a refusal, consent {label}");
            assert!(attempts < SWAP_ATTEMPTS_MAX, "the kernel did not stop to write to swap");
            attempts += 1;
            before = Content::read(target, images);
            assert!(vet(target, &consent).is_err());
            after = Content::read(target, images);
        }
        assert_eq!(after.heads, before.heads, "changed by a refusal, consent {label}");
        assert_eq!(after.hashes, before.hashes, "changed by a refusal, consent {label}");
    }
}

/// What is on a device.
struct Content {
    /// The first page of each image, and of the device itself: signatures are there, and the kernel
    /// writes to no such page of swap.
    heads: Vec<Vec<u8>>,
    /// Of the whole images.
    hashes: Vec<String>,
    /// Pages written to swap since boot, before and after the images were read.
    swapped_out: [u64; 2],
}

impl Content {
    fn read(target: &Path, images: &[&Path]) -> Self {
        // What is under way has arrived when nothing more was written for a while.
        let mut started = swapped_out();
        for _ in 0..if swap_is_ours() { 50 } else { 0 } {
            std::thread::sleep(Duration::from_millis(20));
            let now = swapped_out();
            if std::mem::replace(&mut started, now) == now {
                break;
            }
        }
        let hashes = images.iter().map(|image| hash(target, image)).collect();
        // Behind the hashes, which write back what is cached.
        let name = target.display().to_string();
        let is_in_swap = swap_areas()
            .iter()
            .any(|area| name.len() > area.len() && name.starts_with(area.as_str()));
        let target = (!is_in_swap).then_some(target);
        let heads = images.iter().copied().chain(target).map(first_page).collect();
        Self { heads, hashes, swapped_out: [started, swapped_out()] }
    }

    /// Whether the kernel wrote to swap between this and `later`, while some is on a loop device.
    fn kernel_wrote(&self, later: &Self) -> bool {
        swap_is_ours() && self.swapped_out[0] != later.swapped_out[1]
    }
}

/// Whether a test has made some of the swap.
fn swap_is_ours() -> bool {
    let ours = |area: &String| area.starts_with("/dev/loop") || area.ends_with("swap\\040file");
    swap_areas().iter().any(ours)
}

/// What is in use as swap, as `/proc/swaps` writes it.
fn swap_areas() -> Vec<String> {
    let text = std::fs::read_to_string("/proc/swaps").unwrap_or_default();
    text.lines()
        .skip(1)
        .filter_map(|line| Some(line.split_whitespace().next()?.to_owned()))
        .collect()
}

fn first_page(path: &Path) -> Vec<u8> {
    let mut page = vec![0; 4096];
    let length = File::open(path).and_then(|mut file| file.read(&mut page)).unwrap_or(0);
    page.truncate(length);
    page
}

/// `pswpout` of `/proc/vmstat`.
fn swapped_out() -> u64 {
    let text = std::fs::read_to_string("/proc/vmstat").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("pswpout "));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

/// Refused without the exact consent, and accepted with it; not changed by either.
pub fn only_with(target: &Path, image: &Path, exact: &[&str]) -> VettedDevice {
    let is_small = image.metadata().unwrap().len() <= SMALL_BYTES;
    accepted_only_with(target, image, exact, is_small)
}

/// As [`only_with`], with every wrong consent or with those alone that name too little.
pub fn accepted_only_with(
    target: &Path,
    image: &Path,
    exact: &[&str],
    is_every_wrong: bool,
) -> VettedDevice {
    let before = hash(target, image);
    let mut extra = exact.to_vec();
    extra.push("nosuchfs");
    let mut wrong = vec![
        ("none", vec![]),
        ("for another", vec![consent(Path::new("/dev/null"), exact)]),
        ("wrong", vec![consent(target, &["nosuchfs"])]),
        ("one too many", vec![consent(target, &extra)]),
        ("twice", vec![consent(target, exact), consent(target, exact)]),
    ];
    if exact.len() > 1 {
        wrong.push(("bare", vec![consent(target, &[])]));
    }
    for dropped in 0..exact.len() {
        let mut fewer = exact.to_vec();
        fewer.remove(dropped);
        wrong.push(("one missing", vec![consent(target, &fewer)]));
    }
    if !is_every_wrong {
        wrong.retain(|(label, _)| matches!(*label, "none" | "bare" | "one missing"));
    }
    let names: BTreeSet<String> = exact.iter().map(|name| (*name).to_owned()).collect();
    let option = WipeConsent::option(target, &names);
    for (label, consent) in wrong {
        let refusal = match vet(target, &consent) {
            Ok(vetted) => panic!("accepted with consent {label}: {vetted:?}"),
            Err(refusal) => refusal.to_string(),
        };
        assert!(refusal.contains(&option), "consent {label}: no {option:?} in: {refusal}");
        assert_eq!(hash(target, image), before, "changed by a refusal, consent {label}");
    }
    let vetted = match vet(target, &[consent(target, exact)]) {
        Ok(vetted) => vetted,
        Err(refusal) => panic!("refused with the exact consent: {refusal}"),
    };
    assert_eq!(vetted.signatures(), &names);
    drop(vetted.recheck(&roots()).unwrap());
    assert_eq!(hash(target, image), before, "changed by vetting");
    vetted
}

/// After `change`, the last look before mkfs refuses for this reason, and changes nothing.
pub fn recheck_refuses(vetted: &VettedDevice, images: &[&Path], reason: &str) {
    let hashes =
        || -> Vec<String> { images.iter().map(|image| hash(vetted.path(), image)).collect() };
    let before = hashes();
    for error in [recheck(vetted.identity(), &roots()).err(), vetted.recheck(&roots()).err()] {
        let text = error.expect("the last look has let it through").to_string();
        assert!(text.contains(reason), "no {reason:?} in: {text}");
    }
    assert_eq!(hashes(), before, "changed by the last look");
}

/// An attached image with an ext4, vetted with consent.
pub fn vetted_ext4(fixture: &mut HostileFixture) -> Build<(VettedDevice, PathBuf)> {
    let image = fixture.image("image", 16 << 20);
    fixture::run("mke2fs", &["-q", "-F", "-t", "ext4", image.to_str().unwrap()])?;
    let device = fixture.attach(&image, &["--partscan"])?;
    let vetted = vet(&device, &[consent(&device, &["ext4"])]);
    Ok((vetted.unwrap_or_else(|refusal| panic!("{refusal}")), image))
}
