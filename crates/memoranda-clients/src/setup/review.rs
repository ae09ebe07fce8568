//! Set-up that is shown first, and written only as it was shown.

use super::{
    CLIENTS, ClientAction, ClientFileChange, ClientPlan, ClientSetup, ClientSpec, EntryState,
    client, find_runner,
};
use crate::error::{ClientsError, Result};

/// A client of this machine with its possible changes.
#[derive(Clone, Debug)]
pub struct ClientReview {
    /// Name on the command line.
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// True if the client seems to be installed.
    pub is_found: bool,
    /// True if an entry of Memoranda is in its file.
    pub is_connected: bool,
    /// True if hooks of Memoranda are installed; `None` if the client runs no hooks.
    pub has_hooks: Option<bool>,
    /// Reason why its files cannot be changed.
    pub problem: Option<String>,
    /// Step that the user does after connecting.
    pub after: String,
    /// The possible changes. A change without files does nothing.
    pub changes: Vec<(ClientAction, ClientChange)>,
}

/// Files of a client before and after a change.
#[derive(Clone, Debug, Default)]
pub struct ClientChange {
    /// The files that differ.
    pub files: Vec<ClientFileDiff>,
}

/// A file before and after a change.
#[derive(Clone, Debug)]
pub struct ClientFileDiff {
    /// Path for people.
    pub path: String,
    /// Current text; `None` if the file does not exist.
    pub before: Option<String>,
    /// New text; `None` if the file is deleted.
    pub after: Option<String>,
}

impl ClientSetup {
    /// Returns the clients with the changes that connect and disconnect each of them.
    pub fn review(&self) -> Vec<ClientReview> {
        CLIENTS.iter().map(|client| self.review_client(client)).collect()
    }

    fn review_client(&self, client: &'static ClientSpec) -> ClientReview {
        let has_action = |action: &ClientAction| {
            *action != ClientAction::ConnectWithHooks || client.hooks.is_some()
        };
        let actions = ClientAction::ALL.into_iter().filter(has_action);
        let plans: Vec<(ClientAction, ClientPlan)> =
            actions.map(|action| (action, self.plan(client, action))).collect();
        let first = plans.first().map(|(_, plan)| plan);
        let is_there = |state: Option<EntryState>| state.is_some_and(|s| s != EntryState::Absent);
        let problem = plans.iter().find_map(|(_, plan)| plan.problem.as_ref());
        let mut after = client.after.to_owned();
        if let Some(runner) = find_runner(&self.program.path) {
            after = format!("{} deletes this program later: install it first", runner.name);
        }
        ClientReview {
            name: client.name,
            title: client.title,
            is_found: first.is_some_and(|plan| plan.found),
            is_connected: is_there(first.and_then(|plan| plan.server)),
            has_hooks: client.hooks.map(|_| is_there(first.and_then(|plan| plan.hooks))),
            problem: problem.map(ToString::to_string),
            after,
            changes: plans.iter().map(|(action, plan)| (*action, self.shown(plan))).collect(),
        }
    }

    /// Writes a change of a client's files if it is still the shown one. Returns the backups.
    pub fn apply_shown(
        &self,
        name: &str,
        action: ClientAction,
        shown_digest: &str,
    ) -> Result<Vec<String>> {
        let client = client(name).ok_or_else(|| ClientsError::NoClient(name.to_owned()))?;
        let plan = self.plan(client, action);
        let digest = self.shown(&plan).digest();
        if let Some(problem) = plan.problem {
            return Err(problem);
        }
        if digest != shown_digest {
            return Err(ClientsError::NotAsShown { client: client.title });
        }
        let mut backups = Vec::new();
        for change in &plan.changes {
            backups.extend(change.apply(&self.dirs)?.iter().map(|path| self.dirs.shown(path)));
        }
        Ok(backups)
    }

    fn shown(&self, plan: &ClientPlan) -> ClientChange {
        let file = |change: &ClientFileChange| ClientFileDiff {
            path: self.dirs.shown(&change.path),
            before: change.before.clone(),
            after: change.after.clone(),
        };
        ClientChange { files: plan.changes.iter().map(file).collect() }
    }
}

impl ClientChange {
    /// Returns a digest of the change: equal only if paths and texts are equal.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut add = |text: Option<&str>| {
            let length = text.map_or(u64::MAX, |text| text.len() as u64);
            hasher.update(&length.to_le_bytes());
            hasher.update(text.unwrap_or_default().as_bytes());
        };
        for file in &self.files {
            add(Some(&file.path));
            add(file.before.as_deref());
            add(file.after.as_deref());
        }
        hasher.finalize().to_hex().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_tells_texts_and_files_apart() {
        let file = |path: &str, before: Option<&str>, after: Option<&str>| ClientFileDiff {
            path: path.to_owned(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        };
        let digest = |file: ClientFileDiff| ClientChange { files: vec![file] }.digest();
        let all = [
            digest(file("a", None, Some("x"))),
            digest(file("a", Some(""), Some("x"))),
            digest(file("ax", None, Some(""))),
            digest(file("a", Some("x"), None)),
            ClientChange::default().digest(),
        ];
        for (n, one) in all.iter().enumerate() {
            assert!(all.iter().skip(n + 1).all(|other| other != one), "{n}");
        }
        assert_eq!(digest(file("a", None, None)), digest(file("a", None, None)));
    }
}
