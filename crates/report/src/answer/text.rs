//! The answer on a terminal: a title, the matrix, what its marks mean, sentences, and a line each
//! of what is not known yet, what was not run, what to mind and where more is.
//!
//! Narrow or wide, few contenders or many, it stays on a screen or two: where a row a question
//! would take more lines than a row a contender, it is turned; what is left out is counted.

use super::grid::{Drawn, Grid, Piece, Tone};
use super::model::{Answer, AnswerCell, AnswerColumn, AnswerRow, Mark};
use super::sentences::{blocks_and_time, change};
use crate::context::AD_HOC;
use crate::format::count;
use crate::labels::absence;
use crate::row_state::{state_words, with_states};
use crate::text::{MIN_WIDTH, Style, clean, width_of, wrap};
use crate::verdict::text::{listed, margin, value};
use fsarena_model::run::{Clock, RunState};
use fsarena_model::verdict::Metric;

/// Lines that a matrix takes before it is turned.
const SCREEN: usize = 40;
/// Lines that it takes at most.
const TWO_SCREENS: usize = 60;
/// Levels of one workload that have a line each; more are counted in one line.
const LEVELS: usize = 4;
/// What is to be minded, at least and at most where there is more; the rest is counted.
const CAUTIONS: usize = 3;
const MOST_CAUTIONS: usize = 6;
/// An interval this wide (its high end ÷ its low one) says too little for a figure.
const WIDE: f64 = 4.0;

/// The answer as lines of at most `width` columns; `page` is where its page lies.
#[must_use]
pub fn answer_text(answer: &Answer, page: Option<&str>, width: usize, style: Style) -> String {
    let screen = Screen { answer, width: width.max(MIN_WIDTH), style };
    let mut out = screen.title();
    out.push_str(&screen.matrices());
    out.push_str(&screen.legend());
    out.push_str(&screen.paragraphs());
    out.push_str(&screen.to_mind(out.lines().count()));
    out.push_str(&screen.pointers(page));
    out
}

/// What the lines are made with.
struct Screen<'a> {
    answer: &'a Answer,
    width: usize,
    style: Style,
}

impl Screen<'_> {
    /// As the terminal can show it.
    fn plain(&self, text: &str) -> String {
        let text = clean(text);
        if self.style.ascii { ascii(&text) } else { text }
    }

    /// A paragraph.
    fn wrapped(&self, first: &str, text: &str) -> String {
        wrap(&self.plain(first), &self.plain(text), self.width)
    }

    /// `quick: 9 blocks in 3m52, loop image 2 GiB, VM                  RUN 1`.
    fn title(&self) -> String {
        let head = &self.answer.head;
        let mut parts = vec![blocks_and_time(self.answer)];
        match head.course.state {
            RunState::Done => {}
            state => parts.insert(0, state.name().to_owned()),
        }
        parts.extend(head.devices.iter().cloned());
        parts.extend(head.measured_by.iter().map(|program| format!("measured by {program}")));
        parts.extend(head.hypervisor.as_ref().map(|_| "VM".to_owned()));
        let right = format!("RUN {}", head.run);
        let room = self.width - width_of(&right) - 2;
        let is_named = head.experiment != AD_HOC || head.title.is_empty();
        let name = if is_named { &head.experiment } else { &head.title };
        let text = self.plain(&format!("{name}: {}", parts.join(", ")));
        let lines = wrap("", &text, room);
        let mut out = String::new();
        for (at, line) in lines.lines().enumerate() {
            let gap = " ".repeat(self.width - width_of(line) - width_of(&right));
            let end = if at == 0 { format!("{gap}{right}") } else { String::new() };
            out.push_str(&Tone::Bold.paint(&format!("{line}{end}"), self.style.colour));
            out.push('\n');
        }
        out
    }

    /// One matrix a figure that was asked.
    fn matrices(&self) -> String {
        if self.answer.columns.is_empty() {
            return String::new();
        }
        let (mut out, mut left) = (String::new(), TWO_SCREENS);
        let (mut hidden_rows, mut hidden_contenders) = (0, 0);
        for (metric, clock, rows) in self.groups() {
            if left < 3 {
                hidden_rows += rows.len();
                continue;
            }
            let (drawn, is_turned) = self.matrix(metric, clock, &rows, left);
            out.push_str(&drawn.text);
            left = left.saturating_sub(drawn.height);
            let (lines, columns) = (drawn.hidden_lines, drawn.hidden_columns);
            let (rows, contenders) = if is_turned { (columns, lines) } else { (lines, columns) };
            hidden_rows += rows;
            hidden_contenders = contenders.max(hidden_contenders);
        }
        let hidden: Vec<String> = [(hidden_contenders, "contender"), (hidden_rows, "question")]
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, what)| count(number, what))
            .collect();
        if !hidden.is_empty() {
            out.push_str(&self.wrapped("", &format!("and {} more", listed(&hidden))));
        }
        out
    }

    /// The rows by figure and clock; that of the headline first.
    fn groups(&self) -> Vec<(Metric, Clock, Vec<&AnswerRow>)> {
        let mut groups: Vec<(Metric, Clock, Vec<&AnswerRow>)> = Vec::new();
        for row in &self.answer.rows {
            let known = groups.iter_mut().find(|(m, c, _)| (*m, *c) == (row.metric, row.clock));
            match known {
                Some((_, _, rows)) => rows.push(row),
                None => groups.push((row.metric, row.clock, vec![row])),
            }
        }
        let headline = self.answer.headline.and_then(|at| self.answer.rows.get(at));
        groups.sort_by_key(|(metric, clock, _)| {
            headline.is_some_and(|row| (row.metric, row.clock) != (*metric, *clock))
        });
        groups
    }

    /// A matrix of a figure, and whether it is turned.
    fn matrix(
        &self,
        metric: Metric,
        clock: Clock,
        rows: &[&AnswerRow],
        most: usize,
    ) -> (Drawn, bool) {
        let common = state_words(&self.answer.common_states());
        let comma = if common.is_empty() { "" } else { ", " };
        let title = self.plain(&format!("{}{comma}{common}", heading(metric, clock, rows)));
        let draw = |grid: &Grid| grid.draw(self.width, most, self.style.colour);
        if self.answer.columns.len() < 2 {
            return (draw(&self.alone(title, rows)), false);
        }
        let lines = lines(rows);
        let upright = self.upright(title.clone(), &lines);
        let drawn = upright.draw(self.width, usize::MAX, self.style.colour);
        if drawn.height <= SCREEN.min(most) {
            return (drawn, false);
        }
        let turned = draw(&self.turned(title, &lines));
        let is_whole = turned.hidden_lines + turned.hidden_columns == 0;
        let upright = draw(&upright);
        let is_shorter = turned.height < drawn.height;
        match is_shorter && (is_whole || upright.hidden_lines + upright.hidden_columns > 0) {
            true => (turned, true),
            false => (upright, false),
        }
    }

    /// A line a question, a column a contender.
    fn upright(&self, title: String, lines: &[Line<'_>]) -> Grid {
        let columns = 0..self.answer.columns.len();
        let cells = |line: &Line<'_>| columns.clone().map(|at| self.summary(line, at)).collect();
        Grid {
            title,
            lines: self.names(lines),
            columns: self.labels(),
            cells: lines.iter().map(cells).collect(),
        }
    }

    /// A line a contender, a column a question.
    fn turned(&self, title: String, lines: &[Line<'_>]) -> Grid {
        let column = |at: usize| lines.iter().map(move |line| self.summary(line, at));
        let name = |line: &Line<'_>| self.plain(&format!("{} {}", line.name, line.phase));
        Grid {
            title,
            lines: self.labels(),
            columns: lines.iter().map(name).collect(),
            cells: (0..self.answer.columns.len()).map(|at| column(at).collect()).collect(),
        }
    }

    /// A contender in a line: its cell, or of many levels how often it is what.
    fn summary(&self, line: &Line<'_>, column: usize) -> Piece {
        if let [row] = line.rows.as_slice() {
            let cell = &row.cells[column];
            let mut piece = self.piece(row, cell);
            let states = self.answer.columns[column].own_states(cell);
            piece.text = with_states(&piece.text, &states);
            return piece;
        }
        let count = |is_it: fn(&AnswerCell) -> bool| {
            line.rows.iter().filter(|row| is_it(&row.cells[column])).count()
        };
        let counts = [
            (count(|cell| cell.mark == Mark::Faster && cell.machine_effect.is_none()), "▼"),
            (count(|cell| cell.mark == Mark::Slower && cell.machine_effect.is_none()), "▲"),
            (count(|cell| cell.machine_effect.is_some()), "*"),
            (count(|cell| cell.mark == Mark::Same), "="),
            (count(|cell| cell.mark == Mark::Unknown), "?"),
            (count(|cell| cell.mark == Mark::NotCompared), "~"),
            (count(|cell| cell.mark == Mark::Missing), "-"),
        ];
        let counts = counts.into_iter().filter(|(number, _)| *number > 0);
        let text: Vec<String> = counts.map(|(number, mark)| format!("{number} {mark}")).collect();
        Piece { text: self.plain(&text.join("  ")), tone: Tone::Plain }
    }

    /// One contender: its medians and how far its values lie apart.
    fn alone(&self, title: String, rows: &[&AnswerRow]) -> Grid {
        let cells = |row: &&AnswerRow| {
            let cell = row.cells.first();
            let text = |figure: Option<f64>| {
                figure.map_or_else(|| "-".to_owned(), |figure| value(row.metric, figure))
            };
            let of = |figure: fn(&AnswerCell) -> Option<f64>| text(cell.and_then(figure));
            let n = cell.map_or(0, |cell| cell.n);
            let texts =
                [of(|cell| cell.median), of(|cell| cell.min), of(|cell| cell.max), n.to_string()];
            let piece = |text: String| Piece { text: self.plain(&text), tone: Tone::Plain };
            texts.into_iter().map(piece).collect()
        };
        let label = self.labels().pop().unwrap_or_default();
        let heads = ["least", "most", "n"].map(str::to_owned);
        Grid {
            title,
            lines: self.names(&rows.iter().map(|row| Line::from_row(row)).collect::<Vec<_>>()),
            columns: std::iter::once(label).chain(heads).collect(),
            cells: rows.iter().map(cells).collect(),
        }
    }

    fn labels(&self) -> Vec<String> {
        let common = self.answer.common_states();
        let label = |column: &AnswerColumn| {
            let mut states = column.states.clone();
            states.retain(|state| !common.contains(state));
            self.plain(&with_states(&column.label, &states))
        };
        self.answer.columns.iter().map(label).collect()
    }

    /// Workload and phase, the workload once.
    fn names(&self, lines: &[Line<'_>]) -> Vec<String> {
        let widest = lines.iter().map(|line| width_of(&self.plain(&line.name))).max().unwrap_or(0);
        let name = |(at, line): (usize, &Line<'_>)| {
            let is_new = at == 0 || lines[at - 1].name != line.name;
            let workload = if is_new { self.plain(&line.name) } else { String::new() };
            let gap = " ".repeat(widest - width_of(&workload) + 1);
            format!("{workload}{gap}{}", self.plain(line.phase))
        };
        lines.iter().enumerate().map(name).collect()
    }

    fn piece(&self, row: &AnswerRow, cell: &AnswerCell) -> Piece {
        let median = cell.median.map_or_else(|| "-".to_owned(), |median| value(row.metric, median));
        let change = cell.ratio.map(change);
        let marked = |figure: Option<String>, mark: &str| {
            figure.map_or_else(|| mark.to_owned(), |figure| format!("{figure} {mark}"))
        };
        let is_machine = cell.machine_effect.is_some();
        let (text, tone) = match cell.mark {
            Mark::Faster if is_machine => (marked(change, "▼*"), Tone::Faint),
            Mark::Slower if is_machine => (marked(change, "▲*"), Tone::Faint),
            Mark::Baseline => (median, Tone::Plain),
            Mark::Faster => (marked(change, "▼"), Tone::Good),
            Mark::Slower => (marked(change, "▲"), Tone::Bad),
            Mark::Same => (marked(change.filter(|_| cell.differs), "="), Tone::Plain),
            Mark::Unknown => (marked(change.filter(|_| is_told(cell)), "?"), Tone::Faint),
            Mark::NotCompared if self.answer.is_judged => (marked(Some(median), "~"), Tone::Faint),
            Mark::NotCompared => (median, Tone::Plain),
            Mark::Missing => (cell.absent.map_or("-", absence).to_owned(), Tone::Faint),
        };
        Piece { text: self.plain(&text), tone }
    }

    /// What the marks mean that occur.
    fn legend(&self) -> String {
        let cells = || self.answer.rows.iter().flat_map(|row| &row.cells);
        let has = |mark: Mark| cells().any(|cell| cell.mark == mark);
        let only_time = self.answer.rows.iter().all(|row| row.metric.is_length());
        let (less, more) = if only_time { ("faster", "slower") } else { ("less", "more") };
        let within = self.answer.margin.map(margin).unwrap_or_default();
        let same = match cells().any(|cell| cell.differs) {
            true => format!("= same within {within} (with a figure: differs by that)"),
            false => format!("= same within {within}"),
        };
        let parts = [
            (has(Mark::Faster), format!("▼ {less}")),
            (has(Mark::Slower), format!("▲ {more}")),
            (has(Mark::Same), same),
            (has(Mark::Unknown), "? not known yet".to_owned()),
            (self.answer.is_judged && has(Mark::NotCompared), "~ not compared".to_owned()),
            (
                cells().any(|cell| cell.machine_effect.is_some()),
                "* the machine, not the file system".to_owned(),
            ),
        ];
        let parts: Vec<String> =
            parts.into_iter().filter(|(is_there, _)| *is_there).map(|(_, text)| text).collect();
        if parts.is_empty() {
            return String::new();
        }
        let line = self.plain(&parts.join("  "));
        let line = match width_of(&line) > self.width {
            true => wrap("", &line, self.width),
            false => format!("{line}\n"),
        };
        line.lines()
            .map(|line| format!("{}\n", Tone::Faint.paint(line, self.style.colour)))
            .collect()
    }

    /// The sentences; what is not known yet and for what all holds; what was not run.
    fn paragraphs(&self) -> String {
        let answer = self.answer;
        let mut out = String::from("\n");
        out.push_str(&self.wrapped("", &answer.sentences.join(" ")));
        let open = [answer.undecided.sentence.as_str(), answer.scope.as_str()].join(" ");
        if !open.trim().is_empty() {
            out.push_str(&self.wrapped("", open.trim()));
        }
        let not_run: Vec<String> = answer
            .not_run
            .iter()
            .map(|group| {
                let why = match group.packages.is_empty() {
                    true => group.reason.clone(),
                    false => format!("apt install {}", group.packages.join(" ")),
                };
                format!("{} ({why})", listed(&group.what))
            })
            .collect();
        if !not_run.is_empty() {
            out.push_str(&self.wrapped("not run: ", &not_run.join("; ")));
        }
        out
    }

    /// What to mind, below `lines` lines: as much as leaves it on one screen, and the gravest in
    /// any case.
    fn to_mind(&self, lines: usize) -> String {
        let cautions = &self.answer.cautions;
        // Below it are the rest of them in one line, and one that says where more is.
        let mut left = SCREEN.saturating_sub(lines + 2);
        let (mut out, mut shown) = (String::new(), 0);
        for caution in cautions.iter().take(MOST_CAUTIONS) {
            let remedy = caution.remedy.as_ref().map(|remedy| format!("; {remedy}"));
            let text = format!("{}{}", caution.text, remedy.unwrap_or_default());
            let text = self.wrapped("mind: ", &text);
            let height = text.lines().count();
            if shown >= CAUTIONS && height > left {
                break;
            }
            left = left.saturating_sub(height);
            out.push_str(&text);
            shown += 1;
        }
        if cautions.len() > shown {
            let more = cautions.len() - shown;
            out.push_str(&self.wrapped("mind: ", &format!("{more} more in all figures")));
        }
        out
    }

    /// Where more is.
    fn pointers(&self, page: Option<&str>) -> String {
        let all = format!("all figures: fsarena show {}", self.answer.head.run);
        let Some(page) = page else { return self.wrapped("", &all) };
        let page = self.plain(&format!("page: {page}"));
        let gap = self.width.saturating_sub(width_of(&page) + width_of(&all));
        match gap {
            0..3 => format!("{page}\n{all}\n"),
            _ => format!("{page}   {all}\n"),
        }
    }
}

/// A line of the matrix: a row, or those of a phase at many levels.
struct Line<'a> {
    name: String,
    phase: &'a str,
    rows: Vec<&'a AnswerRow>,
}

impl<'a> Line<'a> {
    fn from_row(row: &'a AnswerRow) -> Self {
        Self { name: row.workload.clone(), phase: &row.phase, rows: vec![row] }
    }
}

/// The lines of rows: those of one phase at more than [`LEVELS`] levels of a workload are one.
fn lines<'a>(rows: &[&'a AnswerRow]) -> Vec<Line<'a>> {
    let own = |row: &'a AnswerRow| -> Vec<&'a AnswerRow> {
        let Some(workload) = &row.level_of else { return vec![row] };
        let is_level =
            |one: &&&AnswerRow| one.level_of.as_ref() == Some(workload) && one.phase == row.phase;
        rows.iter().filter(is_level).copied().collect()
    };
    let mut all: Vec<Line<'a>> = Vec::new();
    for row in rows {
        let levels = own(row);
        if levels.len() <= LEVELS {
            all.push(Line::from_row(row));
        } else if std::ptr::eq(levels[0], *row) {
            let workload = row.level_of.as_deref().unwrap_or_default();
            let name = format!("{workload}, {} levels", levels.len());
            all.push(Line { name, phase: &row.phase, rows: levels });
        }
    }
    all
}

/// Above a matrix: the figure in plain words.
fn heading(metric: Metric, clock: Clock, rows: &[&AnswerRow]) -> String {
    let is_plain = |row: &&&AnswerRow| row.metric == metric && row.clock == clock;
    let figures: Vec<&str> = rows.iter().filter(is_plain).map(|row| row.figure.as_str()).collect();
    // Time of what only reads is told with that of what writes.
    let longest = figures.iter().max_by_key(|figure| figure.len());
    longest.map_or_else(String::new, |figure| (*figure).to_owned())
}

/// Whether the interval is narrow enough for a figure in the matrix.
fn is_told(cell: &AnswerCell) -> bool {
    match (cell.low, cell.high) {
        (Some(low), Some(high)) if low > 0.0 => high / low <= WIDE,
        _ => false,
    }
}

/// For a terminal that shows no other characters.
fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '▼' => out.push('v'),
            '▲' => out.push('^'),
            '±' => out.push_str("+-"),
            '×' => out.push('x'),
            '÷' => out.push('/'),
            'µ' => out.push('u'),
            '…' => out.push_str("..."),
            '–' | '−' => out.push('-'),
            '≥' => out.push_str(">="),
            '≤' => out.push_str("<="),
            '“' | '”' => out.push('"'),
            '’' => out.push('\''),
            c if c.is_ascii() => out.push(c),
            _ => out.push('?'),
        }
    }
    out
}
