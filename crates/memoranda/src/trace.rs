//! What the server notes about itself: lines on standard error, never on standard output.

use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::output::{self, Talk};

/// Sends notes up to a level to standard error from now on.
pub(crate) fn start(talk: Talk) {
    let level = match talk {
        Talk::Quiet => Level::ERROR,
        Talk::Normal => Level::WARN,
        Talk::Verbose => Level::DEBUG,
    };
    // Only the first in a process counts, and there is one command in a process.
    tracing::subscriber::set_global_default(Lines { level }).ok();
}

/// One line a note; spans are not kept.
struct Lines {
    level: Level,
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // The protocol's library tells much that is nobody's concern.
        let most = match metadata.target().split("::").next() {
            Some("rmcp") => Level::ERROR,
            Some(
                "memoranda_server" | "memoranda_dialects" | "memoranda_engine" | "memoranda_model"
                | "memoranda_store",
            ) => self.level,
            _ => self.level.min(Level::WARN),
        };
        metadata.is_event() && *metadata.level() <= most
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        let level = event.metadata().level().as_str().to_lowercase();
        output::note(&format!("memoranda: {level}: {}{}", line.message, line.fields));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let written = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
        // Writing to a text does not fail.
        written.ok();
    }
}
