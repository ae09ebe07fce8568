//! Options that every reading tool has, and the parsing of times.

use jiff::Timestamp;
use memoranda_engine::graph::{GraphAt, resolve_as_of};
use serde_json::Value;

use super::error::GraphToolResult;
use super::render::SupersededDisplay;
use super::thread::CallThread;
use crate::registry::{ArgsError, CallContext, ToolArgs};

/// The thread, the time and the size of an answer.
pub(super) struct ReadOptions {
    pub(super) thread: CallThread,
    pub(super) as_of: Option<Timestamp>,
    pub(super) superseded: SupersededDisplay,
    pub(super) offset: usize,
    pub(super) limit: usize,
    pub(super) tokens: usize,
}

impl ReadOptions {
    pub(super) fn read(args: &ToolArgs, call: &CallContext<'_>) -> GraphToolResult<Self> {
        let thread = CallThread::from_args_or_default(args, call.settings)?;
        Ok(Self {
            as_of: time(args, "as_of")?
                .map(|time| resolve_as_of(call.memory, &thread, time))
                .transpose()?,
            superseded: if args.is_set("includeSuperseded")? {
                SupersededDisplay::Show
            } else {
                SupersededDisplay::Hide
            },
            offset: args.integer("offset")?,
            limit: args.integer("limit")?,
            tokens: args.integer("maxTokens")?,
            thread,
        })
    }

    /// Loads the differences between the thread at the requested time and now.
    pub(super) fn graph_at(&self, call: &CallContext<'_>) -> GraphToolResult<Option<GraphAt<'_>>> {
        let Some(time) = self.as_of else { return Ok(None) };
        let progress = |done: u64, total: u64| {
            (call.progress)(done, total, "reading the history");
            !call.is_cancelled()
        };
        Ok(Some(GraphAt::load(call.memory, &self.thread, time, &progress)?))
    }
}

/// Reads a time or a day.
pub(super) fn time(args: &ToolArgs, name: &str) -> Result<Option<Timestamp>, ArgsError> {
    let Some(text) = args.optional_text(name)? else { return Ok(None) };
    match parse_time(&text) {
        Some(time) => Ok(Some(time)),
        None => {
            let expected = "a time such as 2026-01-20T15:30:00Z";
            Err(args.wrong(name, expected, &Value::String(text)))
        }
    }
}

/// Reads a time or the end of a day.
pub(super) fn time_until(args: &ToolArgs, name: &str) -> Result<Option<Timestamp>, ArgsError> {
    const DAY: usize = "2026-01-20".len();
    let text = args.optional_text(name)?.filter(|text| text.trim().len() == DAY);
    let Some(day) = text.and_then(|text| text.trim().parse::<jiff::civil::Date>().ok()) else {
        return time(args, name);
    };
    let last = day.at(23, 59, 59, 999_000_000).to_zoned(jiff::tz::TimeZone::UTC);
    Ok(last.ok().map(|last| last.timestamp()))
}

/// Parses a time or the start of a day. Without a zone, the time is UTC.
pub(super) fn parse_time(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let civil = || {
        let civil = text.parse::<jiff::civil::DateTime>().ok();
        let day = || text.parse::<jiff::civil::Date>().ok().map(|date| date.at(0, 0, 0, 0));
        let utc = civil.or_else(day)?.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
        Some(utc.timestamp())
    };
    text.parse().ok().or_else(civil)
}
