//! A server that stands in for a language model: it returns configured replies and records its
//! requests.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// One reply.
#[derive(Clone, Debug)]
pub(crate) struct StandInReply {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: String,
    pub(crate) after: Duration,
}

/// One recorded request.
#[derive(Clone, Debug)]
#[allow(dead_code, reason = "not every test looks at the head")]
pub(crate) struct StandInRequest {
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// A server in a thread of its own.
pub(crate) struct StandInServer {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<StandInRequest>>>,
}

/// An address without a listener; the port stays reserved while this value lives.
pub(crate) struct ClosedPort {
    address: SocketAddr,
    _both_ends: (TcpListener, TcpStream),
}

impl ClosedPort {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let caller = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        // The port of a client socket is taken, and connections to it are refused.
        Self { address: caller.local_addr().unwrap(), _both_ends: (listener, caller) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}

impl StandInReply {
    pub(crate) fn new(status: u16, body: impl Into<String>) -> Self {
        Self { status, headers: String::new(), body: body.into(), after: Duration::ZERO }
    }

    /// An answer in OpenAI's form.
    pub(crate) fn openai(text: &str) -> Self {
        let body = json!({ "choices": [{ "message": { "role": "assistant", "content": text } }] });
        Self::new(200, body.to_string())
    }

    pub(crate) fn after(self, after: Duration) -> Self {
        Self { after, ..self }
    }
}

impl StandInServer {
    /// Returns these replies in order, and the last one from then on.
    pub(crate) fn start(replies: Vec<StandInReply>) -> Self {
        Self::answering(move |n, _| replies[n.min(replies.len() - 1)].clone())
    }

    /// Returns the reply that a function computes from the number of the request and its body.
    pub(crate) fn answering(
        reply: impl Fn(usize, &Value) -> StandInReply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (seen, reply) = (Arc::clone(&asked), Arc::new(reply));
        std::thread::spawn(move || {
            for (n, stream) in listener.incoming().map_while(Result::ok).enumerate() {
                let (reply, seen) = (Arc::clone(&reply), Arc::clone(&seen));
                std::thread::spawn(move || answer(stream, |body| reply(n, body), &seen));
            }
        });
        Self { address, asked }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(crate) fn asked(&self) -> Vec<StandInRequest> {
        self.asked.lock().unwrap().clone()
    }
}

fn answer(
    stream: TcpStream,
    reply: impl Fn(&Value) -> StandInReply,
    seen: &Mutex<Vec<StandInRequest>>,
) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        head.push_str(&line.to_lowercase());
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.and_then(|length| length.parse().ok()).unwrap_or(0)];
    reader.read_exact(&mut body).ok();
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let reply = reply(&body);
    seen.lock().unwrap().push(StandInRequest { head, body });
    std::thread::sleep(reply.after);
    let head = format!(
        "HTTP/1.1 {} X\r\nconnection: close\r\ncontent-length: {}\r\n{}\r\n",
        reply.status,
        reply.body.len(),
        reply.headers
    );
    let mut stream = reader.into_inner();
    // A client that has gone gets no reply.
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(reply.body.as_bytes())).ok();
}
