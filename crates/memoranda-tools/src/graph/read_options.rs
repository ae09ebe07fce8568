//! Options that every reading tool has, and the parsing of times.

use jiff::Timestamp;
use memoranda_engine::graph::resolve_as_of;
use serde_json::{Map, Value};

use super::error::GraphToolResult;
use super::render::SupersededDisplay;
use super::thread::CallThread;
use crate::registry::{ArgsError, CallContext, ToolArgs};

/// Default size of an answer, in tokens.
const DEFAULT_TOKENS: u64 = 10_000;
/// Maximum size of an answer, in tokens.
const MAX_TOKENS: u64 = 24_000;

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
    /// Parameters of every reading tool.
    pub(super) const PARAMETERS: [&'static str; 6] =
        ["threadId", "includeSuperseded", "offset", "limit", "maxTokens", "as_of"];
    /// Parameters of tools that read only the present.
    pub(super) const PRESENT: &'static [&'static str] =
        &["threadId", "includeSuperseded", "offset", "limit", "maxTokens"];

    pub(super) fn read(args: &mut ToolArgs, call: &CallContext<'_>) -> GraphToolResult<Self> {
        let thread = CallThread::from_args_or_default(args, call.settings)?;
        args.rename(&[("as_of", &["asOf"]), ("includeSuperseded", &["include_superseded"])]);
        let number = |name, usual, least, most| {
            args.number(name, least, most).map(|n| n.unwrap_or(usual) as usize)
        };
        Ok(Self {
            as_of: time(args, "as_of")?
                .map(|time| resolve_as_of(call.memory, &thread, time))
                .transpose()?,
            superseded: match args.flag("includeSuperseded")? {
                Some(true) => SupersededDisplay::Show,
                _ => SupersededDisplay::Hide,
            },
            offset: number("offset", 0, 0, 10_000_000)?,
            limit: number("limit", 1000, 1, 10_000)?,
            tokens: number("maxTokens", DEFAULT_TOKENS, 0, MAX_TOKENS)?,
            thread,
        })
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

/// Reads the fields of an object in a list.
pub(super) fn fields(what: &'static str, object: Map<String, Value>) -> GraphToolResult<ToolArgs> {
    Ok(ToolArgs::new(what, Value::Object(object))?)
}
