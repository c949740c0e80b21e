//! Tables as LaTeX, for a paper: floats with the rules of the package booktabs.
//!
//! What is written is ASCII and letters that every engine with UTF-8 knows; signs beyond them
//! become commands.

use crate::render::text::{Footnotes, annotated};
use crate::table::{Align, Cell, Column, Table, Tone};
use crate::text::clean;
use std::fmt::Write as _;

/// A table with its caption, its footnotes and the label `tab:NAME`.
pub(crate) fn table(own: &Table, name: &str) -> String {
    if own.is_turned {
        return table(&own.transposed(), name);
    }
    let mut footnotes = Footnotes::default();
    let plain = annotated(own, &mut footnotes);
    let line = |cells: Vec<String>| format!("    {} \\\\\n", cells.join(" & "));
    let sides: String = plain.columns.iter().map(side).collect();
    let mut out = String::from("\\begin{table}\n  \\centering\n");
    let _ = writeln!(out, "  \\caption{{{}}}", escaped(&plain.caption));
    let _ = writeln!(out, "  \\label{{tab:{name}}}");
    let _ = writeln!(out, "  \\begin{{tabular}}{{{sides}}}\n    \\toprule");
    let heads = plain.columns.iter().map(|column| escaped(&column.head_with_unit()));
    out.push_str(&line(heads.collect()));
    out.push_str("    \\midrule\n");
    for row in &plain.rows {
        let cells = row.iter().zip(&plain.columns).map(|(own, column)| cell(own, column));
        out.push_str(&line(cells.collect()));
    }
    out.push_str("    \\bottomrule\n  \\end{tabular}\n");
    for note in footnotes.lines() {
        let _ = writeln!(out, "  \\par{{\\footnotesize {}}}", escaped(&note));
    }
    out.push_str("\\end{table}\n");
    out
}

fn side(column: &Column) -> char {
    match column.align {
        Align::Text | Align::Code => 'l',
        Align::Figure => 'r',
    }
}

fn cell(own: &Cell, column: &Column) -> String {
    let text = escaped(&own.text);
    match (own.tone, column.align) {
        (Tone::Missing, _) => "--".to_owned(),
        (Tone::Strong, _) => format!("\\textbf{{{text}}}"),
        (Tone::Plain, Align::Code) => format!("\\texttt{{{text}}}"),
        (Tone::Plain, _) => text,
    }
}

/// Text that LaTeX sets as it is written here.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '{' | '}' | '$' | '&' | '#' | '%' | '_' => {
                out.push('\\');
                out.push(c);
            }
            // A line that begins with one would be an option of the line break before it.
            '[' => out.push_str("{[}"),
            ']' => out.push_str("{]}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            '"' => out.push_str("\\textquotedbl{}"),
            '≥' => out.push_str("$\\geq$"),
            '≤' => out.push_str("$\\leq$"),
            '→' => out.push_str("$\\rightarrow$"),
            '−' => out.push_str("$-$"),
            '×' => out.push_str("$\\times$"),
            '÷' => out.push_str("$\\div$"),
            '±' => out.push_str("$\\pm$"),
            'µ' => out.push_str("\\textmu{}"),
            '·' => out.push_str("\\textperiodcentered{}"),
            '…' => out.push_str("\\dots{}"),
            '–' => out.push_str("--"),
            '²' => out.push_str("\\textsuperscript{2}"),
            '⁶' => out.push_str("\\textsuperscript{6}"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_a_float_with_its_footnotes() {
        let columns = vec![
            Column::text("contender"),
            Column::figure("time").unit("ms"),
            Column::code("mount options"),
        ];
        let mut own = Table::new(columns).caption("small_files / create");
        let noted = Cell::figure("12.5", 12.5).notes(vec!["only 3 of 4".to_owned()]);
        own.row([Cell::text("ext4"), noted, Cell::text("data=ordered")]);
        own.row([Cell::text("xfs").strong(), Cell::none(), Cell::text("-")]);
        let expected = "\
\\begin{table}
  \\centering
  \\caption{small\\_files / create}
  \\label{tab:figures-1}
  \\begin{tabular}{lrl}
    \\toprule
    contender & time, ms & mount options \\\\
    \\midrule
    ext4 & 12.5 {[}a{]} & \\texttt{data=ordered} \\\\
    \\textbf{xfs} & -- & -- \\\\
    \\bottomrule
  \\end{tabular}
  \\par{\\footnotesize {[}a{]} only 3 of 4}
\\end{table}
";
        assert_eq!(table(&own, "figures-1"), expected);
    }

    #[test]
    fn no_text_is_a_command() {
        assert_eq!(
            escaped("\\input{x} $1 & 5% ~ µs"),
            "\\textbackslash{}input\\{x\\} \\$1 \\& 5\\% \\textasciitilde{} \\textmu{}s"
        );
    }

    #[test]
    fn few_rows_with_many_figures_are_turned() {
        let mut own = Table::new(vec![Column::text(""), Column::figure("a"), Column::figure("b")]);
        own.is_turned = true;
        own.row([Cell::text("x"), Cell::count(1), Cell::count(2)]);
        assert!(table(&own, "t").contains("    a & 1 \\\\\n    b & 2 \\\\\n"));
    }
}
