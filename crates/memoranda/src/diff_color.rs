//! Prints diffs in colour. The `+` and `-` marks stay, so colour carries no information alone.

use memoranda_engine::FileDiff;

use crate::error::Result;
use crate::output::{BAD, FAINT, GOOD, OutputFormat, PLACE, Printer, STRONG, visible_lines};

/// Prints a unified diff: coloured on a terminal, otherwise unchanged so that `patch` accepts it.
pub(crate) fn print_diff(printer: &Printer, unified: &str) -> Result<()> {
    if printer.format == OutputFormat::Plain || !printer.is_terminal() && !printer.is_color_forced()
    {
        return printer.bytes(unified.as_bytes());
    }
    for line in unified.split_inclusive('\n') {
        let text = line.strip_suffix('\n').unwrap_or(line);
        let text = visible_lines(text);
        let style = match text.as_bytes() {
            [b'-', b'-', b'-', b' ', ..] | [b'+', b'+', b'+', b' ', ..] => STRONG,
            [b'@', b'@', ..] => PLACE,
            [b'+', ..] => GOOD,
            [b'-', ..] => BAD,
            [b'\\', ..] => FAINT,
            _ => anstyle::Style::new(),
        };
        printer.line(format!("{style}{text}{style:#}"))?;
    }
    Ok(())
}

/// Prints the diffs of files, with a heading for each move.
pub(crate) fn print_file_diffs(printer: &Printer, files: &[FileDiff]) -> Result<()> {
    for file in files {
        if let Some(from) = &file.moved_from {
            printer.hanging(format!("moved {from} → {}", file.place), 2)?;
        }
        print_diff(printer, &file.unified)?;
    }
    Ok(())
}
