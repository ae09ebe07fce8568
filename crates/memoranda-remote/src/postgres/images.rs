//! Index images of a space in PostgreSQL.

use memoranda_store::remote::{ImageHead, RemoteError, RemoteResult};
use postgres::types::Type;

use super::connection::StatementRepeat;
use super::{Database, DatabaseResult, PostgresLog};

impl PostgresLog {
    pub(super) fn newest_image(&self, format: &str) -> RemoteResult<Option<ImageHead>> {
        let rows = self.database.read(|client| {
            // The bytes of the first part, which the function returns too, stay in the database.
            let select = "select epoch, seq, parts, log_bytes from memoranda.find_image($1, $2)";
            client.query_typed(select, &[(&self.space, Type::INT8), (&format, Type::TEXT)])
        })?;
        Ok(rows.first().map(|row| {
            let (epoch, seq) = (row.get::<_, i32>(0) as u32, row.get::<_, i64>(1) as u64);
            let (parts, log_bytes) = (row.get::<_, i32>(2) as u32, row.get::<_, i64>(3) as u64);
            ImageHead { epoch, seq, parts, log_bytes }
        }))
    }

    pub(super) fn part_of_image(
        &self,
        format: &str,
        image: ImageHead,
        part: u32,
    ) -> RemoteResult<Option<Vec<u8>>> {
        let (seq, part) = (image.seq as i64, part as i32);
        let rows = self.database.read(|client| {
            let select = "select bytes from memoranda.image_part($1, $2, $3, $4)";
            client.query_typed(
                select,
                &[
                    (&self.space, Type::INT8),
                    (&format, Type::TEXT),
                    (&seq, Type::INT8),
                    (&part, Type::INT4),
                ],
            )
        })?;
        Ok(rows.first().map(|row| row.get(0)))
    }

    pub(super) fn claim(&self, format: &str, log_bytes: u64) -> RemoteResult<bool> {
        let log_bytes = log_bytes as i64;
        let row = self.database.run(StatementRepeat::Never, |client| {
            let select = "select memoranda.claim_image($1, $2, $3)";
            client.query_one(select, &[&self.space, &format, &log_bytes])
        })?;
        Ok(row.get(0))
    }

    pub(super) fn put_part(
        &self,
        format: &str,
        image: ImageHead,
        part: u32,
        bytes: &[u8],
    ) -> RemoteResult<()> {
        let (epoch, seq, part) = (image.epoch as i32, image.seq as i64, part as i32);
        let row = self.database.run(StatementRepeat::Harmless, |client| {
            let select = "select memoranda.put_image_part($1, $2, $3, $4, $5, $6)";
            client.query_one(select, &[&self.space, &format, &epoch, &seq, &part, &bytes])
        })?;
        if row.get(0) { Ok(()) } else { Err(rewritten()) }
    }

    pub(super) fn replace_image(&self, format: &str, image: ImageHead) -> RemoteResult<()> {
        let (epoch, seq) = (image.epoch as i32, image.seq as i64);
        let (parts, log_bytes) = (image.parts as i32, image.log_bytes as i64);
        self.database.run(StatementRepeat::Harmless, |client| {
            let select = "select memoranda.finish_image($1, $2, $3, $4, $5, $6)";
            client.query_one(select, &[&self.space, &format, &epoch, &seq, &parts, &log_bytes])
        })?;
        Ok(())
    }
}

fn rewritten() -> RemoteError {
    RemoteError::Refused { reason: "the log was rewritten while its image was made".to_owned() }
}

impl Database {
    /// Removes index images of logs that were rewritten or removed since.
    pub(super) fn drop_stale_images(&self) -> DatabaseResult<()> {
        self.run(StatementRepeat::Harmless, |client| {
            client.execute("select memoranda.remove_stale_images()", &[])
        })?;
        Ok(())
    }
}
