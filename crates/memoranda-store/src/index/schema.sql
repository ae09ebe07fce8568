-- The index: derived from the files and the log, from nothing else. Delete it at any time.

CREATE TABLE projects (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  -- Device and inode of the folder when it was last walked: an unmounted drive has others.
  root_device INTEGER,
  root_inode INTEGER,
  -- Whether it lay in the vault and on its device, so that it cannot be away without the vault.
  root_within INTEGER,
  -- 1 after a whole scan of the folder, or if Memoranda made the folder; 0 if it was just added;
  -- NULL if this index does not know.
  scanned INTEGER,
  -- The run of the machine, with the attachment of the folder's drive, in which it was last scanned
  -- completely.
  scanned_in TEXT,
  -- 1 while the project is being removed.
  is_leaving INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Every file that a walk sees. kind: 0 known from the log alone, 1 Markdown, 2 text, 3 other.
CREATE TABLE files (
  id INTEGER PRIMARY KEY,
  project INTEGER NOT NULL REFERENCES projects(id),
  path TEXT NOT NULL,
  -- Where it lies, with a slash behind it; empty at the top of the project.
  folder TEXT NOT NULL GENERATED ALWAYS AS (rtrim(path, replace(path, '/', ''))) STORED,
  path_key TEXT NOT NULL,
  kind INTEGER NOT NULL,
  size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  ctime_ns INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  checked_ns INTEGER NOT NULL,
  hash BLOB,
  title TEXT NOT NULL DEFAULT '',
  permalink TEXT NOT NULL DEFAULT '',
  note_type TEXT NOT NULL DEFAULT '',
  created_ms INTEGER NOT NULL DEFAULT 0,
  updated_ms INTEGER NOT NULL DEFAULT 0,
  metadata TEXT NOT NULL DEFAULT '{}',
  problems TEXT NOT NULL DEFAULT '[]',
  UNIQUE (project, path)
) STRICT;
CREATE INDEX files_by_key ON files(project, path_key);
CREATE INDEX files_by_permalink ON files(project, permalink);
CREATE INDEX files_by_update ON files(updated_ms);
CREATE INDEX files_by_creation ON files(created_ms);
-- What changed last in a project, in a folder, of a type: the newest first, and no other looked at.
CREATE INDEX files_of_project ON files(project, updated_ms);
CREATE INDEX files_of_folder ON files(project, folder, updated_ms, kind);
CREATE INDEX files_of_type ON files(project, note_type, updated_ms, kind);

-- Files that are recorded only in the log: few, while a scan asks for them every time.
CREATE INDEX files_unreached ON files(project) WHERE kind = 0;
-- The few files that may link to others where no relation is read.
CREATE INDEX files_linking ON files(project) WHERE instr(metadata, '[[') > 0;
CREATE INDEX files_drawn ON files(project, path) WHERE lower(substr(path, -7)) = '.canvas';

-- Path and metadata of every file that was read, as a hash: what a scan compares with the disk. Every
-- file has one, unless it is known from the log alone.
CREATE TABLE file_prints (
  file INTEGER PRIMARY KEY,
  project INTEGER NOT NULL,
  print BLOB NOT NULL,
  -- How many of the proofs of a scan the times of the file give: its bytes are those of the last
  -- look, in the same run of the machine (1), also after a restart (2).
  proofs INTEGER NOT NULL
) STRICT;

-- The names by which a link can reach a note, normalised. A note's names follow from its row
-- in files, so there is no way back from the file to its names.
CREATE TABLE link_keys (
  key TEXT NOT NULL,
  project INTEGER NOT NULL,
  file INTEGER NOT NULL,
  PRIMARY KEY (key, project, file)
) STRICT, WITHOUT ROWID;

-- The passages of file N have the numbers from N * 65536 on, so that none need an index. Up to 64
-- stand in one row, under the number of the first: headings, lines and texts.
CREATE TABLE passages (
  id INTEGER PRIMARY KEY,
  data BLOB NOT NULL
) STRICT;

-- What notes are compared by, in rows like those: the words of their passages.
CREATE TABLE cuts (
  id INTEGER PRIMARY KEY,
  -- What else a note is compared by, told with its first passages.
  tags TEXT NOT NULL,
  importance REAL,
  data BLOB NOT NULL
) STRICT;

CREATE VIRTUAL TABLE words USING fts5(
  title, heading, tags, body,
  content='', contentless_delete=1,
  tokenize="porter unicode61 remove_diacritics 2"
);

-- So many bytes of words are gathered before they are written: the more, the less is merged later.
INSERT INTO words(words, rank) VALUES ('hashsize', 8388608);
-- Bytes of a block of words: each fits into a page of the index.
INSERT INTO words(words, rank) VALUES ('pgsz', 1980);

-- How many passages hold each stem.
CREATE VIRTUAL TABLE word_counts USING fts5vocab(words, row);
-- Where each stem stands.
CREATE VIRTUAL TABLE word_places USING fts5vocab(words, instance);

-- What the passages of a file mean: their vectors, one behind the other, and what else is asked of
-- very many at a time, how many words they have and the file's project. Whoever keeps that in memory
-- asks for stamps above the last one seen; a file that is gone leaves an empty row.
CREATE TABLE vectors (
  file INTEGER PRIMARY KEY,
  stamp INTEGER NOT NULL,
  project INTEGER NOT NULL,
  passages INTEGER NOT NULL,
  lengths BLOB NOT NULL,
  data BLOB NOT NULL
) STRICT;
-- With their number, so that all passages can be counted from the index alone.
CREATE INDEX vectors_by_stamp ON vectors(stamp, passages);

CREATE TABLE observations (
  file INTEGER NOT NULL,
  n INTEGER NOT NULL,
  observation_id TEXT NOT NULL,
  category TEXT,
  text TEXT NOT NULL,
  context TEXT,
  tags TEXT NOT NULL,
  line INTEGER NOT NULL,
  version INTEGER NOT NULL,
  time_ms INTEGER,
  confidence REAL,
  importance REAL,
  thread TEXT,
  superseded_by TEXT,
  supersedes TEXT,
  struck INTEGER NOT NULL,
  PRIMARY KEY (file, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE relations (
  file INTEGER NOT NULL,
  n INTEGER NOT NULL,
  project INTEGER NOT NULL,
  relation_type TEXT NOT NULL,
  target TEXT NOT NULL,
  target_key TEXT NOT NULL,
  -- All that the link says, if it may be a name or a name and a heading: that is tried first.
  whole TEXT,
  whole_key TEXT,
  target_file INTEGER,
  context TEXT,
  line INTEGER NOT NULL,
  -- Set for a relation with a comment of its own: it means the note of exactly this title in the
  -- same folder, and no other.
  exact_name TEXT,
  -- 0 a link that only mentions the note, 1 a line of its own that states it, 2 one with a comment.
  form INTEGER NOT NULL,
  time_ms INTEGER,
  confidence REAL,
  importance REAL,
  PRIMARY KEY (file, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX relations_unbound ON relations(file, form, target_file) WHERE target_file IS NULL;
CREATE INDEX relations_by_key ON relations(target_key, project);
CREATE INDEX relations_by_whole ON relations(whole_key, project) WHERE whole_key IS NOT NULL;
CREATE INDEX relations_by_part ON relations(target_key, project) WHERE whole_key IS NOT NULL;
CREATE INDEX relations_by_target ON relations(target_file, form) WHERE target_file IS NOT NULL;
-- What people typed can mean a note anywhere, so sums over a folder look at where each leads.
CREATE INDEX relations_typed ON relations(file, target_file, form) WHERE form = 1;

-- What sums over a folder need of every note, in few bytes and side by side.
CREATE TABLE nodes (
  project INTEGER NOT NULL,
  folder TEXT NOT NULL,
  file INTEGER NOT NULL,
  importance REAL,
  confidence REAL,
  -- How many facts are current, and how many relations it states in lines of their own.
  facts INTEGER NOT NULL,
  relations INTEGER NOT NULL,
  -- It only holds relations of something that has not been described yet.
  placeholder INTEGER NOT NULL,
  PRIMARY KEY (project, folder, file)
) STRICT, WITHOUT ROWID;

CREATE TABLE tags (
  file INTEGER NOT NULL,
  -- As tags are compared: without its mark, in lower case.
  tag TEXT NOT NULL,
  PRIMARY KEY (file, tag)
) STRICT, WITHOUT ROWID;

-- The history, read from the log.
CREATE TABLE commits (
  row INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  -- Orders the commits of all devices: the time, made to rise along each device's log.
  logical_ms INTEGER NOT NULL,
  time_ms INTEGER NOT NULL,
  device TEXT NOT NULL,
  segment INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  client TEXT NOT NULL,
  tool TEXT NOT NULL,
  channel TEXT NOT NULL,
  -- Further identities of the author; most commits have none.
  account TEXT,
  token TEXT,
  conversation TEXT,
  source TEXT,
  message TEXT,
  -- The kind of a commit that is not an ordinary write, and the commit that an undo or redo is about.
  kind TEXT,
  target TEXT,
  -- The folders that it made and that it emptied, in JSON; nothing for most.
  folders TEXT
) STRICT;
CREATE INDEX commits_in_order ON commits(logical_ms, device, segment, offset);
CREATE INDEX commits_of_conversation ON commits(conversation) WHERE conversation IS NOT NULL;

-- A move has two rows: one where the file is now, one (with moved_to) where it was.
CREATE TABLE changes (
  commit_row INTEGER NOT NULL,
  n INTEGER NOT NULL,
  -- As of its commit, so that the last word on a path is found without looking at others.
  logical_ms INTEGER NOT NULL,
  -- When the history first spoke of the file, under any of the names that it has had, or the file's
  -- own time then if that is earlier.
  first_ms INTEGER NOT NULL,
  project INTEGER NOT NULL,
  path TEXT NOT NULL,
  moved_from TEXT,
  moved_to TEXT,
  before BLOB,
  after BLOB,
  permalink TEXT,
  facts TEXT,
  PRIMARY KEY (commit_row, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX changes_by_path ON changes(project, path, logical_ms);

CREATE TABLE contents (
  hash BLOB PRIMARY KEY,
  device TEXT NOT NULL,
  segment INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  stored INTEGER NOT NULL,
  raw INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- How far each device's log has been read into this index.
CREATE TABLE positions (
  device TEXT PRIMARY KEY,
  segment INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  logical_ms INTEGER NOT NULL,
  -- Number and hybrid clock of the last record that was read.
  seq INTEGER NOT NULL,
  clock INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The last record of another device that the records of a device had seen.
CREATE TABLE seen (
  device TEXT NOT NULL,
  other TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (device, other)
) STRICT, WITHOUT ROWID;

CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
