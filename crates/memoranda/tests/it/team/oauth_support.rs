//! A browser with a cookie, a program that asks for access, and a stand-in for an issuer.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::support::{Answer, TeamServer};

/// A verifier, and its SHA-256 in base64 as RFC 7636 (appendix B) gives it.
pub(crate) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub(crate) const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
/// Address to which browsers go back.
pub(crate) const REDIRECT: &str = "http://127.0.0.1:5000/cb";

/// A browser: it keeps the cookie of the consent page.
#[derive(Default)]
pub(crate) struct Browser {
    cookie: Option<String>,
}

impl Browser {
    pub(crate) fn get(&mut self, server: &TeamServer, path: &str) -> Answer {
        self.go(server, "GET", path, &[])
    }

    pub(crate) fn post(
        &mut self,
        server: &TeamServer,
        path: &str,
        form: &[(&str, &str)],
    ) -> Answer {
        self.go(server, "POST", path, form)
    }

    fn go(
        &mut self,
        server: &TeamServer,
        method: &str,
        path: &str,
        form: &[(&str, &str)],
    ) -> Answer {
        let cookie = self.cookie.clone().unwrap_or_default();
        let mut headers = vec![("Content-Type", "application/x-www-form-urlencoded")];
        if !cookie.is_empty() {
            headers.push(("Cookie", &cookie));
        }
        let answer = server.send(method, path, &headers, &encode(form)).unwrap();
        if let Some(set) = answer.header("set-cookie") {
            for part in ["; Path=/oauth; ", "; HttpOnly", "; SameSite=Strict"] {
                assert!(set.contains(part), "{set}");
            }
            self.cookie = set.split(';').next().map(str::to_owned);
        }
        answer
    }

    /// Forgets the cookie, as a browser does while it comes from another site. Returns it.
    pub(crate) fn withhold_cookie(&mut self) -> Option<String> {
        self.cookie.take()
    }

    pub(crate) fn restore_cookie(&mut self, cookie: Option<String>) {
        self.cookie = cookie;
    }

    /// Signs in with a password and allows what a program asks for; the code.
    pub(crate) fn allow(
        &mut self,
        server: &TeamServer,
        client_id: &str,
        person: (&str, &str),
        spaces: &[&str],
    ) -> String {
        self.allow_access(server, client_id, person, ("write", spaces))
    }

    /// As `allow`, with the access that the person chooses.
    pub(crate) fn allow_access(
        &mut self,
        server: &TeamServer,
        client_id: &str,
        person: (&str, &str),
        (access, spaces): (&str, &[&str]),
    ) -> String {
        let page = self.get(server, &authorize_path(client_id, REDIRECT, &[]));
        assert_eq!(page.status, 200, "{page:?}");
        let number = request_number(&page);
        let form = [("request", number.as_str()), ("account", person.0), ("password", person.1)];
        let signed_in = self.post(server, "/oauth/sign-in", &form);
        assert_eq!(signed_in.header("location"), Some("/oauth/consent"), "{signed_in:?}");
        let mut form =
            vec![("request", number.as_str()), ("decision", "allow"), ("access", access)];
        form.extend(spaces.iter().map(|space| ("space", *space)));
        let sent = self.post(server, "/oauth/consent", &form);
        let location = sent.header("location").unwrap_or_else(|| panic!("{sent:?}"));
        parameter(location, "code").unwrap_or_else(|| panic!("{location}"))
    }
}

/// Returns the number of the request in a page's form or link.
#[track_caller]
pub(crate) fn request_number(page: &Answer) -> String {
    let after = page.text.split("name=\"request\" value=\"").nth(1);
    after.unwrap_or_else(|| panic!("{page:?}")).split('"').next().unwrap().to_owned()
}

/// Encodes a form.
pub(crate) fn encode(form: &[(&str, &str)]) -> String {
    let pairs = form.iter().map(|(name, value)| format!("{name}={}", escape(value)));
    pairs.collect::<Vec<_>>().join("&")
}

fn escape(text: &str) -> String {
    let byte = |byte: u8| match byte {
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// Returns a parameter of an address, decoded.
pub(crate) fn parameter(address: &str, name: &str) -> Option<String> {
    let (_, query) = address.split_once('?')?;
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(known, _)| *known == name)?;
    let mut bytes = Vec::new();
    let mut rest = value.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first == b'%' {
            let digits = std::str::from_utf8(&tail[..2]).unwrap();
            bytes.push(u8::from_str_radix(digits, 16).unwrap());
            rest = &tail[2..];
        } else {
            bytes.push(*first);
        }
    }
    Some(String::from_utf8(bytes).unwrap())
}

/// Returns the path of a request for access; later parameters replace the usual ones, and an empty
/// value removes one.
pub(crate) fn authorize_path(
    client_id: &str,
    redirect_uri: &str,
    changed: &[(&str, &str)],
) -> String {
    let mut form = vec![
        ("response_type", "code"),
        ("client_id", client_id),
        ("redirect_uri", redirect_uri),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
        ("state", "st&te"),
    ];
    form.retain(|(name, _)| !changed.iter().any(|(other, _)| other == name));
    form.extend(changed.iter().filter(|(_, value)| !value.is_empty()));
    format!("/oauth/authorize?{}", encode(&form))
}

/// Registers a program; its identifier.
pub(crate) fn register(server: &TeamServer, redirect_uris: &[&str]) -> String {
    let metadata = json!({ "client_name": "Tester", "redirect_uris": redirect_uris });
    let answer = server.request("POST", "/oauth/register", &[], Some(&metadata)).unwrap();
    assert_eq!(answer.status, 201, "{answer:?}");
    assert_eq!(answer.json["token_endpoint_auth_method"], json!("none"));
    answer.json["client_id"].as_str().unwrap().to_owned()
}

/// Sends a form to an endpoint for programs.
pub(crate) fn send_form(server: &TeamServer, path: &str, form: &[(&str, &str)]) -> Answer {
    let headers = [("Content-Type", "application/x-www-form-urlencoded")];
    server.send("POST", path, &headers, &encode(form)).unwrap()
}

/// Exchanges a code.
pub(crate) fn exchange(server: &TeamServer, client_id: &str, code: &str) -> Answer {
    let form = [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("client_id", client_id),
        ("redirect_uri", REDIRECT),
        ("code_verifier", VERIFIER),
    ];
    send_form(server, "/oauth/token", &form)
}

/// Exchanges a refresh token.
pub(crate) fn refresh(server: &TeamServer, client_id: &str, token: &str) -> Answer {
    let form =
        [("grant_type", "refresh_token"), ("refresh_token", token), ("client_id", client_id)];
    send_form(server, "/oauth/token", &form)
}

/// Returns the status of a call of a tool over MCP.
pub(crate) fn status_at(server: &TeamServer, path: &str, token: &str) -> u16 {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "tester", "version": "1.0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    }}});
    let authorization = format!("Bearer {token}");
    let headers = [
        ("Authorization", authorization.as_str()),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/list"),
    ];
    server.request("POST", path, &headers, Some(&body)).unwrap().status
}

/// A server of its own that answers with fixed documents and records what it was asked.
pub(crate) struct StandIn {
    pub(crate) address: String,
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
    answers: Arc<Mutex<Vec<(String, Value)>>>,
}

impl StandIn {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let answers: Arc<Mutex<Vec<(String, Value)>>> = Arc::default();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let (known, seen) = (Arc::clone(&answers), Arc::clone(&requests));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                answer(stream.unwrap(), &known, &seen);
            }
        });
        Self { address, requests, answers }
    }

    /// Sets what a path answers with.
    pub(crate) fn set(&self, path: &str, value: Value) {
        let mut answers = self.answers.lock().unwrap();
        answers.retain(|(known, _)| known != path);
        answers.push((path.to_owned(), value));
    }

    pub(crate) fn count(&self, path: &str) -> usize {
        let requests = self.requests.lock().unwrap();
        requests.iter().filter(|request| request.split(' ').nth(1) == Some(path)).count()
    }
}

fn answer(
    mut stream: TcpStream,
    answers: &Mutex<Vec<(String, Value)>>,
    requests: &Mutex<Vec<String>>,
) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    requests.lock().unwrap().push(format!("{head}\n{}", String::from_utf8_lossy(&body)));
    let found = answers.lock().unwrap().iter().find(|(known, _)| *known == path).cloned();
    let (status, text) = match found {
        Some((_, Value::String(redirect))) => {
            (format!("302 Found\r\nLocation: {redirect}"), String::new())
        }
        Some((_, value)) => ("200 OK".to_owned(), value.to_string()),
        None => ("404 Not Found".to_owned(), "{}".to_owned()),
    };
    let reply = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{text}",
        text.len()
    );
    stream.write_all(reply.as_bytes()).ok();
}
