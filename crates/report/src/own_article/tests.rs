//! What an article says of a RUN made by hand.

use super::{Language, OwnArticle, own_article};
use crate::answer::answer;
use crate::article::OwnPhase;
use crate::context::Repeats;
use crate::pictures::sample::Sample;
use crate::section::Block;
use fsarena_model::record::{MemoryRecord, Notice};
use fsarena_model::run::Clock;
use fsarena_model::verdict::Rule;
use fsarena_testkit::records;

fn language(tag: &str) -> Language {
    Language::named(tag).unwrap()
}

/// All that an article says but its charts, a line each.
fn lines(article: &OwnArticle) -> Vec<String> {
    fn of_block(block: &Block, out: &mut Vec<String>) {
        match block {
            Block::Heading(text)
            | Block::Text(text)
            | Block::Note(text)
            | Block::Warning(text)
            | Block::Missing(text) => out.push(text.clone()),
            Block::List(_, items) => out.extend(items.iter().cloned()),
            Block::Table(table) => {
                out.push(table.caption.clone());
                out.push(
                    table.columns.iter().map(|c| c.head.clone()).collect::<Vec<_>>().join("|"),
                );
                for row in &table.rows {
                    let text =
                        |(at, cell): (usize, &crate::table::Cell)| match cell.notes.as_slice() {
                            [] if table.columns[at].align == crate::table::Align::Code => {
                                format!("`{}`", cell.text)
                            }
                            [] => cell.text.clone(),
                            notes => format!("{} ({})", cell.text, notes.join("; ")),
                        };
                    out.push(row.iter().enumerate().map(text).collect::<Vec<_>>().join("|"));
                }
            }
            Block::Chart(_, caption) => out.push(caption.clone()),
            Block::Fold(summary, blocks) => {
                out.push(summary.clone());
                blocks.iter().for_each(|block| of_block(block, out));
            }
            _ => {}
        }
    }
    let mut out = vec![article.title.clone()];
    for (title, section) in &article.sections {
        out.push(title.clone());
        section.blocks.iter().for_each(|block| of_block(block, &mut out));
    }
    out
}

/// Three file systems, each a tenth slower than the one before, of which the machine was disturbed.
fn disturbed() -> Sample {
    let work = vec![records::small_files()];
    let rule = Some(Rule::Fixed { blocks: 6 });
    let mut sample = Sample::asking(&["ext4", "xfs", "btrfs"], work, 6, rule);
    for record in &mut sample.records {
        record.notices.push(Notice {
            code: "buffered".to_owned(),
            text: "the loop device does no direct I/O".to_owned(),
            remedy: Some("put the images elsewhere".to_owned()),
            measure: None,
        });
        record.phases[0].memory = MemoryRecord::Limited {
            limit_bytes: 64 << 20,
            by: "cgroup v2".to_owned(),
            peak_bytes: None,
            syncs: 2,
        };
    }
    sample.again()
}

#[test]
fn an_article_says_what_the_answer_says_to_mind() {
    let sample = disturbed().unmeasured_block();
    let run = sample.run();
    let cautions = answer(&run, None).cautions;
    assert!(cautions.len() > 1, "{cautions:?}");
    let said = lines(&own_article(&run, language("en"))).join("\n");
    for caution in cautions {
        // A sentence begins with a capital.
        assert!(said.contains(&caution.text[1..]), "{}: {said}", caution.text);
        let remedy = caution.remedy.unwrap_or_default();
        assert!(said.contains(remedy.get(1..).unwrap_or_default()), "{remedy}: {said}");
    }
}

#[test]
fn an_article_states_its_conditions() {
    let sample = disturbed();
    let said = lines(&own_article(&sample.run(), language("en")));
    let has = |line: &str| assert!(said.iter().any(|own| own == line), "{line}: {said:#?}");
    has("maker of ext4: mkfs.ext4 1.2.3");
    has("fsarena: 0.1.0");
    has("ext4|`-`|`-`|`rw,relatime`");
    let workload = &records::small_files();
    let first = &workload.phases.iter().find(|phase| phase.timed).unwrap().name;
    has(&format!("{}|{first}|cold|cold|64 MiB by cgroup v2|all", workload.name));
}

#[test]
fn every_pair_that_was_asked_is_said() {
    let sample = disturbed();
    let said = lines(&own_article(&sample.run(), language("en")));
    let create =
        said.iter().find(|line| line.contains("the least median is that of ext4")).unwrap();
    assert!(create.contains("; btrfs takes 1.2"), "{create}");
    let rest = create.split_once(" The other pairs: ").unwrap().1;
    assert!(rest.starts_with("btrfs against xfs: takes 1.089 times as long [1.0"), "{rest}");
    let said = lines(&own_article(&sample.run(), language("ru")));
    let rest = said.iter().find_map(|line| line.split_once(" Остальные пары: ")).unwrap().1;
    assert!(rest.starts_with("у btrfs в 1,089 раза дольше [1,0"), "{rest}");
    assert!(rest.contains(", чем у xfs"), "{rest}");
}

/// Two blocks decide nothing: pairs that are open have no figures each, and are named where others
/// are decided.
#[test]
fn pairs_that_are_open_are_said_in_few_words() {
    let work = vec![records::small_files()];
    let rule = Some(Rule::Fixed { blocks: 2 });
    let mut sample = Sample::asking(&["ext4", "xfs", "btrfs"], work, 2, rule);
    for (at, record) in sample.records.iter_mut().enumerate() {
        let uneven = [0, 5, 9, 9, 0, 5][at % 6] * records::SECOND_NS;
        let clocks = record.phases.iter_mut().map(|phase| &mut phase.clocks);
        clocks.for_each(|clocks| clocks.durable_ns = clocks.durable_ns.map(|ns| ns + uneven));
    }
    let sample = sample.again();
    let said = lines(&own_article(&sample.run(), language("en"))).join("\n");
    assert!(
        said.contains(" is undecided (") && said.contains("No other pair is decided."),
        "{said}"
    );
    let said = lines(&own_article(&sample.run(), language("ru"))).join("\n");
    assert!(said.contains("Остальные пары не решены."), "{said}");
}

#[test]
fn the_author_s_table_is_there_with_what_is_missing() {
    let work = vec![records::small_files()];
    let sample = Sample::asking(&["ext4", "xfs"], work, 2, Some(Rule::Fixed { blocks: 2 }));
    let sample = sample.without(1, 0, "mkfs.xfs is missing");
    let article = fsarena_reference::study(2003).unwrap();
    let phases = [OwnPhase {
        title: "write 5000 files of 256 B".to_owned(),
        workload: "small-files".to_owned(),
        phase: "create".to_owned(),
    }];
    let repeats = Repeats { article: &article, phases: &phases, notes: &[] };
    let said = lines(&own_article(&sample.repeating(Some(repeats)), language("en")));
    let at = said.iter().position(|line| line == "The author's table, from this RUN").unwrap();
    assert!(said[at + 1].starts_with("As in 2003: RUN 0123456789abcdef, rates / CPU load"));
    let has = |line: &str| assert!(said[at..].iter().any(|own| own == line), "{line}: {said:#?}");
    has("write 5000 files of 256 B: xfs: not run: mkfs.xfs is missing");
    let others = fsarena_reference::study(2003).unwrap();
    let fsarena_reference::Shape::Rates { tests, .. } = &others.shape else { panic!("2003") };
    let others: Vec<&str> = tests[1..].iter().map(|test| test.heading).collect();
    has(&format!("{}: no phase of this RUN repeats it", others.join("; ")));
}

/// What is said of then and now, of ext3 and xfs in a test of 2003; xfs returns after `times` as
/// long as ext3, and the clock of the question is `clock`.
fn then_and_now(test: &str, times: f64, clock: Clock, scale: f64) -> Vec<String> {
    let work = vec![records::small_files()];
    let rule = Some(Rule::Fixed { blocks: 6 });
    let mut sample = Sample::asking(&["ext3", "xfs"], work, 6, rule);
    let asked = sample.header.plan.verdict.as_mut().unwrap();
    asked.questions.iter_mut().for_each(|question| question.clock = clock);
    sample.header.plan.scale = scale;
    let xfs = sample.header.plan.contenders[1].id();
    for record in sample.records.iter_mut() {
        let times = if record.key.contender == xfs { times } else { 1.0 };
        let noise = 1.0 + f64::from(record.key.block % 3) / 1000.0;
        let returned_ns = (4e8 * times * noise) as u64;
        record.phases.iter_mut().for_each(|phase| phase.clocks.returned_ns = returned_ns);
    }
    let sample = sample.again();
    let article = fsarena_reference::study(2003).unwrap();
    let phases = [OwnPhase {
        title: test.to_owned(),
        workload: "small-files".to_owned(),
        phase: "create".to_owned(),
    }];
    let repeats = Repeats { article: &article, phases: &phases, notes: &[] };
    let said = lines(&own_article(&sample.repeating(Some(repeats)), language("en")));
    let at = said.iter().position(|line| line == "Then and now").unwrap();
    let to = said.iter().position(|line| line.starts_with("Its conclusions")).unwrap();
    said[at + 1..to].to_vec()
}

const FEW: &str = "write 5000 files of 256 B";

#[test]
fn then_and_now_are_compared_where_both_can_be() {
    let said = then_and_now(FEW, 0.5, Clock::Returned, 1.0);
    let then = "write 5000 files of 256 B: in 2003 xfs was 2.93 times as fast as ext3; now";
    let last = said.last().unwrap();
    assert!(last.starts_with(&format!("{then} too, 2.00")), "{said:?}");
    assert_eq!(said.len(), 3, "with a chart: {said:?}");
    let said = then_and_now(FEW, 2.0, Clock::Returned, 1.0);
    let reversed = format!("{then} it is the other way round, 2.00");
    assert!(said.last().unwrap().starts_with(&reversed), "{said:?}");
    let said = then_and_now(FEW, 1.01, Clock::Returned, 1.0);
    let same = format!("{then} they are the same within the margin.");
    assert_eq!(said.last().unwrap(), &same);
}

#[test]
fn then_and_now_are_silent_where_one_side_has_nothing() {
    let none = "No two of what 2003 compared are contenders here with the same question";
    let silent = |said: Vec<String>, why: &str| {
        assert!(said[0].starts_with(none), "{said:?}");
        assert_eq!(said.len(), 2, "no chart: {said:?}");
        assert!(said[1].contains(why), "{said:?}");
    };
    silent(then_and_now(FEW, 0.5, Clock::Durable, 1.0), "until the calls returned was not asked");
    let big = "read one file of 1500 MB";
    let why = "no difference can be told of then, 26529.89 KB/s and 26237.54 KB/s";
    silent(then_and_now(big, 0.5, Clock::Returned, 1.0), why);
}

#[test]
fn other_work_is_said() {
    let said = then_and_now(FEW, 0.5, Clock::Returned, 0.02);
    let other = "write 5000 files of 256 B (here other work: ";
    assert!(said.last().unwrap().starts_with(other), "{said:?}");
}

/// An article of the year's own experiment, made by hand: its workloads, phases, rows and notes, on
/// file systems of which one was not run, disturbed and cut off.
fn of_year(name: &str, scale: f64) -> OwnArticle {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments");
    let file = std::fs::read_to_string(format!("{dir}/{name}.toml")).unwrap();
    let toml: toml::Table = file.parse().unwrap();
    let texts = |value: &toml::Value, key: &str| value[key].as_str().unwrap().to_owned();
    let all = |key: &str| toml[key].as_array().unwrap().clone();
    let workload = |value: &toml::Value| {
        let mut work = records::small_files();
        work.name = texts(value, "name");
        let title = texts(value, "title");
        work.title = title.replace("{files}", "5,000 files").replace("{size}", "256 B");
        let of_op = work.phases.iter().find(|phase| phase.timed).unwrap().clone();
        let phase = |phase: &toml::Value| {
            let name = |key: &str| phase.get(key).and_then(toml::Value::as_str);
            let name = phase.as_str().or(name("name")).or(name("op")).unwrap().to_owned();
            fsarena_model::work::Phase { name, ..of_op.clone() }
        };
        let timed = value["phases"].as_array().unwrap().iter().map(phase);
        work.phases =
            work.phases.iter().filter(|phase| !phase.timed).cloned().chain(timed).collect();
        work
    };
    let row = |value: &toml::Value| OwnPhase {
        title: texts(value, "title"),
        workload: texts(value, "workload"),
        phase: texts(value, "phase"),
    };
    let work: Vec<_> = all("workload").iter().map(workload).collect();
    let phases: Vec<_> = all("row").iter().map(row).collect();
    let notes: Vec<String> = toml.get("notes").map_or_else(Vec::new, |notes| {
        notes.as_array().unwrap().iter().map(|note| note.as_str().unwrap().to_owned()).collect()
    });
    let labels = ["ext3", "xfs", "btrfs", "jfs"];
    let mut sample = Sample::asking(&labels, work, 6, Some(Rule::Fixed { blocks: 6 }));
    sample.header.title = toml["title"].as_str().unwrap().to_owned();
    sample.header.plan.scale = scale;
    let sample =
        sample.again().without(3, 0, "mkfs.jfs is not installed; install the package jfsutils");
    let article = fsarena_reference::of_experiment(name).unwrap();
    let repeats = Repeats { article: &article, phases: &phases, notes: &notes };
    own_article(&sample.repeating(Some(repeats)), language("ru"))
}

/// Names as they are everywhere: file systems, programs, systems, makers, options.
const NAMES: &[&str] = &[
    "a",
    "xfs",
    "btrfs",
    "jfs",
    "reiserfs",
    "tmpfs",
    "ufs",
    "UFS",
    "Linux",
    "FreeBSD",
    "BSD",
    "AMD",
    "Intel",
    "Pentium",
    "SATA",
    "PATA",
    "SSD",
    "HDD",
    "Zenwalk",
    "Slamd",
    "soft",
    "updates",
    "SoftUpdates",
    "tar",
    "gzip",
    "bzip",
    "untar",
    "flac",
    "oggenc",
    "ogg",
    "portage",
    "Portage",
    "Debian",
    "avi",
    "iso",
    "writeback",
    "ordered",
    "journal",
    "cp",
    "rm",
    "sync",
    "fsarena",
    "loop",
    "cgroup",
    "root",
    "mkfs",
    "best",
    "wav",
    "jfsutils",
    "compare",
    "r",
    "v",
    "q",
];

/// Words of Latin letters alone that are no names; code and words with digits or signs are none.
fn latin_words(text: &str, names: &[String]) -> Vec<String> {
    let outside = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let is_sign = |c: char| !(c.is_alphanumeric() || "-=/._+".contains(c));
    let words = outside.split(is_sign).map(|word| word.trim_matches(['-', '.', '/', '+']));
    let is_latin =
        |word: &&str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic() || c == '-');
    let is_name = |word: &str| NAMES.contains(&word) || names.iter().any(|name| name == word);
    words.filter(is_latin).filter(|word| !is_name(word)).map(str::to_owned).collect()
}

#[test]
fn a_russian_article_is_russian() {
    let years = [
        "2003-linux-vs-freebsd",
        "2005-file-operations",
        "2007-ufs-block-fragment",
        "2008-all-against-all",
        "2008-32-against-64",
        "2010-ssd-ext4-journal",
    ];
    let mut found: Vec<String> = Vec::new();
    for (name, scale) in years.into_iter().flat_map(|name| [(name, 1.0), (name, 0.05)]) {
        let article = of_year(name, scale);
        let workloads =
            ["small-5000", "small-50000", "big", "data", "ports", "big-file", "periodic"];
        let workloads = workloads.iter().chain(&["portage", "music", "flac", "avi", "iso"]);
        let names: Vec<String> = workloads.map(|&name| name.to_owned()).collect();
        if let Some(dir) = std::env::var_os("FSARENA_WRITE_ARTICLES") {
            let page = &article.files()[0].text;
            std::fs::write(std::path::Path::new(&dir).join(format!("{name}-{scale}.html")), page)
                .unwrap();
        }
        let mut said = lines(&article);
        for (_, svg) in article.charts() {
            let drawn = roxmltree::Document::parse(&svg.inline).unwrap();
            let texts = drawn.descendants().filter(|node| node.is_text());
            said.extend(texts.filter_map(|node| node.text()).map(|text| format!("chart: {text}")));
        }
        for line in said {
            let line = line.replace("chart: ", "");
            let words = latin_words(&line, &names);
            let is_figure = |c: char| c.is_ascii_digit() || c == '.';
            let points = line.split(|c: char| !is_figure(c)).filter(|figure| {
                let parts: Vec<&str> = figure.split('.').collect();
                parts.len() == 2 && parts.iter().all(|part| !part.is_empty())
            });
            let all: Vec<String> = words.into_iter().chain(points.map(str::to_owned)).collect();
            if !all.is_empty() {
                found.push(format!("{name}: {all:?} in {line}"));
            }
        }
    }
    found.dedup();
    assert!(found.is_empty(), "{} lines:\n{}", found.len(), found.join("\n"));
}
