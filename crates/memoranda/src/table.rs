//! Columns that line up, cut to the terminal; tabs and nothing cut for other programs.

use anstyle::Style;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::error::Result;
use crate::output::{FAINT, Format, Printer, visible};

/// Between two columns.
const GAP: usize = 2;
/// No column is cut below this.
const NARROWEST: usize = 8;

/// One column.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    /// Its heading.
    pub(crate) name: &'static str,
    /// On which side it lines up.
    pub(crate) side: Side,
    /// Whether it may be cut.
    pub(crate) fit: Fit,
    /// How it looks.
    pub(crate) style: Style,
}

/// On which side a column lines up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Whether a column may be cut.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// It is shown whole.
    Whole,
    /// It gives way when the terminal is narrow.
    Cut,
}

impl Column {
    /// A column of words that may be cut.
    pub(crate) const fn text(name: &'static str, style: Style) -> Self {
        Self { name, side: Side::Left, fit: Fit::Cut, style }
    }

    /// A column of short words that are shown whole.
    pub(crate) const fn word(name: &'static str, style: Style) -> Self {
        Self { name, side: Side::Left, fit: Fit::Whole, style }
    }

    /// A column of numbers.
    pub(crate) const fn number(name: &'static str) -> Self {
        Self { name, side: Side::Right, fit: Fit::Whole, style: Style::new() }
    }
}

/// Prints rows under their columns.
pub(crate) fn print(printer: &Printer, columns: &[Column], rows: &[Vec<String>]) -> Result<()> {
    if printer.format == Format::Plain {
        for row in rows {
            let cells: Vec<_> = row.iter().map(|cell| visible(cell)).collect();
            printer.line(cells.join("\t"))?;
        }
        return Ok(());
    }
    for line in laid_out(columns, rows, printer.width()) {
        printer.line(line)?;
    }
    Ok(())
}

fn laid_out(columns: &[Column], rows: &[Vec<String>], width: Option<usize>) -> Vec<String> {
    let widths = widths(columns, rows, width);
    let heading: Vec<String> = columns.iter().map(|column| column.name.to_owned()).collect();
    let mut lines = Vec::with_capacity(rows.len() + 1);
    lines.push(line(columns, &heading, &widths, Some(FAINT)));
    lines.extend(rows.iter().map(|row| line(columns, row, &widths, None)));
    lines
}

/// How wide each column is; those that may be cut give way, the widest first.
fn widths(columns: &[Column], rows: &[Vec<String>], most: Option<usize>) -> Vec<usize> {
    let widest = |n: usize, column: &Column| {
        let cells = rows.iter().filter_map(|row| row.get(n)).map(|cell| visible(cell).width());
        cells.chain([column.name.width()]).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> =
        columns.iter().enumerate().map(|(n, column)| widest(n, column)).collect();
    let Some(most) = most else { return widths };
    let gaps = GAP * columns.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > most {
        let cuttable = columns.iter().zip(&mut widths).filter(|(column, _)| column.fit == Fit::Cut);
        match cuttable.map(|(_, width)| width).filter(|width| **width > NARROWEST).max() {
            Some(width) => *width -= 1,
            None => break,
        }
    }
    widths
}

fn line(columns: &[Column], cells: &[String], widths: &[usize], style: Option<Style>) -> String {
    let mut line = String::new();
    for (n, (column, cell)) in columns.iter().zip(cells).enumerate() {
        let width = widths.get(n).copied().unwrap_or(0);
        let cell = cut(&visible(cell), width);
        let room = " ".repeat(width.saturating_sub(cell.width()));
        let style = style.unwrap_or(column.style);
        if n > 0 {
            line.push_str(&" ".repeat(GAP));
        }
        let last = n + 1 == columns.len();
        line.push_str(&match column.side {
            Side::Right => format!("{room}{style}{cell}{style:#}"),
            Side::Left if last => format!("{style}{cell}{style:#}"),
            Side::Left => format!("{style}{cell}{style:#}{room}"),
        });
    }
    line
}

/// A text cut to so many columns, with `…` where it goes on.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut cut = String::new();
    let mut used = 0;
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide + 1 > width {
            break;
        }
        used += wide;
        cut.push(c);
    }
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style::new();

    fn check(width: Option<usize>, rows: &[[&str; 2]], expected: &[&str]) {
        let columns = [Column::text("TITLE", PLAIN), Column::number("N")];
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect()).collect();
        let faint = |line: String| {
            line.replace(&FAINT.render().to_string(), "")
                .replace(&FAINT.render_reset().to_string(), "")
        };
        let lines: Vec<String> = laid_out(&columns, &rows, width).into_iter().map(faint).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn columns_line_up_and_give_way() {
        check(
            None,
            &[["a", "1"], ["bcdefgh", "10"]],
            &["TITLE     N", "a         1", "bcdefgh  10"],
        );
        check(Some(14), &[["a title that is long", "100"]], &["TITLE        N", "a title …  100"]);
        check(
            Some(20),
            &[["日本語日本語日本語", "1"]],
            &["TITLE              N", "日本語日本語日本…  1"],
        );
        check(None, &[["bell\u{7}\nline", "1"]], &["TITLE       N", "bell\u{fffd} line  1"]);
    }
}
