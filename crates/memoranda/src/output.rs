//! Printing: data to standard output, messages to standard error.
//!
//! The text of notes is untrusted: control characters are replaced before it reaches a terminal.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, IsTerminal as _, Write as _};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use serde::Serialize;

pub(crate) use memoranda_clients::doctor::counted;

use crate::env;
use crate::error::{CommandError, Result};
use crate::pager::Pager;
use crate::wrap::{wrap, wrap_text};

/// Style of names and titles.
pub(crate) const STRONG: Style = Style::new().bold();
/// Style of secondary text.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// Style of locations.
pub(crate) const PLACE: Style = AnsiColor::Cyan.on_default();
/// Style of matched words.
pub(crate) const HIT: Style = AnsiColor::Yellow.on_default().bold();
/// Style of additions and successful checks.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Style of deletions and errors.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();

/// Indentation of the continuation of a sentence.
const MESSAGE_INDENT: usize = 2;

/// Use of colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal that supports colours.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Format of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OutputFormat {
    /// For people: aligned columns, cut to the terminal, relative times.
    Pretty,
    /// For `cut` and `grep`: tab-separated columns with whole values.
    Plain,
    /// For programs.
    Json,
}

/// Amount of messages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug)]
pub(crate) enum Verbosity {
    /// Only data and errors.
    Quiet,
    /// Data, messages and errors.
    Normal,
    /// Also details.
    Verbose,
}

/// Prints data and messages.
pub(crate) struct Printer {
    /// Format of the output.
    pub(crate) format: OutputFormat,
    verbosity: Verbosity,
    color: ColorWhen,
    pager: RefCell<Option<Pager>>,
}

impl Printer {
    /// Creates a printer.
    pub(crate) fn new(format: OutputFormat, verbosity: Verbosity, color: ColorWhen) -> Self {
        Self { format, verbosity, color, pager: RefCell::new(None) }
    }

    /// Sends all further output through a pager if it goes to a terminal.
    pub(crate) fn start_pager(&self, command: &str) {
        let for_people = self.format == OutputFormat::Pretty && io::stdout().is_terminal();
        if for_people && !is_dumb() && !command.trim().is_empty() {
            *self.pager.borrow_mut() = Pager::start(command.trim());
        }
    }

    /// Sends a line to the pager; `None` if there is no pager.
    fn page(&self, text: &str) -> Option<io::Result<()>> {
        let mut pager = self.pager.borrow_mut();
        let pager = pager.as_mut()?;
        let mut bytes = AutoStream::new(Vec::new(), self.choice(true));
        let written = bytes.write_all(text.as_bytes()).and_then(|()| bytes.write_all(b"\n"));
        Some(written.and_then(|()| pager.write(&bytes.into_inner())))
    }

    /// Prints a line of data.
    pub(crate) fn line(&self, text: impl AsRef<str>) -> Result<()> {
        if let Some(paged) = self.page(text.as_ref()) {
            return Ok(paged?);
        }
        let choice = self.choice(io::stdout().is_terminal());
        let mut out = AutoStream::new(io::stdout(), choice).lock();
        Ok(out.write_all(text.as_ref().as_bytes()).and_then(|()| out.write_all(b"\n"))?)
    }

    /// Prints text for people: lines that are too long for the terminal are broken between words.
    pub(crate) fn text(&self, text: impl AsRef<str>) -> Result<()> {
        wrap_text(text.as_ref(), self.width()).iter().try_for_each(|line| self.line(line))
    }

    /// Prints a line of data. If it is too long for the terminal, it continues on further lines with
    /// an indentation.
    pub(crate) fn hanging(&self, line: impl AsRef<str>, indent: usize) -> Result<()> {
        wrap(line.as_ref(), self.width(), indent).iter().try_for_each(|line| self.line(line))
    }

    /// Prints bytes exactly as they are.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Result<()> {
        let mut out = io::stdout().lock();
        Ok(out.write_all(bytes).and_then(|()| out.flush())?)
    }

    /// Returns standard output for streaming.
    pub(crate) fn writer(&self) -> impl io::Write + use<> {
        io::stdout().lock()
    }

    /// Prints a value as one line of JSON.
    pub(crate) fn json(&self, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string(value)
            .map_err(|e| CommandError::new(crate::exit::Exit::Internal, e.to_string()))?;
        self.line(text)
    }

    /// Prints a result: as JSON, as a sentence, or nothing if quiet.
    pub(crate) fn done(&self, value: &impl Serialize, sentence: impl AsRef<str>) -> Result<()> {
        match self.format {
            OutputFormat::Json => self.json(value),
            OutputFormat::Pretty | OutputFormat::Plain if self.verbosity == Verbosity::Quiet => {
                Ok(())
            }
            OutputFormat::Pretty | OutputFormat::Plain => self.hanging(sentence, MESSAGE_INDENT),
        }
    }

    /// Prints a message.
    pub(crate) fn say(&self, text: impl AsRef<str>) {
        if self.verbosity < Verbosity::Normal {
            return;
        }
        // A message next to a pager would be drawn into its screen.
        let is_paged = self.pager.borrow().is_some();
        let width = if is_paged { self.width() } else { self.message_width() };
        for line in text.as_ref().split('\n') {
            for line in wrap(line, width, MESSAGE_INDENT) {
                if self.page(&line).is_none() {
                    self.stderr(&line);
                }
            }
        }
    }

    /// Prints a detail if the output is verbose.
    pub(crate) fn detail(&self, text: impl AsRef<str>) {
        if self.verbosity >= Verbosity::Verbose {
            self.message(text.as_ref());
        }
    }

    /// Prints a hint about the next step.
    pub(crate) fn hint(&self, text: impl AsRef<str>) {
        self.say(format!("{PLACE}hint:{PLACE:#} {}", text.as_ref()));
    }

    /// Prints a warning.
    pub(crate) fn warn(&self, text: impl AsRef<str>) {
        self.say(format!("{HIT}warning:{HIT:#} {}", text.as_ref()));
    }

    /// Prints an error with its hints.
    pub(crate) fn error(&self, error: &CommandError) {
        self.message(&format!("{BAD}error:{BAD:#} {}", visible(&error.message)));
        for hint in &error.hints {
            self.message(&format!("{PLACE}hint:{PLACE:#} {}", visible(hint)));
        }
    }

    /// Prints an error of the command line with its usage.
    pub(crate) fn usage_error(&self, error: &clap::Error) {
        for line in error.render().ansi().to_string().lines() {
            self.message(line);
        }
    }

    /// Prints a line to standard error, broken between words.
    fn message(&self, line: &str) {
        for line in wrap(line, self.message_width(), MESSAGE_INDENT) {
            self.stderr(&line);
        }
    }

    /// Asks a yes-or-no question on the terminal.
    pub(crate) fn ask(&self, question: &str) -> Result<bool> {
        let mut err = AutoStream::new(io::stderr(), self.choice(io::stderr().is_terminal()));
        let lines = wrap(&format!("{question} [y/N]"), self.message_width(), MESSAGE_INDENT);
        write!(err, "{} ", lines.join("\n")).and_then(|()| err.flush())?;
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).map_err(|e| CommandError::io("read the answer", &e))?;
        Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    /// Returns true if a question can be asked.
    pub(crate) fn can_ask(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Returns true if a progress bar can be shown.
    pub(crate) fn can_show_progress(&self) -> bool {
        self.verbosity >= Verbosity::Normal && io::stderr().is_terminal() && !is_dumb()
    }

    /// Returns true if standard output is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        io::stdout().is_terminal()
    }

    /// Returns true if messages have colours.
    pub(crate) fn has_color(&self) -> bool {
        self.choice(io::stderr().is_terminal()) == ColorChoice::Always
    }

    /// Returns true if colours are forced.
    pub(crate) fn is_color_forced(&self) -> bool {
        self.color == ColorWhen::Always
    }

    /// Returns the width of the output in columns: of the terminal, or `COLUMNS` elsewhere; `None` if
    /// it is not limited.
    pub(crate) fn width(&self) -> Option<usize> {
        if self.format != OutputFormat::Pretty {
            return None;
        }
        if !io::stdout().is_terminal() {
            return columns_variable();
        }
        let (width, _) = terminal_size::terminal_size_of(io::stdout())?;
        Some(usize::from(width.0))
    }

    /// Returns the width of messages on standard error.
    fn message_width(&self) -> Option<usize> {
        if self.format != OutputFormat::Pretty {
            return None;
        }
        if !io::stderr().is_terminal() {
            return columns_variable();
        }
        let (width, _) = terminal_size::terminal_size_of(io::stderr())?;
        Some(usize::from(width.0))
    }

    /// Returns true if box-drawing characters can be printed.
    pub(crate) fn can_draw(&self) -> bool {
        self.format == OutputFormat::Pretty && env::is_utf8_locale()
    }

    fn stderr(&self, text: &str) {
        let mut err = AutoStream::new(io::stderr(), self.choice(io::stderr().is_terminal()));
        // A closed standard error is ignored.
        writeln!(err, "{text}").ok();
    }

    fn choice(&self, is_terminal: bool) -> ColorChoice {
        let wanted = match self.color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => is_terminal && !is_dumb() && self.format == OutputFormat::Pretty,
        };
        if wanted { ColorChoice::Always } else { ColorChoice::Never }
    }
}

fn columns_variable() -> Option<usize> {
    env::COLUMNS.text()?.parse().ok().filter(|width| *width > 0)
}

/// Prints a log line to standard error.
pub(crate) fn note(text: &str) {
    // A closed standard error is ignored.
    writeln!(io::stderr().lock(), "{}", visible(text)).ok();
}

/// Reads all of standard input.
pub(crate) fn read_stdin() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::stdin().lock(), &mut bytes)
        .map_err(|e| CommandError::io("read standard input", &e))?;
    Ok(bytes)
}

/// Returns true if standard input is not a terminal.
pub(crate) fn is_piped_in() -> bool {
    !io::stdin().is_terminal()
}

fn is_dumb() -> bool {
    env::TERM.text().is_some_and(|term| term == "dumb")
}

/// Returns true for control characters, and for those that reverse or embed the direction of text:
/// with them a line can look like another.
fn steers_terminal(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Makes a text safe for one line of a terminal: line breaks become spaces, control characters are
/// replaced.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(steers_terminal) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| match c {
        '\n' | '\r' | '\t' => ' ',
        c if steers_terminal(c) => '\u{fffd}',
        c => c,
    };
    Cow::Owned(text.chars().map(shown).collect())
}

/// Makes a text safe for a terminal: line breaks and tabs stay, control characters are replaced.
pub(crate) fn visible_lines(text: &str) -> Cow<'_, str> {
    let steers = |c: char| steers_terminal(c) && !matches!(c, '\n' | '\r' | '\t');
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if steers(c) { '\u{fffd}' } else { c }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_steers_the_terminal() {
        for (given, expected) in [
            ("plain", "plain"),
            ("a\u{1b}[31mb", "a\u{fffd}[31mb"),
            ("pay \u{202e}001", "pay \u{fffd}001"),
            ("\u{2066}isolated", "\u{fffd}isolated"),
        ] {
            assert_eq!(visible(given), expected);
            assert_eq!(visible_lines(given), expected);
        }
    }
}
