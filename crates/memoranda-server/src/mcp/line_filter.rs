//! Filters the input lines: a line that is not a message gets an error, so that no client waits.
//!
//! The transport of `rmcp` ignores lines that it cannot parse, and its error for an invalid request
//! has no id. The filter repairs half a surrogate pair, which results from a cut text, and a last
//! line without a line break. For every other invalid line it finds the id and returns an error.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use memoranda_tools::readable_json;
use rmcp::model::RequestId;
use serde_json::Value;
use tokio::io::{AsyncBufRead as _, AsyncRead, BufReader, ReadBuf};
use tokio::sync::mpsc::UnboundedSender;

/// Bytes that are kept of an oversized line, to find its id.
const MAX_KEPT_BYTES: usize = 64 << 10;

/// A line that is not a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RejectedLine {
    /// Id of the intended request; `None` if none is found.
    pub(super) id: Option<RequestId>,
    pub(super) error: LineError,
}

/// Reason why a line is rejected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum LineError {
    /// Not JSON, or too long.
    NotJson(String),
    /// JSON, but not a valid request.
    InvalidRequest(&'static str),
}

/// A stream of lines that are all valid JSON.
pub(super) struct LineFilter<R> {
    read: BufReader<R>,
    /// The incomplete line.
    line: Vec<u8>,
    /// Bytes of the line that were dropped because it is too long.
    dropped: usize,
    max_bytes: usize,
    /// The line to pass on next, and the number of bytes already passed.
    passed: (Vec<u8>, usize),
    rejected: UnboundedSender<RejectedLine>,
}

impl<R: AsyncRead> LineFilter<R> {
    pub(super) fn new(read: R, max_bytes: usize, rejected: UnboundedSender<RejectedLine>) -> Self {
        let passed = (Vec::new(), 0);
        Self {
            read: BufReader::new(read),
            line: Vec::new(),
            dropped: 0,
            max_bytes,
            passed,
            rejected,
        }
    }

    /// Appends bytes to the line.
    fn push_bytes(&mut self, bytes: &[u8]) {
        if self.dropped == 0 && self.line.len() + bytes.len() <= self.max_bytes {
            self.line.extend_from_slice(bytes);
        } else {
            self.line.truncate(MAX_KEPT_BYTES);
            self.dropped += bytes.len();
        }
    }

    /// Passes a complete line on, repaired if necessary, or reports it as rejected.
    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let checked = match std::mem::take(&mut self.dropped) {
            0 => check(line),
            _ => {
                let reason = format!("a message may have {} bytes at the most", self.max_bytes);
                Err(RejectedLine { id: find_request_id(&line), error: LineError::NotJson(reason) })
            }
        };
        match checked {
            Ok(line) => self.passed = (line, 0),
            // At the end of the server nothing receives it.
            Err(unreadable) => drop(self.rejected.send(unreadable)),
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for LineFilter<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let this = self.get_mut();
        loop {
            let (bytes, done) = &mut this.passed;
            if *done < bytes.len() {
                let part = &bytes[*done..];
                let part = &part[..part.len().min(buffer.remaining())];
                buffer.put_slice(part);
                *done += part.len();
                return Poll::Ready(Ok(()));
            }
            let available = ready!(Pin::new(&mut this.read).poll_fill_buf(context))?;
            if available.is_empty() {
                if this.line.is_empty() {
                    return Poll::Ready(Ok(()));
                }
                // A last line without a line break is complete when the stream is closed.
                this.push_bytes(b"\n");
                this.end_line();
                continue;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = available[..end.map_or(available.len(), |end| end + 1)].to_vec();
            Pin::new(&mut this.read).consume(part.len());
            this.push_bytes(&part);
            if end.is_some() {
                this.end_line();
            }
        }
    }
}

/// Checks a line, and repairs it if the repair is unambiguous.
fn check(line: Vec<u8>) -> Result<Vec<u8>, RejectedLine> {
    if line.trim_ascii().is_empty() {
        return Ok(line);
    }
    match serde_json::from_slice::<Value>(&line) {
        Ok(message) => match invalid_request(&message) {
            Some(unreadable) => Err(unreadable),
            None => Ok(line),
        },
        Err(_) => readable_json(line.clone()).map_err(|error| RejectedLine {
            id: find_request_id(&line),
            error: LineError::NotJson(error.to_string()),
        }),
    }
}

/// Returns the reason why a message with an id is neither a response nor a valid request.
fn invalid_request(message: &Value) -> Option<RejectedLine> {
    let id = match message.get("id")? {
        Value::String(text) => RequestId::String(text.as_str().into()),
        Value::Number(number) => RequestId::Number(number.as_i64()?),
        _ => return None,
    };
    let is_answer = message.get("result").is_some() || message.get("error").is_some();
    let fits = |value: Option<&Value>| value.is_none_or(|it| it.is_object() || it.is_null());
    let params = message.get("params");
    let reason = match () {
        () if is_answer => return None,
        () if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") => {
            "`jsonrpc` must be \"2.0\""
        }
        () if !message.get("method").is_some_and(Value::is_string) => "`method` must be a text",
        () if !fits(params) => "`params` must be an object",
        () if !fits(params.and_then(|params| params.get("_meta"))) => "`_meta` must be an object",
        () => return None,
    };
    Some(RejectedLine { id: Some(id), error: LineError::InvalidRequest(reason) })
}

/// Finds the id in a line that is invalid or incomplete JSON.
fn find_request_id(line: &[u8]) -> Option<RequestId> {
    let (mut at, mut depth) = (0, 0_usize);
    while at < line.len() {
        match line[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let end = string_end(line, at)?;
                let rest = line.get(end..)?.trim_ascii_start();
                if depth == 1
                    && &line[at..end] == b"\"id\""
                    && let Some(value) = rest.strip_prefix(b":")
                {
                    return parse_request_id(value.trim_ascii_start());
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

fn parse_request_id(value: &[u8]) -> Option<RequestId> {
    let end = match value.first()? {
        b'"' => string_end(value, 0)?,
        _ => value.iter().position(|b| !matches!(b, b'-' | b'0'..=b'9')).unwrap_or(value.len()),
    };
    match serde_json::from_slice(&value[..end]).ok()? {
        Value::String(text) => Some(RequestId::String(text.into())),
        Value::Number(number) => number.as_i64().map(RequestId::Number),
        _ => None,
    }
}

/// Returns the position after the string that starts here.
fn string_end(line: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match line.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_found_wherever_it_can_be_seen() {
        let number = |n| Some(RequestId::Number(n));
        let deep = format!(r#"{{"params":{}{},"id":7}}"#, "[".repeat(5000), "]".repeat(5000));
        for (line, expected) in [
            ("not json", None),
            ("", None),
            (r#"{"id":901,"method":"ping""#, number(901)),
            (r#"{"method":"x","params":{"id":1},"id" : -5, oops}"#, number(-5)),
            (r#"{"id":"a\"b",oops}"#, Some(RequestId::String("a\"b".into()))),
            (r#"{"x":"\"id\":3","id":4,}"#, number(4)),
            (r#"{"id":null,}"#, None),
            (r#"{"id":1"#, number(1)),
            (r#"{"id"#, None),
            (deep.as_str(), number(7)),
        ] {
            assert_eq!(find_request_id(line.as_bytes()), expected, "{line:.60}");
        }
    }
}
