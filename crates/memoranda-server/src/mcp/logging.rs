//! What is noted while a tool runs, told to the client that asked for it.
//!
//! The protocol has deprecated this, and the product writes its log to stderr alone. An embedder
//! can have it for clients of the older revisions; what is told may name files of this machine.

#![allow(deprecated)]

use std::fmt::{self, Write as _};

use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam};
use serde_json::Value;
use tokio::sync::mpsc;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Where what is noted while a tool runs goes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum LogDestination {
    /// To wherever the process sends its log. Clients are told nothing.
    #[default]
    Process,
    /// To the client that runs the tool, as much of it as the client asked for.
    Client,
}

/// Something that was noted.
pub(crate) type LogNotification = LoggingMessageNotificationParam;

/// Passes on what is noted, up to a level.
pub(crate) struct ClientLogSubscriber {
    max_level: LevelFilter,
    notifications: mpsc::Sender<LogNotification>,
}

impl ClientLogSubscriber {
    pub(super) fn new(level: LoggingLevel, notifications: mpsc::Sender<LogNotification>) -> Self {
        let max_level = match level {
            LoggingLevel::Debug => LevelFilter::DEBUG,
            LoggingLevel::Info => LevelFilter::INFO,
            LoggingLevel::Notice | LoggingLevel::Warning => LevelFilter::WARN,
            LoggingLevel::Error => LevelFilter::ERROR,
            // Nothing is noted as more than an error.
            LoggingLevel::Critical | LoggingLevel::Alert | LoggingLevel::Emergency => {
                LevelFilter::OFF
            }
        };
        Self { max_level, notifications }
    }
}

impl Subscriber for ClientLogSubscriber {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= self.max_level
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let level = match *event.metadata().level() {
            Level::ERROR => LoggingLevel::Error,
            Level::WARN => LoggingLevel::Warning,
            Level::INFO => LoggingLevel::Info,
            _ => LoggingLevel::Debug,
        };
        let text = Value::String(format_event(event));
        let note = LogNotification::new(level, text).with_logger(event.metadata().target());
        // A client that does not keep up hears less.
        self.notifications.try_send(note).ok();
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// What an event says, on one line: its message, then its fields.
pub fn format_event(event: &Event<'_>) -> String {
    let mut line = EventLine::default();
    event.record(&mut line);
    line.message + &line.fields
}

#[derive(Default)]
struct EventLine {
    message: String,
    fields: String,
}

impl Visit for EventLine {
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
