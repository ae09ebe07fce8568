//! A record: one commit, what only the store knows of it, and the contents that it brought.
//!
//! Records of format 2 are tagged fields, see [`super::record_fields`]. Those of format 1 were JSON.

use jiff::Timestamp;
use memoranda_core::change::{
    Author, AuthorDetails, ChangeChannel, Commit, CommitKind, FactEdit, FileChange, FolderChanges,
};
use memoranda_core::id::{CommitId, ContentHash, ObservationId, ProjectName};
use memoranda_core::path::NotePath;
use serde::{Deserialize, Serialize};

use super::chain::{Digest, RecordLink, Salt};
use super::fields::UnknownField;

/// A commit as it lies in the log.
#[derive(Clone, Debug)]
pub(crate) struct LogRecord {
    pub(crate) commit: Commit,
    /// Data that only the store needs, for each file of the commit.
    pub(crate) notes: Vec<FileRecord>,
    /// Place of the record in the chain; its writer fills it in.
    pub(crate) link: RecordLink,
    /// Digests of files that a purge removed from the record.
    pub(crate) purged_files: Vec<Digest>,
    /// `None` if there never was a message.
    pub(crate) message_salt: Option<SaltedText>,
    /// `None` if there never were changes of folders.
    pub(crate) folders_salt: Option<SaltedText>,
    /// A purge that the devices of other machines have to repeat.
    pub(crate) purge: Option<PurgeOrder>,
    /// Fields of newer versions.
    pub(crate) unknown: Vec<UnknownField>,
}

/// Data of one file in the log that the visible history does not contain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileRecord {
    /// Location of the content; `None` if an earlier record has it, or for a deletion.
    pub(crate) blob: Option<BlobLocation>,
    /// The permalink given to the note when its derived one was taken.
    pub(crate) permalink: Option<String>,
    /// Versions that this version replaces. `None` in records of format 1: the previous version of
    /// that path in the log of the same device.
    pub(crate) parents: Option<Vec<FileVersionId>>,
    /// Last-changed time of a file that a scan found and the log did not know: the first known time
    /// of the file. `None` in records that were written before this field.
    pub(crate) found_time_ms: Option<i64>,
    /// Salt of the file's digest.
    pub(crate) salted: SaltedText,
    /// Fields of newer versions.
    pub(crate) unknown: Vec<UnknownField>,
}

/// Identity of a file version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileVersionId {
    /// Commit that made the version.
    pub(crate) commit: CommitId,
    /// Path of the file after that commit; `None` if it is the path before the change.
    pub(crate) path: Option<NotePath>,
}

/// Digest of a text in the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SaltedText {
    /// The digest follows from the text and this salt.
    Salted(Salt),
    /// A purge removed the text and the salt, and left the digest.
    Purged(Digest),
}

impl Default for SaltedText {
    fn default() -> Self {
        Self::Salted(Salt::default())
    }
}

/// Texts that have to leave the logs of other machines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PurgeOrder {
    /// Contents, by their hashes.
    pub(crate) contents: Vec<ContentHash>,
    /// Salt of the names' digests.
    pub(crate) salt: Salt,
    /// Salted digests of the names, which are texts themselves.
    pub(crate) names: Vec<Digest>,
}

impl PurgeOrder {
    /// Returns the digest of a name.
    pub(crate) fn name_digest(salt: &Salt, project: &ProjectName, path: &NotePath) -> Digest {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"memoranda name 2").update(salt);
        hasher.update(project.as_str().as_bytes()).update(b"/").update(path.as_str().as_bytes());
        *hasher.finalize().as_bytes()
    }
}

/// Location of a content in the body of its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlobLocation {
    pub(crate) offset: u64,
    pub(crate) stored: u64,
    pub(crate) raw: u64,
}

#[derive(Serialize, Deserialize)]
struct WireRecord {
    id: String,
    time: i64,
    client: String,
    tool: String,
    channel: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    account: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    conversation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// The commit that an undo or a redo is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    files: Vec<WireFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    made: Vec<WireFolder>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    emptied: Vec<WireFolder>,
}

/// Project and path.
type WireFolder = (String, String);

#[derive(Serialize, Deserialize)]
struct WireFile {
    project: String,
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<(u64, u64, u64)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    permalink: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    facts: Vec<(String, u32)>,
}

impl LogRecord {
    /// Returns a record that has no place in the chain yet.
    pub(crate) fn new(commit: Commit, notes: Vec<FileRecord>) -> Self {
        Self {
            commit,
            notes,
            link: RecordLink::default(),
            purged_files: Vec::new(),
            message_salt: None,
            folders_salt: None,
            purge: None,
            unknown: Vec::new(),
        }
    }

    /// Returns true if the record is a commit that people see. Others only hold the chain together or
    /// carry a purge.
    pub(crate) fn is_commit(&self) -> bool {
        !self.commit.files.is_empty() || (self.purge.is_none() && self.purged_files.is_empty())
    }

    pub(super) fn to_json(&self) -> Vec<u8> {
        let commit = &self.commit;
        let files = commit.files.iter().zip(&self.notes).map(|(file, note)| WireFile {
            project: file.project.to_string(),
            path: file.path.to_string(),
            from: file.moved_from.as_ref().map(ToString::to_string),
            before: file.before.map(|hash| hash.to_string()),
            after: file.after.map(|hash| hash.to_string()),
            at: note.blob.map(|at| (at.offset, at.stored, at.raw)),
            permalink: note.permalink.clone(),
            facts: file.fact_edits.iter().map(|e| (e.id.to_string(), e.version)).collect(),
        });
        let wire = WireRecord {
            id: commit.id.to_string(),
            time: commit.time.as_millisecond(),
            client: commit.author.client.clone(),
            tool: commit.author.tool.clone(),
            channel: commit.author.channel.as_str().to_owned(),
            account: commit.author.details.account.clone(),
            token: commit.author.details.token.clone(),
            conversation: commit.author.details.conversation.clone(),
            source: commit.author.details.source.clone(),
            message: commit.message.clone(),
            kind: commit.kind.map(|kind| kind.as_str().to_owned()),
            target: commit.kind.and_then(CommitKind::target).map(|id| id.to_string()),
            files: files.collect(),
            made: wire_folders(commit.folders.as_ref().map(|folders| &folders.created)),
            emptied: wire_folders(commit.folders.as_ref().map(|folders| &folders.removed)),
        };
        // Strings and numbers always serialise; an empty meta would be read as damage.
        serde_json::to_vec(&wire).unwrap_or_default()
    }

    pub(super) fn from_json(meta: &[u8]) -> Option<Self> {
        let wire: WireRecord = serde_json::from_slice(meta).ok()?;
        let mut files = Vec::with_capacity(wire.files.len());
        let mut notes = Vec::with_capacity(wire.files.len());
        for file in wire.files {
            let fact_edits = file.facts.iter().filter_map(|(id, version)| {
                Some(FactEdit { id: ObservationId::parse(id)?, version: *version })
            });
            files.push(FileChange {
                fact_edits: fact_edits.collect(),
                project: ProjectName::parse(&file.project).ok()?,
                path: NotePath::parse(&file.path).ok()?,
                moved_from: match file.from {
                    Some(from) => Some(NotePath::parse(&from).ok()?),
                    None => None,
                },
                before: parse_hash(file.before.as_deref())?,
                after: parse_hash(file.after.as_deref())?,
            });
            let blob = file.at.map(|(offset, stored, raw)| BlobLocation { offset, stored, raw });
            notes.push(FileRecord { blob, permalink: file.permalink, ..FileRecord::default() });
        }
        let commit = Commit {
            id: CommitId::parse(&wire.id)?,
            time: Timestamp::from_millisecond(wire.time).ok()?,
            author: Author {
                client: wire.client,
                tool: wire.tool,
                channel: ChangeChannel::parse(&wire.channel)?,
                details: Box::new(AuthorDetails {
                    account: wire.account,
                    token: wire.token,
                    conversation: wire.conversation,
                    source: wire.source,
                    unknown: Vec::new(),
                }),
            },
            message: wire.message,
            kind: wire.kind.and_then(|kind| CommitKind::parse(&kind, wire.target.as_deref())),
            files,
            folders: parse_folders(&wire.made, &wire.emptied),
        };
        Some(Self::new(commit, notes))
    }
}

/// Folders as texts, for the log and the index.
pub(crate) fn wire_folders(folders: Option<&Vec<(ProjectName, NotePath)>>) -> Vec<WireFolder> {
    let wire = |(project, path): &(ProjectName, NotePath)| (project.to_string(), path.to_string());
    folders.into_iter().flatten().map(wire).collect()
}

/// The folders of such texts.
pub(crate) fn parse_folders(
    made: &[WireFolder],
    emptied: &[WireFolder],
) -> Option<Box<FolderChanges>> {
    let parse = |(project, path): &WireFolder| {
        Some((ProjectName::parse(project).ok()?, NotePath::parse(path).ok()?))
    };
    let all = |folders: &[WireFolder]| folders.iter().filter_map(parse).collect();
    FolderChanges { created: all(made), removed: all(emptied) }.into_option()
}

fn parse_hash(text: Option<&str>) -> Option<Option<ContentHash>> {
    match text {
        None => Some(None),
        Some(text) => ContentHash::parse(text).map(Some),
    }
}

/// Gathers the contents of a record into the body of its frame.
#[derive(Default)]
pub(crate) struct RecordBody {
    bytes: Vec<u8>,
}

impl RecordBody {
    /// Adds a content and says where it lies. What does not shrink is kept as it is.
    pub(crate) fn add(&mut self, content: &[u8]) -> BlobLocation {
        let offset = self.bytes.len() as u64;
        let compressed = lz4_flex::block::compress(content);
        if compressed.len() < content.len() {
            self.bytes.extend_from_slice(&compressed);
        } else {
            self.bytes.extend_from_slice(content);
        }
        let stored = self.bytes.len() as u64 - offset;
        BlobLocation { offset, stored, raw: content.len() as u64 }
    }

    /// Adds a content that is already in its stored form.
    pub(super) fn add_stored(&mut self, stored: &[u8], raw: u64) -> BlobLocation {
        let offset = self.bytes.len() as u64;
        self.bytes.extend_from_slice(stored);
        BlobLocation { offset, stored: stored.len() as u64, raw }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Restores a content from its stored bytes; `None` if they are damaged.
pub(crate) fn restore(stored: Vec<u8>, raw: u64) -> Option<Vec<u8>> {
    if stored.len() as u64 == raw {
        return Some(stored);
    }
    lz4_flex::block::decompress(&stored, raw as usize).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_come_back_as_they_were() {
        for content in
            [&b""[..], b"x", b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", &[0xff, 0, 0x80]]
        {
            let mut body = RecordBody::default();
            body.add(b"something before");
            let at = body.add(content);
            let stored = body.as_bytes()[at.offset as usize..][..at.stored as usize].to_vec();
            assert_eq!(restore(stored, at.raw).as_deref(), Some(content));
        }
    }
}
