//! One life of a vault: processes that use it, and a look at the result after each time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use memoranda_core::change::{ChangeOperation, ChangeSet, ExpectedContent, FileAction};
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_store::faults::run_on;
use memoranda_store::{
    CommitOutcome, HardLinkPolicy, OpenOptions, Store, StoreError, Transaction, VacuumExtent,
    VacuumRequest, clock, hash,
};
use tempfile::TempDir;

use super::chance::Chance;
use super::disk::Disk;
use super::model::{Key, Model, Wanted, show};
use super::rules::Rules;
use super::world::{
    FileNames, Killed, Machine, NAMES, Process, ProcessState, World, files_below, renamed,
};
use crate::support::who;

/// The folder that the project `work` moves into.
const MOVED_WORK: &str = "moved-work";

/// The counts of a life.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LifeReport {
    pub(super) steps: u64,
    pub(super) trace: u64,
    pub(super) counts: BTreeMap<&'static str, u64>,
}

/// The files, the versions that are nowhere, and a disagreement of index, log and files.
type Findings = (BTreeMap<Key, Vec<u8>>, Vec<String>, Option<String>);

/// A copy of the vault's folder, with what was known at that time.
struct Backup {
    files: BTreeMap<PathBuf, Vec<u8>>,
    folders: BTreeSet<PathBuf>,
    model: Model,
}

/// A vault from its making to its last check.
pub(super) struct Life {
    folder: TempDir,
    machine: Arc<Machine>,
    rules: Rules,
    /// Number of the vault: an import begins another.
    vault: usize,
    backup: Option<Backup>,
    checks: usize,
    /// True once a new index refused the folder on the stick, because none of the notes that it knew
    /// was left there. Nothing is changed then, and a person has to say if it is the right folder.
    is_refused: bool,
}

/// Lives through a seed. Fails with what went wrong and how it came to that.
pub(super) fn live(left_out: &str, seed: u64) -> Result<LifeReport, String> {
    let mut chance = Chance::new(seed);
    let rules = Rules::choose(left_out, &mut chance);
    let folder = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
    let machine = Machine::new(World::new(rules, chance, folder.path()));
    let mut life =
        Life { folder, machine, rules, vault: 0, backup: None, checks: 0, is_refused: false };
    let lived = life.live();
    let world = life.machine.world();
    match lived {
        Ok(()) => {
            let (steps, trace, counts) = (world.steps, world.trace, world.counts.clone());
            Ok(LifeReport { steps, trace, counts })
        }
        Err(reason) => Err(format!(
            "seed {seed}, step {}: {reason}\n{rules:?}{}\n`cargo xtask simulate --seed {seed}` \
             plays this life again",
            world.steps,
            world.story()
        )),
    }
}

impl Life {
    fn live(&mut self) -> Result<(), String> {
        self.prepare();
        self.add_stick()?;
        for epoch in 0..self.rules.epochs {
            self.run_processes()?;
            self.check(&format!("after time {epoch}"))?;
            if self.is_refused {
                break;
            }
            self.go_elsewhere()?;
        }
        Ok(())
    }

    fn options(&self, device: usize, cache: usize) -> OpenOptions {
        let vault = self.vault;
        OpenOptions {
            home: self.machine.world().home.clone(),
            cache: self.folder.path().join(format!("cache-{vault}-{device}-{cache}")),
            state: self.folder.path().join(format!("disk/state-{vault}-{device}")),
            file_sync: Duration::from_secs(60),
            lock_patience: Duration::from_secs(3600),
        }
    }

    /// Runs work of a process that is alone and undisturbed.
    fn alone<R>(&self, work: impl FnOnce() -> R) -> Result<R, String> {
        {
            let mut world = self.machine.world();
            world.is_busy = false;
            world.begin_process(0);
            world.current = 0;
        }
        let process = Process { machine: self.machine.clone(), id: 0 };
        let done = catch_unwind(AssertUnwindSafe(|| run_on(Rc::new(process), work)));
        self.machine.end_process(0);
        done.map_err(|panic| format!("a panic while alone: {}", words_of(&*panic)))
    }

    /// Makes the folders that people have before anything else.
    fn prepare(&self) {
        let mut world = self.machine.world();
        let home = world.home.clone();
        fs::create_dir_all(home.join("main")).unwrap();
        let now = world.file_time();
        let disk = self.folder.path().join("disk");
        world.disk.names_changed(&[disk], now);
        world.disk.force_drive(0);
        if let Some(stick) = world.stick.clone() {
            fs::create_dir_all(stick.join("notes")).unwrap();
            world.disk.names_changed(&[stick], now);
            world.disk.force_drive(1);
        }
    }

    /// Makes the folder on the stick a project, before anything happens to it.
    fn add_stick(&self) -> Result<(), String> {
        let Some(stick) = self.machine.world().stick.clone() else { return Ok(()) };
        let options = self.options(0, 0);
        let added = self.alone(|| {
            let (name, notes) = (ProjectName::parse("ext").unwrap(), stick.join("notes"));
            Store::open(options)?.add_project(&name, &notes, HardLinkPolicy::Refuse).map(drop)
        })?;
        added.map_err(|e| format!("the stick cannot be added: {e}"))
    }

    /// Lets processes work until they are done, dead, or without power.
    fn run_processes(&self) -> Result<(), String> {
        {
            let mut world = self.machine.world();
            world.is_busy = true;
            for id in 0..self.rules.processes {
                world.begin_process(id);
            }
            world.pass_turn();
        }
        std::thread::scope(|scope| {
            for id in 0..self.rules.processes {
                scope.spawn(move || self.run_process(id));
            }
        });
        let mut world = self.machine.world();
        world.is_busy = false;
        world.put_stick_back();
        world.failure.take().map_or(Ok(()), Err)
    }

    fn run_process(&self, id: usize) {
        drop(self.machine.await_turn(self.machine.world(), id));
        let process = Rc::new(Process { machine: self.machine.clone(), id });
        run_on(process, || {
            let mut actor = Actor { life: self, id, store: None, left: self.rules.operations };
            while actor.left > 0 {
                let worked = catch_unwind(AssertUnwindSafe(|| actor.work()));
                if let Err(panic) = worked {
                    if !panic.is::<Killed>() {
                        let words = words_of(&*panic);
                        self.machine.world().fail(format!("process {id} panicked: {words}"));
                        break;
                    }
                    if !actor.come_back() {
                        break;
                    }
                }
            }
            if actor.below(2) == 0 {
                // It closes the vault; otherwise it just ends.
                catch_unwind(AssertUnwindSafe(|| actor.store = None)).ok();
            }
            self.machine.world().processes[id] = ProcessState::Ended;
            // It has ended: what is dropped now has no effect.
            drop(actor);
        });
        self.machine.end_process(id);
    }

    /// Takes the power away for good: unforced bytes, and a part of the cache.
    fn lose_power(&self) {
        let mut guard = self.machine.world();
        let world = &mut *guard;
        world.has_lost_power = false;
        let projects = self.folders_of(world);
        let seen = files_in(&projects);
        let before = names_in(&world.disk, &projects);
        for drive in 0..=usize::from(world.stick.is_some()) {
            world.disk.cut(drive, &mut world.chance);
        }
        let went_back = renamed(&before, &names_in(&world.disk, &projects));
        world.model.lose_unforced(|_| true, &seen, &files_in(&projects), &went_back);
        for (_, folder) in &projects {
            world.list_files(folder, "left");
        }
        world.boot = world.boot.wrapping_add(1);
        for entry in fs::read_dir(self.folder.path()).unwrap() {
            let path = entry.unwrap().path();
            let is_cache = path.file_name().unwrap().to_string_lossy().starts_with("cache-");
            if is_cache {
                match world.chance.below(4) {
                    0 => fs::remove_dir_all(path).unwrap(),
                    1 => remove_newest_pages(&path),
                    _ => {}
                }
            }
        }
    }

    fn folders_of(&self, world: &World) -> Vec<(String, PathBuf)> {
        let list = fs::read_to_string(world.home.join(".memoranda/projects.toml"));
        let is_moved = list.is_ok_and(|list| list.contains(MOVED_WORK));
        let work = if is_moved { self.moved_work() } else { world.home.join("work") };
        let mut folders =
            vec![("main".to_owned(), world.home.join("main")), ("work".to_owned(), work)];
        folders.extend(world.stick.clone().map(|stick| ("ext".to_owned(), stick.join("notes"))));
        folders
    }

    fn moved_work(&self) -> PathBuf {
        self.folder.path().join("disk").join(MOVED_WORK)
    }

    /// Looks at everything with a process of its own.
    fn check(&mut self, when: &str) -> Result<(), String> {
        if self.machine.world().has_lost_power {
            self.lose_power();
        }
        self.checks += 1;
        let (device, cache, is_thorough) = {
            let mut world = self.machine.world();
            let device = world.chance.below(self.rules.devices);
            (device, world.chance.below(self.rules.caches), world.chance.one_in(2))
        };
        let options = self.options(device, cache);
        let scratch = self.folder.path().join(format!("scratch-{}", self.checks));
        let looked = self.alone(|| self.look(options, is_thorough.then_some(&*scratch)))?;
        fs::remove_dir_all(&scratch).ok();
        let failed = |e: String| format!("{when}: {e}");
        if self.rules.has_stick && matches!(&looked, Err(StoreError::ProjectUnavailable { .. })) {
            self.machine.world().count("refused folders");
            self.is_refused = true;
            return Ok(());
        }
        let (actual, missing, disagreement) =
            looked.map_err(|e| failed(format!("the vault cannot be used: {e}")))?;
        let mut world = self.machine.world();
        world.count("checks");
        world.note(format!("checked {when}: {} files", actual.len()));
        world.model.settle(&actual).map_err(failed)?;
        if !missing.is_empty() {
            return Err(failed(format!("lost for good: {}", missing.join("; "))));
        }
        disagreement.map_or(Ok(()), |report| Err(failed(report)))
    }

    /// Scans, and returns the files, the versions that are nowhere, and what `check` says.
    fn look(&self, options: OpenOptions, scratch: Option<&Path>) -> Result<Findings, StoreError> {
        let store = Store::open(options)?;
        store.sync(&mut |_| {})?;
        let mut actual = BTreeMap::new();
        for project in store.projects()? {
            actual.extend(files_below(&project.path, project.name.as_str()));
        }
        let (required, keys) = {
            let world = self.machine.world();
            (world.model.required(), world.model.keys())
        };
        for key in keys {
            let (project, path) = names_of(&key);
            let read = store.read(&project, &path)?.map(|found| found.bytes);
            if read.as_ref() != actual.get(&key) {
                let report = format!("{key:?} reads as {}", show(&read));
                return Ok((actual, Vec::new(), Some(report)));
            }
        }
        let here: BTreeSet<[u8; 32]> = actual.values().map(|bytes| hash(bytes).0).collect();
        let mut missing = Vec::new();
        for (version, name) in required {
            if !here.contains(&version.0)
                && let Err(e) = store.content(version)
            {
                missing.push(format!("{name} ({e})"));
            }
        }
        let mut disagreement = None;
        if let Some(scratch) = scratch {
            let mut report = store.check(scratch)?;
            let projects = store.projects()?;
            let is_known = |(project, path): &(ProjectName, NotePath)| {
                let folder = projects.iter().find(|known| known.name == *project);
                let file = folder.map(|folder| folder.path.join(path.as_str()));
                !file.is_some_and(|file| self.machine.world().is_before_leap(&file))
            };
            report.stale.retain(is_known);
            report.unkept.retain(is_known);
            if !report.agrees() {
                disagreement = Some(format!("index, log and files differ: {report:?}"));
            }
        }
        Ok((actual, missing, disagreement))
    }

    /// Between two times, a person makes or restores a backup, or moves to another vault.
    fn go_elsewhere(&mut self) -> Result<(), String> {
        let (makes, restores, imports) = {
            let mut world = self.machine.world();
            (world.chance.one_in(2), world.chance.one_in(2), world.chance.one_in(2))
        };
        if self.rules.has_backup {
            if let Some(backup) = self.backup.take().filter(|_| restores) {
                self.restore(&backup);
                self.check("after a backup was restored")?;
            } else if makes {
                self.backup = Some(self.make_backup());
            }
        }
        if self.rules.has_import && imports {
            self.import()?;
        }
        Ok(())
    }

    fn make_backup(&self) -> Backup {
        let mut world = self.machine.world();
        let (mut files, mut folders) = (BTreeMap::new(), BTreeSet::new());
        let mut pending = vec![world.home.clone()];
        while let Some(folder) = pending.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.insert(path.clone());
                    pending.push(path);
                } else {
                    files.insert(path.clone(), fs::read(&path).unwrap());
                }
            }
        }
        world.count("backups");
        world.note("a backup is made".into());
        Backup { files, folders, model: world.model.clone() }
    }

    fn restore(&self, backup: &Backup) {
        let mut world = self.machine.world();
        let home = world.home.clone();
        let now = world.file_time();
        for entry in fs::read_dir(&home).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        }
        world.disk.names_changed(std::slice::from_ref(&home), now);
        backup.folders.iter().for_each(|folder| fs::create_dir_all(folder).unwrap());
        backup.files.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
        world.disk.names_changed(&[home], now);
        world.disk.force_drive(0);
        world.model = backup.model.clone();
        world.count("restored backups");
        world.note("the backup is restored".into());
    }

    /// Brings everything into a new vault, as on a new machine; perhaps the power goes at once.
    fn import(&mut self) -> Result<(), String> {
        let options = self.options(0, 0);
        let exported = self.alone(|| {
            let mut archive = Vec::new();
            Store::open(options).and_then(|store| store.export(&mut archive)).map(|_| archive)
        })?;
        let archive = exported.map_err(|e| format!("the export failed: {e}"))?;
        self.vault += 1;
        self.backup = None;
        let home = self.folder.path().join(format!("disk/home-{}", self.vault));
        self.machine.world().home = home;
        let options = self.options(0, 0);
        let imported = self.alone(|| {
            Store::open(options).and_then(|store| {
                let report = store.import(&mut &*archive);
                // The process ends without another word.
                std::mem::forget(store);
                report
            })
        })?;
        imported.map_err(|e| format!("the import failed: {e}"))?;
        {
            let mut world = self.machine.world();
            world.count("imports");
            world.note("everything is imported into a new vault".into());
            world.model.acknowledge_all();
            if world.rules.cut > 0 && world.chance.one_in(2) {
                world.has_lost_power = true;
                world.note("the power goes after the import".into());
            }
        }
        self.check("after an import")
    }
}

fn files_in(projects: &[(String, PathBuf)]) -> BTreeMap<Key, Vec<u8>> {
    projects.iter().flat_map(|(name, folder)| files_below(folder, name)).collect()
}

fn names_in(disk: &Disk, projects: &[(String, PathBuf)]) -> FileNames {
    projects.iter().map(|(name, folder)| (name.clone(), disk.names_below(folder))).collect()
}

/// Leaves the index as its last checkpoint has it. The files are others, because processes that are dead
/// may still have the old ones open in this one.
fn remove_newest_pages(cache: &Path) {
    for entry in fs::read_dir(cache).unwrap() {
        let folder = entry.unwrap().path();
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.ends_with("-wal") || name.ends_with("-shm") {
                fs::remove_file(&path).unwrap();
            } else if path.is_file() {
                let (copy, time) =
                    (folder.join("copy"), fs::metadata(&path).unwrap().modified().unwrap());
                fs::copy(&path, &copy).unwrap();
                fs::File::options().write(true).open(&copy).unwrap().set_modified(time).unwrap();
                fs::rename(&copy, &path).unwrap();
            }
        }
    }
}

fn words_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "no words".into())
}

fn names_of((project, path): &Key) -> (ProjectName, NotePath) {
    (ProjectName::parse(project).unwrap(), NotePath::parse(path).unwrap())
}

/// The work of a process: one call of the store after the other.
struct Actor<'a> {
    life: &'a Life,
    id: usize,
    store: Option<Store>,
    left: usize,
}

impl Actor<'_> {
    fn below(&self, limit: usize) -> usize {
        self.life.machine.world().chance.below(limit)
    }

    /// Starts again after a death, unless there is no power.
    fn come_back(&mut self) -> bool {
        self.life.machine.world().processes[self.id] = ProcessState::Ended;
        self.store = None;
        let mut world = self.life.machine.world();
        if world.has_lost_power {
            return false;
        }
        world.begin_process(self.id);
        true
    }

    fn step(&mut self, what: &str) {
        self.left = self.left.saturating_sub(1);
        let mut world = self.life.machine.world();
        world.steps += 1;
        let event = format!("process {} begins step {}: {what}", self.id, world.steps);
        world.note(event);
    }

    fn end_step(&self, outcome: &str) {
        let mut world = self.life.machine.world();
        let event = format!("process {}: {outcome}", self.id);
        world.note(event);
    }

    fn work(&mut self) {
        let Some(store) = self.store.take() else {
            return self.open();
        };
        self.store = Some(store);
        match self.below(20) {
            0..=5 => self.put(),
            6..=8 => self.append_line(),
            9 => self.put_several(),
            10 | 11 => self.remove(),
            12 | 13 => self.rename(),
            14 => self.call("scan", |store| store.sync(&mut |_| {}).map(drop)),
            15 => self.call("flush", Store::flush),
            16 if self.life.rules.has_vacuum => self.vacuum(),
            17 if self.life.rules.has_move => self.move_project(),
            18 => {
                self.step("close");
                self.store = None;
            }
            _ => self.put(),
        }
    }

    fn open(&mut self) {
        self.step("open");
        let (device, cache) =
            (self.below(self.life.rules.devices), self.below(self.life.rules.caches));
        let options = self.life.options(device, cache);
        match Store::open(options) {
            Ok(store) => {
                if self.below(2) == 0 {
                    store.start_background_without_thread();
                }
                self.store = Some(store);
            }
            Err(e) => self.end_step(&format!("cannot open: {e}")),
        }
    }

    fn call(&mut self, what: &str, call: impl FnOnce(&Store) -> Result<(), StoreError>) {
        self.step(what);
        let Some(store) = &self.store else { return };
        match call(store) {
            Ok(()) => self.end_step("done"),
            Err(e) => self.give_up(&e),
        }
    }

    fn give_up(&mut self, error: &StoreError) {
        self.end_step(&format!("fails: {error}"));
        if matches!(error, StoreError::Halted(_)) {
            self.store = None;
        }
    }

    fn any_key(&self) -> Key {
        let projects: &[&str] = match (self.life.rules.has_stick, self.life.rules.has_move) {
            (true, true) => &["main", "ext", "work"],
            (true, false) => &["main", "ext"],
            (false, true) => &["main", "work"],
            (false, false) => &["main"],
        };
        let project = projects[self.below(projects.len())];
        (project.to_owned(), NAMES[self.below(NAMES.len())].to_owned())
    }

    /// Asks the store for a change, and tells the model what became of it.
    fn transact(
        &mut self,
        what: &str,
        mut decide: impl FnMut(&Transaction<'_>, &mut Wanted) -> Result<ChangeSet, StoreError>,
    ) {
        self.step(what);
        let Some(store) = &self.store else { return };
        let machine = self.life.machine.clone();
        let wanted = std::cell::RefCell::new(Wanted::default());
        let (process, is_settled) = (self.id, false.into());
        let doubted = Doubt { machine: &machine, process, wanted: &wanted, is_settled };
        let outcome = store.transact(&who("sim"), |view| {
            let mut wanted = wanted.borrow_mut();
            *wanted = Wanted::default();
            wanted.decided_at = Some(machine.world().model.tick());
            wanted.decided_ns = machine.world().time_of_day_ns();
            let decided = decide(view, &mut wanted);
            machine.world().model.begin_write(process, &wanted);
            decided
        });
        let result = match &outcome {
            Ok(CommitOutcome::Committed(_) | CommitOutcome::Unchanged) => {
                let wanted = wanted.borrow();
                machine.world().model.acknowledge(process, &wanted);
                doubted.is_settled.set(true);
                machine.world().count("acknowledged");
                "acknowledged".to_owned()
            }
            Ok(CommitOutcome::Conflict(_)) => {
                machine.world().model.refuse(process);
                doubted.is_settled.set(true);
                "conflict".to_owned()
            }
            Err(e) => format!("fails: {e}"),
        };
        drop(doubted);
        self.end_step(&result);
        if let Err(StoreError::Halted(_)) = outcome {
            self.store = None;
        }
    }

    fn put(&mut self) {
        let key = self.any_key();
        let text = self.life.machine.world().text("s");
        let what = format!("put {key:?} {}", show(&Some(text.clone())));
        self.transact(&what, |_, wanted| {
            wanted.changes.push((key.clone(), Some(text.clone())));
            Ok(change_of(vec![operation(&key, FileAction::Put(text.clone()))]))
        });
    }

    fn append_line(&mut self) {
        let key = self.any_key();
        let text = self.life.machine.world().text("l");
        self.transact(
            &format!("append to {key:?} {}", show(&Some(text.clone()))),
            |view, wanted| {
                let (project, path) = names_of(&key);
                let mut bytes = view.read(&project, &path)?.map_or(Vec::new(), |found| found.bytes);
                bytes.truncate(2_000);
                bytes.extend_from_slice(&text);
                wanted.changes.push((key.clone(), Some(bytes.clone())));
                Ok(change_of(vec![operation(&key, FileAction::Put(bytes))]))
            },
        );
    }

    fn put_several(&mut self) {
        // A change of one project: its files are on one drive.
        let (project, _) = self.any_key();
        let keys: BTreeSet<Key> = (0..3).map(|_| (project.clone(), self.any_key().1)).collect();
        let texts: Vec<(Key, Vec<u8>)> =
            keys.into_iter().map(|key| (key, self.life.machine.world().text("m"))).collect();
        let named: Vec<&Key> = texts.iter().map(|(key, _)| key).collect();
        self.transact(&format!("put several {named:?}"), |_, wanted| {
            let mut operations = Vec::new();
            for (key, text) in &texts {
                wanted.changes.push((key.clone(), Some(text.clone())));
                operations.push(operation(key, FileAction::Put(text.clone())));
            }
            Ok(change_of(operations))
        });
    }

    fn remove(&mut self) {
        let key = self.any_key();
        self.transact(&format!("remove {key:?}"), |_, wanted| {
            wanted.changes.push((key.clone(), None));
            Ok(change_of(vec![operation(&key, FileAction::Remove)]))
        });
    }

    fn rename(&mut self) {
        let from = self.any_key();
        let to = (from.0.clone(), NAMES[self.below(NAMES.len())].to_owned());
        if from == to {
            return;
        }
        self.transact(&format!("rename {from:?} to {to:?}"), |view, wanted| {
            let (project, path) = names_of(&from);
            let Some(found) = view.read(&project, &path)? else {
                return Ok(change_of(Vec::new()));
            };
            wanted.changes.push((from.clone(), None));
            wanted.changes.push((to.clone(), Some(found.bytes.clone())));
            let action = FileAction::MoveFrom { from: path, content: found.bytes };
            Ok(change_of(vec![operation(&to, action)]))
        });
    }

    fn vacuum(&mut self) {
        let machine = self.life.machine.clone();
        let life = self.life;
        let purge = OnEnd(|| {
            let mut guard = life.machine.world();
            let world = &mut *guard;
            let visible = files_in(&life.folders_of(world));
            world.model.purge(&visible);
        });
        self.call("vacuum", |store| {
            let before = clock::now() + SignedDuration::from_hours(1_000);
            let what = VacuumExtent::DeletedAndVersions;
            store.vacuum(&VacuumRequest { project: None, before, what }).map(drop)
        });
        drop(purge);
        machine.world().count("vacuums");
    }

    fn move_project(&mut self) {
        let folder = self.life.moved_work();
        if !folder.is_dir() {
            fs::create_dir(&folder).unwrap();
            let mut world = self.life.machine.world();
            let now = world.file_time();
            world.disk.names_changed(&[folder.parent().unwrap().to_owned()], now);
        }
        let name = ProjectName::parse("work").unwrap();
        // Network drives and automounts fail when they are opened, and a moment later they do not.
        let machine = self.life.machine.clone();
        machine.world().moving = self.life.rules.moving;
        let _moved = OnEnd(move || machine.world().moving = 0);
        self.call("move project", |store| {
            store.move_project(&name, &folder, HardLinkPolicy::Refuse).map(drop)
        });
        self.life.machine.world().count("project moves");
    }
}

/// Does something at the end, also if the process is killed.
struct OnEnd<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnEnd<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Tells the model that nobody knows what became of a change, if the process dies.
struct Doubt<'a> {
    machine: &'a Machine,
    process: usize,
    wanted: &'a std::cell::RefCell<Wanted>,
    is_settled: std::cell::Cell<bool>,
}

impl Drop for Doubt<'_> {
    fn drop(&mut self) {
        if !self.is_settled.get()
            && let Ok(wanted) = self.wanted.try_borrow()
        {
            self.machine.world().model.doubt(self.process, &wanted);
        }
    }
}

fn change_of(operations: Vec<ChangeOperation>) -> ChangeSet {
    ChangeSet { operations, ..ChangeSet::default() }
}

fn operation(key: &Key, action: FileAction) -> ChangeOperation {
    let (project, path) = names_of(key);
    ChangeOperation { project, path, expect: ExpectedContent::Anything, action }
}
