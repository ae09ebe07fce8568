//! The database as the part of a team that people look after by themselves.

use std::collections::HashMap;

use postgres::Transaction;

use super::accounts::account_id;
use super::invitations::{NewInvitation, delete_invitation, put_invitation};
use super::spaces::{delete_member, members_of, put_member};
use super::{Database, DatabaseError, DatabaseResult};
use crate::directory::{DirectoryResult, SpaceKind, SpaceRole};
use crate::self_service::{AuditRow, InvitationRow, NewToken, SelfService, SpaceDetails, TokenRow};

/// Days for which an invitation of an owner waits.
const INVITATION_DAYS: u32 = 14;

impl SelfService for Database {
    fn spaces_of(&self, account: &str) -> DirectoryResult<Vec<SpaceDetails>> {
        let mut waiting: HashMap<String, Vec<InvitationRow>> = HashMap::new();
        for invitation in self.invitations()? {
            waiting.entry(invitation.space.clone()).or_default().push(invitation);
        }
        let spaces = self.transact(|transaction| own_spaces(transaction, account));
        let mut spaces = spaces?;
        for space in spaces.iter_mut().filter(|space| space.role == SpaceRole::Owner) {
            space.invitations = waiting.remove(&space.name).unwrap_or_default();
        }
        Ok(spaces)
    }

    fn tokens_of(&self, account: &str) -> DirectoryResult<Vec<TokenRow>> {
        Ok(self.tokens(Some(account))?)
    }

    fn add_token(&self, token: &NewToken) -> DirectoryResult<String> {
        Ok(self.create_token(&token.account, token)?)
    }

    fn revoke_token_of(&self, account: &str, name: &str) -> DirectoryResult<()> {
        Ok(self.revoke_token(account, account, name)?)
    }

    fn set_member_by(
        &self,
        owner: &str,
        space: &str,
        account: &str,
        role: SpaceRole,
    ) -> DirectoryResult<()> {
        Ok(self.transact(|transaction| {
            check_owner(transaction, owner, space)?;
            put_member(transaction, owner, space, account, role)
        })?)
    }

    fn remove_member_by(&self, owner: &str, space: &str, account: &str) -> DirectoryResult<()> {
        Ok(self.transact(|transaction| {
            // Everybody may leave.
            if owner != account {
                check_owner(transaction, owner, space)?;
            }
            delete_member(transaction, owner, space, account)
        })?)
    }

    fn invite_by(
        &self,
        owner: &str,
        space: &str,
        email: &str,
        role: SpaceRole,
    ) -> DirectoryResult<()> {
        let invitation = NewInvitation { space, email, role, days: INVITATION_DAYS };
        Ok(self.transact(|transaction| {
            check_owner(transaction, owner, space)?;
            put_invitation(transaction, owner, &invitation)
        })?)
    }

    fn withdraw_by(&self, owner: &str, space: &str, email: &str) -> DirectoryResult<()> {
        Ok(self.transact(|transaction| {
            check_owner(transaction, owner, space)?;
            delete_invitation(transaction, owner, space, email)
        })?)
    }

    fn audit_of(&self, account: &str, limit: u32) -> DirectoryResult<Vec<AuditRow>> {
        let rows = self.read(|client| {
            // Accounts and spaces never have the same name, except an account and its own space; but
            // a name can be used again after its account was deleted, so the time counts too.
            let select = "with own as (select a.account, a.name, a.created_at \
                          from memoranda.accounts a where a.name = $1), \
                          named as (select name, created_at from own union all \
                          select s.name, s.created_at from own \
                          join memoranda.members m on m.account = own.account and m.role = 'owner' \
                          join memoranda.spaces s on s.space = m.space) \
                          select e.at, e.actor, e.action, e.target from memoranda.audit e \
                          where exists (select 1 from own \
                          where own.name = e.actor and e.at >= own.created_at) \
                          or exists (select 1 from named \
                          where named.name = split_part(e.target, ':', 1) \
                          and e.at >= named.created_at) \
                          order by e.entry desc limit $2";
            client.query(select, &[&account, &i64::from(limit)])
        });
        let entry = |row: &postgres::Row| AuditRow {
            at: row.get(0),
            actor: row.get(1),
            action: row.get(2),
            target: row.get(3),
        };
        Ok(rows?.iter().map(entry).collect())
    }
}

/// Lists the spaces of an account, without their invitations.
fn own_spaces(
    transaction: &mut Transaction<'_>,
    account: &str,
) -> DatabaseResult<Vec<SpaceDetails>> {
    let account = account_id(transaction, account)?;
    let select = "select s.space, s.name, s.kind, m.role, h.head, h.bytes, h.quota_bytes \
                  from memoranda.members m join memoranda.spaces s on s.space = m.space \
                  join memoranda.heads h on h.space = m.space \
                  where m.account = $1 order by s.kind, s.name";
    let mut spaces = Vec::new();
    for row in transaction.query(select, &[&account])? {
        spaces.push(SpaceDetails {
            name: row.get(1),
            kind: SpaceKind::parse(row.get(2)),
            role: SpaceRole::parse(row.get(3)),
            commits: row.get::<_, i64>(4) as u64,
            bytes: row.get::<_, i64>(5) as u64,
            quota_bytes: row.get::<_, Option<i64>>(6).map(|bytes| bytes as u64),
            members: members_of(transaction, row.get(0))?,
            invitations: Vec::new(),
        });
    }
    Ok(spaces)
}

/// Rejects a change of somebody who does not own the space. A space of others does not exist.
fn check_owner(
    transaction: &mut Transaction<'_>,
    account: &str,
    space: &str,
) -> DatabaseResult<()> {
    let select = "select m.role from memoranda.members m \
                  join memoranda.accounts a on a.account = m.account and a.disabled_at is null \
                  join memoranda.spaces s on s.space = m.space \
                  where a.name = $1 and s.name = $2 for share of m";
    match transaction.query_opt(select, &[&account, &space])? {
        None => Err(DatabaseError::Refused(format!("there is no space {space}"))),
        Some(row) if SpaceRole::parse(row.get(0)) == SpaceRole::Owner => Ok(()),
        Some(_) => Err(DatabaseError::Refused(format!("only an owner of {space} can do this"))),
    }
}
