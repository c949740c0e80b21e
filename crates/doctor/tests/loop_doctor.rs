//! The doctor on a real loop device over a file in memory, and on what is no target. Needs root
//! and loop devices; what cannot run says why. Serial; nothing is left.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests, with their helpers")]

use fsarena_devices::loopdev::LoopDevice;
use fsarena_devices::mountinfo;
use fsarena_doctor::{Target, examine};
use fsarena_metrics::KernelRoots;
use fsarena_model::host::{Finding, Weight};
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

const WATCHED: Duration = Duration::from_millis(200);
const MEMORY: &str = "/dev/shm";

fn why_not() -> Option<&'static str> {
    fsarena_testkit::why_no_loop_devices().or_else(|| {
        let mount = mountinfo::find_for_path(Path::new(MEMORY)).ok().flatten();
        (mount.is_none_or(|mount| mount.fstype != "tmpfs")).then_some("no tmpfs at /dev/shm")
    })
}

fn finding_of<'a>(findings: &'a [Finding], code: &str, place: &str) -> &'a Finding {
    let found = findings.iter().find(|f| f.code == code && f.place == place);
    found.unwrap_or_else(|| panic!("no {code} of {place} in {findings:?}"))
}

#[test]
fn loop_over_memory_is_seen_as_such() {
    if let Some(reason) = why_not() {
        println!("not run: {reason}");
        return;
    }
    let dir = tempfile::Builder::new().prefix("fsarena-test-").tempdir_in(MEMORY).unwrap();
    let path = dir.path().join("fsarena-image");
    let image = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    image.set_len(32 << 20).unwrap();
    let device = LoopDevice::attach(&image, &path).unwrap();
    let place = device.path().display().to_string();
    let target = Target::from_path(device.path()).unwrap();
    assert_eq!(target, Target::Device(device.path().to_owned()));

    let started = Instant::now();
    let findings = examine(&KernelRoots::default(), &[target], WATCHED);
    let took = started.elapsed();

    let memory = finding_of(&findings, "memory", &place);
    assert_eq!(memory.reading, "a loop device over a file in memory (tmpfs)");
    assert_eq!(memory.weight, Weight::Warning);
    let direct = finding_of(&findings, "loop-direct-io", &place);
    assert_eq!(direct.weight == Weight::Fine, device.direct_io(), "{direct:?}");
    assert_eq!(finding_of(&findings, "in-use", &place).weight, Weight::Fine);
    assert!(finding_of(&findings, "load", "host").weight >= Weight::Fine);
    assert!(took < Duration::from_secs(6), "{took:?} for what takes a second");
    device.detach().unwrap();
}

#[test]
fn loop_without_a_file_is_no_disk_to_speak_of() {
    if let Some(reason) = why_not() {
        println!("not run: {reason}");
        return;
    }
    // Of all loop devices that nothing is attached to, the first.
    let names = (0..64).map(|n| format!("/dev/loop{n}"));
    let free = names.into_iter().find(|name| {
        Path::new(name).exists()
            && fsarena_devices::loopdev::backing_file(Path::new(name)).is_none()
    });
    let Some(free) = free else {
        println!("not run: no free loop device");
        return;
    };
    let findings =
        examine(&KernelRoots::default(), &[Target::Device(free.clone().into())], WATCHED);
    let unseen = findings.iter().filter(|f| f.code == "unseen").count();
    let result = findings.iter().filter(|f| f.place == free).count();
    assert!(unseen == 0 && result > 0, "{findings:?}");
}
