//! Calls of proposers, which wait until an editor or an owner decides.

use postgres::{Row, Transaction};

use super::spaces::enter_space;
use super::stats::record_audit;
use super::{Database, DatabaseError, DatabaseResult};
use crate::directory::{Proposal, ProposalDecision, ProposedCall};

/// Maximum number of calls of one account that wait in a space.
const MAX_WAITING: i64 = 100;
/// Maximum size of their arguments together, in bytes. They count for no quota of the space.
const MAX_WAITING_BYTES: i64 = 16 << 20;
/// Maximum number of calls of all accounts that wait in a space, as many as a list shows.
const MAX_WAITING_IN_SPACE: i64 = 1_000;

/// Columns of a proposal, in the order of [`proposal_of`].
const COLUMNS: &str = "proposal, account, token, client, tool, arguments, repository, proposed_at";

impl Database {
    /// Keeps a call until somebody decides on it. Returns its number.
    pub(super) fn insert_proposal(&self, space: i64, call: &ProposedCall) -> DatabaseResult<i64> {
        self.transact(|transaction| {
            enter_space(transaction, space)?;
            check_room(transaction, space, call)?;
            let insert = "insert into memoranda.proposals \
                          (space, account, token, client, tool, arguments, repository) \
                          values ($1, $2, $3, $4, $5, $6, $7) returning proposal";
            let ProposedCall { account, token, client, tool, arguments, repository } = call;
            let row = transaction.query_one(
                insert,
                &[&space, account, token, client, tool, arguments, repository],
            )?;
            let number: i64 = row.get(0);
            record_audit(transaction, account, "proposal add", &format!("{number}: {tool}"))?;
            Ok(number)
        })
    }

    /// Lists the calls of a space that wait, the oldest first.
    pub fn waiting_proposals_of(&self, space: i64) -> DatabaseResult<Vec<Proposal>> {
        let rows = self.transact(|transaction| {
            enter_space(transaction, space)?;
            let select = format!(
                "select {COLUMNS} from memoranda.proposals where space = $1 \
                 and state in ('waiting', 'claimed') order by proposal limit {MAX_WAITING_IN_SPACE}"
            );
            Ok(transaction.query(&select, &[&space])?)
        })?;
        Ok(rows.iter().map(proposal_of).collect())
    }

    /// Takes a waiting call to decide on it; also one that was claimed a while ago, because its
    /// server ended before it was done.
    pub(super) fn claim(
        &self,
        space: i64,
        number: i64,
        by: &str,
    ) -> DatabaseResult<Option<Proposal>> {
        self.transact(|transaction| {
            enter_space(transaction, space)?;
            let update = format!(
                "update memoranda.proposals set state = 'claimed', decided_by = $3, \
                 decided_at = now() where space = $1 and proposal = $2 \
                 and (state = 'waiting' \
                 or (state = 'claimed' and decided_at < now() - interval '1 minute')) \
                 returning {COLUMNS}"
            );
            let row = transaction.query_opt(&update, &[&space, &number, &by])?;
            Ok(row.as_ref().map(proposal_of))
        })
    }

    /// Records the decision on a claimed call.
    pub(super) fn settle(
        &self,
        space: i64,
        number: i64,
        by: &str,
        decision: ProposalDecision,
    ) -> DatabaseResult<()> {
        self.transact(|transaction| {
            enter_space(transaction, space)?;
            let update = "update memoranda.proposals set state = $3, decided_by = $4, \
                          decided_at = now() where space = $1 and proposal = $2 \
                          and state = 'claimed'";
            let state = decision.state();
            transaction.execute(update, &[&space, &number, &state, &by])?;
            if decision != ProposalDecision::Returned {
                record_audit(transaction, by, &format!("proposal {state}"), &number.to_string())?;
            }
            Ok(())
        })
    }
}

/// Refuses a call if too much waits already.
fn check_room(
    transaction: &mut Transaction<'_>,
    space: i64,
    call: &ProposedCall,
) -> DatabaseResult<()> {
    let select = "select count(*), count(*) filter (where account = $2), \
                  coalesce(sum(octet_length(arguments)) filter (where account = $2), 0)::bigint \
                  from memoranda.proposals where space = $1 and state in ('waiting', 'claimed')";
    let row = transaction.query_one(select, &[&space, &call.account])?;
    let (all, own, own_bytes) = (row.get::<_, i64>(0), row.get::<_, i64>(1), row.get::<_, i64>(2));
    let added = i64::try_from(call.arguments.len()).unwrap_or(i64::MAX);
    if own < MAX_WAITING
        && all < MAX_WAITING_IN_SPACE
        && own_bytes.saturating_add(added) <= MAX_WAITING_BYTES
    {
        return Ok(());
    }
    Err(DatabaseError::Refused(format!(
        "{own} proposals of {} wait in this space, {all} of everybody; at most {MAX_WAITING} of one \
         account, with {} MB, and {MAX_WAITING_IN_SPACE} of all may wait. An editor or an owner has \
         to decide on some first",
        call.account,
        MAX_WAITING_BYTES >> 20
    )))
}

fn proposal_of(row: &Row) -> Proposal {
    Proposal {
        number: row.get(0),
        call: ProposedCall {
            account: row.get(1),
            token: row.get(2),
            client: row.get(3),
            tool: row.get(4),
            arguments: row.get(5),
            repository: row.get(6),
        },
        proposed_at: row.get(7),
    }
}
