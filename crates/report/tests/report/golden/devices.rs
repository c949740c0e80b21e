//! The block devices of the machine.

use crate::golden::plain;
use fsarena_report::{DeviceLine, Style, devices_table, json};

pub(crate) fn lines() -> Vec<DeviceLine> {
    let disk = DeviceLine {
        name: "sda".to_owned(),
        size_bytes: 1 << 40,
        kind: "disk".to_owned(),
        model: Some("Spinner 3000".to_owned()),
        serial: Some("S3-000-1".to_owned()),
        signature: Some("gpt".to_owned()),
        in_use: Some("sda1 is mounted at /".to_owned()),
        usable: false,
        verdict: "its partition sda1 is mounted".to_owned(),
    };
    let empty = DeviceLine {
        name: "nvme0n1".to_owned(),
        size_bytes: 500_107_862_016,
        model: None,
        serial: None,
        signature: None,
        in_use: None,
        usable: true,
        verdict: "with --wipe /dev/nvme0n1".to_owned(),
        ..disk.clone()
    };
    vec![disk, empty]
}

#[test]
fn devices_at_each_width() {
    insta::assert_snapshot!(devices_table(&lines(), 80, plain()), @r"
    device      size  kind  holds  in use                fsarena
    --------------------------------------------------------------------------------
    sda        1 TiB  disk  gpt    sda1 is mounted at /  no: its partition sda1 is
                                                         mounted
    nvme0n1  466 GiB  disk  -      -                     with --wipe /dev/nvme0n1
    ");
    insta::assert_snapshot!(devices_table(&lines(), 140, plain()), @r"
    device      size  kind  model         serial    holds  in use                fsarena
    --------------------------------------------------------------------------------------------------------------
    sda        1 TiB  disk  Spinner 3000  S3-000-1  gpt    sda1 is mounted at /  no: its partition sda1 is mounted
    nvme0n1  466 GiB  disk  -             -         -      -                     with --wipe /dev/nvme0n1
    ");
    insta::assert_snapshot!(devices_table(&[], 80, plain()), @r"
    No block device was found.
    ");
    let coloured = devices_table(&lines(), 80, Style { colour: true, ..plain() });
    assert!(coloured.starts_with("\u{1b}[1mdevice"), "{coloured}");
}

#[test]
fn devices_as_json() {
    let value = json::document("devices", "devices", &lines());
    assert_eq!((value["schema"].as_u64(), value["kind"].as_str()), (Some(2), Some("devices")));
    assert_eq!(value["devices"][0]["size_bytes"], 1u64 << 40);
    assert_eq!(value["devices"][1]["usable"], true);
}

#[test]
fn names_from_hardware_cannot_harm_the_terminal() {
    let mut lines = lines();
    lines[0].model = Some("\u{1b}[31mred\u{7}".repeat(20));
    lines[1].verdict = "x ".repeat(300);
    for width in [80, 100, 200] {
        let text = devices_table(&lines, width, plain());
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'));
    }
}
