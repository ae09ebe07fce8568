//! Programs that may ask for access.

use super::tokens::new_secret;
use super::{Database, DatabaseResult};
use crate::oauth::OAuthClient;

/// First characters of the identifier of a registered client.
const CLIENT_PREFIX: &str = "mem_client_";

impl Database {
    /// Returns a client that was registered, or whose document was fetched in the last day.
    pub(super) fn known_client(&self, client_id: &str) -> DatabaseResult<Option<OAuthClient>> {
        let row = self.read(|client| {
            let select = "select name, redirect_uris from memoranda.oauth_clients \
                          where client_id = $1 and (starts_with(client_id, $2) \
                          or checked_at > now() - interval '1 day')";
            client.query_opt(select, &[&client_id, &CLIENT_PREFIX])
        })?;
        Ok(row.map(|row| OAuthClient {
            client_id: client_id.to_owned(),
            name: row.get(0),
            redirect_uris: row.get(1),
        }))
    }

    /// Stores the description of a client from its document.
    pub(super) fn keep_client(&self, known: &OAuthClient) -> DatabaseResult<()> {
        self.read(|client| {
            let upsert = "insert into memoranda.oauth_clients (client_id, name, redirect_uris) \
                          values ($1, $2, $3) on conflict (client_id) do update set \
                          name = excluded.name, redirect_uris = excluded.redirect_uris, \
                          checked_at = now()";
            client.execute(upsert, &[&known.client_id, &known.name, &known.redirect_uris])
        })?;
        Ok(())
    }

    /// Registers a client, and forgets registered ones that nobody consented to in a month.
    pub(super) fn add_client(
        &self,
        name: &str,
        redirect_uris: &[String],
    ) -> DatabaseResult<OAuthClient> {
        let client_id = new_secret(CLIENT_PREFIX);
        self.transact(|transaction| {
            let forget = "delete from memoranda.oauth_clients c \
                          where c.created_at < now() - interval '30 days' and not exists (\
                          select 1 from memoranda.oauth_grants g where g.client_id = c.client_id)";
            transaction.execute(forget, &[])?;
            let insert = "insert into memoranda.oauth_clients (client_id, name, redirect_uris) \
                          values ($1, $2, $3)";
            transaction.execute(insert, &[&client_id, &name, &redirect_uris])?;
            Ok(())
        })?;
        let redirect_uris = redirect_uris.to_vec();
        Ok(OAuthClient { client_id, name: name.to_owned(), redirect_uris })
    }
}
