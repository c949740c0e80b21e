//! What is allowed with consent although it looks odd.

use super::fixture::{Build, HostileFixture, MIB, run, shell};
use super::{State, consent, only_with, roots, vet};
use fsarena_devices::inventory::{Verdict, check_path, identify, survey};
use std::os::unix::fs::symlink;

pub fn states() -> Vec<State> {
    vec![
        State::new("target and consent by different links", by_links),
        State::new("node outside /dev", node_elsewhere),
        State::new("sibling of a mounted partition", sibling),
        State::new("zram with an ext4", zram),
        State::new("the survey says what vetting says", survey_agrees),
    ]
}

fn by_links(fixture: &mut HostileFixture) -> Build<()> {
    let image = fixture.image("image", 16 * MIB);
    let device = fixture.attach(&image, &[])?;
    symlink(&device, fixture.path("one")).unwrap();
    symlink(fixture.path("one"), fixture.path("two")).unwrap();
    let vetted = vet(&fixture.path("two"), &[consent(&fixture.path("one"), &[])]).unwrap();
    assert_eq!(vetted.path(), device);
    check_path(vetted.identity(), &fixture.path("two")).unwrap();
    assert_eq!(identify(&device, &roots()).unwrap(), *vetted.identity());
    assert_eq!(vetted.identity().hardware["backing_file"], image.to_str().unwrap());
    Ok(())
}

fn node_elsewhere(fixture: &mut HostileFixture) -> Build<()> {
    let image = fixture.image("image", 16 * MIB);
    let device = fixture.attach(&image, &[])?;
    let number = device.to_str().unwrap().trim_start_matches("/dev/loop").to_owned();
    let node = fixture.path("node");
    run("mknod", &[node.to_str().unwrap(), "b", "7", &number])?;
    let vetted = vet(&node, &[consent(&device, &[])]).unwrap();
    assert_eq!(vetted.path(), device, "programs get the kernel's own node");
    Ok(())
}

fn sibling(fixture: &mut HostileFixture) -> Build<()> {
    let image = fixture.image("image", 48 * MIB);
    shell("echo 'label: dos\n2048,20M\n,20M' | sfdisk -q $1", &[&image])?;
    let device = fixture.attach(&image, &["--partscan"])?;
    let one = fixture.add_partition(&device, 1, 2048, 20 * 2048)?;
    let two = fixture.add_partition(&device, 2, 2048 + 20 * 2048, 20 * 2048)?;
    run("mke2fs", &["-q", "-F", "-t", "ext2", one.to_str().unwrap()])?;
    let mnt = fixture.new_dir("mnt");
    fixture.mount(&one, &mnt, &[])?;
    only_with(&two, &image, &[]);
    Ok(())
}

fn zram(fixture: &mut HostileFixture) -> Build<()> {
    let device = fixture.zram("32M")?;
    run("mke2fs", &["-q", "-F", "-t", "ext4", device.to_str().unwrap()])?;
    only_with(&device, &device, &["ext4"]);
    Ok(())
}

fn survey_agrees(fixture: &mut HostileFixture) -> Build<()> {
    let image = fixture.image("image", 16 * MIB);
    run("mkswap", &[&image])?;
    let device = fixture.attach(&image, &[])?;
    let rows = survey(&roots()).unwrap();
    let row = rows.iter().find(|row| row.identity.path == device).unwrap();
    let option = format!("--wipe {}=swap", device.display());
    assert_eq!(row.verdict, Verdict::WithConsent { option }, "{row:?}");
    fixture.swap_on(&device)?;
    let rows = survey(&roots()).unwrap();
    let row = rows.iter().find(|row| row.identity.path == device).unwrap();
    assert!(row.in_use.iter().any(|reason| reason.contains("swap")), "{row:?}");
    assert!(matches!(&row.verdict, Verdict::Never { reason } if reason.contains("swap")));
    let text = serde_json::to_string(&rows).unwrap();
    let read: Vec<fsarena_devices::inventory::SurveyRow> = serde_json::from_str(&text).unwrap();
    assert_eq!(read, rows);
    Ok(())
}
