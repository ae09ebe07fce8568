//! The model: acknowledged changes, edits by people, and the states of a file that they allow.

use std::collections::{BTreeMap, BTreeSet};

use memoranda_core::id::ContentHash;
use memoranda_store::hash;

/// A file: project and path.
pub(super) type Key = (String, String);
/// The bytes of a file; `None` if it does not exist.
pub(super) type Value = Option<Vec<u8>>;

/// Knowledge about one file.
#[derive(Clone, Default, Debug)]
struct FileModel {
    /// Content after the last acknowledged change or the last edit of a person.
    last: Value,
    /// Other allowed contents: changes that were not acknowledged, and edits that a cut took.
    possible: Vec<Value>,
    /// The last acknowledged value, and what people made of it since.
    recent: Vec<Value>,
    /// Time of the last edit by a person.
    edited_at: u64,
    /// The time of the file after that.
    edited_ns: i64,
    /// The latest time that an edit gave to the file since the last look at it.
    latest_edit_ns: i64,
    /// The time of day at which the last acknowledged change was decided.
    decided_ns: i64,
    /// Writes of dead processes that a person's save has put off. If the person takes that file away
    /// again, they may still be completed.
    put_off: Vec<Value>,
    /// New key of a file that was moved away, and the time of the move.
    moved_to: Option<(Key, u64)>,
    /// Time of the last event.
    touched_at: u64,
    /// True if a person did the last thing that is known.
    is_by_person: bool,
}

/// Place where the bytes of a version must still be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    /// Acknowledged: the log has it.
    Acknowledged,
    /// A person saved it: the file has it, or the log if the store replaced it.
    Person,
}

/// A version that must not be lost.
#[derive(Clone, Debug)]
struct RequiredVersion {
    origin: Origin,
    key: Key,
    /// Beginning of the text, for the report of a failure.
    shown: String,
}

/// A change that the store was asked for, with what its last decision saw.
#[derive(Clone, Default, Debug)]
pub(super) struct Wanted {
    pub(super) changes: Vec<(Key, Value)>,
    /// Time of the decision; `None` if it was never made.
    pub(super) decided_at: Option<u64>,
    /// The time of day then.
    pub(super) decided_ns: i64,
}

/// Of two changes within this time nobody can tell by the times of files which is later: two ticks of
/// the clock of a file system, and the milliseconds of a commit.
const INDISTINCT_NS: i64 = 11_000_000;

/// The knowledge that the store is checked against.
#[derive(Clone, Default)]
pub(super) struct Model {
    files: BTreeMap<Key, FileModel>,
    required: BTreeMap<[u8; 32], RequiredVersion>,
    /// Changes of several files that were not acknowledged: all or nothing.
    groups: Vec<(u64, Vec<(Key, Value)>)>,
    /// The writes that were decided and are not over, by process.
    under_way: BTreeMap<usize, Vec<(Key, Value)>>,
    /// The files of writes whose process died. The next holder of the lock completes them.
    left_half_done: BTreeSet<Key>,
    /// Those on a stick that was perhaps away at that time. They are completed by a scan.
    unplaced: BTreeSet<Key>,
    /// The moves among them: from and to.
    moves_half_done: Vec<(Key, Key)>,
    time: u64,
}

impl Model {
    /// Counts events.
    pub(super) fn tick(&mut self) -> u64 {
        self.time += 1;
        self.time
    }

    fn require(&mut self, value: &Value, origin: Origin, key: &Key) {
        if let Some(bytes) = value {
            let ContentHash(hash) = hash(bytes);
            let known = self.required.entry(hash).or_insert_with(|| RequiredVersion {
                origin,
                key: key.clone(),
                shown: show(value),
            });
            if origin == Origin::Acknowledged {
                known.origin = origin;
            }
        }
    }

    /// A process has decided on a change, so that nothing is left half done of earlier ones.
    pub(super) fn begin_write(&mut self, process: usize, wanted: &Wanted) {
        for key in std::mem::take(&mut self.left_half_done) {
            if !self.unplaced.contains(&key) {
                self.files.entry(key).or_default().put_off.clear();
            }
        }
        self.moves_half_done.clear();
        self.under_way.insert(process, wanted.changes.clone());
    }

    fn end_write(&mut self, process: usize) -> Vec<Key> {
        let changes = self.under_way.remove(&process).unwrap_or_default();
        changes.into_iter().map(|(key, _)| key).collect()
    }

    fn keys_under_way(&self) -> impl Iterator<Item = &Key> {
        self.under_way.values().flatten().map(|(key, _)| key)
    }

    /// A person took away a file that a move had just brought there, so that it cannot go back. It may have
    /// what the person saved in the old place in that moment.
    fn follow_moved(&mut self, key: &Key, seen: &Value) {
        let is_saved = |changes: &Vec<(Key, Value)>| {
            let source = move_of(changes).and_then(|(from, _)| self.files.get(&from));
            source.is_some_and(|file| file.is_by_person && file.last == *seen)
        };
        let is_it = |changes: &&Vec<(Key, Value)>| {
            let is_here =
                |(at, value): &(Key, Value)| at == key && (value == seen || is_saved(changes));
            seen.is_some() && changes.iter().any(is_here)
        };
        let sources = self.under_way.values().filter(is_it).flatten();
        let sources =
            sources.filter(|(_, value)| value.is_none()).map(|(source, _)| source.clone());
        for source in sources.collect::<Vec<_>>() {
            self.files.entry(source).or_default().possible.push(None);
        }
    }

    /// A person saved a file that a move may take along in that moment. If the move cannot be taken back,
    /// because its process dies or the person makes another file in the old place, the save is in the new
    /// place. What is left does not tell it from a save that was made there.
    fn take_along(&mut self, key: &Key, value: &Value) {
        let under_way = self.under_way.values().filter_map(|changes| move_of(changes));
        let moves = under_way.chain(self.moves_half_done.iter().cloned());
        let places: Vec<Key> = moves.filter(|(from, _)| from == key).map(|(_, to)| to).collect();
        for place in places.into_iter().filter(|_| value.is_some()) {
            self.files.entry(place).or_default().possible.push(value.clone());
        }
    }

    /// Returns true if a write is under way that may have displaced what a person saved.
    fn is_being_written(&self, key: &Key) -> bool {
        self.left_half_done.contains(key) || self.keys_under_way().any(|other| other == key)
    }

    fn is_by_person(&self, hash: &[u8; 32]) -> bool {
        self.required.get(hash).is_some_and(|version| version.origin == Origin::Person)
    }

    /// Forgets what people saved in a file and the store need not have seen.
    fn forget_saves(&mut self, key: &Key) {
        self.required.retain(|_, version| version.origin != Origin::Person || version.key != *key);
    }

    /// A person gives a file other bytes, or takes it away.
    pub(super) fn edit(&mut self, key: &Key, seen: &Value, value: Value, file_ns: i64) {
        let now = self.tick();
        self.follow_moved(key, seen);
        if let Some(bytes) = seen {
            let ContentHash(hash) = hash(bytes);
            // What nobody but the person had seen is the person's to throw away.
            if self.is_by_person(&hash) {
                self.required.remove(&hash);
            }
        }
        // Of two saves of one file within one write of the store, the later one counts. Within one tick of
        // the clock nobody can tell which one that is, if the process dies while it puts both back.
        let mut twin = None;
        if self.is_being_written(key) {
            self.forget_saves(key);
            let is_twin = |file: &&FileModel| {
                file.is_by_person && file.edited_ns == file_ns && file.last != *seen
            };
            twin = self.files.get(key).filter(is_twin).map(|file| file.last.clone());
        }
        self.require(&value, Origin::Person, key);
        self.take_along(key, &value);
        let is_half_done = self.left_half_done.contains(key) || self.unplaced.contains(key);
        let file = self.files.entry(key.clone()).or_default();
        file.recent.push(value.clone());
        if value.is_none() {
            file.possible.append(&mut file.put_off);
        } else if is_half_done {
            file.put_off.append(&mut file.possible);
        } else {
            file.possible.clear();
        }
        file.possible.extend(twin);
        (file.last, file.edited_at, file.touched_at) = (value, now, now);
        file.edited_ns = file_ns;
        file.latest_edit_ns = file.latest_edit_ns.max(file_ns);
        file.is_by_person = true;
    }

    /// A change was acknowledged.
    pub(super) fn acknowledge(&mut self, process: usize, wanted: &Wanted) {
        let now = self.tick();
        self.end_write(process);
        let decided_at = wanted.decided_at.unwrap_or(now);
        if let Some((from, to)) = move_of(&wanted.changes) {
            self.files.entry(from).or_default().moved_to = Some((to, now));
        }
        for (key, value) in &wanted.changes {
            self.require(value, Origin::Acknowledged, key);
            let file = self.files.entry(key.clone()).or_default();
            file.touched_at = now;
            file.decided_ns = wanted.decided_ns;
            // Who saved after the decision may have the last word, or be in the history.
            if file.edited_at > decided_at {
                file.recent.push(value.clone());
                file.possible.push(value.clone());
                continue;
            }
            file.last.clone_from(value);
            file.recent = vec![value.clone()];
            file.possible.clear();
            file.put_off.clear();
            file.is_by_person = false;
            if value.is_some() {
                file.moved_to = None;
            }
            self.unplaced.remove(key);
        }
    }

    /// A change was refused.
    pub(super) fn refuse(&mut self, process: usize) {
        self.end_write(process);
    }

    /// Nobody knows if a change was made.
    pub(super) fn doubt(&mut self, process: usize, wanted: &Wanted) {
        let left = self.end_write(process);
        self.unplaced.extend(left.iter().filter(|(project, _)| project == "ext").cloned());
        self.left_half_done.extend(left);
        self.moves_half_done.extend(move_of(&wanted.changes));
        let Some(decided_at) = wanted.decided_at else { return };
        let now = self.tick();
        let mut group = Vec::new();
        for (key, value) in &wanted.changes {
            let file = self.files.entry(key.clone()).or_default();
            file.touched_at = now;
            let is_edited = file.edited_at > decided_at;
            file.recent.push(value.clone());
            file.possible.push(value.clone());
            if !is_edited {
                group.push((key.clone(), value.clone()));
            }
        }
        if group.len() > 1 && group.len() == wanted.changes.len() {
            self.groups.push((now, group));
        }
    }

    /// A drive lost its power: `image` is what is left of each of its files, `seen` what was there.
    /// `went_back` has the files whose moves were lost: their names now and before.
    pub(super) fn lose_unforced(
        &mut self,
        is_on_drive: impl Fn(&Key) -> bool,
        seen: &BTreeMap<Key, Vec<u8>>,
        image: &BTreeMap<Key, Vec<u8>>,
        went_back: &[(Key, Key)],
    ) {
        for (key, bytes) in seen.iter().filter(|(key, _)| is_on_drive(key)) {
            let ContentHash(hash) = hash(bytes);
            // What the disk still has after the cut is not lost.
            if self.is_by_person(&hash) && image.get(key) != Some(bytes) {
                self.required.remove(&hash);
            }
            self.files.entry(key.clone()).or_default();
        }
        // What a write had displaced is in no file that anybody sees.
        let unseen = self.keys_under_way().chain(&self.left_half_done);
        for key in unseen.filter(|key| is_on_drive(key)).cloned().collect::<Vec<_>>() {
            self.forget_saves(&key);
        }
        // An edit of a moved file may come back under the old name, if the move is lost.
        let is_edited_since =
            |(to, at): &(Key, u64)| self.files.get(to).is_some_and(|file| file.edited_at > *at);
        let mut came_back: BTreeSet<Key> = self
            .files
            .iter()
            .filter(|(_, file)| file.moved_to.as_ref().is_some_and(is_edited_since))
            .map(|(key, _)| key.clone())
            .collect();
        // So may one that a person moved, in the place of what a tool has put there since.
        let is_later_edit = |(now, before): &&(Key, Key)| {
            let decided_ns = self.files.get(now).map(|file| file.decided_ns);
            let edited = self.files.get(before).filter(|file| file.is_by_person);
            edited.is_some_and(|file| Some(file.edited_ns + INDISTINCT_NS) >= decided_ns)
        };
        came_back.extend(went_back.iter().filter(is_later_edit).map(|(now, _)| now.clone()));
        for (key, file) in self.files.iter_mut().filter(|(key, _)| is_on_drive(key)) {
            if file.is_by_person {
                file.possible.append(&mut file.recent.clone());
                file.possible.push(image.get(key).cloned());
                file.possible.push(None);
            } else if file.latest_edit_ns + INDISTINCT_NS >= file.decided_ns
                || came_back.contains(key)
            {
                // The edit came back with the cut, perhaps torn, and may be the later one. The history
                // has the acknowledged version, which stays required. An edit from before the clock was
                // set back has a later time, too.
                file.possible.push(image.get(key).cloned());
            }
            file.moved_to = None;
        }
    }

    /// Whatever is not in a file now, and should not be in one, may be purged.
    pub(super) fn purge(&mut self, visible: &BTreeMap<Key, Vec<u8>>) {
        let is_sure = |file: &&FileModel| file.possible.is_empty();
        let last = self.files.values().filter(is_sure).filter_map(|file| file.last.as_ref());
        let here: BTreeSet<[u8; 32]> =
            visible.values().chain(last).map(|bytes| hash(bytes).0).collect();
        self.required.retain(|hash, _| here.contains(hash));
    }

    pub(super) fn keys(&self) -> Vec<Key> {
        self.files.keys().cloned().collect()
    }

    /// Compares what the store shows with what may be; afterwards that is known.
    pub(super) fn settle(&mut self, actual: &BTreeMap<Key, Vec<u8>>) -> Result<(), String> {
        for (key, file) in &self.files {
            let found = actual.get(key).cloned();
            if found != file.last && !file.possible.contains(&found) {
                return Err(format!(
                    "{}/{} holds {}; expected {}{}",
                    key.0,
                    key.1,
                    show(&found),
                    show(&file.last),
                    file.possible.iter().map(|v| format!(" or {}", show(v))).collect::<String>()
                ));
            }
        }
        for key in actual.keys() {
            if !self.files.contains_key(key) {
                return Err(format!("{}/{} came from nowhere", key.0, key.1));
            }
        }
        for (at, group) in &self.groups {
            let is_new = |(key, value): &&(Key, Value)| actual.get(key) == value.as_ref();
            let is_untouched = group.iter().all(|(key, _)| {
                self.files.get(key).is_some_and(|file| file.touched_at == *at && !file.is_by_person)
            });
            let made = group.iter().filter(is_new).count();
            if is_untouched && made != 0 && made != group.len() {
                return Err(format!("{made} of {} files of one change: {group:?}", group.len()));
            }
        }
        self.groups.clear();
        self.left_half_done.clear();
        self.unplaced.clear();
        self.moves_half_done.clear();
        for (key, file) in &mut self.files {
            let found = actual.get(key).cloned();
            if found != file.last {
                file.recent.push(found.clone());
                file.last = found;
            }
            file.possible.clear();
            file.put_off.clear();
            file.latest_edit_ns = file.edited_ns;
        }
        Ok(())
    }

    /// The versions that must be in a file or in the log, with the file that had them.
    pub(super) fn required(&self) -> Vec<(ContentHash, String)> {
        let name = |(hash, version): (&[u8; 32], &RequiredVersion)| {
            let RequiredVersion { origin, key, shown } = version;
            (ContentHash(*hash), format!("{origin:?} version of {}/{}, {shown}", key.0, key.1))
        };
        self.required.iter().map(name).collect()
    }

    /// Everything that is there now was acknowledged, as by an import.
    pub(super) fn acknowledge_all(&mut self) {
        for file in self.files.values_mut() {
            file.is_by_person = false;
            file.recent = vec![file.last.clone()];
        }
    }
}

/// Returns the old and the new place of a move.
fn move_of(changes: &[(Key, Value)]) -> Option<(Key, Key)> {
    match changes {
        [(from, None), (to, Some(_))] => Some((from.clone(), to.clone())),
        _ => None,
    }
}

pub(super) fn show(value: &Value) -> String {
    match value {
        None => "no file".into(),
        Some(bytes) => {
            let text: String = String::from_utf8_lossy(bytes).chars().take(24).collect();
            format!("{text:?} ({} bytes)", bytes.len())
        }
    }
}
