//! How fast contents are made: one thread on one CPU, into a buffer that is used again.
//!
//! Every kind by itself, in small files and in pieces of a large one, and the files of whole trees
//! as they come. All are measured in turn, several times, so that what disturbs meets all alike.

use super::make::{stay_on_one_processor, tree};
use anyhow::{Context as _, Result};
use fsarena_corpus::contents::{Generator, Head, Kind, Percent};
use fsarena_corpus::{EntryKind, Tree};
use fsarena_stats::median;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Smallest speed of what does not compress, bytes per second.
const RANDOM: f64 = 1e9;
/// Smallest speed of what is like text, bytes per second.
const TEXT: f64 = 3e8;
/// The speed is shown and not judged.
const SHOWN: f64 = 0.0;
const RUNS: usize = 9;
/// Length of a run.
const RUN: Duration = Duration::from_millis(250);
const SMOKE_RUN: Duration = Duration::from_millis(2);
/// The buffer: what a thread of the corpus fills at a time, too.
const BUFFER_BYTES: usize = 1 << 20;
/// A file of the trees, bytes.
const SMALL_BYTES: u64 = 1000;
/// A large file, bytes: made in pieces of a buffer.
const LARGE_BYTES: u64 = 256 << 20;
/// A source in C, bytes.
const SOURCE_BYTES: u64 = 12_000;

/// Something to be made.
struct Row {
    name: String,
    least: f64,
    work: Work,
}

enum Work {
    /// Files of a size, one after the other.
    Files(Kind, u64),
    /// The files of a tree, as pieces: entry, offset, bytes.
    Tree(Box<Tree>, Vec<(usize, u64, usize)>),
}

/// Measures all on one CPU, prints the speeds, and gives the figures that are missed.
///
/// # Errors
/// When the thread cannot be bound.
pub(super) fn measure(smoke: bool) -> Result<Vec<String>> {
    let (runs, time) = if smoke { (1, SMOKE_RUN) } else { (RUNS, RUN) };
    let rows = rows(if smoke { 0.005 } else { 0.2 })?;
    let work = || -> Result<Vec<Vec<f64>>> {
        stay_on_one_processor()?;
        let maker = Generator::new(1);
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut speeds = vec![Vec::new(); rows.len()];
        for _ in 0..runs {
            for (row, speeds) in rows.iter().zip(&mut speeds) {
                speeds.push(row.work.speed(&maker, time, &mut buffer));
            }
        }
        Ok(speeds)
    };
    let speeds = std::thread::scope(|scope| {
        scope.spawn(work).join().map_err(|_| anyhow::anyhow!("the thread panicked"))
    })??;
    println!(
        "contents made by one thread bound to one CPU: {runs} runs of {} ms each, in turn\n  \
         {:28} {:>9} {:>9} {:>9}  (MB/s, MB = 10^6 bytes)",
        time.as_millis(),
        "contents",
        "median",
        "slowest",
        "fastest"
    );
    let mut missed = Vec::new();
    for (row, speeds) in rows.iter().zip(&speeds) {
        let middle = median(speeds)?;
        let slowest = speeds.iter().copied().fold(f64::INFINITY, f64::min);
        let fastest = speeds.iter().copied().fold(0.0, f64::max);
        let (words, met) = row.verdict(middle);
        let mb = |speed: f64| speed / 1e6;
        println!(
            "  {:28} {:9.0} {:9.0} {:9.0}  {words}",
            row.name,
            mb(middle),
            mb(slowest),
            mb(fastest)
        );
        if !met {
            missed.push(format!("contents: {}", row.name));
        }
    }
    Ok(missed)
}

/// All that is measured; `scale`: how much of the trees.
fn rows(scale: f64) -> Result<Vec<Row>> {
    let part = |percent| Percent::new(percent).context("a percentage");
    let row = |name: &str, least, kind: Kind, bytes: u64| {
        let name = match bytes {
            LARGE_BYTES => format!("{name}, large"),
            _ => format!("{name}, {bytes} B"),
        };
        Row { name, least, work: Work::Files(kind, bytes) }
    };
    let mut rows = vec![
        row("random", RANDOM, Kind::Random, SMALL_BYTES),
        row("random", RANDOM, Kind::Random, LARGE_BYTES),
        row("jpeg", RANDOM, Kind::Headed(Head::Jpeg), 300_000),
    ];
    let ebuild = Kind::Ebuild { unique_percent: part(10)? };
    let makefile = Kind::Makefile { unique_percent: part(8)? };
    let lines = [("text", Kind::Text), ("html", Kind::Html), ("ebuild", ebuild)];
    for (name, kind) in lines.into_iter().chain([("makefile", makefile)]) {
        rows.push(row(name, TEXT, kind, SMALL_BYTES));
        rows.push(row(name, TEXT, kind, LARGE_BYTES));
    }
    let mixed = Kind::Mixed { random_percent: part(60)? };
    rows.push(row("mixed, 60 % random", SHOWN, mixed, LARGE_BYTES));
    rows.push(row("wav", SHOWN, Kind::Wav, LARGE_BYTES));
    rows.push(row("c", SHOWN, Kind::C, SOURCE_BYTES));
    for (name, scale, least) in [
        ("ports-2004", scale, TEXT),
        ("portage-2010", scale, TEXT),
        ("small-20000", 1.0, SHOWN),
        ("c-tree", scale, SHOWN),
    ] {
        let tree = tree(name, scale)?;
        let mean_bytes = tree.contents().bytes / tree.contents().files.max(1);
        let pieces = pieces(&tree);
        let name = format!("{name}, {mean_bytes} B a file");
        rows.push(Row { name, least, work: Work::Tree(Box::new(tree), pieces) });
    }
    Ok(rows)
}

/// All files of a tree in pieces that a buffer holds.
fn pieces(tree: &Tree) -> Vec<(usize, u64, usize)> {
    let mut pieces = Vec::new();
    for (at, entry) in tree.entries().enumerate() {
        let EntryKind::File { size_bytes } = entry.kind else { continue };
        let mut offset = 0;
        while offset < size_bytes {
            let bytes = (size_bytes - offset).min(BUFFER_BYTES as u64);
            pieces.push((at, offset, bytes as usize));
            offset += bytes;
        }
    }
    pieces
}

impl Row {
    /// A word on `speed` (bytes per second), and whether no figure is missed.
    fn verdict(&self, speed: f64) -> (String, bool) {
        let met = speed >= self.least;
        let words = match (self.least > 0.0, met) {
            (false, _) => String::new(),
            (true, true) => format!("meets {:.0}", self.least / 1e6),
            (true, false) => format!("MISSES {:.0}", self.least / 1e6),
        };
        (words, met)
    }
}

impl Work {
    /// Bytes per second over at least `time`.
    fn speed(&self, maker: &Generator, time: Duration, buffer: &mut [u8]) -> f64 {
        let (mut next, mut bytes) = (0, 0);
        let begun = Instant::now();
        loop {
            bytes += self.fill(maker, &mut next, buffer);
            black_box(&*buffer);
            let elapsed = begun.elapsed();
            if elapsed >= time {
                return bytes as f64 / elapsed.as_secs_f64();
            }
        }
    }

    /// Fills the buffer as far as the next files, or the next piece of one, do; `next` is where to
    /// go on. The bytes that were made.
    fn fill(&self, maker: &Generator, next: &mut u64, buffer: &mut [u8]) -> usize {
        let mut filled = 0;
        loop {
            let rest = &mut buffer[filled..];
            let room = rest.len() as u64;
            let bytes = match self {
                Self::Files(kind, size_bytes) if *size_bytes > BUFFER_BYTES as u64 => {
                    let (number, offset) = (*next / size_bytes, *next % size_bytes);
                    let bytes = room.min(size_bytes - offset) as usize;
                    maker.fill(kind, number, *size_bytes, offset, &mut rest[..bytes]);
                    *next += bytes as u64;
                    return filled + bytes;
                }
                Self::Files(kind, size_bytes) => {
                    if *size_bytes > room {
                        return filled;
                    }
                    let bytes = *size_bytes as usize;
                    maker.fill(kind, *next, *size_bytes, 0, &mut rest[..bytes]);
                    bytes
                }
                Self::Tree(tree, pieces) => {
                    let (entry, offset, bytes) = pieces[*next as usize % pieces.len()];
                    if bytes as u64 > room {
                        return filled;
                    }
                    tree.fill(entry, offset, &mut rest[..bytes]);
                    bytes
                }
            };
            *next += 1;
            filled += bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_makes_its_bytes_and_goes_on() {
        let maker = Generator::new(1);
        for row in rows(0.003).unwrap() {
            let mut buffer = vec![0; BUFFER_BYTES];
            let mut next = 0;
            let made = row.work.fill(&maker, &mut next, &mut buffer);
            assert!(made > BUFFER_BYTES / 4 && made <= BUFFER_BYTES, "{}: {made}", row.name);
            assert!(next > 0, "{}", row.name);
            let first = buffer.clone();
            let (words, _) = row.verdict(0.0);
            assert_eq!(words.starts_with("MISSES"), row.least > 0.0, "{}", row.name);
            row.work.fill(&maker, &mut next, &mut buffer);
            assert!(buffer != first, "{}: the same again", row.name);
        }
    }

    #[test]
    fn pieces_are_all_bytes_of_a_tree() {
        let tree = tree("ports-2004", 0.003).unwrap();
        let pieces = pieces(&tree);
        let bytes: u64 = pieces.iter().map(|(_, _, bytes)| *bytes as u64).sum();
        assert_eq!(bytes, tree.contents().bytes);
    }

    #[test]
    fn a_speed_is_met_or_missed() {
        let row = |least| Row { name: "x".to_owned(), least, work: Work::Files(Kind::Text, 9) };
        assert_eq!(row(TEXT).verdict(3e8), ("meets 300".to_owned(), true));
        assert_eq!(row(RANDOM).verdict(9.99e8), ("MISSES 1000".to_owned(), false));
        assert_eq!(row(SHOWN).verdict(1.0), (String::new(), true));
    }
}
