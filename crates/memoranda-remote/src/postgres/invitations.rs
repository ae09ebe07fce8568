//! Invitations to spaces by e-mail address. The person accepts one by signing in.

use postgres::Transaction;

use super::spaces::space_id;
use super::stats::record_audit;
use super::{Database, DatabaseError, DatabaseResult};
use crate::directory::{SpaceKind, SpaceRole};
use crate::self_service::InvitationRow;

impl Database {
    /// Invites the person of an e-mail address to a space, or renews the invitation.
    pub fn invite(
        &self,
        actor: &str,
        space: &str,
        email: &str,
        role: SpaceRole,
        days: u32,
    ) -> DatabaseResult<()> {
        self.transact(|transaction| {
            put_invitation(transaction, actor, &NewInvitation { space, email, role, days })
        })
    }

    /// Takes an invitation back.
    pub fn withdraw_invitation(&self, actor: &str, space: &str, email: &str) -> DatabaseResult<()> {
        self.transact(|transaction| delete_invitation(transaction, actor, space, email))
    }

    /// Lists the invitations that wait, by space and address.
    pub fn invitations(&self) -> DatabaseResult<Vec<InvitationRow>> {
        let rows = self.read(|client| {
            let select = "select s.name, i.email, i.role, i.invited_by, i.expires_at \
                          from memoranda.invitations i join memoranda.spaces s on s.space = i.space \
                          where i.expires_at > now() order by s.name, i.email";
            client.query(select, &[])
        })?;
        let invitation = |row: &postgres::Row| InvitationRow {
            space: row.get(0),
            email: row.get(1),
            role: SpaceRole::parse(row.get(2)),
            invited_by: row.get(3),
            expires_at: row.get(4),
        };
        Ok(rows.iter().map(invitation).collect())
    }
}

/// An invitation to be made.
pub(super) struct NewInvitation<'a> {
    pub(super) space: &'a str,
    pub(super) email: &'a str,
    pub(super) role: SpaceRole,
    pub(super) days: u32,
}

pub(super) fn put_invitation(
    transaction: &mut Transaction<'_>,
    actor: &str,
    invitation: &NewInvitation<'_>,
) -> DatabaseResult<()> {
    let NewInvitation { space, email, role, days } = invitation;
    let email = email.trim().to_lowercase();
    let is_address = email.split_once('@').is_some_and(|(person, domain)| {
        !person.is_empty() && domain.contains('.') && !email.contains(char::is_whitespace)
    });
    if !is_address {
        return Err(DatabaseError::Refused(format!("{email:?} is not an e-mail address")));
    }
    let (id, kind) = space_id(transaction, space)?;
    if kind == SpaceKind::Private {
        return Err(DatabaseError::Refused(format!(
            "{space} is the private space of an account; nobody can be invited to it"
        )));
    }
    let upsert = "insert into memoranda.invitations (space, email, role, invited_by, expires_at) \
                  values ($1, $2, $3, $4, now() + $5 * interval '1 day') \
                  on conflict (space, email) do update set role = excluded.role, \
                  invited_by = excluded.invited_by, expires_at = excluded.expires_at";
    let days = f64::from(*days);
    transaction.execute(upsert, &[&id, &email, &role.name(), &actor, &days])?;
    record_audit(transaction, actor, "member invite", &format!("{space}: {email} as {role}"))
}

pub(super) fn delete_invitation(
    transaction: &mut Transaction<'_>,
    actor: &str,
    space: &str,
    email: &str,
) -> DatabaseResult<()> {
    let email = email.trim().to_lowercase();
    let (id, _) = space_id(transaction, space)?;
    let delete = "delete from memoranda.invitations where space = $1 and email = $2";
    if transaction.execute(delete, &[&id, &email])? == 0 {
        return Err(DatabaseError::Refused(format!("{email} is not invited to {space}")));
    }
    record_audit(transaction, actor, "member uninvite", &format!("{space}: {email}"))
}

/// Returns true if an address is invited somewhere.
pub(super) fn is_invited(transaction: &mut Transaction<'_>, email: &str) -> DatabaseResult<bool> {
    let select =
        "select 1 from memoranda.invitations where email = $1 and expires_at > now() limit 1";
    Ok(transaction.query_opt(select, &[&email])?.is_some())
}

/// Makes an account a member of every space that its address is invited to.
pub(super) fn accept_invitations(
    transaction: &mut Transaction<'_>,
    account: i64,
    name: &str,
    email: &str,
) -> DatabaseResult<()> {
    let accepted = "delete from memoranda.invitations i using memoranda.spaces s \
                    where i.email = $1 and i.expires_at > now() and s.space = i.space \
                    returning i.space, i.role, s.name";
    for row in transaction.query(accepted, &[&email])? {
        let (space, role, space_name): (i64, String, String) = (row.get(0), row.get(1), row.get(2));
        // A member keeps the role that it has.
        let insert = "insert into memoranda.members (space, account, role) values ($1, $2, $3) \
                      on conflict (space, account) do nothing";
        transaction.execute(insert, &[&space, &account, &role])?;
        let target = format!("{space_name}: {name} is {role}");
        record_audit(transaction, name, "invitation accept", &target)?;
    }
    Ok(())
}
