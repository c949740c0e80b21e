//! What stands in the terminal, as goldens.

use super::*;
use crate::target::WatchTarget;
use crate::watcher::Tick;
use fsarena_study::watched::Ratio;

fn state() -> State {
    let target = WatchTarget {
        asked: "/mnt/x".into(),
        name: "loop0".to_owned(),
        path: "/dev/loop0".into(),
        kind: "loop".to_owned(),
        size_bytes: 512 << 20,
        diskseq: Some(3),
        fstype: Some("ext4".to_owned()),
        mounted_at: Some("/mnt/x".into()),
        mount_options: None,
        below: vec!["/var/tmp/x.img".to_owned(), "vda".to_owned()],
        notices: Vec::new(),
    };
    let mut state = State::new(target, 1_000_000_000, Some(3_600_000_000_000), "RUN 12".to_owned());
    state.add(&Tick { t_ns: 0, ratios: vec![None; 15], totals: Default::default() });
    for at in 1..=40u64 {
        let wave = (at % 8) as f64 / 7.0;
        let mut values: Vec<Option<f64>> = vec![Some(0.0); 15];
        values[1] = (at != 20).then_some(wave * 123.4e6);
        values[3] = Some(wave * 2_345.0);
        values[4] = Some(wave * 0.9);
        values[5] = Some(wave * 31.5);
        values[6] = None;
        values[7] = (wave > 0.0).then_some(1.25e6 * wave);
        values[8] = Some(2.0);
        values[9] = Some(64.0 * wave * (1u64 << 20) as f64);
        values[11] = Some(0.43);
        values[12] = Some(0.12);
        values[13] = Some(wave / 4.0);
        let totals = [
            ("device.read_bytes", 0),
            ("device.reads", 0),
            ("device.written_bytes", at * 61_700_000),
            ("device.writes", at * 1_172),
            ("device.flushes", at * 2),
        ]
        .map(|(name, value)| (name.to_owned(), value));
        let ratio = |value: Option<f64>| value.map(|sum| Ratio { sum, by: 1.0 });
        let ratios = values.into_iter().map(ratio).collect();
        state.add(&Tick { t_ns: at * 1_000_000_000, ratios, totals: totals.into() });
    }
    state.own_share = Some(0.0021);
    state
}

/// The lines of a terminal of this size, in quotes, as wide as it is.
fn drawn(state: &State, width: usize, height: usize, theme: Theme) -> String {
    let lines = lines(state, Size { width, height }, theme);
    lines.iter().map(|line| format!("\"{:<width$}\"\n", line.text())).collect()
}

const PLAIN: Theme = Theme { colour: false, blocks: true };

#[test]
fn a_usual_terminal_has_room_for_all() {
    insta::assert_snapshot!(drawn(&state(), 80, 24, PLAIN), @r#"
    "/dev/loop0, 512 MiB, ext4 at /mnt/x                             0:00:40 of 1h00m"
    "loop, over /var/tmp/x.img, vda                                                  "
    "                     now      mean   largest  last 34.0 s                       "
    "read MB/s           0.00      0.00      0.00                                    "
    "write MB/s          0.00      61.5       123  █ ▁▂▃▅▆▇█ ▁▂▃·▆▇█ ▁▂▃▅▆▇█ ▁▂▃▅▆▇█ "
    "reads/s                0         0         0                                    "
    "writes/s               0      1172      2345  █ ▁▂▃▅▆▇█ ▁▂▃▅▆▇█ ▁▂▃▅▆▇█ ▁▂▃▅▆▇█ "
    "busy %               0.0      45.0      90.0  ▇ ▁▂▃▄▅▆▇ ▁▂▃▄▅▆▇ ▁▂▃▄▅▆▇ ▁▂▃▄▅▆▇ "
    "queue depth         0.00      15.8      31.5  █ ▁▂▃▅▆▇█ ▁▂▃▅▆▇█ ▁▂▃▅▆▇█ ▁▂▃▅▆▇█ "
    "read ms                -         -         -                                    "
    "write ms               -      0.71      1.25  █ ▁▂▃▅▆▇█ ▁▂▃▅▆▇█ ▁▂▃▅▆▇█ ▁▂▃▅▆▇█ "
    "flushes/s              2         2         2  ██████████████████████████████████"
    "dirty MiB           0.00      32.0      64.0  █ ▁▂▃▅▆▇█ ▁▂▃▅▆▇█ ▁▂▃▅▆▇█ ▁▂▃▅▆▇█ "
    "writeback MiB       0.00      0.00      0.00                                    "
    "CPU user %          43.0      43.0      43.0  ▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃"
    "CPU system %        12.0      12.0      12.0  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁"
    "CPU iowait %         0.0      12.5      25.0  ▂ ▁▁▁▁▁▂▂ ▁▁▁▁▁▂▂ ▁▁▁▁▁▂▂ ▁▁▁▁▁▂▂ "
    "CPU steal %          0.0       0.0       0.0                                    "
    "                                                                                "
    "since the start read 0 B in 0 requests, written 2.30 GiB in 46880 requests      "
    "80 flushes, discarded - in - requests                                           "
    "                                                                                "
    "                                                                                "
    "q end  p hold  ? help   RUN 12               watch itself 0.21 % of one CPU core"
    "#);
}

#[test]
fn a_small_terminal_has_what_tells_most() {
    insta::assert_snapshot!(drawn(&state(), 40, 10, PLAIN), @r#"
    "loop0                            0:00:40"
    "                     now  last 14.0 s   "
    "read MB/s           0.00                "
    "write MB/s          0.00  ▃▅▆▇█ ▁▂▃▅▆▇█ "
    "busy %               0.0  ▃▄▅▆▇ ▁▂▃▄▅▆▇ "
    "queue depth         0.00  ▃▅▆▇█ ▁▂▃▅▆▇█ "
    "read ms                -                "
    "write ms               -  ▃▅▆▇█ ▁▂▃▅▆▇█ "
    "dirty MiB           0.00  ▃▅▆▇█ ▁▂▃▅▆▇█ "
    "q end  p hold  ? help                   "
    "#);
}

#[test]
fn without_utf8_signs_stand_for_blocks() {
    let mut state = state();
    state.is_paused = true;
    state.said = Some("sda1 is a part of sda: requests elsewhere on it are not seen".to_owned());
    let theme = Theme { colour: false, blocks: false };
    insta::assert_snapshot!(drawn(&state, 70, 14, theme), @r#"
    "/dev/loop0, 512 MiB, ext4 at /mnt/x              held 0:00:40 of 1h00m"
    "                     now      mean   largest  last 24.0 s             "
    "read MB/s           0.00      0.00      0.00                          "
    "write MB/s          0.00      61.5       123  ..:?=+# ..:-=+# ..:-=+# "
    "reads/s                0         0         0                          "
    "writes/s               0      1172      2345  ..:-=+# ..:-=+# ..:-=+# "
    "busy %               0.0      45.0      90.0  ..::-=+ ..::-=+ ..::-=+ "
    "queue depth         0.00      15.8      31.5  ..:-=+# ..:-=+# ..:-=+# "
    "read ms                -         -         -                          "
    "write ms               -      0.71      1.25  ..:-=+# ..:-=+# ..:-=+# "
    "dirty MiB           0.00      32.0      64.0  ..:-=+# ..:-=+# ..:-=+# "
    "since the start read 0 B in 0 requests, written 2.30 GiB in 46880 req…"
    "sda1 is a part of sda: requests elsewhere on it are not seen          "
    "q end  p go on  ? help   RUN 12    watch itself 0.21 % of one CPU core"
    "#);
}

#[test]
fn help_stands_alone() {
    let mut state = state();
    state.has_help = true;
    insta::assert_snapshot!(drawn(&state, 60, 6, PLAIN), @r#"
    "q, Ctrl-C  end the watch; it is stored                      "
    "p, space   hold the picture; what is seen is recorded meanw…"
    "?          this page; any key takes it away                 "
    "                                                            "
    "MB/s, reads/s, writes/s: requests completed since the sampl…"
    "  10^6 bytes, MiB are 2^20.                                 "
    "#);
}

#[test]
fn colour_only_where_it_is_wanted() {
    let colours = |theme| {
        let lines = lines(&state(), Size { width: 80, height: 24 }, theme);
        lines.iter().map(Line::coloured).sum::<usize>()
    };
    assert_eq!(colours(PLAIN), 0);
    assert!(colours(Theme { colour: true, blocks: true }) > 100);
}

#[test]
fn any_size_does() {
    for (width, height) in [(0, 0), (1, 1), (3, 2), (10, 3), (39, 4), (59, 30), (300, 100)] {
        let lines = lines(&state(), Size { width, height }, PLAIN);
        assert!(lines.len() <= height, "{width} x {height}");
        assert!(lines.iter().all(|line| line.text().chars().count() <= width), "{width}");
    }
}
