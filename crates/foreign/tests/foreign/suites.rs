//! What bonnie++ 2.00 and the Phoronix Test Suite 10.8 wrote, and the RUNs that are made of it.

use crate::{import_text as text, terms};
use fsarena_foreign::import::{Given, ImportError, Imported, bonnie, notices, phoronix};

fn given(label: Option<&str>, text: &str) -> Given {
    Given { label: label.map(str::to_owned), path: "out".into(), text: text.to_owned() }
}

fn labels(imported: &Imported) -> Vec<&str> {
    imported.header.plan.contenders.iter().map(|one| one.label.as_str()).collect()
}

fn error(result: Result<Imported, ImportError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn lines_of_bonnie_are_blocks_of_the_machine_they_name() {
    let imported = bonnie(&[given(None, &text("bonnie_1.csv"))], &terms()).unwrap();
    assert_eq!((labels(&imported), imported.header.plan.blocks), (vec!["shm", "vartmp"], 2));
    let first = &imported.records[0];
    let names: Vec<&str> = first.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["put-block", "rewrite", "get-block", "seeks"], "what all lines have");
    let lengths: Vec<u64> = first.phases.iter().map(|phase| phase.clocks.returned_ns).collect();
    let expected = [4.0 * 1_048_576e9 / 278_301.0, 4.0 * 1_048_576e9 / 2_297_617.0];
    assert_eq!(lengths[..2], expected.map(|ns: f64| ns.round() as u64), "4 GiB at K/s");
    assert_eq!(lengths[3], (8192e9_f64 / 10_901.0).round() as u64, "8,192 seeks");
    assert_eq!(first.phases[0].program.as_ref().unwrap().figures["cpu_percent"], "99");
    let too_soon = first.notices.iter().filter(|notice| notice.code == notices::TOO_SOON);
    let said: Vec<&str> = too_soon.map(|notice| notice.text.as_str()).collect();
    assert!(said[0].contains("seq-create is left out: in 1 of 4 lines"), "{said:?}");
    assert_eq!(said.len(), 6);
}

#[test]
fn bonnie_below_a_label_and_behind_other_words() {
    let whole = format!("Writing intelligently...done\n{}", text("bonnie_1.csv"));
    // Seconds since 1970, as if it had been run again.
    let again = whole.replace(",17958", ",17959");
    let files = [given(Some("a"), &whole), given(Some("b"), &again)];
    let imported = bonnie(&files, &terms()).unwrap();
    assert_eq!((labels(&imported), imported.header.plan.blocks), (vec!["a", "b"], 4));
}

#[test]
fn what_is_not_of_bonnie_is_refused_with_its_place() {
    let whole = text("bonnie_1.csv");
    let of = |text: &str| error(bonnie(&[given(None, text)], &terms()));
    let line = whole.lines().next().unwrap();
    let soon = line.split(',').map(|cell| if cell.len() > 3 { "+++++" } else { cell });
    let soon = soon.collect::<Vec<_>>().join(",").replacen("+++++", "1.98", 1);
    for (text, words) in [
        ("", "is empty"),
        ("hello\n", "it has no line of its CSV"),
        (&whole.replace("227526", "0"), "line 4: put-block: \"0\" is a rate that cannot be"),
        (&whole.replace("227526", "-nan"), "line 4: put-block: \"-nan\" is a rate"),
        (
            &whole.replacen("1.98", "1.03", 1),
            "line 1: is of form \"1.03\"; those from 1.96 to 2.01",
        ),
        (&line[..90], "line 1: has "),
        (&soon, "the work was too little to be timed"),
    ] {
        let found = of(text);
        assert!(found.contains(words), "{words}: {found}");
    }
}

#[test]
fn runs_of_phoronix_are_blocks_of_a_system() {
    let imported = phoronix(&[given(None, &text("phoronix_1.xml"))], &terms()).unwrap();
    assert_eq!(labels(&imported), ["before", "after"]);
    let plan = &imported.header.plan;
    let workloads: Vec<&str> = plan.workloads.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(workloads, ["Big File", "Small Files"]);
    let lengths = |label: &str, workload: &str| -> Vec<u64> {
        let id = plan.contenders.iter().find(|one| one.label == label).unwrap().id();
        let own = imported.records.iter();
        let own = own.filter(|one| one.key.contender == id && one.key.workload == workload);
        own.map(|record| record.phases[0].clocks.returned_ns).collect()
    };
    let rates = lengths("before", "Big File");
    assert_eq!((rates.len(), lengths("after", "Big File").len()), (12, 15));
    let expected = (1000.0 * 1.048_576 * 1e9_f64 / 695.0).round() as u64;
    assert_eq!(rates[0], expected, "1,000 MiB at 695 MB/s");
    assert_eq!(lengths("before", "Small Files")[0], 380_621_649, "0.380621649 s");
    let codes: Vec<&str> =
        imported.records[0].notices.iter().map(|notice| notice.code.as_str()).collect();
    assert!(codes.contains(&notices::NOT_INTERLEAVED), "{codes:?}");
}

#[test]
fn scores_of_phoronix_are_left_out() {
    let whole = text("phoronix_1.xml");
    let score = whole.replace("<Scale>MB/s</Scale>", "<Scale>Points</Scale>");
    let imported = phoronix(&[given(Some("a"), &score)], &terms()).unwrap();
    assert_eq!(imported.header.plan.workloads.len(), 1);
    let notices = &imported.records[0].notices;
    let left_out = notices.iter().find(|notice| notice.code == notices::NO_TIME).unwrap();
    assert!(
        left_out.text.contains("Big File is left out: its scale (Points, more is better)"),
        "{left_out:?}"
    );
    let of = |text: &str| error(phoronix(&[given(None, text)], &terms()));
    let none = score.replace("<Scale>Seconds</Scale>", "<Scale>Points</Scale>");
    assert!(of(&none).contains("none of its tests has a value that is a time or a rate"));
}

#[test]
fn what_is_not_of_phoronix_is_refused_with_its_place() {
    let whole = text("phoronix_1.xml");
    let of = |text: &str| error(phoronix(&[given(None, text)], &terms()));
    for (text, words) in [
        ("", "is empty"),
        ("hello\n", "is not what Phoronix Test Suite writes with composite.xml"),
        ("<PhoronixTestSuite></PhoronixTestSuite>", "it has no Result"),
        (&whole[..whole.len() / 2], "is not what Phoronix Test Suite writes"),
        (&whole.replace("695:", "-695:"), "Big File on before, run 1: \"-695\" cannot be"),
        (&whole.replace("695:", "fast:"), "Big File on before, run 1: \"fast\" cannot be"),
    ] {
        let found = of(text);
        assert!(found.contains(words), "{words}: {found}");
    }
}
