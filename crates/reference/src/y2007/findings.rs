//! What the article concludes, held against its own numbers, and what can be inferred for its
//! question.

use super::data::{FILES, MB, PERIOD_S, Rows};
use crate::article::{BlockRow, Finding};
use crate::figures::{Holds, Interval};
use crate::judgement::{A_LITTLE, TOLERANCE, is_stated, range};

pub(super) fn findings(rows: &Rows) -> Vec<Finding> {
    vec![
        optimum_in_the_middle(rows),
        optimum_is_there(rows),
        bytes_grow(rows),
        nine_times(rows),
        whole_fragments(rows),
        touchy(rows),
        small_are_not(rows),
        an_eighth(rows),
    ]
}

fn least(rows: &Rows, of: fn(&BlockRow) -> Interval) -> &BlockRow {
    let less = |a, b| if of(b).value < of(a).value { b } else { a };
    rows.plain().iter().reduce(less).unwrap_or(rows.first())
}

fn optimum_in_the_middle(rows: &Rows) -> Finding {
    let (work, busy) = (least(rows, BlockRow::work), least(rows, BlockRow::busy));
    let ends = [rows.first(), rows.last()];
    let over = |end: &BlockRow| (end.work().over(work.work()), end.busy().over(busy.busy()));
    let inside = !ends.iter().any(|end| end.head() == work.head() || end.head() == busy.head());
    let clear = ends.iter().all(|end| over(end).0.low.min(over(end).1.low) > 1.0 + TOLERANCE);
    let text = |end: &BlockRow| {
        let (time, load) = over(end);
        format!("{}: {} of its work time, {} of its load", end.head(), time.text(), load.text())
    };
    Finding {
        claim: "There is an optimum of work time and disk load between the smallest and the \
                largest blocks",
        holds: if inside && clear { Holds::Holds } else { Holds::CannotBeTold },
        why: format!("least at {}; {}", work.head(), ends.map(text).join("; ")),
    }
}

fn optimum_is_there(rows: &Rows) -> Finding {
    let best = least(rows, BlockRow::work);
    let others = rows.plain().iter().filter(|row| row.head() != best.head());
    let next = others.fold(None, |known: Option<&BlockRow>, row| match known {
        Some(known) if known.work_time_s <= row.work_time_s => Some(known),
        _ => Some(row),
    });
    let next = next.unwrap_or(best);
    Finding {
        claim: "The optimum is at blocks of 32768 and fragments of 4096 bytes",
        holds: Holds::CannotBeTold,
        why: format!(
            "{} is the least of all, but {} is only {} of it; how far single cycles lay apart is \
             not published",
            best.head(),
            next.head(),
            next.work().over(best.work()).text()
        ),
    }
}

fn bytes_grow(rows: &Rows) -> Finding {
    let plain = rows.plain();
    let grows = plain.windows(2).all(|two| two[1].cycle_mb().low > two[0].cycle_mb().high);
    let listed: Vec<String> =
        plain.iter().map(|row| format!("{:.0}", row.cycle_mb().value)).collect();
    Finding {
        claim: "The larger the fragment, the more bytes are written for the same data",
        holds: if grows { Holds::Holds } else { Holds::Falls },
        why: format!(
            "{} MB a cycle; but blocks grew with fragments in all rows save the last",
            listed.join(", ")
        ),
    }
}

fn nine_times(rows: &Rows) -> Finding {
    const STATED: f64 = 9.0;
    let times = rows.last().rate().over(rows.first().rate());
    let more = rows.last().cycle_mb().value - rows.first().cycle_mb().value;
    Finding {
        claim: "Nearly nine times as much is written with fragments of 65536 as with 512 bytes, \
                2.4 GB more",
        holds: is_stated(times, STATED),
        why: format!(
            "{} times as much; as stated is {}; the {more:.0} MB more are right",
            times.text(),
            range(STATED)
        ),
    }
}

fn whole_fragments(rows: &Rows) -> Finding {
    let unexplained: Vec<String> = rows
        .plain()
        .iter()
        .filter(|row| rows.unexplained_mb(row) > 0.0)
        .map(|row| format!("{:.0} MB at {}", rows.unexplained_mb(row), row.head()))
        .collect();
    let last = rows.last();
    let fragments = last.cycle_mb().value * MB / last.fragment_bytes / FILES;
    let holds = if unexplained.is_empty() { Holds::Holds } else { Holds::Falls };
    Finding {
        claim: "The system writes every fragment whole, however little is in it, and that is where \
                the extra bytes come from",
        holds,
        why: format!(
            "it would be enough for {}, which wrote {fragments:.2} fragments a file; but of the \
             others it leaves at least {} unexplained",
            last.head(),
            unexplained.join(", ")
        ),
    }
}

fn touchy(rows: &Rows) -> Finding {
    const TWICE: f64 = 2.0;
    let (with, alone) = (rows.disturbed(), rows.last());
    let (time, load) = (with.work().over(alone.work()), with.busy().over(alone.busy()));
    let more_mb = with.cycle_mb().value - alone.cycle_mb().value;
    let own_mb = 1000.0 * alone.fragment_bytes / MB;
    Finding {
        claim: "With fragments of 65536 bytes a script that makes 1,000 small files nearly doubles \
                the load of the disk and makes the work far longer",
        holds: if time.low > A_LITTLE { is_stated(load, TWICE) } else { Holds::CannotBeTold },
        why: format!(
            "work time {}, load {}, of which nearly twice is {}; {more_mb:.0} MB more a cycle, of which 1,000 files of one \
             fragment are {own_mb:.0}; {:.0} s are more than the period of {PERIOD_S:.0} s, so \
             that cycles met",
            time.text(),
            load.text(),
            range(TWICE),
            with.work_time_s
        ),
    }
}

fn small_are_not(rows: &Rows) -> Finding {
    let disturbed = rows.all.iter().filter(|row| row.disturbed).count();
    Finding {
        claim: "With small fragments a second load makes no such jumps",
        holds: Holds::CannotBeTold,
        why: format!("{disturbed} of 7 rows is disturbed, the one with fragments of 65536 bytes"),
    }
}

fn an_eighth(rows: &Rows) -> Finding {
    let (eighth, whole) = (rows.eighth(), rows.last());
    Finding {
        claim: "A fragment of an eighth of the block is better than any other share",
        holds: Holds::CannotBeTold,
        why: format!(
            "one other share is printed, {}: work time {}, load {} of those of {}",
            whole.head(),
            whole.work().over(eighth.work()).text(),
            whole.busy().over(eighth.busy()).text(),
            eighth.head()
        ),
    }
}

/// What its own numbers suggest for its question; each is an inference.
pub(super) fn inference(rows: &Rows) -> Vec<String> {
    let (eighth, last) = (rows.eighth(), rows.last());
    let left_mb = rows.unexplained_mb(eighth);
    let blocks = left_mb * MB / eighth.block_bytes;
    vec![
        "All of this is inference: nothing here was measured on FreeBSD 6.2 and UFS2 with soft \
         updates, and the trace that would tell was never taken."
            .to_owned(),
        format!(
            "At {} rounding to fragments as written is enough: {:.0} MB of room for {:.0} MB more \
             than the least row.",
            last.head(),
            rows.last().rounding_most_mb(rows.data_most_mb()),
            last.cycle_mb().value - rows.first().cycle_mb().value
        ),
        format!(
            "At {} it is not: at least {left_mb:.0} MB are something else, or {:.1} kB for each of \
             40,000 files. Such a rest grows from row to row, and since block and fragment grew \
             together, the numbers do not tell which of the two it follows. If the block: UFS \
             writes inodes in buffers of a whole block (fs_bsize, ffs_update of \
             sys/ufs/ffs/ffs_inode.c), whatever changed in them, and {blocks:.0} such writes a \
             cycle, {:.2} a file, would be enough. If the fragment: the last one of a file, \
             written more than once in a cycle.",
            eighth.head(),
            left_mb * MB / FILES / 1e3,
            blocks / FILES
        ),
    ]
}
