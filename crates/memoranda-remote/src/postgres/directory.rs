//! The database as the directory of a team server.

use std::sync::Arc;

use memoranda_store::remote::RemoteLog;

use super::stats::record_audit;
use super::{Database, DatabaseError, PostgresLog};
use crate::directory::{
    DirectoryError, DirectoryResult, Proposal, ProposalDecision, ProposedCall, SpaceDirectory,
    SpaceGrant, TokenGrant,
};

impl From<DatabaseError> for DirectoryError {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::Away { reason, .. } => Self::Away(reason),
            DatabaseError::Refused(reason) => Self::Refused(reason),
            error => Self::Failed(error.to_string()),
        }
    }
}

impl SpaceDirectory for Database {
    fn authorize(&self, secret: &str) -> DirectoryResult<Option<TokenGrant>> {
        Ok(self.token_grant(secret)?)
    }

    fn record_token_use(&self, token_id: i64) -> DirectoryResult<()> {
        Ok(self.note_token_use(token_id)?)
    }

    fn space_log(&self, space: &SpaceGrant) -> Arc<dyn RemoteLog> {
        Arc::new(PostgresLog::new(self.clone(), space.id, &*space.device))
    }

    fn space_epochs(&self) -> DirectoryResult<Vec<(String, u32)>> {
        Ok(self.epochs()?)
    }

    fn remove_stale_images(&self) -> DirectoryResult<()> {
        Ok(self.drop_stale_images()?)
    }

    fn check_ready(&self) -> DirectoryResult<()> {
        Ok(self.check_running_schema()?)
    }

    fn record_event(&self, actor: &str, action: &str, target: &str) -> DirectoryResult<()> {
        Ok(self.transact(|transaction| record_audit(transaction, actor, action, target))?)
    }

    fn add_proposal(&self, space: i64, proposal: &ProposedCall) -> DirectoryResult<i64> {
        Ok(self.insert_proposal(space, proposal)?)
    }

    fn waiting_proposals(&self, space: i64) -> DirectoryResult<Vec<Proposal>> {
        Ok(self.waiting_proposals_of(space)?)
    }

    fn claim_proposal(
        &self,
        space: i64,
        number: i64,
        by: &str,
    ) -> DirectoryResult<Option<Proposal>> {
        Ok(self.claim(space, number, by)?)
    }

    fn settle_proposal(
        &self,
        space: i64,
        number: i64,
        by: &str,
        decision: ProposalDecision,
    ) -> DirectoryResult<()> {
        Ok(self.settle(space, number, by, decision)?)
    }
}
