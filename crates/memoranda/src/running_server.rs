//! The server of a vault that runs at present: a file in the state folder with its address and
//! token, readable by its owner alone.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::files;
use crate::http_token::{HttpToken, vault_state_folder};

/// Maximum time for an answer of a server.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum time for a server to start.
const START_TIMEOUT: Duration = Duration::from_secs(20);
/// Pause between two tries to reach a server that starts.
const RETRY_DELAY: Duration = Duration::from_millis(50);

/// A server that runs, or that ran and did not end well.
pub(crate) struct RunningServer {
    address: SocketAddr,
    token: String,
    file: PathBuf,
}

/// A link to the page that works once.
pub(crate) struct PageLink {
    /// The link.
    pub(crate) url: String,
    /// Address of the server.
    pub(crate) address: SocketAddr,
}

/// The file.
#[derive(Serialize, Deserialize)]
struct ServerFile {
    address: SocketAddr,
    token: String,
}

#[derive(Deserialize)]
struct CodeAnswer {
    code: String,
}

impl RunningServer {
    /// Finds the server of this vault; `None` if none answers.
    pub(crate) fn find(context: &CommandContext) -> Result<Option<Self>> {
        let file = server_file(context)?;
        let Some(text) = files::read_text(&file)? else { return Ok(None) };
        let Ok(ServerFile { address, token }) = serde_json::from_str(&text) else {
            return Ok(None);
        };
        let running = Self { address, token, file };
        Ok(running.request_code().is_ok().then_some(running))
    }

    /// Records the server of this process.
    pub(crate) fn record(
        context: &CommandContext,
        address: SocketAddr,
        token: &HttpToken,
    ) -> Result<Self> {
        let file = server_file(context)?;
        // A server on all addresses is reached over loopback too.
        let ip = match address.ip() {
            ip if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            ip => ip,
        };
        let address = SocketAddr::new(ip, address.port());
        let written = ServerFile { address, token: token.text.clone() };
        let text = serde_json::to_string(&written)
            .map_err(|error| CommandError::new(Exit::Internal, error.to_string()))?;
        files::remove(&file)?;
        files::create_private(&file, text.as_bytes())?;
        Ok(Self { address, token: written.token, file })
    }

    /// Returns the address that clients connect to.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the token that the server accepts.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Removes the record, unless another server has replaced it.
    pub(crate) fn forget(&self) {
        let known = files::read_text(&self.file).ok().flatten();
        let known = known.and_then(|text| serde_json::from_str::<ServerFile>(&text).ok());
        if known.is_some_and(|known| known.address == self.address) {
            // A file that stays is replaced by the next server.
            files::remove(&self.file).ok();
        }
    }

    /// Asks the server for a link.
    pub(crate) fn new_link(&self) -> Result<PageLink> {
        let code = self.request_code().map_err(|error| {
            CommandError::io(&format!("ask the server at {}", self.address), &error)
        })?;
        let address = self.address;
        Ok(PageLink { url: format!("http://{address}/#c={code}"), address })
    }

    /// Asks a server for a link that is just starting.
    pub(crate) fn await_link(&self) -> Result<PageLink> {
        let until = Instant::now() + START_TIMEOUT;
        loop {
            match self.new_link() {
                Err(_) if Instant::now() < until => std::thread::sleep(RETRY_DELAY),
                link => return link,
            }
        }
    }

    fn request_code(&self) -> io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&self.address, ANSWER_TIMEOUT)?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        stream.set_write_timeout(Some(ANSWER_TIMEOUT))?;
        let request = format!(
            "POST /api/page/code HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}",
            self.address, self.token
        );
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.take(1 << 20).read_to_string(&mut answer)?;
        let refused = |message: &str| io::Error::other(message.to_owned());
        let (head, body) =
            answer.split_once("\r\n\r\n").ok_or_else(|| refused("the answer is not HTTP"))?;
        if head.split(' ').nth(1) != Some("200") {
            let status = head.lines().next().unwrap_or_default();
            return Err(refused(&format!("the server refused ({status})")));
        }
        let answer: CodeAnswer = serde_json::from_str(body).map_err(io::Error::other)?;
        Ok(answer.code)
    }
}

fn server_file(context: &CommandContext) -> Result<PathBuf> {
    Ok(vault_state_folder(context)?.join("server.json"))
}
