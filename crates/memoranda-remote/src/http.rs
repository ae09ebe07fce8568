//! The log of a space behind a team server, for clones. It can be read, and not written.

use std::time::{Duration, Instant};

use memoranda_core::id::ContentHash;
use memoranda_store::remote::{
    AppendOutcome, FrameContent, RemoteError, RemoteFrame, RemoteHead, RemoteLog, RemoteResult,
    StoredContent,
};

use crate::frame_stream::decode_frames;

/// Maximum time of a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum size of an answer, in bytes. One frame can be larger than what was asked for.
const MAX_ANSWER_BYTES: u64 = 4 << 30;
/// Time between two looks at the head.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// The log of a space behind a team server.
pub struct HttpLog {
    agent: ureq::Agent,
    /// Address of the server, without a slash at its end.
    server: String,
    space: String,
    token: String,
    device: String,
}

impl HttpLog {
    /// Asks a server for a space. `token` is a personal access token that may read it.
    pub fn connect(server: &str, space: &str, token: &str) -> RemoteResult<Self> {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_global(Some(REQUEST_TIMEOUT))
            .http_status_as_error(false)
            .build()
            .into();
        let mut log = Self {
            agent,
            server: server.trim_end_matches('/').to_owned(),
            space: space.to_owned(),
            token: token.to_owned(),
            device: String::new(),
        };
        (_, log.device) = log.read_head()?;
        Ok(log)
    }

    fn get(&self, path: &str) -> RemoteResult<Vec<u8>> {
        let url = format!("{}/t/log/{path}", self.server);
        let request = self
            .agent
            .get(&url)
            .header("authorization", format!("Bearer {}", self.token))
            .header("memoranda-space", &self.space);
        let away = |reason: String| RemoteError::Unavailable { reason };
        let mut response = request.call().map_err(|error| away(error.to_string()))?;
        let status = response.status().as_u16();
        let body = response.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_vec();
        let body = body.map_err(|error| away(error.to_string()))?;
        match status {
            200 => Ok(body),
            401 => refused("the server does not accept this token"),
            403 | 404 => refused(&format!("this token holds no space {:?} there", self.space)),
            429 | 500.. => Err(away(format!("the server answered {status}"))),
            _ => refused(&format!("the server answered {status}")),
        }
    }

    /// Returns the head and the name of the space as a device.
    fn read_head(&self) -> RemoteResult<(RemoteHead, String)> {
        let body = self.get("head")?;
        let text = String::from_utf8_lossy(&body).into_owned();
        let words: Vec<&str> = text.split_whitespace().collect();
        let parsed = match words.as_slice() {
            [epoch, seq, device] => epoch
                .parse()
                .ok()
                .zip(seq.parse().ok())
                .map(|(epoch, seq)| (RemoteHead { epoch, seq }, (*device).to_owned())),
            _ => None,
        };
        let is_name = |device: &str| device.bytes().all(|byte| byte.is_ascii_alphanumeric());
        parsed.filter(|(_, device)| is_name(device)).ok_or_else(|| RemoteError::Damaged {
            reason: "the server does not say where it ends".to_owned(),
        })
    }
}

fn refused<T>(reason: &str) -> RemoteResult<T> {
    Err(RemoteError::Refused { reason: reason.to_owned() })
}

impl RemoteLog for HttpLog {
    fn device(&self) -> &str {
        &self.device
    }

    fn head(&self) -> RemoteResult<RemoteHead> {
        let (head, device) = self.read_head()?;
        if device == self.device {
            return Ok(head);
        }
        refused("the space was replaced by another one of its name; clone it again")
    }

    fn read_after(&self, seq: u64, max_bytes: usize) -> RemoteResult<Vec<RemoteFrame>> {
        let body = self.get(&format!("frames?after={seq}&bytes={max_bytes}"))?;
        decode_frames(&body)
            .ok_or_else(|| RemoteError::Damaged { reason: "the server sent no frames".to_owned() })
    }

    fn append(
        &self,
        _: RemoteHead,
        _: &[RemoteFrame],
        _: &[FrameContent],
    ) -> RemoteResult<AppendOutcome> {
        refused("a clone is read-only; write to the space on its server")
    }

    fn content(&self, _: ContentHash) -> RemoteResult<Option<StoredContent>> {
        // A clone has every frame, and so every content.
        Ok(None)
    }

    fn follow(&self, seen: RemoteHead, timeout: Duration) -> RemoteResult<RemoteHead> {
        let started = Instant::now();
        loop {
            let head = self.head()?;
            if head != seen || started.elapsed() >= timeout {
                return Ok(head);
            }
            std::thread::sleep(POLL_INTERVAL.min(timeout));
        }
    }
}
