//! Lines before they are messages: what is none is answered, so that no client waits for ever.
//!
//! The transport beneath passes over what it cannot parse, and answers what is no request without
//! its id. Half a surrogate pair, which programs make when they cut a text, is mended, and so is a
//! last line without an end; of the rest the id is looked for and an error goes back.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use memoranda_tools::readable_json;
use rmcp::model::RequestId;
use serde_json::Value;
use tokio::io::{AsyncBufRead as _, AsyncRead, BufReader, ReadBuf};
use tokio::sync::mpsc::UnboundedSender;

/// So much of a line that is too long is kept to find its id in.
const MAX_KEPT_BYTES: usize = 64 << 10;

/// A line that is no message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RejectedLine {
    /// The id of the request that it was to be, if that can be seen.
    pub(super) id: Option<RequestId>,
    pub(super) fault: LineError,
}

/// What is wrong with a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum LineError {
    /// It is no JSON, or too long.
    NoJson(String),
    /// It is JSON, and no request.
    NoRequest(&'static str),
}

/// A stream of lines, all of them JSON.
pub(super) struct LineFilter<R> {
    read: BufReader<R>,
    /// The line that is being read.
    line: Vec<u8>,
    /// Bytes of the line beyond the longest that is kept.
    beyond: usize,
    longest: usize,
    /// What is passed on next, and how much of it was.
    passed: (Vec<u8>, usize),
    tell: UnboundedSender<RejectedLine>,
}

impl<R: AsyncRead> LineFilter<R> {
    pub(super) fn new(read: R, longest: usize, tell: UnboundedSender<RejectedLine>) -> Self {
        let passed = (Vec::new(), 0);
        Self { read: BufReader::new(read), line: Vec::new(), beyond: 0, longest, passed, tell }
    }

    /// Takes the next bytes of a line.
    fn take(&mut self, bytes: &[u8]) {
        if self.beyond == 0 && self.line.len() + bytes.len() <= self.longest {
            self.line.extend_from_slice(bytes);
        } else {
            self.line.truncate(MAX_KEPT_BYTES);
            self.beyond += bytes.len();
        }
    }

    /// Passes a whole line on, mended if need be, or tells that it is none.
    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let checked = match std::mem::take(&mut self.beyond) {
            0 => check(line),
            _ => {
                let reason = format!("a message may have {} bytes at the most", self.longest);
                Err(RejectedLine { id: id_in(&line), fault: LineError::NoJson(reason) })
            }
        };
        match checked {
            Ok(line) => self.passed = (line, 0),
            // Nobody listens any more when the server ends.
            Err(unreadable) => drop(self.tell.send(unreadable)),
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
                // Whoever closes the stream has said all, with or without an end of the line.
                this.take(b"\n");
                this.end_line();
                continue;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = available[..end.map_or(available.len(), |end| end + 1)].to_vec();
            Pin::new(&mut this.read).consume(part.len());
            this.take(&part);
            if end.is_some() {
                this.end_line();
            }
        }
    }
}

/// The line, mended if it was broken in a way that leaves no doubt.
fn check(line: Vec<u8>) -> Result<Vec<u8>, RejectedLine> {
    if line.trim_ascii().is_empty() {
        return Ok(line);
    }
    match serde_json::from_slice::<Value>(&line) {
        Ok(message) => match misshapen(&message) {
            Some(unreadable) => Err(unreadable),
            None => Ok(line),
        },
        Err(_) => readable_json(line.clone()).map_err(|error| RejectedLine {
            id: id_in(&line),
            fault: LineError::NoJson(error.to_string()),
        }),
    }
}

/// Why something with an id that is no answer is no request either.
fn misshapen(message: &Value) -> Option<RejectedLine> {
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
    Some(RejectedLine { id: Some(id), fault: LineError::NoRequest(reason) })
}

/// The id of a request whose line is no JSON, or not all of it.
fn id_in(line: &[u8]) -> Option<RequestId> {
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
                    return id_of(value.trim_ascii_start());
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

fn id_of(value: &[u8]) -> Option<RequestId> {
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

/// The place after a string that begins here.
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
            assert_eq!(id_in(line.as_bytes()), expected, "{line:.60}");
        }
    }
}
