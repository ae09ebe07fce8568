//! Read-only access to databases of other systems; rows become JSON objects.

#![allow(clippy::disallowed_methods, reason = "this is the door to databases of other systems")]

use std::path::Path;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use crate::error::{ImportError, Result};
use crate::json::JsonObject;

/// Maximum time to wait for a lock of the owning program.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// A database of another system.
pub(crate) struct ForeignDatabase {
    connection: Connection,
    name: String,
}

impl ForeignDatabase {
    /// Opens a database read-only.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let connection = open_read_only(path).map_err(database_error(&name))?;
        Ok(Self { connection, name })
    }

    /// Returns the columns of a table; empty if the table is missing.
    pub(crate) fn columns(&self, table: &str) -> Result<Vec<String>> {
        let read = || {
            let mut query = self.connection.prepare("SELECT name FROM pragma_table_info(?)")?;
            query.query_map([table], |row| row.get(0))?.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(database_error(&self.name))
    }

    /// Returns the number of rows of a table.
    pub(crate) fn count(&self, table: &str) -> Result<u64> {
        let sql = format!("SELECT count(*) FROM \"{table}\"");
        let count: rusqlite::Result<i64> = self.connection.query_row(&sql, [], |row| row.get(0));
        count.map(|count| count.max(0) as u64).map_err(database_error(&self.name))
    }

    /// Calls `each` with every row as an object. Null and blob values are omitted.
    pub(crate) fn rows(
        &self,
        table: &str,
        each: &mut dyn FnMut(u64, JsonObject) -> Result<()>,
    ) -> Result<()> {
        let failed = || database_error(&self.name);
        let mut query = self
            .connection
            .prepare(&format!("SELECT * FROM \"{table}\" ORDER BY rowid"))
            .map_err(failed())?;
        let columns: Vec<String> = query.column_names().map(str::to_owned).collect();
        let mut rows = query.query([]).map_err(failed())?;
        let mut number = 0;
        while let Some(row) = rows.next().map_err(failed())? {
            let mut object = JsonObject::new();
            for (n, column) in columns.iter().enumerate() {
                let value = match row.get_ref(n).map_err(failed())? {
                    ValueRef::Integer(number) => Value::from(number),
                    ValueRef::Real(number) => Value::from(number),
                    ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned().into(),
                    ValueRef::Null | ValueRef::Blob(_) => continue,
                };
                object.insert(column.clone(), value);
            }
            number += 1;
            each(number, object)?;
        }
        Ok(())
    }
}

fn open_read_only(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = |connection: Connection| {
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(connection)
    };
    // An idle database is opened as immutable, because the usual mode would create files of a
    // write-ahead log.
    let still = || {
        let text = path.to_string_lossy();
        let escaped = text.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
        let uri = format!("file:{escaped}?mode=ro&immutable=1");
        Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI).and_then(open)
    };
    if !is_in_use(path) {
        return still();
    }
    // In a read-only folder the shared memory of a write-ahead log cannot be created; checkpointed
    // data is still readable.
    let usual = Connection::open_with_flags(path, flags).and_then(open);
    usual.or_else(|error| still().map_err(|_| error))
}

/// Returns true if a journal contains data that is missing in the database file.
fn is_in_use(path: &Path) -> bool {
    ["-wal", "-journal"].iter().any(|ending| {
        let mut beside = path.as_os_str().to_owned();
        beside.push(ending);
        std::fs::metadata(Path::new(&beside)).is_ok_and(|file| file.len() > 0)
    })
}

fn database_error(name: &str) -> impl FnOnce(rusqlite::Error) -> ImportError + use<> {
    let name = name.to_owned();
    |source| ImportError::Database { name, source }
}
