//! The door for printing: data to standard output, talk to standard error.
//!
//! Texts of notes are data: before they reach a terminal, characters that could steer it are made
//! visible.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write as _};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use serde::Serialize;

use crate::env;
use crate::error::{CommandError, Result};

/// Names and titles.
pub(crate) const STRONG: Style = Style::new().bold();
/// What is beside the point.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// Where something lies.
pub(crate) const PLACE: Style = AnsiColor::Cyan.on_default();
/// A word that was looked for.
pub(crate) const HIT: Style = AnsiColor::Yellow.on_default().bold();
/// What is new, or well.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// What is gone, or wrong.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();

/// When output has colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal that can show them.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What the data is printed as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OutputFormat {
    /// For people: aligned, cut to the terminal, with spans of time.
    Pretty,
    /// For `cut` and `grep`: tabs between columns, nothing cut, no decoration.
    Plain,
    /// For programs.
    Json,
}

/// How much is said.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug)]
pub(crate) enum Verbosity {
    /// Only data and errors.
    Quiet,
    /// What a person wants to know.
    Normal,
    /// Why, too.
    Verbose,
}

/// The way to the person.
pub(crate) struct Printer {
    /// What the data is printed as.
    pub(crate) format: OutputFormat,
    verbosity: Verbosity,
    color: ColorWhen,
}

impl Printer {
    /// A way to the person with these habits.
    pub(crate) fn new(format: OutputFormat, verbosity: Verbosity, color: ColorWhen) -> Self {
        Self { format, verbosity, color }
    }

    /// Prints a line of data.
    pub(crate) fn line(&self, text: impl AsRef<str>) -> Result<()> {
        let choice = self.choice(io::stdout().is_terminal());
        let mut out = AutoStream::new(io::stdout(), choice).lock();
        Ok(out.write_all(text.as_ref().as_bytes()).and_then(|()| out.write_all(b"\n"))?)
    }

    /// Prints bytes exactly as they are.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Result<()> {
        let mut out = io::stdout().lock();
        Ok(out.write_all(bytes).and_then(|()| out.flush())?)
    }

    /// Standard output, for what is too large to hold.
    pub(crate) fn writer(&self) -> impl io::Write + use<> {
        io::stdout().lock()
    }

    /// Prints a value as one line of JSON.
    pub(crate) fn json(&self, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string(value)
            .map_err(|e| CommandError::new(crate::exit::Exit::Internal, e.to_string()))?;
        self.line(text)
    }

    /// Prints what was done: JSON if that is wanted, a sentence else, nothing if quiet.
    pub(crate) fn done(&self, value: &impl Serialize, sentence: impl AsRef<str>) -> Result<()> {
        match self.format {
            OutputFormat::Json => self.json(value),
            OutputFormat::Pretty | OutputFormat::Plain if self.verbosity == Verbosity::Quiet => {
                Ok(())
            }
            OutputFormat::Pretty | OutputFormat::Plain => self.line(sentence),
        }
    }

    /// Says something that is no data.
    pub(crate) fn say(&self, text: impl AsRef<str>) {
        if self.verbosity >= Verbosity::Normal {
            self.stderr(text.as_ref());
        }
    }

    /// Says a detail, if the person wants details.
    pub(crate) fn detail(&self, text: impl AsRef<str>) {
        if self.verbosity >= Verbosity::Verbose {
            self.stderr(text.as_ref());
        }
    }

    /// Says what could be done next.
    pub(crate) fn hint(&self, text: impl AsRef<str>) {
        self.say(format!("{PLACE}hint:{PLACE:#} {}", text.as_ref()));
    }

    /// Says that something is not as it should be.
    pub(crate) fn warn(&self, text: impl AsRef<str>) {
        self.say(format!("{HIT}warning:{HIT:#} {}", text.as_ref()));
    }

    /// Says why the command could not be done.
    pub(crate) fn error(&self, error: &CommandError) {
        self.stderr(&format!("{BAD}error:{BAD:#} {}", visible(&error.message)));
        for hint in &error.hints {
            self.stderr(&format!("{PLACE}hint:{PLACE:#} {}", visible(hint)));
        }
    }

    /// Asks a question that a yes answers. Only where a person can answer.
    pub(crate) fn ask(&self, question: &str) -> Result<bool> {
        let mut err = AutoStream::new(io::stderr(), self.choice(io::stderr().is_terminal()));
        write!(err, "{question} [y/N] ").and_then(|()| err.flush())?;
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).map_err(|e| CommandError::io("read the answer", &e))?;
        Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    /// Whether a person sits before it who could answer.
    pub(crate) fn can_ask(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Whether progress can be shown.
    pub(crate) fn can_show_progress(&self) -> bool {
        self.verbosity >= Verbosity::Normal && io::stderr().is_terminal() && !is_dumb()
    }

    /// Whether data goes to a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        io::stdout().is_terminal()
    }

    /// Whether colours are wanted wherever data goes.
    pub(crate) fn is_color_forced(&self) -> bool {
        self.color == ColorWhen::Always
    }

    /// How many columns the terminal has; `None` if data does not go to one.
    pub(crate) fn width(&self) -> Option<usize> {
        if self.format != OutputFormat::Pretty || !io::stdout().is_terminal() {
            return None;
        }
        let (width, _) = terminal_size::terminal_size_of(io::stdout())?;
        Some(usize::from(width.0))
    }

    /// Whether lines may be drawn with box characters.
    pub(crate) fn can_draw(&self) -> bool {
        self.format == OutputFormat::Pretty && env::is_utf8_locale()
    }

    fn stderr(&self, text: &str) {
        let mut err = AutoStream::new(io::stderr(), self.choice(io::stderr().is_terminal()));
        // If nobody listens, nothing needs to be said.
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

/// Notes something about the program itself, as one line on standard error.
pub(crate) fn note(text: &str) {
    // If nobody listens, nothing needs to be said.
    writeln!(io::stderr().lock(), "{}", visible(text)).ok();
}

/// Reads all of standard input.
pub(crate) fn read_stdin() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::stdin().lock(), &mut bytes)
        .map_err(|e| CommandError::io("read standard input", &e))?;
    Ok(bytes)
}

/// Whether something is piped in.
pub(crate) fn is_piped_in() -> bool {
    !io::stdin().is_terminal()
}

fn is_dumb() -> bool {
    env::TERM.text().is_some_and(|term| term == "dumb")
}

/// A number of things, in words that fit the number.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        _ => format!("{count} {thing}s"),
    }
}

/// Returns true for control characters, and for those that reverse or embed the direction of text:
/// with them a line can look like another.
fn steers_terminal(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text of one line for a terminal: no character in it can steer it or break the line.
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

/// A text of many lines for a terminal: line breaks and tabs stay, nothing else can steer it.
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
