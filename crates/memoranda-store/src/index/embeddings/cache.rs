//! The vectors of one model in memory: the texts of each file, and the vector of each text.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use memoranda_core::embed::{QuantizedQueryVector, QuantizedVector};
use rusqlite::{Connection, OptionalExtension as _};

use super::{EmbeddingCoverage, TextKey, VectorForm};
use crate::error::Result;
use crate::files::{record_file, state_files};
use crate::index::connection::{IndexId, IndexVersion};
use crate::index::extract::without_comments;
use crate::index::passages;
use crate::index::write::{PASSAGES_PER_FILE, first_passage};

const KEY_BYTES: usize = 16;
const SCALE_BYTES: usize = 4;
const CHECK_BYTES: usize = 4;

/// Identity and size of the vector file on disk.
pub(super) type VectorFileState = Option<((u64, u64), u64)>;

/// Number of vectors of deleted texts that are kept in case the texts return.
const MIN_UNUSED_VECTORS: usize = 1000;

/// Condition for removing the records of deleted texts.
#[derive(Clone, Copy)]
pub(super) enum PurgeThreshold {
    /// More of them than of current texts, and at least [`MIN_UNUSED_VECTORS`].
    Most,
    /// At least one.
    Any,
}

#[derive(Default)]
pub(super) struct ModelVectors {
    /// The index that the passages belong to, and the stamp of the last change taken over.
    index: Option<IndexId>,
    stamp: i64,
    files: HashMap<i64, Vec<PassageSlot>>,
    missing: usize,
    /// The file that the vectors belong to, and the position up to which it was read.
    on_disk: VectorFileState,
    read_to: u64,
    form: Option<VectorForm>,
    rows: HashMap<TextKey, usize>,
    scales: Vec<f32>,
    numbers: Vec<i8>,
}

/// A passage: its text, and the row of its vector.
struct PassageSlot {
    key: TextKey,
    row: Option<usize>,
}

impl ModelVectors {
    pub(super) fn is_of(&self, index: Option<IndexId>) -> bool {
        self.index == index
    }

    pub(super) fn is_current(&self, now: IndexVersion, on_disk: VectorFileState) -> bool {
        self.is_of(now.index) && self.stamp >= now.stamp && self.on_disk == on_disk
    }

    pub(super) fn stamp(&self) -> i64 {
        self.stamp
    }

    pub(super) fn forget_passages(&mut self, index: Option<IndexId>) {
        (self.index, self.stamp) = (index, 0);
        self.files.clear();
    }

    pub(super) fn put(&mut self, file: i64, keys: Vec<TextKey>) {
        if keys.is_empty() {
            self.files.remove(&file);
            return;
        }
        let slot = |key| PassageSlot { key, row: self.rows.get(&key).copied() };
        self.files.insert(file, keys.into_iter().map(slot).collect());
    }

    pub(super) fn follow(&mut self, stamp: i64) {
        self.stamp = self.stamp.max(stamp);
    }

    /// Reads the records appended to the file. A different file is read from the start.
    pub(super) fn read_records(
        &mut self,
        path: &Path,
        model: &str,
        on_disk: VectorFileState,
    ) -> io::Result<()> {
        let is_same = match (self.on_disk, on_disk) {
            (Some((before, _)), Some((now, length))) => before == now && length >= self.read_to,
            _ => false,
        };
        let line = match on_disk {
            Some(_) => record_file::first_line(path)?.unwrap_or_default(),
            None => String::new(),
        };
        let form = VectorForm::read(&line, model);
        // A recreated file can have the same inode number.
        if !is_same || form != self.form {
            (self.form, self.read_to) = (None, 0);
            self.rows.clear();
            self.scales.clear();
            self.numbers.clear();
            self.slots().for_each(|slot| slot.row = None);
        }
        if let Some(form) = form {
            if self.form.is_none() {
                (self.form, self.read_to) = (Some(form), line.len() as u64 + 1);
            }
            let bytes = record_file::read_from(path, self.read_to)?;
            let size = record_size(form.dims);
            bytes.chunks_exact(size).for_each(|record| self.take(record));
            self.read_to += (bytes.len() - bytes.len() % size) as u64;
        }
        self.on_disk = on_disk;
        let rows = std::mem::take(&mut self.rows);
        let mut missing = 0;
        for slot in self.slots() {
            slot.row = rows.get(&slot.key).copied();
            missing += usize::from(slot.row.is_none());
        }
        (self.rows, self.missing) = (rows, missing);
        Ok(())
    }

    /// Adds a record, unless its checksum is wrong.
    fn take(&mut self, record: &[u8]) {
        let body = record.len().saturating_sub(CHECK_BYTES);
        let Some((body, sum)) = record.split_at_checked(body) else { return };
        let whole = body.split_first_chunk::<KEY_BYTES>();
        let whole = whole.and_then(|(key, rest)| Some((key, rest.split_first_chunk()?)));
        let Some((key, (scale, numbers))) = whole.filter(|_| check(body) == sum) else { return };
        self.rows.insert(TextKey(*key), self.scales.len());
        self.scales.push(f32::from_le_bytes(*scale));
        self.numbers.extend(numbers.iter().map(|&byte| byte as i8));
    }

    fn slots(&mut self) -> impl Iterator<Item = &mut PassageSlot> {
        self.files.values_mut().flatten()
    }

    pub(super) fn coverage(&self) -> EmbeddingCoverage {
        let passages: usize = self.files.values().map(Vec::len).sum();
        EmbeddingCoverage {
            passages: passages as u64,
            covered: passages.saturating_sub(self.missing) as u64,
            form: self.form,
        }
    }

    fn row(&self, row: usize) -> Option<(f32, &[i8])> {
        let dims = self.form?.dims;
        Some((*self.scales.get(row)?, self.numbers.get(row * dims..(row + 1) * dims)?))
    }

    pub(super) fn sense(&self, passage: i64) -> Option<QuantizedVector> {
        let slots = self.files.get(&(passage / PASSAGES_PER_FILE))?;
        let slot = slots.get(usize::try_from(passage % PASSAGES_PER_FILE).ok()?)?;
        let (scale, numbers) = self.row(slot.row?)?;
        Some(QuantizedVector { scale, numbers: numbers.into() })
    }

    pub(super) fn nearest(&self, vector: &QuantizedVector, count: usize) -> Vec<(i64, f32)> {
        let probe = QuantizedQueryVector::new(vector);
        let mut near = Vec::new();
        for (&file, slots) in &self.files {
            for (slot, passage) in slots.iter().zip(first_passage(file)..) {
                let Some((scale, numbers)) = slot.row.and_then(|row| self.row(row)) else {
                    continue;
                };
                near.push((passage, probe.similarity(scale, numbers)));
            }
        }
        let best = |a: &(i64, f32), b: &(i64, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if near.len() > count {
            near.select_nth_unstable_by(count, best);
            near.truncate(count);
        }
        near.sort_unstable_by(best);
        near
    }

    /// Returns passages whose text has no vector, each text once, the newest files first.
    pub(super) fn pending(&self, count: usize, except: &[TextKey]) -> Vec<(i64, TextKey)> {
        let mut files: Vec<_> = self.files.keys().copied().collect();
        files.sort_unstable_by(|a, b| b.cmp(a));
        let mut seen: HashSet<TextKey> = except.iter().copied().collect();
        let mut pending = Vec::new();
        for file in files {
            let slots = self.files.get(&file).into_iter().flatten();
            for (slot, passage) in slots.zip(first_passage(file)..) {
                if pending.len() >= count {
                    return pending;
                }
                if slot.row.is_none() && seen.insert(slot.key) {
                    pending.push((passage, slot.key));
                }
            }
        }
        pending
    }

    /// Returns the records of current texts, if enough records belong to deleted texts.
    pub(super) fn used(&self, unused: PurgeThreshold) -> Option<(VectorForm, Vec<u8>)> {
        let form = self.form?;
        let used: HashSet<_> = self.files.values().flatten().map(|slot| slot.key).collect();
        let kept = self.rows.keys().filter(|key| used.contains(key)).count();
        let enough = match unused {
            PurgeThreshold::Most => kept.max(MIN_UNUSED_VECTORS),
            PurgeThreshold::Any => 1,
        };
        if self.scales.len() - kept < enough {
            return None;
        }
        let mut bytes = Vec::with_capacity(kept * record_size(form.dims));
        for (key, &row) in self.rows.iter().filter(|(key, _)| used.contains(key)) {
            let (scale, numbers) = self.row(row)?;
            write_record(
                *key,
                Some(&QuantizedVector { scale, numbers: numbers.into() }),
                form.dims,
                &mut bytes,
            );
        }
        Some((form, bytes))
    }
}

pub(super) fn on_disk(path: &Path) -> io::Result<VectorFileState> {
    let size = state_files::size_and_mtime(path)?.map(|(size, _)| size);
    Ok(state_files::identity(path).zip(size))
}

pub(super) fn record_size(dims: usize) -> usize {
    KEY_BYTES + SCALE_BYTES + dims + CHECK_BYTES
}

pub(super) fn write_record(
    key: TextKey,
    vector: Option<&QuantizedVector>,
    dims: usize,
    to: &mut Vec<u8>,
) {
    let start = to.len();
    to.extend_from_slice(&key.0);
    match vector {
        Some(vector) => {
            to.extend_from_slice(&vector.scale.to_le_bytes());
            to.extend(vector.numbers.iter().map(|&number| number as u8));
        }
        None => to.resize(start + KEY_BYTES + SCALE_BYTES + dims, 0),
    }
    let sum = check(to.get(start..).unwrap_or_default());
    to.extend_from_slice(&sum);
}

fn check(body: &[u8]) -> [u8; CHECK_BYTES] {
    let [a, b, c, d, ..] = *blake3::hash(body).as_bytes();
    [a, b, c, d]
}

/// Returns the text keys of files changed since a stamp; none for a deleted file.
pub(super) fn passages_of(db: &Connection, stamp: i64) -> Result<Vec<(i64, Vec<TextKey>)>> {
    let mut changed = db.prepare_cached("SELECT file FROM vectors WHERE stamp > ?")?;
    let mut files: Vec<i64> =
        changed.query_map([stamp], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    files.sort_unstable();
    let mut found = Vec::with_capacity(files.len());
    for file in files {
        let first = first_passage(file);
        let texts = texts_of(db, first, first + PASSAGES_PER_FILE - 1)?;
        found.push((file, texts.iter().map(|(_, text)| TextKey::of(text)).collect()));
    }
    Ok(found)
}

/// Returns the texts to embed of some passages. A note without text is embedded by its title.
pub(super) fn texts_of(db: &Connection, from: i64, to: i64) -> Result<Vec<(i64, String)>> {
    let mut texts: Vec<(i64, String)> = Vec::new();
    passages::each(db, from..=to, |kept| texts.push((kept.id, kept.text.to_owned())))?;
    let mut title = db.prepare_cached("SELECT title FROM files WHERE id = ?")?;
    for (passage, text) in &mut texts {
        if text.is_empty() {
            let file = *passage / PASSAGES_PER_FILE;
            *text = title.query_row([file], |row| row.get(0)).optional()?.unwrap_or_default();
        }
        *text = without_comments(text).into_owned();
    }
    Ok(texts)
}
