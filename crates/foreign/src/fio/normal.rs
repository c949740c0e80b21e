//! One spelling of options that have several, so that the same work is seen to be the same.

use crate::fio::{KbBase, amount_bytes};

/// Other names of options (options.c, `alias`).
const ALIASES: [(&str, &str); 15] = [
    ("readwrite", "rw"),
    ("blocksize", "bs"),
    ("blocksize_range", "bsrange"),
    ("ba", "blockalign"),
    ("bs_unaligned", "blocksize_unaligned"),
    ("io_limit", "io_size"),
    ("mem", "iomem"),
    ("timeout", "runtime"),
    ("nr_files", "nrfiles"),
    ("iodepth_batch_submit", "iodepth_batch"),
    ("ratemin", "rate_min"),
    ("ss", "steadystate"),
    ("ss_dur", "steadystate_duration"),
    ("ss_ramp", "steadystate_ramp_time"),
    ("fill_fs", "fill_device"),
];
/// Options whose values are amounts, one or several with `,` or `-` between them.
const AMOUNTS: [&str; 12] = [
    "blockalign",
    "bs",
    "bsrange",
    "filesize",
    "io_size",
    "offset",
    "offset_increment",
    "rate",
    "rate_min",
    "size",
    "zonerange",
    "zonesize",
];
/// Options whose values are times.
const TIMES: [&str; 4] = ["ramp_time", "runtime", "startdelay", "steadystate_duration"];

/// An option and its value in one spelling: `blocksize=4k` is `bs=4096`, `runtime=1m` is
/// `runtime=60`. An option that only stands there is 1.
pub(crate) fn normalised(name: &str, value: &str) -> (String, String) {
    let name = ALIASES.iter().find(|(other, _)| *other == name).map_or(name, |(_, own)| own);
    let value = value.trim();
    let normal = match value {
        "" | "true" => "1".to_owned(),
        "false" => "0".to_owned(),
        _ if AMOUNTS.contains(&name) => amounts(value),
        _ if TIMES.contains(&name) => {
            seconds(value).map_or_else(|| value.to_owned(), |seconds| seconds.to_string())
        }
        _ => value.to_owned(),
    };
    (name.to_owned(), normal)
}

fn amounts(value: &str) -> String {
    let part = |part: &str| {
        let bytes = amount_bytes(part, KbBase::K1024);
        bytes.map_or_else(|| part.to_owned(), |bytes| bytes.to_string())
    };
    let range = |range: &str| range.split('-').map(part).collect::<Vec<_>>().join("-");
    value.split(',').map(range).collect::<Vec<_>>().join(",")
}

/// Seconds of `90`, `90s`, `2m`, `1h`, `1d`, `500ms`.
fn seconds(value: &str) -> Option<f64> {
    let end = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let (digits, unit) = value.split_at(end);
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        _ => return None,
    };
    Some(digits.parse::<f64>().ok()? * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_work_is_spelt_the_same() {
        for (name, value, own, normal) in [
            ("blocksize", "4k", "bs", "4096"),
            ("bs", "4k,64KB", "bs", "4096,65536"),
            ("bsrange", "4k-1m", "bsrange", "4096-1048576"),
            ("readwrite", "randread", "rw", "randread"),
            ("runtime", "1m", "runtime", "60"),
            ("size", "10%", "size", "10%"),
            ("time_based", "", "time_based", "1"),
            ("direct", "true", "direct", "1"),
        ] {
            assert_eq!(normalised(name, value), (own.to_owned(), normal.to_owned()));
        }
    }
}
