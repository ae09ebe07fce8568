//! Connections to the database: a small pool, TLS, and which errors mean that it is away.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use postgres::error::SqlState;
use postgres::{Client, Config};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::changes::ChangeNotices;
use super::{DatabaseError, DatabaseResult};

/// Maximum number of connections for statements. One more listens for changes.
const MAX_CONNECTIONS: usize = 16;
/// Maximum time to wait for a free connection.
const POOL_PATIENCE: Duration = Duration::from_secs(10);
/// Maximum time to open a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum time without an answer to bytes that were sent.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(10);

/// A database with spaces. Cheap to clone.
#[derive(Clone)]
pub struct Database {
    pub(super) inner: Arc<DatabaseInner>,
}

pub(super) struct DatabaseInner {
    config: Config,
    tls: MakeRustlsConnect,
    pool: Mutex<ConnectionPool>,
    returned: Condvar,
    pub(super) changes: ChangeNotices,
    /// True once the tables were seen in the version of this program.
    pub(super) had_current_schema: AtomicBool,
}

#[derive(Default)]
struct ConnectionPool {
    idle: Vec<Client>,
    open: usize,
}

/// Effect of a statement that is executed twice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StatementRepeat {
    /// No further effect: the statement is repeated on another connection if the first one broke.
    Harmless,
    /// Something else.
    Never,
}

impl Database {
    /// Prepares connections to a database. Nothing is opened yet. `authority` is a PEM file with
    /// the certificates that sign the database's; without it, public authorities are trusted.
    pub fn new(address: &str, authority: Option<&[u8]>) -> DatabaseResult<Self> {
        // The error of the parser may quote the address, and so the password.
        let mut config: Config = address.parse().map_err(|_| DatabaseError::BadAddress)?;
        config
            .application_name("memoranda")
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_user_timeout(SILENCE_TIMEOUT)
            .keepalives_idle(SILENCE_TIMEOUT);
        let tls = MakeRustlsConnect::new(tls_config(authority)?);
        let inner = DatabaseInner {
            config,
            tls,
            pool: Mutex::default(),
            returned: Condvar::new(),
            changes: ChangeNotices::default(),
            had_current_schema: AtomicBool::new(false),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Runs statements on a connection of the pool.
    pub(super) fn run<T>(
        &self,
        repeat: StatementRepeat,
        mut statements: impl FnMut(&mut Client) -> Result<T, postgres::Error>,
    ) -> DatabaseResult<T> {
        self.inner.run(repeat, &mut statements)
    }

    /// Runs statements that only read.
    pub(super) fn read<T>(
        &self,
        statements: impl FnMut(&mut Client) -> Result<T, postgres::Error>,
    ) -> DatabaseResult<T> {
        self.run(StatementRepeat::Harmless, statements)
    }

    /// Runs one transaction. A refusal inside of it rolls it back.
    pub(super) fn transact<T>(
        &self,
        work: impl Fn(&mut postgres::Transaction<'_>) -> DatabaseResult<T>,
    ) -> DatabaseResult<T> {
        let outcome = self.run(StatementRepeat::Never, |client| {
            let mut transaction = client.transaction()?;
            match work(&mut transaction) {
                Ok(value) => transaction.commit().map(|()| Ok(value)),
                Err(refusal) => transaction.rollback().map(|()| Err(refusal)),
            }
        });
        outcome?
    }
}

impl DatabaseInner {
    pub(super) fn run<T>(
        &self,
        repeat: StatementRepeat,
        statements: &mut dyn FnMut(&mut Client) -> Result<T, postgres::Error>,
    ) -> DatabaseResult<T> {
        let (mut client, was_idle) = self.take()?;
        let mut outcome = statements(&mut client);
        let is_broken = |client: &Client, error: &postgres::Error| {
            client.is_closed() || is_connection_error(error)
        };
        if let Err(error) = &outcome
            && is_broken(&client, error)
            && (repeat == StatementRepeat::Harmless && was_idle)
        {
            // The others of the pool broke with it.
            self.forget_idle();
            client = match self.connect() {
                Ok(client) => client,
                Err(error) => {
                    self.lose();
                    return Err(error);
                }
            };
            outcome = statements(&mut client);
        }
        match outcome {
            Ok(value) => {
                self.give_back(client);
                Ok(value)
            }
            Err(error) if is_broken(&client, &error) => {
                self.lose();
                self.forget_idle();
                Err(DatabaseError::Away { reason: describe(&error), may_be_done: true })
            }
            Err(error) => {
                self.give_back(client);
                Err(DatabaseError::from(error))
            }
        }
    }

    /// Takes a connection; also returns true if it was open before.
    fn take(&self) -> DatabaseResult<(Client, bool)> {
        let started = Instant::now();
        let mut pool = self.pool();
        loop {
            while let Some(client) = pool.idle.pop() {
                if !client.is_closed() {
                    return Ok((client, true));
                }
                pool.open -= 1;
            }
            if pool.open < MAX_CONNECTIONS {
                pool.open += 1;
                drop(pool);
                return match self.connect() {
                    Ok(client) => Ok((client, false)),
                    Err(error) => {
                        self.lose();
                        Err(error)
                    }
                };
            }
            let left = POOL_PATIENCE.saturating_sub(started.elapsed());
            if left.is_zero() {
                let reason = "all connections are in use".to_owned();
                return Err(DatabaseError::Away { reason, may_be_done: false });
            }
            let waited = self.returned.wait_timeout(pool, left);
            pool = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Opens a connection.
    pub(super) fn connect(&self) -> DatabaseResult<Client> {
        let mut client = self.config.connect(self.tls.clone()).map_err(|error| {
            DatabaseError::Away { reason: describe(&error), may_be_done: false }
        })?;
        // An acknowledgement is a commit that survives a crash. A stricter setting stays.
        let set = client.batch_execute(
            "select set_config('synchronous_commit', 'on', false) \
             where current_setting('synchronous_commit') = 'off'; \
             set statement_timeout = '30s'",
        );
        set.map_err(|error| DatabaseError::Away { reason: describe(&error), may_be_done: false })?;
        Ok(client)
    }

    fn give_back(&self, client: Client) {
        self.pool().idle.push(client);
        self.returned.notify_one();
    }

    fn lose(&self) {
        self.pool().open -= 1;
        self.returned.notify_one();
    }

    fn forget_idle(&self) {
        let mut pool = self.pool();
        pool.open -= pool.idle.len();
        let idle = std::mem::take(&mut pool.idle);
        drop(pool);
        drop(idle);
    }

    fn pool(&self) -> MutexGuard<'_, ConnectionPool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn tls_config(authority: Option<&[u8]>) -> DatabaseResult<ClientConfig> {
    let bad = |reason: String| DatabaseError::BadAuthority { reason };
    let mut roots = RootCertStore::empty();
    match authority {
        Some(pem) => {
            for certificate in CertificateDer::pem_slice_iter(pem) {
                let certificate = certificate.map_err(|error| bad(error.to_string()))?;
                roots.add(certificate).map_err(|error| bad(error.to_string()))?;
            }
            if roots.is_empty() {
                return Err(bad("the file contains none".to_owned()));
            }
        }
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| bad(error.to_string()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// Returns true for errors of the connection rather than of a statement.
fn is_connection_error(error: &postgres::Error) -> bool {
    let Some(code) = error.code() else { return true };
    [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::READ_ONLY_SQL_TRANSACTION,
    ]
    .contains(code)
        || code.code().starts_with("08")
}

/// Describes an error without the address of the database.
fn describe(error: &postgres::Error) -> String {
    match error.as_db_error() {
        Some(reported) => reported.message().to_owned(),
        None => {
            use std::error::Error as _;
            error.source().map_or_else(|| error.to_string(), ToString::to_string)
        }
    }
}

impl From<postgres::Error> for DatabaseError {
    fn from(error: postgres::Error) -> Self {
        if is_connection_error(&error) {
            return Self::Away { reason: describe(&error), may_be_done: true };
        }
        Self::Failed(describe(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_error_names_the_password() {
        let secret = "hunter2hunter2";
        for address in [
            format!("postgres://me:{secret}@host:notaport/db"),
            format!("postgres://me:{secret}@host/db?sslmode=sometimes"),
            format!("user=me password={secret} nonsense"),
        ] {
            let error = Database::new(&address, None).err().unwrap();
            assert!(!format!("{error} {error:?}").contains(secret), "{error:?}");
        }
        let address = format!("postgres://me:{secret}@127.0.0.1:1/db");
        let error = Database::new(&address, None).unwrap().read(|_| Ok(())).unwrap_err();
        assert!(error.is_away(), "{error:?}");
        assert!(!format!("{error} {error:?}").contains(secret), "{error:?}");
    }

    #[test]
    fn an_authority_file_without_certificates_is_refused() {
        for pem in [&b""[..], b"-----BEGIN CERTIFICATE-----\nnothing\n-----END CERTIFICATE-----\n"]
        {
            let made = Database::new("postgres://me@host/db", Some(pem));
            assert!(matches!(made, Err(DatabaseError::BadAuthority { .. })));
        }
    }
}
