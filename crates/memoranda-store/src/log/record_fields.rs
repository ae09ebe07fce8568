//! The fields of a record since format 2. `docs/reference/log-format.md` describes each byte.

use jiff::Timestamp;
use memoranda_core::change::{
    Author, AuthorDetails, ChangeChannel, Commit, CommitKind, FactEdit, FileChange, FolderChanges,
};
use memoranda_core::id::{CommitId, ContentHash, ObservationId, ProjectName};
use memoranda_core::path::NotePath;

use super::chain::{Digest, RecordLink, Salt, put_link};
use super::fields::{
    FieldReader, UnknownField, number, put_field, put_number, put_optional, put_unknown,
    put_varint, text,
};
use super::record::{BlobLocation, FileRecord, FileVersionId, LogRecord, PurgeOrder, SaltedText};

/// Tags of a record's fields.
pub(super) mod record_tags {
    pub(crate) const ID: u64 = 1;
    pub(crate) const TIME: u64 = 2;
    pub(crate) const SEQ: u64 = 3;
    pub(crate) const CLOCK: u64 = 4;
    pub(crate) const SEEN: u64 = 5;
    pub(crate) const PREVIOUS: u64 = 6;
    pub(crate) const AUTHOR: u64 = 7;
    pub(crate) const MESSAGE: u64 = 8;
    pub(crate) const KIND: u64 = 9;
    pub(crate) const TARGET: u64 = 10;
    pub(crate) const FILE: u64 = 11;
    pub(crate) const FOLDERS: u64 = 12;
    pub(crate) const PURGED_FILE: u64 = 13;
    pub(crate) const MESSAGE_SALT: u64 = 14;
    pub(crate) const MESSAGE_DIGEST: u64 = 15;
    pub(crate) const FOLDERS_SALT: u64 = 16;
    pub(crate) const FOLDERS_DIGEST: u64 = 17;
    pub(crate) const PURGE: u64 = 18;
    pub(crate) const BATCH: u64 = 19;
}

/// Tags of an author's fields.
mod author_tags {
    pub(super) const CLIENT: u64 = 1;
    pub(super) const TOOL: u64 = 2;
    pub(super) const CHANNEL: u64 = 3;
    pub(super) const ACCOUNT: u64 = 4;
    pub(super) const TOKEN: u64 = 5;
    pub(super) const CONVERSATION: u64 = 6;
    pub(super) const SOURCE: u64 = 7;
}

/// Tags of a file's fields.
mod file_tags {
    pub(super) const PROJECT: u64 = 1;
    pub(super) const PATH: u64 = 2;
    pub(super) const FROM: u64 = 3;
    pub(super) const BEFORE: u64 = 4;
    pub(super) const AFTER: u64 = 5;
    pub(super) const PERMALINK: u64 = 6;
    pub(super) const FACT: u64 = 7;
    pub(super) const PARENTS: u64 = 8;
    pub(super) const BLOB: u64 = 9;
    pub(super) const SALT: u64 = 10;
    pub(super) const DIGEST: u64 = 11;
    pub(super) const FOUND_TIME: u64 = 12;
}

/// Tags of the created and removed folders.
mod folder_tags {
    pub(super) const CREATED: u64 = 1;
    pub(super) const REMOVED: u64 = 2;
}

/// Tags of a purge order.
mod purge_tags {
    pub(super) const CONTENT: u64 = 1;
    pub(super) const SALT: u64 = 2;
    pub(super) const NAME: u64 = 3;
}

/// Encodes a record.
pub(super) fn encode(record: &LogRecord) -> Vec<u8> {
    use record_tags as tags;
    let mut out = Vec::new();
    put_lasting_fields(&mut out, record);
    put_field(&mut out, tags::PREVIOUS, &record.link.previous);
    put_optional(&mut out, tags::MESSAGE, record.commit.message.as_deref().map(str::as_bytes));
    put_salted(&mut out, (tags::MESSAGE_SALT, tags::MESSAGE_DIGEST), record.message_salt);
    let mut folders = Vec::new();
    put_folders(&mut folders, record);
    put_optional(&mut out, tags::FOLDERS, Some(&*folders).filter(|folders| !folders.is_empty()));
    put_salted(&mut out, (tags::FOLDERS_SALT, tags::FOLDERS_DIGEST), record.folders_salt);
    for (file, note) in record.commit.files.iter().zip(&record.notes) {
        let mut fields = Vec::new();
        put_file_text(&mut fields, file, note);
        if let Some(blob) = note.blob {
            let mut value = Vec::new();
            for number in [blob.offset, blob.stored, blob.raw] {
                put_varint(&mut value, number);
            }
            put_field(&mut fields, file_tags::BLOB, &value);
        }
        put_salted(&mut fields, (file_tags::SALT, file_tags::DIGEST), Some(note.salted));
        put_field(&mut out, tags::FILE, &fields);
    }
    for digest in &record.purged_files {
        put_field(&mut out, tags::PURGED_FILE, digest);
    }
    out
}

/// Appends the fields that no purge changes, except the hash of the previous record. Fields of newer
/// versions are among them, in the order of their tags.
pub(super) fn put_lasting_fields(out: &mut Vec<u8>, record: &LogRecord) {
    use record_tags as tags;
    let commit = &record.commit;
    let mut known = Vec::new();
    put_field(&mut known, tags::ID, commit.id.as_str().as_bytes());
    put_number(&mut known, tags::TIME, zigzag(commit.time.as_millisecond()));
    put_link(&mut known, &record.link);
    let mut author = Vec::new();
    put_author(&mut author, &commit.author);
    put_field(&mut known, tags::AUTHOR, &author);
    put_optional(&mut known, tags::KIND, commit.kind.map(|kind| kind.as_str().as_bytes()));
    let target = commit.kind.and_then(CommitKind::target);
    put_optional(&mut known, tags::TARGET, target.as_ref().map(|id| id.as_str().as_bytes()));
    if let Some(purge) = &record.purge {
        let mut value = Vec::new();
        put_purge(&mut value, purge);
        put_field(&mut known, tags::PURGE, &value);
    }
    if record.link.batch_index > 0 {
        put_number(&mut known, tags::BATCH, record.link.batch_index);
    }
    put_in_order(out, &known, &record.unknown);
}

/// Appends encoded fields and unknown ones, sorted by tag.
fn put_in_order(out: &mut Vec<u8>, known: &[u8], unknown: &[UnknownField]) {
    if unknown.is_empty() {
        out.extend_from_slice(known);
        return;
    }
    let mut reader = FieldReader(known);
    let mut fields: Vec<(u64, &[u8])> = std::iter::from_fn(|| reader.field()).collect();
    fields.extend(unknown.iter().map(|(tag, value)| (*tag, value.as_slice())));
    fields.sort_by_key(|(tag, _)| *tag);
    for (tag, value) in fields {
        put_field(out, tag, value);
    }
}

fn put_salted(out: &mut Vec<u8>, (salt, digest): (u64, u64), salted: Option<SaltedText>) {
    match salted {
        None => {}
        Some(SaltedText::Salted(bytes)) => put_field(out, salt, &bytes),
        Some(SaltedText::Purged(bytes)) => put_field(out, digest, &bytes),
    }
}

fn put_author(out: &mut Vec<u8>, author: &Author) {
    use author_tags as tags;
    let details = &author.details;
    let mut known = Vec::new();
    put_field(&mut known, tags::CLIENT, author.client.as_bytes());
    put_field(&mut known, tags::TOOL, author.tool.as_bytes());
    // A channel of a newer version is kept as it was read.
    if details.unknown.iter().all(|(tag, _)| *tag != tags::CHANNEL) {
        put_field(&mut known, tags::CHANNEL, author.channel.as_str().as_bytes());
    }
    for (tag, value) in [
        (tags::ACCOUNT, &details.account),
        (tags::TOKEN, &details.token),
        (tags::CONVERSATION, &details.conversation),
        (tags::SOURCE, &details.source),
    ] {
        put_optional(&mut known, tag, value.as_deref().map(str::as_bytes));
    }
    put_in_order(out, &known, &details.unknown);
}

/// Appends the fields of a file that its digest covers.
pub(super) fn put_file_text(out: &mut Vec<u8>, file: &FileChange, note: &FileRecord) {
    use file_tags as tags;
    put_field(out, tags::PROJECT, file.project.as_str().as_bytes());
    put_field(out, tags::PATH, file.path.as_str().as_bytes());
    let from = file.moved_from.as_ref().map(|from| from.as_str().as_bytes());
    put_optional(out, tags::FROM, from);
    put_optional(out, tags::BEFORE, file.before.as_ref().map(|hash| hash.0.as_slice()));
    put_optional(out, tags::AFTER, file.after.as_ref().map(|hash| hash.0.as_slice()));
    put_optional(out, tags::PERMALINK, note.permalink.as_deref().map(str::as_bytes));
    for edit in &file.fact_edits {
        let mut value = Vec::new();
        put_varint(&mut value, u64::from(edit.version));
        value.extend_from_slice(edit.id.as_str().as_bytes());
        put_field(out, tags::FACT, &value);
    }
    if let Some(parents) = &note.parents {
        let mut value = Vec::new();
        for parent in parents {
            value.extend_from_slice(parent.commit.as_str().as_bytes());
            let path = parent.path.as_ref().map_or("", NotePath::as_str);
            put_varint(&mut value, path.len() as u64);
            value.extend_from_slice(path.as_bytes());
        }
        put_field(out, tags::PARENTS, &value);
    }
    if let Some(time_ms) = note.found_time_ms {
        put_number(out, tags::FOUND_TIME, zigzag(time_ms));
    }
    put_unknown(out, &note.unknown);
}

/// Appends the created and removed folders; nothing if there are none.
pub(super) fn put_folders(out: &mut Vec<u8>, record: &LogRecord) {
    let Some(folders) = &record.commit.folders else { return };
    for (tag, list) in
        [(folder_tags::CREATED, &folders.created), (folder_tags::REMOVED, &folders.removed)]
    {
        for (project, path) in list {
            let mut value = Vec::new();
            put_varint(&mut value, project.as_str().len() as u64);
            value.extend_from_slice(project.as_str().as_bytes());
            value.extend_from_slice(path.as_str().as_bytes());
            put_field(out, tag, &value);
        }
    }
}

fn put_purge(out: &mut Vec<u8>, purge: &PurgeOrder) {
    for hash in &purge.contents {
        put_field(out, purge_tags::CONTENT, &hash.0);
    }
    put_field(out, purge_tags::SALT, &purge.salt);
    for name in &purge.names {
        put_field(out, purge_tags::NAME, name);
    }
}

/// Decodes a record; `None` if it is damaged.
pub(super) fn decode(meta: &[u8]) -> Option<LogRecord> {
    use record_tags as tags;
    let mut reader = FieldReader(meta);
    let (mut id, mut time, mut author) = (None, None, None);
    let (mut kind, mut target) = (None, None);
    let mut commit_message = None;
    let mut folders = None;
    let (mut files, mut notes) = (Vec::new(), Vec::new());
    let mut record = Parts::default();
    while !reader.is_empty() {
        let (tag, value) = reader.field()?;
        match tag {
            tags::ID => id = Some(CommitId::parse(std::str::from_utf8(value).ok()?)?),
            tags::TIME => {
                time = Some(Timestamp::from_millisecond(unzigzag(number(value)?)).ok()?);
            }
            tags::SEQ => record.link.seq = number(value)?,
            tags::CLOCK => record.link.clock = u64::from_le_bytes(value.try_into().ok()?),
            tags::SEEN => {
                let mut seen = FieldReader(value);
                let device = text(seen.bytes()?)?;
                record.link.seen.push((device, seen.varint()?));
            }
            tags::PREVIOUS => record.link.previous = value.try_into().ok()?,
            tags::BATCH => record.link.batch_index = number(value)?,
            tags::AUTHOR => author = Some(decode_author(value)?),
            tags::MESSAGE => commit_message = Some(text(value)?),
            tags::KIND => kind = Some(text(value)?),
            tags::TARGET => target = Some(text(value)?),
            tags::FILE => {
                let (file, note) = decode_file(value)?;
                files.push(file);
                notes.push(note);
            }
            tags::FOLDERS => folders = decode_folders(value)?.into_option(),
            tags::PURGED_FILE => record.purged_files.push(value.try_into().ok()?),
            tags::MESSAGE_SALT => record.message_salt = Some(salt(value)?),
            tags::MESSAGE_DIGEST => record.message_salt = Some(purged(value)?),
            tags::FOLDERS_SALT => record.folders_salt = Some(salt(value)?),
            tags::FOLDERS_DIGEST => record.folders_salt = Some(purged(value)?),
            tags::PURGE => record.purge = Some(decode_purge(value)?),
            _ => record.unknown.push((tag, value.to_vec())),
        }
    }
    let known_kind = kind.as_deref().and_then(|kind| CommitKind::parse(kind, target.as_deref()));
    if known_kind.is_none() {
        // A kind of a newer version is kept as it was read.
        let kept = [(tags::KIND, kind), (tags::TARGET, target)];
        let kept = kept.into_iter().filter_map(|(tag, text)| Some((tag, text?.into_bytes())));
        record.unknown.extend(kept);
    }
    let commit = Commit {
        id: id?,
        time: time?,
        author: author?,
        message: commit_message,
        kind: known_kind,
        files,
        folders,
    };
    let Parts { link, purged_files, message_salt, folders_salt, purge, unknown } = record;
    Some(LogRecord {
        commit,
        notes,
        link,
        purged_files,
        message_salt,
        folders_salt,
        purge,
        unknown,
    })
}

/// The fields of a record without its commit.
#[derive(Default)]
struct Parts {
    link: RecordLink,
    purged_files: Vec<Digest>,
    message_salt: Option<SaltedText>,
    folders_salt: Option<SaltedText>,
    purge: Option<PurgeOrder>,
    unknown: Vec<UnknownField>,
}

fn decode_author(value: &[u8]) -> Option<Author> {
    use author_tags as tags;
    let mut reader = FieldReader(value);
    let (mut client, mut tool, mut channel) = (None, None, None);
    let mut details = AuthorDetails::default();
    while !reader.is_empty() {
        let (tag, value) = reader.field()?;
        match tag {
            tags::CLIENT => client = Some(text(value)?),
            tags::TOOL => tool = Some(text(value)?),
            tags::CHANNEL => {
                channel = std::str::from_utf8(value).ok().and_then(ChangeChannel::parse);
                if channel.is_none() {
                    details.unknown.push((tag, value.to_vec()));
                }
            }
            tags::ACCOUNT => details.account = Some(text(value)?),
            tags::TOKEN => details.token = Some(text(value)?),
            tags::CONVERSATION => details.conversation = Some(text(value)?),
            tags::SOURCE => details.source = Some(text(value)?),
            _ => details.unknown.push((tag, value.to_vec())),
        }
    }
    // Nothing is known of an unknown channel: it counts as the least trusted one.
    let channel = channel.unwrap_or(ChangeChannel::Import);
    Some(Author { client: client?, tool: tool?, channel, details: Box::new(details) })
}

fn decode_file(value: &[u8]) -> Option<(FileChange, FileRecord)> {
    use file_tags as tags;
    let mut reader = FieldReader(value);
    let (mut project, mut path, mut moved_from) = (None, None, None);
    let (mut before, mut after, mut fact_edits) = (None, None, Vec::new());
    let mut note = FileRecord::default();
    while !reader.is_empty() {
        let (tag, value) = reader.field()?;
        match tag {
            tags::PROJECT => project = Some(ProjectName::parse(&text(value)?).ok()?),
            tags::PATH => path = Some(NotePath::parse(&text(value)?).ok()?),
            tags::FROM => moved_from = Some(NotePath::parse(&text(value)?).ok()?),
            tags::BEFORE => before = Some(ContentHash(value.try_into().ok()?)),
            tags::AFTER => after = Some(ContentHash(value.try_into().ok()?)),
            tags::PERMALINK => note.permalink = Some(text(value)?),
            tags::FACT => {
                let mut fact = FieldReader(value);
                let version = u32::try_from(fact.varint()?).ok()?;
                let id = ObservationId::parse(&text(fact.0)?)?;
                fact_edits.push(FactEdit { id, version });
            }
            tags::PARENTS => note.parents = Some(decode_parents(value)?),
            tags::BLOB => {
                let mut blob = FieldReader(value);
                let (offset, stored) = (blob.varint()?, blob.varint()?);
                note.blob = Some(BlobLocation { offset, stored, raw: blob.varint()? });
            }
            tags::SALT => note.salted = salt(value)?,
            tags::DIGEST => note.salted = purged(value)?,
            tags::FOUND_TIME => note.found_time_ms = Some(unzigzag(number(value)?)),
            _ => note.unknown.push((tag, value.to_vec())),
        }
    }
    let file = FileChange { project: project?, path: path?, moved_from, before, after, fact_edits };
    Some((file, note))
}

fn decode_parents(value: &[u8]) -> Option<Vec<FileVersionId>> {
    let mut parents = Vec::new();
    let mut reader = FieldReader(value);
    while !reader.is_empty() {
        let (id, rest) = reader.0.split_at_checked(12)?;
        reader.0 = rest;
        let path = text(reader.bytes()?)?;
        parents.push(FileVersionId {
            commit: CommitId::parse(std::str::from_utf8(id).ok()?)?,
            path: if path.is_empty() { None } else { Some(NotePath::parse(&path).ok()?) },
        });
    }
    Some(parents)
}

fn decode_folders(value: &[u8]) -> Option<FolderChanges> {
    let mut folders = FolderChanges::default();
    let mut reader = FieldReader(value);
    while !reader.is_empty() {
        let (tag, value) = reader.field()?;
        let mut place = FieldReader(value);
        let project = ProjectName::parse(&text(place.bytes()?)?).ok()?;
        let path = NotePath::parse(&text(place.0)?).ok()?;
        match tag {
            folder_tags::CREATED => folders.created.push((project, path)),
            folder_tags::REMOVED => folders.removed.push((project, path)),
            _ => {}
        }
    }
    Some(folders)
}

fn decode_purge(value: &[u8]) -> Option<PurgeOrder> {
    let mut purge = PurgeOrder::default();
    let mut reader = FieldReader(value);
    while !reader.is_empty() {
        let (tag, value) = reader.field()?;
        match tag {
            purge_tags::CONTENT => purge.contents.push(ContentHash(value.try_into().ok()?)),
            purge_tags::SALT => purge.salt = value.try_into().ok()?,
            purge_tags::NAME => purge.names.push(value.try_into().ok()?),
            _ => {}
        }
    }
    Some(purge)
}

fn salt(value: &[u8]) -> Option<SaltedText> {
    Some(SaltedText::Salted(Salt::try_from(value).ok()?))
}

fn purged(value: &[u8]) -> Option<SaltedText> {
    Some(SaltedText::Purged(Digest::try_from(value).ok()?))
}

fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -((number & 1).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::super::chain::{ChainEnd, SeenDevices};
    use super::super::frame::{self, FrameFormat};
    use super::super::record::RecordBody;
    use super::*;

    const PAGE: &str = include_str!("../../../../docs/reference/log-format.md");

    fn path(text: &str) -> NotePath {
        NotePath::parse(text).unwrap()
    }

    /// The record of the example in the reference.
    fn example() -> (LogRecord, RecordBody) {
        let mut body = RecordBody::default();
        let content = b"# Plan\n";
        let blob = Some(body.add(content));
        let commit = Commit {
            id: CommitId::parse("0123456789ab").unwrap(),
            time: Timestamp::from_millisecond(1_700_000_000_000).unwrap(),
            author: Author::new("claude-code 2.1", "write_note", ChangeChannel::Mcp)
                .with_conversation(Some("c-17".into())),
            message: None,
            kind: None,
            files: vec![FileChange {
                project: ProjectName::parse("main").unwrap(),
                path: path("Plan.md"),
                moved_from: None,
                before: None,
                after: Some(crate::files::hash(content)),
                fact_edits: Vec::new(),
            }],
            folders: None,
        };
        let note = FileRecord {
            blob,
            parents: Some(Vec::new()),
            salted: SaltedText::Salted(*b"saltsalt"),
            ..FileRecord::default()
        };
        let mut record = LogRecord::new(commit, vec![note]);
        record.link = RecordLink {
            seq: 3,
            clock: 1_700_000_000_000 << 16,
            seen: vec![("zyxwvutsrqpn".into(), 7)],
            previous: [0xab; 32],
            batch_index: 0,
        };
        (record, body)
    }

    /// A record with something of everything, as no change makes it.
    fn everything() -> LogRecord {
        let mut record = example().0;
        record.link.batch_index = 2;
        let other = (ProjectName::parse("other").unwrap(), path("folder"));
        record.commit.message = Some("why".into());
        record.commit.kind = Some(CommitKind::Undo(CommitId::parse("ab0123456789").unwrap()));
        record.commit.folders = FolderChanges {
            created: vec![other.clone(), (other.0.clone(), path("folder/below"))],
            removed: vec![other],
        }
        .into_option();
        record.message_salt = Some(SaltedText::Salted([1; 8]));
        record.folders_salt = Some(SaltedText::Purged([2; 32]));
        record.purged_files = vec![[3; 32], [4; 32]];
        let purge =
            PurgeOrder { contents: vec![ContentHash([5; 32])], salt: [6; 8], names: vec![[7; 32]] };
        record.purge = Some(purge);
        record.unknown = vec![(99, b"of a newer version".to_vec())];
        let details = &mut record.commit.author.details;
        (details.account, details.token) = (Some("ada".into()), Some("laptop".into()));
        details.source = Some("https://example.org".into());
        details.unknown = vec![(77, vec![0, 255])];
        let (file, note) = (&mut record.commit.files[0], &mut record.notes[0]);
        file.moved_from = Some(path("Old plan.md"));
        file.before = Some(ContentHash([8; 32]));
        let id = ObservationId::from_bits(17);
        file.fact_edits = vec![FactEdit { id, version: 300 }];
        note.permalink = Some("main/plan".into());
        let commit = CommitId::parse("cd0123456789").unwrap();
        note.parents = Some(vec![
            FileVersionId { commit, path: None },
            FileVersionId { commit, path: Some(path("Plan.md")) },
        ]);
        note.found_time_ms = Some(-1);
        note.unknown = vec![(13, b"also kept".to_vec())];
        record
    }

    fn assert_same(a: &LogRecord, b: &LogRecord, context: &str) {
        assert_eq!(a.commit, b.commit, "{context}");
        assert_eq!(a.notes, b.notes, "{context}");
        assert_eq!(encode(a), encode(b), "{context}");
        assert_eq!(a.chain_hash(), b.chain_hash(), "{context}");
    }

    #[test]
    fn records_come_back_as_they_were() {
        for (name, record) in [("example", example().0), ("everything", everything())] {
            let bytes = encode(&record);
            assert_same(&decode(&bytes).unwrap(), &record, name);
            for cut in 1..bytes.len() {
                // Some cuts end with a whole field; such a record lacks what follows.
                if let Some(part) = decode(&bytes[..cut]) {
                    assert_ne!(encode(&part), bytes, "{name} cut at {cut}");
                }
            }
        }
    }

    #[test]
    fn what_a_newer_version_wrote_is_kept_and_skipped() {
        let mut record = example().0;
        record.commit.author.details.unknown = vec![(3, b"telepathy".to_vec()), (99, vec![1])];
        record.unknown = vec![(9, b"merge".to_vec()), (10, b"0123456789ab".to_vec())];
        let read = decode(&encode(&record)).unwrap();
        assert_eq!(read.commit.author.channel, ChangeChannel::Import);
        assert_eq!(read.commit.kind, None);
        assert_eq!(encode(&read), encode(&record));
        assert_eq!(read.chain_hash(), record.chain_hash());
    }

    #[test]
    fn a_purge_leaves_the_chain_as_it_was() {
        let mut record = everything();
        let hash = record.chain_hash();
        let digest = record.file_digest(0);
        record.message_salt = record.message_digest().map(SaltedText::Purged);
        record.commit.message = None;
        record.commit.files[0].path = path("purged-1");
        record.commit.files[0].after = Some(ContentHash([9; 32]));
        assert_ne!(record.chain_hash(), hash);
        record.notes[0].salted = SaltedText::Purged(digest);
        assert_eq!(record.chain_hash(), hash);
        let read = decode(&encode(&record)).unwrap();
        assert_eq!(read.chain_hash(), hash);
        // And if the whole file goes.
        record.commit.files.clear();
        record.notes.clear();
        record.purged_files.push(digest);
        assert_eq!(record.chain_hash(), hash);
    }

    #[test]
    fn any_other_change_breaks_the_chain() {
        let hash = everything().chain_hash();
        type FieldChange = (&'static str, fn(&mut LogRecord));
        let changes: [FieldChange; 9] = [
            ("seq", |record| record.link.seq += 1),
            ("clock", |record| record.link.clock += 1),
            ("seen", |record| record.link.seen[0].1 += 1),
            ("previous", |record| record.link.previous[0] ^= 1),
            ("tool", |record| record.commit.author.tool.push('x')),
            ("path", |record| record.commit.files[0].path = path("Other.md")),
            ("text", |record| record.commit.files[0].after = Some(ContentHash([9; 32]))),
            ("parents", |record| record.notes[0].parents = None),
            ("message", |record| record.commit.message = Some("another".into())),
        ];
        for (name, change) in changes {
            let mut record = everything();
            change(&mut record);
            assert_ne!(record.chain_hash(), hash, "{name}");
        }
    }

    #[test]
    fn a_record_is_no_larger_than_in_format_1() {
        let size = |format, record: &LogRecord, body: &RecordBody| {
            let meta = super::super::segment::encode_record(format, record);
            frame::encode(format, &meta, body.as_bytes()).len()
        };
        let (mut record, body) = example();
        record.commit.files[0].before = Some(ContentHash([8; 32]));
        let commit = CommitId::parse("cd0123456789").unwrap();
        record.notes[0].parents = Some(vec![FileVersionId { commit, path: None }]);
        let (one, two) =
            (size(FrameFormat::One, &record, &body), size(FrameFormat::Two, &record, &body));
        println!("a commit of one file: {one} bytes in format 1, {two} in format 2");
        assert!(two <= one, "{two} bytes, and {one} in format 1");
    }

    #[test]
    fn the_next_link_goes_on_where_the_last_record_ended() {
        let record = example().0;
        let end = ChainEnd::of(&record);
        let seen = SeenDevices { changed: vec![("a".into(), 9)], clock: 0 };
        let link = end.next_link(&seen, record.commit.time);
        assert_eq!((link.seq, &link.seen), (4, &seen.changed));
        assert_eq!(link.previous, record.chain_hash());
        assert!(link.clock > record.link.clock);
    }

    /// The reference shows a frame byte by byte; this is what those bytes mean.
    #[test]
    fn the_example_of_the_reference_is_what_it_says() {
        let (record, body) = example();
        let expected = frame::encode(FrameFormat::Two, &encode(&record), body.as_bytes());
        let block = PAGE.split("```hex").nth(1).and_then(|rest| rest.split("```").next());
        let digits: String = block
            .unwrap_or_default()
            .lines()
            .map(|line| line.split('|').next().unwrap_or_default())
            .flat_map(str::chars)
            .filter(char::is_ascii_hexdigit)
            .collect();
        let shown: String = expected.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digits, shown, "the bytes in docs/reference/log-format.md are others");
        let len = expected.len() as u64;
        let mut file = std::io::Cursor::new(&expected);
        let frame = frame::read(&mut file, FrameFormat::Two, 0, len, frame::FrameCheck::Whole);
        assert_same(&decode(&frame.unwrap().unwrap().meta).unwrap(), &record, "the example");
    }
}
