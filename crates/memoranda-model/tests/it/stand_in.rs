//! A server that stands in for a language model: it answers as it was told, and remembers what
//! it was asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// One answer.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: String,
    pub(crate) after: Duration,
}

/// One request, as it came in.
#[derive(Clone, Debug)]
#[allow(dead_code, reason = "not every test looks at the head")]
pub(crate) struct Asked {
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// A server in a thread of its own.
pub(crate) struct StandIn {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// An address at which nobody listens, nor can begin to as long as this is held.
pub(crate) struct Nobody {
    address: SocketAddr,
    _both_ends: (TcpListener, TcpStream),
}

impl Nobody {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let caller = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        // The port of one who calls is taken, and whoever calls it back is refused.
        Self { address: caller.local_addr().unwrap(), _both_ends: (listener, caller) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}

impl Reply {
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

impl StandIn {
    /// Gives these answers in order, the last one for ever.
    pub(crate) fn start(replies: Vec<Reply>) -> Self {
        Self::answering(move |n, _| replies[n.min(replies.len() - 1)].clone())
    }

    /// Gives the answer that a function makes of the number of the request and its body.
    pub(crate) fn answering(
        reply: impl Fn(usize, &Value) -> Reply + Send + Sync + 'static,
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

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn answer(stream: TcpStream, reply: impl Fn(&Value) -> Reply, seen: &Mutex<Vec<Asked>>) {
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
    seen.lock().unwrap().push(Asked { head, body });
    std::thread::sleep(reply.after);
    let head = format!(
        "HTTP/1.1 {} X\r\nconnection: close\r\ncontent-length: {}\r\n{}\r\n",
        reply.status,
        reply.body.len(),
        reply.headers
    );
    let mut stream = reader.into_inner();
    // One who no longer listens is not told.
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(reply.body.as_bytes())).ok();
}
