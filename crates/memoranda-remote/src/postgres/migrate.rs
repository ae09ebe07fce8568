//! Numbered migrations, inside the binary, under a lock of the database.
//!
//! A migration only adds what earlier versions do not see, so that servers of the version before
//! serve on while it runs. What they still need is removed one version later.

use std::sync::atomic::Ordering;

use postgres::Client;

use super::{Database, DatabaseError, DatabaseResult};

/// The migrations, in order. A released one never changes.
const MIGRATIONS: &[(&str, &str)] = &[
    ("spaces", include_str!("migrations/0001_spaces.sql")),
    ("proposals", include_str!("migrations/0002_proposals.sql")),
    ("oauth", include_str!("migrations/0003_oauth.sql")),
    ("row security", include_str!("migrations/0004_row_security.sql")),
    ("token spaces", include_str!("migrations/0005_token_spaces.sql")),
    ("page", include_str!("migrations/0006_page.sql")),
    ("index images", include_str!("migrations/0007_index_images.sql")),
    ("unlogged images", include_str!("migrations/0008_unlogged_images.sql")),
];

/// Version of the tables that this program uses.
pub const SCHEMA_VERSION: i32 = MIGRATIONS.len() as i32;

/// Key of the lock that one migration holds: `memorand` in ASCII.
const LOCK_KEY: i64 = 0x6d65_6d6f_7261_6e64;

/// Result of a migration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MigrationReport {
    /// Version before; 0 if there were no tables.
    pub from: i32,
    /// Version after.
    pub to: i32,
}

impl Database {
    /// Brings the tables to the version of this program. Two at the same time wait for each other.
    /// The connection must be a direct one: the lock belongs to a session.
    pub fn migrate(&self) -> DatabaseResult<MigrationReport> {
        let mut client = self.inner.connect()?;
        client.batch_execute("set lock_timeout = '3s'; set statement_timeout = 0")?;
        lock(&mut client)?;
        client.batch_execute(
            "create schema if not exists memoranda; \
             create table if not exists memoranda.migrations (\
             number int primary key, name text not null, at timestamptz not null default now())",
        )?;
        let from = version(&mut client)?;
        if from > SCHEMA_VERSION {
            return Err(DatabaseError::NewerSchema { found: from, known: SCHEMA_VERSION });
        }
        for (number, (name, sql)) in (1..).zip(MIGRATIONS) {
            if number <= from {
                continue;
            }
            let mut transaction = client.transaction()?;
            transaction.batch_execute(sql)?;
            let insert = "insert into memoranda.migrations (number, name) values ($1, $2)";
            transaction.execute(insert, &[&number, name])?;
            transaction.commit()?;
        }
        // The lock ends with the connection.
        Ok(MigrationReport { from, to: SCHEMA_VERSION })
    }

    /// Returns true if row-level security does not hold for the role of this address: a superuser.
    pub fn bypasses_row_security(&self) -> DatabaseResult<bool> {
        let select = "select rolsuper or rolbypassrls from pg_roles where rolname = current_user";
        Ok(self.read(|client| client.query_one(select, &[]))?.get(0))
    }

    /// Rejects tables with which a running server cannot work. Newer ones are made while servers of
    /// the version before run, which go on: they found the tables of their own version before.
    pub(super) fn check_running_schema(&self) -> DatabaseResult<()> {
        let was_current = self.inner.had_current_schema.load(Ordering::Relaxed);
        match self.check_schema() {
            Err(DatabaseError::NewerSchema { .. }) if was_current => Ok(()),
            checked => checked,
        }
    }

    /// Rejects a database whose tables are missing, older or newer.
    pub fn check_schema(&self) -> DatabaseResult<()> {
        match self.read(version)? {
            SCHEMA_VERSION => {
                self.inner.had_current_schema.store(true, Ordering::Relaxed);
                Ok(())
            }
            found if found > SCHEMA_VERSION => {
                Err(DatabaseError::NewerSchema { found, known: SCHEMA_VERSION })
            }
            found => Err(DatabaseError::OlderSchema { found, needed: SCHEMA_VERSION }),
        }
    }
}

/// Waits for the lock, without the limit that holds for tables.
fn lock(client: &mut Client) -> DatabaseResult<()> {
    const TRIES: usize = 300;
    for _ in 0..TRIES {
        if client.query_one("select pg_try_advisory_lock($1)", &[&LOCK_KEY])?.get(0) {
            return Ok(());
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    Err(DatabaseError::Refused("another migration has been running for 30 s; try again".into()))
}

/// Returns the version of the tables; 0 if there are none.
fn version(client: &mut Client) -> Result<i32, postgres::Error> {
    let is_there = "select to_regclass('memoranda.migrations') is not null";
    if !client.query_one(is_there, &[])?.get::<_, bool>(0) {
        return Ok(0);
    }
    let newest = "select coalesce(max(number), 0) from memoranda.migrations";
    Ok(client.query_one(newest, &[])?.get(0))
}
