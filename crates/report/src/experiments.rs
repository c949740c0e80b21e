//! What there is to run, and what each would cost: the list of `fsarena experiments`.

use crate::format::{bytes, ns};
use crate::render::text;
use crate::table::{Column, Table};
use crate::text::Style;
use crate::text::{bold, wrap};

/// An experiment with its expected cost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExperimentLine {
    /// Name, as in `fsarena run NAME`.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Contenders that can be run here.
    pub contenders: usize,
    /// Contenders that the file names.
    pub named_contenders: usize,
    /// Workloads that can be run here.
    pub workloads: usize,
    /// Blocks after which all may be decided, and at most.
    pub blocks: (u32, u32),
    /// Expected length for so many blocks, ns.
    pub expected_ns: (u64, u64),
    /// Time that it gives itself, ns.
    pub budget_ns: Option<u64>,
    /// Bytes written to devices and images for so many blocks.
    pub written_bytes: (u64, u64),
    /// What the figures rest on, in a word or two.
    pub known: String,
}

/// The experiments: what each is, then what each costs.
#[must_use]
pub fn experiments_table(lines: &[ExperimentLine], width: usize, style: Style) -> String {
    let mut out = format!("{}\n", bold("Experiments (fsarena run NAME)", style.colour));
    let name = lines.iter().map(|line| line.name.len()).max().unwrap_or(0);
    for line in lines {
        out.push_str(&wrap(&format!("  {:<name$}  ", line.name), &line.title, width));
    }
    out.push_str(&format!("\n{}\n", bold("What each costs here", style.colour)));
    let mut grid = Table::new([
        Column::text("experiment"),
        Column::figure("contenders"),
        Column::figure("workloads"),
        Column::figure("blocks"),
        Column::figure("expected time"),
        Column::figure("written"),
        Column::text("known from"),
    ]);
    for line in lines {
        let contenders = match line.contenders == line.named_contenders {
            true => line.contenders.to_string(),
            false => format!("{} of {}", line.contenders, line.named_contenders),
        };
        let mut cells = vec![line.name.clone(), contenders];
        if line.contenders == 0 {
            cells.extend(["-", "-", "-", "-", "cannot be run here"].map(str::to_owned));
        } else {
            cells.extend([
                line.workloads.to_string(),
                span(line.blocks.0.to_string(), &line.blocks.1.to_string()),
                time(line),
                span(bytes(Some(line.written_bytes.0)), &bytes(Some(line.written_bytes.1))),
                line.known.clone(),
            ]);
        }
        grid.row(cells);
    }
    out.push_str(&text::table(&grid, width));
    out
}

fn time(line: &ExperimentLine) -> String {
    let (least, most) = line.expected_ns;
    match line.budget_ns.filter(|budget| *budget < most) {
        Some(budget) => format!("at most {}", ns(Some(budget))),
        None => span(ns(Some(least)), &ns(Some(most))),
    }
}

fn span(least: String, most: &str) -> String {
    if least == most { least } else { format!("{least} - {most}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, title: &str) -> ExperimentLine {
        ExperimentLine {
            name: name.to_owned(),
            title: title.to_owned(),
            contenders: 6,
            named_contenders: 6,
            workloads: 4,
            blocks: (4, 32),
            expected_ns: (61_000_000_000, 7_200_000_000_000),
            budget_ns: None,
            written_bytes: (3 << 30, 40 << 30),
            known: "measured here".to_owned(),
        }
    }

    #[test]
    fn each_has_a_line_and_a_cost() {
        let fixed = ExperimentLine {
            blocks: (3, 3),
            expected_ns: (5_000_000_000, 5_000_000_000),
            written_bytes: (1 << 20, 1 << 20),
            contenders: 5,
            known: "assumed".to_owned(),
            ..line("fixed", "three blocks, one contender is missing")
        };
        let budget = ExperimentLine {
            budget_ns: Some(240_000_000_000),
            ..line("budget", "as many blocks as go into four minutes")
        };
        let none = ExperimentLine { contenders: 0, ..line("none", "not here") };
        let lines = [line("looks", "until decided"), fixed, budget, none];
        insta::assert_snapshot!(experiments_table(&lines, 100, Style::default()), @r"
    Experiments (fsarena run NAME)
      looks   until decided
      fixed   three blocks, one contender is missing
      budget  as many blocks as go into four minutes
      none    not here

    What each costs here
    experiment  contenders  workloads  blocks   expected time         written  known from
    ---------------------------------------------------------------------------------------------
    looks                6          4  4 - 32  61.0 s - 2h00m  3 GiB - 40 GiB  measured here
    fixed           5 of 6          4       3          5.00 s           1 MiB  assumed
    budget               6          4  4 - 32   at most 4m00s  3 GiB - 40 GiB  measured here
    none            0 of 6          -       -               -               -  cannot be run here
    ");
    }

    #[test]
    fn no_line_is_wider_than_asked() {
        let long = line("2003-linux-vs-freebsd", &"a long title of many words ".repeat(8));
        let text = experiments_table(&[long.clone(), long], 80, Style::default());
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn without_experiments_there_is_nothing_to_cost() {
        let text = experiments_table(&[], 100, Style::default());
        assert!(text.starts_with("Experiments"), "{text}");
    }
}
