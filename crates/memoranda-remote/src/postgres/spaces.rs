//! Spaces and their members.

use postgres::Transaction;

use super::accounts::{account_id, check_name, new_device};
use super::stats::record_audit;
use super::{Database, DatabaseError, DatabaseResult};
use crate::directory::{SpaceKind, SpaceRole};
use crate::self_service::MemberRow;

/// A space.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpaceRow {
    /// Number, the key of its log.
    pub id: i64,
    /// Name.
    pub name: String,
    /// Kind.
    pub kind: SpaceKind,
    /// Name as a device of the log.
    pub device: String,
    /// Number of log records.
    pub commits: u64,
    /// Size of the log, in bytes.
    pub bytes: u64,
    /// Maximum size of the log, in bytes; `None` if there is no limit.
    pub quota_bytes: Option<u64>,
    /// Number of members.
    pub members: u64,
}

impl Database {
    /// Creates a shared space with its first owner.
    pub fn create_space(
        &self,
        actor: &str,
        name: &str,
        owner: &str,
        quota_bytes: Option<u64>,
    ) -> DatabaseResult<()> {
        check_name(name)?;
        let device = new_device();
        self.transact(|transaction| {
            let account = account_id(transaction, owner)?;
            let space = insert_space(transaction, name, SpaceKind::Shared, &device)?;
            set_quota(transaction, space, quota_bytes)?;
            insert_member(transaction, space, account, SpaceRole::Owner)?;
            record_audit(transaction, actor, "space add", name)
        })
    }

    /// Sets the maximum size of a space's log; `None` for no limit.
    pub fn set_space_quota(
        &self,
        actor: &str,
        name: &str,
        quota_bytes: Option<u64>,
    ) -> DatabaseResult<()> {
        self.transact(|transaction| {
            let (space, _) = space_id(transaction, name)?;
            set_quota(transaction, space, quota_bytes)?;
            record_audit(transaction, actor, "space quota", name)
        })
    }

    /// Makes an account a member of a space, or changes its role.
    pub fn set_member(
        &self,
        actor: &str,
        space: &str,
        account: &str,
        role: SpaceRole,
    ) -> DatabaseResult<()> {
        self.transact(|transaction| put_member(transaction, actor, space, account, role))
    }

    /// Removes a member. Its tokens no longer reach the space.
    pub fn remove_member(&self, actor: &str, space: &str, account: &str) -> DatabaseResult<()> {
        self.transact(|transaction| delete_member(transaction, actor, space, account))
    }

    /// Lists the members of a space by name.
    pub fn members(&self, space: &str) -> DatabaseResult<Vec<MemberRow>> {
        self.transact(|transaction| {
            let (id, _) = space_id(transaction, space)?;
            members_of(transaction, id)
        })
    }

    /// Lists all spaces by name.
    pub fn spaces(&self) -> DatabaseResult<Vec<SpaceRow>> {
        let rows = self.read(|client| {
            client.query(
                "select s.space, s.name, s.kind, s.device, h.head, h.bytes, h.quota_bytes, \
                 (select count(*) from memoranda.members m where m.space = s.space) \
                 from memoranda.spaces s join memoranda.heads h on h.space = s.space \
                 order by s.name",
                &[],
            )
        })?;
        let space = |row: &postgres::Row| SpaceRow {
            id: row.get(0),
            name: row.get(1),
            kind: SpaceKind::parse(row.get(2)),
            device: row.get(3),
            commits: row.get::<_, i64>(4) as u64,
            bytes: row.get::<_, i64>(5) as u64,
            quota_bytes: row.get::<_, Option<i64>>(6).map(|bytes| bytes as u64),
            members: row.get::<_, i64>(7) as u64,
        };
        Ok(rows.iter().map(space).collect())
    }
}

pub(super) fn put_member(
    transaction: &mut Transaction<'_>,
    actor: &str,
    space: &str,
    account: &str,
    role: SpaceRole,
) -> DatabaseResult<()> {
    let (id, kind) = space_id(transaction, space)?;
    if kind == SpaceKind::Private {
        return Err(DatabaseError::Refused(format!(
            "{space} is the private space of an account; share one of `memoranda admin space add`"
        )));
    }
    let member = account_id(transaction, account)?;
    insert_member(transaction, id, member, role)?;
    check_owned(transaction, id, space)?;
    let target = format!("{space}: {account} is {role}");
    record_audit(transaction, actor, "member add", &target)
}

pub(super) fn delete_member(
    transaction: &mut Transaction<'_>,
    actor: &str,
    space: &str,
    account: &str,
) -> DatabaseResult<()> {
    let (id, _) = space_id(transaction, space)?;
    let member = account_id(transaction, account)?;
    let delete = "delete from memoranda.members where space = $1 and account = $2";
    if transaction.execute(delete, &[&id, &member])? == 0 {
        return Err(DatabaseError::Refused(format!("{account} is no member of {space}")));
    }
    check_owned(transaction, id, space)?;
    record_audit(transaction, actor, "member remove", &format!("{space}: {account}"))
}

/// Lists the members of a space by name.
pub(super) fn members_of(
    transaction: &mut Transaction<'_>,
    space: i64,
) -> DatabaseResult<Vec<MemberRow>> {
    let select = "select a.name, m.role, m.created_at from memoranda.members m \
                  join memoranda.accounts a on a.account = m.account \
                  where m.space = $1 order by a.name";
    let rows = transaction.query(select, &[&space])?;
    let member = |row: &postgres::Row| MemberRow {
        account: row.get(0),
        role: SpaceRole::parse(row.get(1)),
        since: row.get(2),
    };
    Ok(rows.iter().map(member).collect())
}

pub(super) fn insert_space(
    transaction: &mut Transaction<'_>,
    name: &str,
    kind: SpaceKind,
    device: &str,
) -> DatabaseResult<i64> {
    let insert = "insert into memoranda.spaces (name, kind, device) values ($1, $2, $3) \
                  on conflict (name) do nothing returning space";
    let row = transaction.query_opt(insert, &[&name, &kind.name(), &device])?;
    let taken = || DatabaseError::Refused(format!("there is a space {name} already"));
    let space: i64 = row.ok_or_else(taken)?.get(0);
    transaction.execute("insert into memoranda.heads (space) values ($1)", &[&space])?;
    Ok(space)
}

pub(super) fn insert_member(
    transaction: &mut Transaction<'_>,
    space: i64,
    account: i64,
    role: SpaceRole,
) -> DatabaseResult<()> {
    let insert = "insert into memoranda.members (space, account, role) values ($1, $2, $3) \
                  on conflict (space, account) do update set role = excluded.role";
    transaction.execute(insert, &[&space, &account, &role.name()])?;
    Ok(())
}

/// Rejects a change that leaves a space without an owner.
fn check_owned(transaction: &mut Transaction<'_>, space: i64, name: &str) -> DatabaseResult<()> {
    let owners = "select count(*) from memoranda.members where space = $1 and role = 'owner'";
    if transaction.query_one(owners, &[&space])?.get::<_, i64>(0) == 0 {
        return Err(DatabaseError::Refused(format!("{name} would have no owner")));
    }
    Ok(())
}

fn set_quota(
    transaction: &mut Transaction<'_>,
    space: i64,
    quota_bytes: Option<u64>,
) -> DatabaseResult<()> {
    let quota = quota_bytes.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
    let update = "update memoranda.heads set quota_bytes = $2 where space = $1";
    transaction.execute(update, &[&space, &quota])?;
    Ok(())
}

/// Returns the number and the kind of a space.
pub(super) fn space_id(
    transaction: &mut Transaction<'_>,
    name: &str,
) -> DatabaseResult<(i64, SpaceKind)> {
    let select = "select space, kind from memoranda.spaces where name = $1";
    let row = transaction.query_opt(select, &[&name])?;
    let row = row.ok_or_else(|| DatabaseError::Refused(format!("there is no space {name}")))?;
    Ok((row.get(0), SpaceKind::parse(row.get(1))))
}

/// Names the space of a transaction, whose statements see no rows of other spaces.
pub(super) fn enter_space(transaction: &mut Transaction<'_>, space: i64) -> DatabaseResult<()> {
    let name = "select set_config('memoranda.space', $1, true)";
    transaction.query_one(name, &[&space.to_string()])?;
    Ok(())
}
