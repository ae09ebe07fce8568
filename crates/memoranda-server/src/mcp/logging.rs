//! Sends log events of a running tool to the client that requested them.
//!
//! The protocol has deprecated this, and the product writes its log only to stderr. An embedder can
//! enable it for clients of the older revisions. Events may contain names of files on this machine.

#![allow(deprecated)]

use std::fmt::{self, Write as _};

use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam};
use serde_json::Value;
use tokio::sync::mpsc;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Destination of log events from a running tool.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum LogDestination {
    /// The log of the process. Clients receive nothing.
    #[default]
    Process,
    /// The client that runs the tool, up to the level that it requested.
    Client,
}

/// A log event as a notification.
pub(crate) type LogNotification = LoggingMessageNotificationParam;

/// Sends log events up to a level to a client.
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
            // No event has a level above error.
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
        // A slow client gets fewer events.
        self.notifications.try_send(note).ok();
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Formats an event on one line: its message, then its fields.
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
        // Writing to a string cannot fail.
        written.ok();
    }
}
