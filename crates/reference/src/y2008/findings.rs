//! What 2008 concludes, held against its runs.

use super::data::{CPUS, DISTRIBUTIONS, Data, Pair, TESTS};
use crate::article::Finding;
use crate::figures::{CLOCK_S, Holds, all};
use crate::judgement::{TOLERANCE, is_stated, range};
use crate::table::differs;

pub(super) fn findings(data: &Data) -> Vec<Finding> {
    [
        Some(means_are_means(data)),
        Some(ratios_follow_from_means(data)),
        Some(three_repeats_are_enough(data)),
        bits_on_amd(data),
        gzip_is_within_error(data),
        untar_on_intel(data),
        Some(differences_are_no_error(data)),
        intel_with_32_bits(data),
        intel_loses_with_64_bits(data),
        flac_is_faster_on_ext3(data),
        Some(only_flac_is_faster_on_ext3(data)),
        untar_is_faster_in_memory(data),
        Some(memory_matters_for_small_files_only(data)),
        thirty_two_bits_for_files(data),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn means_are_means(data: &Data) -> Finding {
    let differ = data.series.iter().filter(|s| differs(s.printed_mean_s, s.runs.mean(), 1)).count();
    let of_two = data.series.iter().filter(|s| s.is_of_first_and_last()).count();
    let number = data.series.len();
    Finding {
        claim: "The figures are means of three measurements",
        holds: if differ == 0 { Holds::Holds } else { Holds::Falls },
        why: format!(
            "{differ} of {number} printed means differ from the means of all runs; {of_two} of \
             {number} are (first + last) / 2: the middle runs were not counted"
        ),
    }
}

fn ratios_follow_from_means(data: &Data) -> Finding {
    let ratios = data.all_ratios();
    let wrong = |of: &dyn Fn(Pair<'_>) -> f64| {
        ratios.iter().filter(|(printed, pair)| differs(*printed, of(*pair), 2)).count()
    };
    let (from_printed, from_true) =
        (wrong(&|pair| pair.printed()), wrong(&|pair| pair.recomputed()));
    let number = ratios.len();
    Finding {
        claim: "The ratios of tables 3 to 5 follow from the printed means",
        holds: if from_printed == 0 { Holds::Holds } else { Holds::Falls },
        why: format!(
            "{} of {number} do; from the true means {from_true} of {number} come out otherwise",
            number - from_printed
        ),
    }
}

fn three_repeats_are_enough(data: &Data) -> Finding {
    let five = data.five.iter().filter(|(_, runs, _)| runs.varies()).count();
    let varying: Vec<_> = data.series.iter().filter(|s| s.runs.varies()).collect();
    let widest = varying.iter().max_by(|a, b| a.runs.spread().total_cmp(&b.runs.spread()));
    let widest = widest.map_or_else(String::new, |s| {
        let place = format!("{} {} {}", s.cpu, s.distribution, s.filesystem);
        format!("; the widest, {} on {place}, took {} s", s.test, s.runs.range())
    });
    Finding {
        claim: "Repeats are all but identical, so that three are enough",
        holds: if varying.is_empty() { Holds::Holds } else { Holds::Falls },
        why: format!(
            "of the {} tests repeated five times, all in memory, {five} vary by more than the \
             clock; of the {} repeated three times, {} do{widest}",
            data.five.len(),
            data.series.len(),
            varying.len(),
        ),
    }
}

/// `untar 1.95, true 1.93 (19-20 against 9-11 s)`.
fn printed_and_true(pair: Pair<'_>) -> String {
    let (printed, computed) = (pair.printed(), pair.recomputed());
    format!("{} {printed:.2}, true {computed:.2} ({})", pair.above.test, pair.ranges())
}

fn all_printed_and_true(pairs: &[Pair<'_>]) -> String {
    pairs.iter().map(|pair| printed_and_true(*pair)).collect::<Vec<_>>().join(", ")
}

/// What becomes of "above the line is faster than below it".
fn faster(pair: Pair<'_>) -> Holds {
    pair.above.runs.is_faster_than(&pair.below.runs)
}

fn slower(pair: Pair<'_>) -> Holds {
    pair.below.runs.is_faster_than(&pair.above.runs)
}

/// What becomes of "the two are alike": it holds only where no difference of more than
/// [`TOLERANCE`] can be behind the repeats and the clock; that none is seen is not enough.
fn alike(pair: &Pair<'_>) -> Holds {
    is_stated(pair.bounds(), 1.0)
}

/// Whether `holds` is so of every pair; none where one of them was not measured.
fn of_pairs<'a>(
    claim: &'static str,
    what: &str,
    pairs: impl IntoIterator<Item = Option<Pair<'a>>>,
    holds: fn(Pair<'_>) -> Holds,
) -> Option<Finding> {
    let pairs: Vec<Pair<'_>> = pairs.into_iter().collect::<Option<_>>()?;
    let why = format!("{what}: {}", all_printed_and_true(&pairs));
    Some(Finding { claim, holds: all(pairs.into_iter().map(holds)), why })
}

fn bits_on_amd(data: &Data) -> Option<Finding> {
    let pairs = ["untar", "tar+bzip2", "wav2flac"].map(|test| data.bits(test, "AMD", "tmpfs"));
    let claim = "On AMD 64 bits lead in three tests of four: untar, tar+bzip2, wav2flac";
    of_pairs(claim, "64 / 32", pairs, faster)
}

fn gzip_is_within_error(data: &Data) -> Option<Finding> {
    let pairs = CPUS.map(|cpu| data.bits("tar+gzip", cpu, "tmpfs"));
    let pairs: Vec<_> = pairs.into_iter().collect::<Option<_>>()?;
    // Clear of each other, the method has seen it.
    let each = pairs.iter().map(|pair| match pair.above.runs.clear_of(&pair.below.runs) {
        true => Holds::Falls,
        false => alike(pair),
    });
    let seconds =
        pairs.iter().map(|pair| CLOCK_S / pair.below.runs.mean().min(pair.above.runs.mean()));
    let coarsest = seconds.fold(0.0, f64::max) * 100.0;
    Some(Finding {
        claim: "In tar+gzip the difference of 32 and 64 bits is within what the method can see",
        holds: all(each),
        why: format!(
            "64 / 32 on AMD and Intel: {}; not clear of each other is not alike: one second of \
             the clock is up to {coarsest:.0} % of these",
            all_printed_and_true(&pairs)
        ),
    })
}

fn untar_on_intel(data: &Data) -> Option<Finding> {
    const STATED: f64 = 2.0;
    let pair = data.bits("untar", "Intel", "tmpfs")?;
    Some(Finding {
        claim: "On Intel untar takes almost twice as long with 64 bits as with 32",
        holds: is_stated(pair.bounds(), STATED),
        why: format!(
            "64 / 32: {}, with the clock {}; as stated is {}",
            printed_and_true(pair),
            pair.bounds().text(),
            range(STATED)
        ),
    })
}

fn differences_are_no_error(data: &Data) -> Finding {
    let tests = TESTS.iter().flat_map(|test| CPUS.map(|cpu| data.bits(test.name, cpu, "tmpfs")));
    let pairs: Vec<Pair<'_>> = tests.flatten().collect();
    let unclear = |p: &&Pair<'_>| !p.above.runs.clear_of(&p.below.runs);
    let unclear: Vec<String> = pairs
        .iter()
        .filter(unclear)
        .map(|p| format!("{} on {} ({})", p.above.test, p.above.cpu, p.ranges()))
        .collect();
    let clear = pairs.len() - unclear.len();
    Finding {
        claim: "The differences of 32 and 64 bits cannot be put down to the error of measurement",
        holds: if unclear.is_empty() { Holds::Holds } else { Holds::CannotBeTold },
        why: format!(
            "{clear} of {} are clear of repeats and clock; not so: {}",
            pairs.len(),
            unclear.join(", ")
        ),
    }
}

fn intel_with_32_bits(data: &Data) -> Option<Finding> {
    let tests = ["untar", "tar+bzip2", "tar+gzip", "wav2flac"];
    let pairs = tests.map(|test| data.vendor(test, "Zenwalk"));
    let claim = "With 32 bits Intel is faster than AMD in every test";
    of_pairs(claim, "Intel / AMD", pairs, faster)
}

fn intel_loses_with_64_bits(data: &Data) -> Option<Finding> {
    let pairs = ["untar", "wav2flac"].map(|test| data.vendor(test, "Slamd64"));
    let claim = "With 64 bits Intel loses to AMD in untar and wav2flac";
    of_pairs(claim, "Intel / AMD", pairs, slower)
}

fn flac_is_faster_on_ext3(data: &Data) -> Option<Finding> {
    let claim = "On 64-bit Intel wav2flac is a little faster on ext3 than in memory";
    of_pairs(claim, "tmpfs / ext3", [data.place("wav2flac", "Intel", "Slamd64")], slower)
}

fn places(data: &Data) -> Vec<Pair<'_>> {
    let cpus = TESTS.iter().flat_map(|test| CPUS.map(|cpu| (test.name, cpu)));
    let of = |(test, cpu)| DISTRIBUTIONS.map(|distribution| data.place(test, cpu, distribution));
    cpus.flat_map(of).flatten().collect()
}

fn combination(pair: &Pair<'_>) -> String {
    format!("{} on {} {}", pair.above.test, pair.above.cpu, pair.above.distribution)
}

fn only_flac_is_faster_on_ext3(data: &Data) -> Finding {
    let pairs = places(data);
    let ahead = |of: &dyn Fn(Pair<'_>) -> f64| -> Vec<String> {
        let ahead = pairs.iter().filter(|pair| of(**pair) > 1.0 + 1e-9);
        ahead.map(|pair| format!("{} ({:.2})", combination(pair), of(*pair))).collect()
    };
    let (printed, computed) = (ahead(&|pair| pair.printed()), ahead(&|pair| pair.recomputed()));
    let list = |names: &[String]| {
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    let is_flac = |names: &[String]| names.len() == 1 && names[0].starts_with("wav2flac on Intel");
    Finding {
        claim: "wav2flac on 64-bit Intel is the one case in which ext3 comes out ahead of memory",
        holds: if is_flac(&computed) { Holds::Holds } else { Holds::Falls },
        why: format!(
            "tmpfs / ext3 above 1 by the printed means: {}; by the true means: {}",
            list(&printed),
            list(&computed)
        ),
    }
}

fn untar_is_faster_in_memory(data: &Data) -> Option<Finding> {
    let pairs = places(data).into_iter().filter(|pair| pair.above.test == "untar");
    let claim = "Untar is faster in memory than on ext3, on every machine and system";
    of_pairs(claim, "tmpfs / ext3", pairs.map(Some), faster)
}

fn memory_matters_for_small_files_only(data: &Data) -> Finding {
    let others: Vec<Pair<'_>> =
        places(data).into_iter().filter(|pair| pair.above.test != "untar").collect();
    let within = others.iter().filter(|pair| alike(pair) == Holds::Holds).count();
    let wide = others.iter().filter(|pair| (pair.recomputed() - 1.0).abs() > TOLERANCE);
    let farthest: Vec<String> = wide
        .map(|p| format!("{} {:.2} ({})", combination(p), p.recomputed(), p.ranges()))
        .collect();
    let farthest = if farthest.is_empty() { "none".to_owned() } else { farthest.join(", ") };
    Finding {
        claim: "But for very many small files (untar), memory and disk differ negligibly",
        holds: all(others.iter().map(alike)),
        why: format!(
            "{within} of {} ratios tmpfs / ext3 lie within 10 % of 1 whatever repeats and clock \
             did; farther by the true means: {farthest}",
            others.len()
        ),
    }
}

fn thirty_two_bits_for_files(data: &Data) -> Option<Finding> {
    let pairs = CPUS.map(|cpu| data.bits("untar", cpu, "ext3"));
    let claim = "Where files are worked on, 32 bits are ahead (untar on ext3, AMD and Intel)";
    of_pairs(claim, "64 / 32", pairs, slower)
}

#[cfg(test)]
mod tests {
    use super::super::Series;
    use super::*;
    use crate::figures::Runs;

    fn finding(start: &str) -> Finding {
        let found = findings(&Data::read().unwrap().1);
        assert_eq!(found.len(), 14, "none is left out for want of data");
        found.into_iter().find(|finding| finding.claim.starts_with(start)).unwrap()
    }

    fn holds(start: &str, holds: Holds, words: &[&str]) {
        let found = finding(start);
        assert_eq!(found.holds, holds, "{found:?}");
        for word in words {
            assert!(found.why.contains(word), "{word}: {}", found.why);
        }
    }

    #[test]
    fn means_and_repeats() {
        holds("The figures", Holds::Falls, &["27 of 36", "36 of 36"]);
        let widest = "untar on Intel Slamd64 ext3, took 23-29 s";
        holds("Repeats", Holds::Falls, &["five times, all in memory, 0 vary", "8 do", widest]);
    }

    #[test]
    fn thirty_two_against_sixty_four_bits() {
        holds(
            "On AMD 64 bits",
            Holds::CannotBeTold,
            &["wav2flac 0.97, true 0.97 (28-29 against 29-30 s)"],
        );
        let words = ["1.06, true 1.15", "0.88, true 0.84 (7 against 8-9 s)", "up to 14 %"];
        holds("In tar+gzip", Holds::CannotBeTold, &words);
        holds("On Intel untar", Holds::CannotBeTold, &["1.95, true 1.93 (19-20 against 9-11 s)"]);
        holds("The differences", Holds::CannotBeTold, &["6 of 9", "tar+gzip on Intel"]);
        holds("Where files", Holds::Falls, &["untar 0.84, true 0.93 (23-29 against 26-30 s)"]);
    }

    #[test]
    fn intel_against_amd() {
        holds("With 32 bits", Holds::CannotBeTold, &["tar+gzip 0.89, true 0.93 (8-9 against 9 s)"]);
        holds("With 64 bits", Holds::CannotBeTold, &["1.70, true 1.71", "30-31 against 28-29 s"]);
    }

    #[test]
    fn memory_against_disk() {
        holds("On 64-bit Intel", Holds::Falls, &["1.03, true 0.99 (30-31 against 29-33 s)"]);
        let ahead = "by the true means: tar+gzip on AMD Slamd64 (1.07)";
        holds("wav2flac on 64-bit", Holds::Falls, &["wav2flac on Intel Slamd64 (1.03)", ahead]);
        holds("Untar is faster", Holds::Holds, &["0.81, true 0.75 (19-20 against 23-29 s)"]);
        holds("But for", Holds::CannotBeTold, &["tar+gzip on Intel Slamd64 0.81", "14 ratios"]);
    }

    #[test]
    fn alike_is_only_what_cannot_be_otherwise() {
        let series = |runs: &[f64]| Series {
            test: String::new(),
            cpu: String::new(),
            distribution: String::new(),
            filesystem: String::new(),
            runs: Runs(runs.to_vec()),
            printed_mean_s: runs[0],
        };
        let of = |above: &[f64], below: &[f64]| {
            let (above, below) = (series(above), series(below));
            alike(&Pair { above: &above, below: &below })
        };
        assert_eq!(of(&[56.0, 56.0], &[56.0, 55.0]), Holds::Holds);
        assert_eq!(of(&[7.0, 7.0], &[7.0, 7.0]), Holds::CannotBeTold, "a second is 14 %");
        assert_eq!(of(&[7.0, 7.0], &[8.0, 9.0]), Holds::CannotBeTold);
        assert_eq!(of(&[20.0, 19.0], &[30.0, 26.0]), Holds::Falls);
    }
}
