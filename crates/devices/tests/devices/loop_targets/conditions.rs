//! The state of a device before mkfs, and the settings of its queue.

use super::fixture::{LoopFixture, device, formatted, ready};
use fsarena_devices::inventory::Roots;
use fsarena_devices::ssd::{Doing, Precondition, Steadiness};
use fsarena_devices::{TargetError, cache, image, queue, ssd};
use fsarena_model::contender::{Discard, FsLevel};
use fsarena_model::device::{Conditioning, QueueLevel, SsdPolicy, WriteCache};
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

const MIB: u64 = 1 << 20;

fn small() -> Precondition {
    Precondition {
        writers: 4,
        round_ns: 300_000_000,
        round_bytes: Some(8 * MIB),
        most_rounds: 4,
        steadiness: Steadiness { window_rounds: 3, data_excursion: 5.0, slope_excursion: 5.0 },
        ..Precondition::default()
    }
}

#[test]
fn loop_preconditioning_writes_all_of_the_device_and_is_recorded() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let claimed = fixture.claim(32 * MIB);
    let target = claimed.target();
    let before = fs::read(fixture.image()).unwrap();
    let mut rounds = 0;
    let done = ssd::apply(&target, SsdPolicy::Precondition, &small(), &mut |doing| {
        if let Doing::Round { number, .. } = doing {
            rounds = number;
        }
        ControlFlow::Continue(())
    });
    let Some(Conditioning::Preconditioned { fill_bytes, rounds_ops_per_s, steady, .. }) =
        done.unwrap()
    else {
        panic!("nothing recorded")
    };
    println!("rounds: {rounds_ops_per_s:?}, steady: {steady}");
    assert_eq!(fill_bytes, 64 * MIB);
    assert_eq!(rounds_ops_per_s.len(), usize::try_from(rounds).unwrap());
    assert!(steady && rounds == 3, "the limits are wide");
    assert!(rounds_ops_per_s.iter().all(|rate| *rate > 0.0));
    let after = fs::read(fixture.image()).unwrap();
    let same = before.chunks(4096).zip(after.chunks(4096)).filter(|(a, b)| a == b).count();
    assert_eq!(same, 0, "blocks that were not written over");
    // A stop is heard, and the device is free again afterwards.
    let stop = ssd::apply(&target, SsdPolicy::Precondition, &small(), &mut |doing| match doing {
        Doing::Round { number: 2, .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    assert!(matches!(stop, Err(TargetError::Stopped { .. })), "{stop:?}");
    if let Some(ext4) = ready("ext4") {
        formatted(&claimed, &*ext4, &FsLevel::plain("ext4"), Discard::None);
    }
    claimed.release().unwrap();
    fixture.assert_nothing_left();
}

#[test]
fn loop_a_discard_punches_the_image_and_reads_as_zeros() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let claimed = fixture.claim(32 * MIB);
    let target = claimed.target();
    let mut quiet = |_| ControlFlow::Continue(());
    let full = image::allocated_bytes(&fixture.image()).unwrap();
    match ssd::apply(&target, SsdPolicy::Blkdiscard, &Precondition::default(), &mut quiet) {
        Ok(done) => {
            let Some(Conditioning::Discarded { discarded_bytes, .. }) = done else { panic!() };
            assert_eq!(discarded_bytes, 32 * MIB);
            assert!(image::allocated_bytes(&fixture.image()).unwrap() < full);
            cache::flush_device(device(&target)).unwrap();
            assert!(fs::read(device(&target)).unwrap().iter().all(|byte| *byte == 0));
        }
        Err(error) => println!("not run: {error}; {:?}", error.remedy()),
    }
    claimed.release().unwrap();
    fixture.assert_nothing_left();
}

#[test]
fn loop_conditioning_never_touches_a_mounted_device() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let Some(ext4) = ready("ext4") else { return };
    let claimed = fixture.claim(32 * MIB);
    let made = formatted(&claimed, &*ext4, &FsLevel::plain("ext4"), Discard::None);
    let tree = super::fixture::mounted(&made, &fixture);
    let mut quiet = |_| ControlFlow::Continue(());
    for policy in [SsdPolicy::Blkdiscard, SsdPolicy::Precondition] {
        let error = ssd::apply(&claimed.target(), policy, &small(), &mut quiet).unwrap_err();
        assert_eq!(error.errno(), Some(16), "{error}");
    }
    fs::write(tree.path().join("file"), "x").unwrap();
    tree.unmount().unwrap();
    drop(made);
    claimed.release().unwrap();
    fixture.assert_nothing_left();
}

#[test]
fn loop_settings_of_the_queue_are_set_and_put_back() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let claimed = fixture.claim(8 * MIB);
    let target = claimed.target();
    let node = device(&target);
    let sys = Path::new("/sys");
    let roots = Roots::default();
    let name = queue::name_of(&target).unwrap();
    let before = queue::current(&roots, &name);
    println!("before: {before:?}");
    let offered = fs::read_to_string(
        sys.join("block").join(node.file_name().unwrap()).join("queue/scheduler"),
    );
    let scheduler = offered
        .unwrap_or_default()
        .split_whitespace()
        .find(|word| !word.starts_with('['))
        .map(str::to_owned);
    let through = before.get("write_cache").is_some_and(|value| value == "write back");
    let level = QueueLevel {
        scheduler: scheduler.clone(),
        read_ahead_bytes: Some(64 << 10),
        write_cache: through.then_some(WriteCache::WriteThrough),
    };
    let changes = queue::plan(&roots, &name, &crate::settings(&level)).unwrap();
    assert_eq!(queue::current(&roots, &name), before, "a plan changes nothing");
    let applied = queue::apply(changes.clone()).unwrap();
    let now = queue::current(&roots, &name);
    println!("during: {now:?}");
    assert_eq!(now["read_ahead_kb"], "64");
    assert_eq!(now.get("scheduler"), scheduler.as_ref());
    applied.restore().unwrap();
    assert_eq!(queue::current(&roots, &name), before);
    assert_eq!(queue::restore(&changes).unwrap(), 0);
    // As after a kill: a loop device without an image keeps its scheduler, and gets it back.
    let killed = queue::apply(changes.clone()).unwrap();
    claimed.release().unwrap();
    println!("after the image: {:?}", queue::current(&roots, &name));
    drop(killed);
    assert_eq!(queue::current(&roots, &name).get("scheduler"), before.get("scheduler"));
    assert_ne!(queue::current(&roots, &name)["read_ahead_kb"], "64");
    let odd = QueueLevel { scheduler: Some("cfq".to_owned()), ..QueueLevel::default() };
    let text = queue::plan(&roots, &name, &crate::settings(&odd)).unwrap_err().to_string();
    assert!(text.contains("it offers"), "{text}");
    fixture.assert_nothing_left();
}
