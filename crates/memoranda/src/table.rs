//! Tables: columns aligned and fitted to the terminal, or tab-separated for other programs.

use anstyle::Style;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::error::Result;
use crate::output::{FAINT, OutputFormat, Printer, visible};
use crate::wrap::{shorten_path, wrap};

/// Number of spaces between two columns.
const COLUMN_GAP: usize = 2;
/// Minimum width of a cut column.
const MIN_COLUMN_WIDTH: usize = 8;
/// Width below which a cut column is hard to read, so that optional columns are left out first.
const READABLE_WIDTH: usize = 24;

/// A column of a table.
#[derive(Clone, Copy)]
pub(crate) struct TableColumn {
    /// Heading.
    pub(crate) name: &'static str,
    /// Alignment of the cells.
    pub(crate) align: ColumnAlign,
    /// Treatment of values that are too wide.
    pub(crate) fit: ColumnFit,
    /// Style of the cells.
    pub(crate) style: Style,
}

/// Alignment of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnAlign {
    /// For words.
    Left,
    /// For numbers.
    Right,
}

/// Treatment of a column on a narrow terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnFit {
    /// Shown whole.
    Whole,
    /// Cut on a narrow terminal.
    Cut,
    /// Cut on a narrow terminal, and left out if even that does not fit.
    Optional,
    /// A path: shortened in its middle on a narrow terminal.
    Path,
    /// Continued on further lines on a narrow terminal.
    Wrap,
    /// Continued on further lines on a narrow terminal, and left out if that is not readable.
    WrapOptional,
}

impl TableColumn {
    /// Returns a column of text that may be cut.
    pub(crate) const fn text(name: &'static str, style: Style) -> Self {
        Self { name, align: ColumnAlign::Left, fit: ColumnFit::Cut, style }
    }

    /// Returns a column of short words that are shown whole.
    pub(crate) const fn word(name: &'static str, style: Style) -> Self {
        Self { name, align: ColumnAlign::Left, fit: ColumnFit::Whole, style }
    }

    /// Returns a column that is left out on a narrow terminal.
    pub(crate) const fn optional(name: &'static str, style: Style) -> Self {
        Self { name, align: ColumnAlign::Left, fit: ColumnFit::Optional, style }
    }

    /// Returns a column of paths, which are shortened in their middle.
    pub(crate) const fn path(name: &'static str, style: Style) -> Self {
        Self { name, align: ColumnAlign::Left, fit: ColumnFit::Path, style }
    }

    /// Returns a column whose long values continue on further lines.
    pub(crate) const fn wrapped(name: &'static str, style: Style) -> Self {
        Self { name, align: ColumnAlign::Left, fit: ColumnFit::Wrap, style }
    }

    /// Returns a column whose long values continue on further lines, and which is left out on a
    /// narrow terminal.
    pub(crate) const fn optional_wrapped(name: &'static str, style: Style) -> Self {
        Self { name, align: ColumnAlign::Left, fit: ColumnFit::WrapOptional, style }
    }

    /// Returns a column of numbers.
    pub(crate) const fn number(name: &'static str) -> Self {
        Self { name, align: ColumnAlign::Right, fit: ColumnFit::Whole, style: Style::new() }
    }
}

/// Prints a table.
pub(crate) fn print(
    printer: &Printer,
    columns: &[TableColumn],
    rows: &[Vec<String>],
) -> Result<()> {
    if printer.format == OutputFormat::Plain {
        for row in rows {
            let cells: Vec<_> = row.iter().map(|cell| visible(cell)).collect();
            printer.line(cells.join("\t"))?;
        }
        return Ok(());
    }
    for line in layout(columns, rows, printer.width()) {
        printer.line(line)?;
    }
    Ok(())
}

fn layout(columns: &[TableColumn], rows: &[Vec<String>], width: Option<usize>) -> Vec<String> {
    let shown = shown_columns(columns, rows, width);
    let pick = |row: &Vec<String>| shown.iter().filter_map(|&n| row.get(n).cloned()).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(pick).collect();
    let columns: Vec<TableColumn> = shown.iter().filter_map(|&n| columns.get(n).copied()).collect();
    let (columns, rows) = (columns.as_slice(), rows.as_slice());
    let widths = column_widths(columns, rows, width);
    let heading: Vec<String> =
        columns.iter().zip(&widths).map(|(column, width)| truncate(column.name, *width)).collect();
    let mut lines = Vec::with_capacity(rows.len() + 1);
    lines.push(layout_line(columns, &heading, &widths, Some(FAINT)));
    for row in rows {
        let row = fit_row(columns, row, &widths);
        lines.extend(row.iter().map(|cells| layout_line(columns, cells, &widths, None)));
    }
    lines
}

/// Fits the cells of a row into the widths. Wrapped cells can make several lines of a row.
fn fit_row(columns: &[TableColumn], row: &[String], widths: &[usize]) -> Vec<Vec<String>> {
    let fit = |((column, cell), &width): ((&TableColumn, &String), &usize)| {
        let cell = visible(cell);
        match column.fit {
            ColumnFit::Wrap | ColumnFit::WrapOptional => wrap(&cell, Some(width), 0),
            ColumnFit::Path => vec![shorten_path(&cell, width)],
            ColumnFit::Whole | ColumnFit::Cut | ColumnFit::Optional => {
                vec![truncate(&cell, width)]
            }
        }
    };
    let cells: Vec<Vec<String>> = columns.iter().zip(row).zip(widths).map(fit).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(1);
    let line = |n: usize| -> Vec<String> {
        cells.iter().map(|cell| cell.get(n).cloned().unwrap_or_default()).collect()
    };
    (0..height).map(line).collect()
}

/// Returns the width of each column if nothing is cut.
fn natural_widths(columns: &[TableColumn], rows: &[Vec<String>]) -> Vec<usize> {
    let widest = |n: usize, column: &TableColumn| {
        let cells = rows.iter().filter_map(|row| row.get(n)).map(|cell| visible(cell).width());
        cells.chain([column.name.width()]).max().unwrap_or(0)
    };
    columns.iter().enumerate().map(|(n, column)| widest(n, column)).collect()
}

/// Returns the positions of the columns that fit. Optional columns are left out from the right
/// until the others are readable.
fn shown_columns(columns: &[TableColumn], rows: &[Vec<String>], most: Option<usize>) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..columns.len()).collect();
    let Some(most) = most else { return shown };
    let widths = natural_widths(columns, rows);
    let fit = |n: usize| columns.get(n).map(|column| column.fit);
    let needed = |n: usize| match (fit(n), widths.get(n).copied().unwrap_or(0)) {
        (Some(ColumnFit::Whole) | None, width) => width,
        (Some(_), width) => width.min(READABLE_WIDTH),
    };
    loop {
        let gaps = COLUMN_GAP * shown.len().saturating_sub(1);
        let total = shown.iter().map(|&n| needed(n)).sum::<usize>() + gaps;
        let is_optional = |fit| matches!(fit, Some(ColumnFit::Optional | ColumnFit::WrapOptional));
        let last = shown.iter().rposition(|&n| is_optional(fit(n)));
        match last {
            Some(last) if total > most => shown.remove(last),
            _ => return shown,
        };
    }
}

/// Computes the column widths; the widest columns are cut first.
fn column_widths(columns: &[TableColumn], rows: &[Vec<String>], most: Option<usize>) -> Vec<usize> {
    let mut widths = natural_widths(columns, rows);
    let Some(most) = most else { return widths };
    let gaps = COLUMN_GAP * columns.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > most {
        let cuttable =
            columns.iter().zip(&mut widths).filter(|(column, _)| column.fit != ColumnFit::Whole);
        match cuttable.map(|(_, width)| width).filter(|width| **width > MIN_COLUMN_WIDTH).max() {
            Some(width) => *width -= 1,
            None => break,
        }
    }
    widths
}

fn layout_line(
    columns: &[TableColumn],
    cells: &[String],
    widths: &[usize],
    style: Option<Style>,
) -> String {
    let mut line = String::new();
    // Empty cells at the end leave no white space behind.
    let filled = cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
    for (n, (column, cell)) in columns.iter().zip(cells).take(filled).enumerate() {
        let width = widths.get(n).copied().unwrap_or(0);
        let room = " ".repeat(width.saturating_sub(cell.width()));
        let style = style.unwrap_or(column.style);
        if n > 0 {
            line.push_str(&" ".repeat(COLUMN_GAP));
        }
        let last = n + 1 == filled;
        line.push_str(&match column.align {
            ColumnAlign::Right => format!("{room}{style}{cell}{style:#}"),
            ColumnAlign::Left if last => format!("{style}{cell}{style:#}"),
            ColumnAlign::Left => format!("{style}{cell}{style:#}{room}"),
        });
    }
    line
}

/// Cuts a text to a width and marks the cut with `…`.
pub(crate) fn truncate(text: &str, width: usize) -> String {
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

    #[test]
    fn optional_columns_give_way_first() {
        let columns = [
            TableColumn::word("ID", PLAIN),
            TableColumn::optional("TOOL", PLAIN),
            TableColumn::text("WHAT", PLAIN),
        ];
        let rows = [vec!["1".to_owned(), "write_note".to_owned(), "a".repeat(40)]];
        for (width, expected) in [(None, 3), (Some(60), 3), (Some(41), 3), (Some(39), 2)] {
            assert_eq!(shown_columns(&columns, &rows, width).len(), expected, "{width:?}");
        }
    }

    fn check(width: Option<usize>, rows: &[[&str; 2]], expected: &[&str]) {
        let columns = [TableColumn::text("TITLE", PLAIN), TableColumn::number("N")];
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect()).collect();
        let faint = |line: String| {
            line.replace(&FAINT.render().to_string(), "")
                .replace(&FAINT.render_reset().to_string(), "")
        };
        let lines: Vec<String> = layout(&columns, &rows, width).into_iter().map(faint).collect();
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
