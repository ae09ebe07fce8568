//! The machine on which simulated processes run: whose turn it is, and what happens meanwhile.
//!
//! Each process is a thread, but only one runs at a time. At every call on files the seed decides who
//! goes on, and if a person saves, a process dies, a drive is pulled or the power goes.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use memoranda_store::faults::{PretendedBoot, SimulatedMachine, SimulatedNode, Step};

use super::chance::Chance;
use super::disk::{Disk, NodeId};
use super::model::{Key, Model, Value, show};
use super::rules::Rules;

/// The files that people and processes use in each project.
pub(super) const NAMES: [&str; 5] = ["a.md", "b.md", "f/c.md", "g/h/d.md", "e.txt"];
/// Clocks of file systems go by such ticks.
const TICK_NS: i64 = 4_000_000;
/// Kernels write changed bytes back within this time.
const WRITE_BACK_NS: i64 = 60_000_000_000;
/// Number of events that a failure shows.
const SHOWN_EVENTS: usize = 100;
/// Numbers of errors: EIO, EMFILE, ENOSPC.
const ERRORS: [i32; 3] = [5, 24, 28];

/// Unwinds the thread of a process that is killed.
pub(super) struct Killed;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ProcessState {
    Alive,
    /// Every further call ends it.
    Dead,
    /// The process has ended, and dropping its objects has no effect.
    Ended,
}

/// An event that a test plans for one call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum PlannedFault {
    Error,
    Death,
    /// A person saves a file.
    Save(PathBuf, &'static str),
    /// A person deletes a file.
    Delete(PathBuf),
    /// The work of another process, which `World::other` has.
    Other,
}

/// The call before which a planned event happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PlannedCall {
    /// After so many calls.
    After(usize),
    /// At the next call of this step.
    At(Step),
    /// At the call of the event before.
    Same,
}

/// Everything that the seed decides about.
pub(super) struct World {
    pub(super) rules: Rules,
    pub(super) chance: Chance,
    pub(super) disk: Disk,
    pub(super) model: Model,
    pub(super) processes: Vec<ProcessState>,
    pub(super) current: usize,
    /// True while processes and people act; false while the result is checked.
    pub(super) is_busy: bool,
    pub(super) has_lost_power: bool,
    pub(super) boot: u8,
    pub(super) steps: u64,
    pub(super) trace: u64,
    pub(super) failure: Option<String>,
    pub(super) home: PathBuf,
    pub(super) stick: Option<PathBuf>,
    pub(super) counts: BTreeMap<&'static str, u64>,
    /// Planned events of a process that is alone, one after the other.
    pub(super) planned: VecDeque<(PlannedCall, PlannedFault)>,
    /// The work of another process at a planned call.
    pub(super) other: Option<Box<dyn FnOnce() + Send>>,
    /// Failures of calls while a project moves: the mean distance; 0 is never.
    pub(super) moving: usize,
    texts: u64,
    pids: u32,
    pid_of: Vec<u32>,
    clock_ns: i64,
    /// The times at which the clock was set forward.
    leaps_ns: Vec<i64>,
    clock_wrong_by_hours: i64,
    moment_ns: u64,
    events: VecDeque<String>,
    /// True if a failure lists every call on files, too.
    lists_calls: bool,
}

impl World {
    pub(super) fn new(rules: Rules, chance: Chance, folder: &Path) -> Self {
        let home = folder.join("disk/home");
        let stick = rules.has_stick.then(|| folder.join("stick"));
        let mut roots = vec![folder.join("disk")];
        roots.extend(stick.clone());
        let disk = Disk::new(&roots);
        Self {
            rules,
            chance,
            disk,
            model: Model::default(),
            processes: Vec::new(),
            current: 0,
            is_busy: false,
            has_lost_power: false,
            boot: 1,
            steps: 0,
            trace: 0,
            failure: None,
            home,
            stick,
            counts: BTreeMap::new(),
            planned: VecDeque::new(),
            other: None,
            moving: 0,
            texts: 0,
            pids: 100,
            pid_of: Vec::new(),
            leaps_ns: Vec::new(),
            clock_ns: 1_790_000_000_000_000_000,
            clock_wrong_by_hours: 0,
            moment_ns: 0,
            events: VecDeque::new(),
            lists_calls: std::env::var_os("MEMORANDA_SIMULATE_CALLS").is_some(),
        }
    }

    /// Notes what happened, for the trace and for the story of a failure. Messages name the folder of
    /// the machine, which differs in every run.
    pub(super) fn note(&mut self, event: String) {
        let machine = self.home.parent().unwrap().to_string_lossy();
        let event = event.replace(&*machine, "");
        for byte in event.bytes() {
            self.trace = (self.trace ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
        if self.events.len() == SHOWN_EVENTS && !self.lists_calls {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    /// Adds to the story of a failure what is of interest only to those who ask for every call. It has
    /// no part in the trace.
    fn list_call(&mut self, describe: impl FnOnce(&Self) -> String) {
        if !self.lists_calls {
            return;
        }
        let (ms, machine) =
            (self.clock_ns / 1_000_000, self.home.parent().unwrap().to_string_lossy());
        let event = describe(self).replace(&*machine, "");
        self.events.push_back(format!("    {ms} {}: {event}", self.current));
    }

    pub(super) fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    pub(super) fn fail(&mut self, reason: String) {
        self.failure.get_or_insert(reason);
    }

    pub(super) fn story(&self) -> String {
        self.events.iter().map(|event| format!("\n  {event}")).collect()
    }

    /// The time that a file system gives to a change.
    pub(super) fn file_time(&self) -> i64 {
        self.clock_ns - self.clock_ns.rem_euclid(TICK_NS)
    }

    /// Sets the clock.
    pub(super) fn set_clock(&mut self, by_hours: i64) {
        if by_hours > 0 {
            self.leaps_ns.push(self.clock_ns);
        }
        self.clock_ns += by_hours * 3_600_000_000_000;
    }

    /// Returns true if the clock was set forward within the minute after the last change of a file. The
    /// index cannot notice then that a power cut took bytes of the file and left its times.
    pub(super) fn is_before_leap(&self, file: &Path) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        let inode = fs::metadata(file).map(|metadata| metadata.ino());
        let node = inode.ok().and_then(|inode| self.disk.node(inode));
        node.is_some_and(|node| {
            let newest = node.mtime_ns.max(node.ctime_ns);
            self.leaps_ns.iter().any(|leap| (newest..newest + WRITE_BACK_NS).contains(leap))
        })
    }

    /// The time of day.
    pub(super) fn time_of_day_ns(&self) -> i64 {
        self.clock_ns
    }

    /// A text that nobody wrote before.
    pub(super) fn text(&mut self, who: &str) -> Vec<u8> {
        self.texts += 1;
        let mut text = format!("# {who}{} \n", self.texts);
        for line in 0..self.chance.below(8) {
            text +=
                &format!("- line {line} of {who}{}, which is long enough for pages\n", self.texts);
        }
        text.into_bytes()
    }

    /// Starts a process in a place of the table.
    pub(super) fn begin_process(&mut self, id: usize) {
        while self.processes.len() <= id {
            self.processes.push(ProcessState::Ended);
            self.pid_of.push(0);
        }
        self.pids += 1;
        self.pid_of[id] = self.pids;
        self.processes[id] = ProcessState::Alive;
    }

    fn tick(&mut self) {
        let ns = 50_000 + self.chance.below(1_000_000) as i64;
        self.clock_ns += ns;
        self.moment_ns += ns as u64;
    }

    /// Returns the planned event that is due at a call.
    fn planned_fault(&mut self, step: Step) -> Option<PlannedFault> {
        match &mut self.planned.front_mut()?.0 {
            PlannedCall::After(0) => {}
            PlannedCall::After(left) => {
                *left -= 1;
                return None;
            }
            PlannedCall::At(planned) if *planned == step => {}
            PlannedCall::At(_) | PlannedCall::Same => return None,
        }
        self.planned.pop_front().map(|(_, fault)| fault)
    }

    /// Lets a person save a file by renaming, as many editors do.
    pub(super) fn save(&mut self, file: &Path, text: &str) {
        let folder = file.parent().unwrap().to_owned();
        let swap = folder.join(".swap");
        fs::write(&swap, text).unwrap();
        fs::rename(&swap, file).unwrap();
        let now = self.file_time();
        self.disk.names_changed(&[folder], now);
    }

    /// Lets a person delete a file, if it is there.
    pub(super) fn delete(&mut self, file: &Path) {
        if fs::remove_file(file).is_ok() {
            self.count("planned deletions");
        }
        let now = self.file_time();
        self.disk.names_changed(&[file.parent().unwrap().to_owned()], now);
    }

    fn runnable(&self) -> Vec<usize> {
        let is_on = |id: &usize| self.processes[*id] != ProcessState::Ended;
        (0..self.processes.len()).filter(is_on).collect()
    }

    /// Gives the turn to any process that has not ended.
    pub(super) fn pass_turn(&mut self) {
        let runnable = self.runnable();
        if !runnable.is_empty() {
            self.current = runnable[self.chance.below(runnable.len())];
        }
    }

    /// Gives the turn to another process, if there is one.
    fn pass_turn_on(&mut self, id: usize) {
        let others: Vec<usize> = self.runnable().into_iter().filter(|other| *other != id).collect();
        if !others.is_empty() {
            self.current = others[self.chance.below(others.len())];
        }
    }

    /// The real folder of a project that people edit.
    fn folder_of(&self, project: &str) -> Option<PathBuf> {
        match project {
            "ext" => self.stick.clone().map(|stick| stick.join("notes")),
            project => Some(self.home.join(project)),
        }
    }

    pub(super) fn edited_projects(&self) -> Vec<&'static str> {
        if self.stick.is_some() { vec!["main", "ext"] } else { vec!["main"] }
    }

    /// Lets people and chance act between two calls.
    fn happen(&mut self) {
        let rules = self.rules;
        if self.chance.one_in(rules.edit) {
            self.person_acts();
        }
        if self.chance.one_in(rules.write_back) {
            self.disk.write_back(&mut self.chance);
        }
        // Without an identity of its runs, a machine goes by the clock, which may be set back or forth,
        // but not both between two writes.
        let can_set = rules.knows_boot || self.clock_wrong_by_hours == 0;
        if self.chance.one_in(rules.clock_jump) && can_set {
            // Devices go by each other's clocks as long as those are not a day apart.
            let wrong_by_hours = self.chance.below(24) as i64 - 12;
            let hours = wrong_by_hours - self.clock_wrong_by_hours;
            self.clock_wrong_by_hours = wrong_by_hours;
            self.set_clock(hours);
            self.note(format!("the clock is set by {hours} hours"));
        }
        if self.chance.one_in(rules.kill) {
            let runnable = self.runnable();
            let id = runnable[self.chance.below(runnable.len())];
            if self.processes[id] == ProcessState::Alive {
                self.processes[id] = ProcessState::Dead;
                self.count("deaths");
                self.note(format!("process {id} is killed"));
            }
        }
        if self.chance.one_in(rules.cut) && !self.has_lost_power {
            self.has_lost_power = true;
            self.count("power cuts");
            self.note("the power goes".into());
            for state in &mut self.processes {
                if *state == ProcessState::Alive {
                    *state = ProcessState::Dead;
                }
            }
        }
        if self.stick.is_some() && !self.has_lost_power {
            if self.disk.is_pulled(1) {
                if self.chance.one_in(100) {
                    self.put_stick_back();
                }
            } else if self.chance.one_in(rules.pull) {
                let seen = self.files_of("ext");
                let folder = self.stick.clone().unwrap().join("notes");
                let before = vec![("ext".to_owned(), self.disk.names_below(&folder))];
                self.disk.pull(1, &mut self.chance);
                self.count("pulled drives");
                self.note("the stick is pulled".into());
                let notes = self.stick.clone().unwrap().with_extension("away").join("notes");
                let image = files_below(&notes, "ext");
                self.list_files(&notes, "left");
                let now = vec![("ext".to_owned(), self.disk.names_below(&notes))];
                let went_back = renamed(&before, &now);
                let is_on_drive = |(project, _): &Key| project == "ext";
                self.model.lose_unforced(is_on_drive, &seen, &image, &went_back);
            }
        }
    }

    pub(super) fn put_stick_back(&mut self) {
        if self.stick.is_some() && self.disk.is_pulled(1) {
            self.disk.put_back(1);
            self.note("the stick is back".into());
        }
    }

    /// Lists the files below a folder, with those that are hidden.
    pub(super) fn list_files(&mut self, folder: &Path, when: &str) {
        let mut pending = vec![folder.to_owned()];
        while let Some(folder) = pending.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            let entries = entries.map(|entry| entry.unwrap().path());
            pending.extend(entries.filter(|path| path.is_dir()));
            self.list_call(|_| format!("{when} in {}: {}", folder.display(), names_in(&folder)));
        }
    }

    /// All visible files of a project.
    pub(super) fn files_of(&self, project: &str) -> BTreeMap<Key, Vec<u8>> {
        self.folder_of(project).map(|folder| files_below(&folder, project)).unwrap_or_default()
    }

    fn person_acts(&mut self) {
        let projects = self.edited_projects();
        let project = projects[self.chance.below(projects.len())];
        if project == "ext" && self.disk.is_pulled(1) {
            return;
        }
        let Some(folder) = self.folder_of(project).filter(|folder| folder.is_dir()) else { return };
        let name = NAMES[self.chance.below(NAMES.len())];
        let place = folder.join(name);
        let seen: Value = fs::read(&place).ok();
        let key = (project.to_owned(), name.to_owned());
        let now = self.file_time();
        let above: Vec<PathBuf> = place
            .ancestors()
            .skip(1)
            .take_while(|p| p.starts_with(&folder))
            .map(Path::to_owned)
            .collect();
        self.count("edits");
        match self.chance.below(8) {
            0 => {
                if seen.is_none() {
                    return;
                }
                fs::remove_file(&place).unwrap();
                self.disk.names_changed(&above, now);
                self.model.edit(&key, &seen, None, now);
                self.note(format!("a person deletes {project}/{name}"));
            }
            1 => {
                let other = NAMES[self.chance.below(NAMES.len())];
                let to = folder.join(other);
                if seen.is_none() || to.exists() {
                    return;
                }
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                fs::rename(&place, &to).unwrap();
                let mut all = above;
                all.extend(
                    to.ancestors()
                        .skip(1)
                        .take_while(|p| p.starts_with(&folder))
                        .map(Path::to_owned),
                );
                self.disk.names_changed(&all, now);
                self.model.edit(&key, &seen, None, now);
                self.model.edit(&(project.into(), other.into()), &None, seen, now);
                self.note(format!("a person moves {project}/{name} to {other}"));
            }
            2..=4 => {
                let text = self.text("p");
                fs::create_dir_all(place.parent().unwrap()).unwrap();
                fs::write(&place, &text).unwrap();
                self.disk.names_changed(&above, now);
                self.disk.written(&place, now);
                self.model.edit(&key, &seen, Some(text.clone()), now);
                self.note(format!("a person writes {project}/{name}: {}", show(&Some(text))));
            }
            _ => {
                let text = self.text("p");
                fs::create_dir_all(place.parent().unwrap()).unwrap();
                let swap = place.with_file_name(".swap");
                fs::write(&swap, &text).unwrap();
                fs::rename(&swap, &place).unwrap();
                self.disk.names_changed(&above, now);
                self.model.edit(&key, &seen, Some(text.clone()), now);
                self.note(format!("a person saves {project}/{name}: {}", show(&Some(text))));
            }
        }
    }
}

/// Names of the files of projects.
pub(super) type FileNames = Vec<(String, BTreeMap<NodeId, Vec<String>>)>;

/// Returns the files that have other names than before, each with one of them now and one before.
pub(super) fn renamed(before: &FileNames, now: &FileNames) -> Vec<(Key, Key)> {
    let mut pairs = Vec::new();
    for ((project, before), (_, now)) in before.iter().zip(now) {
        for (node, names) in now {
            let others = before.get(node).into_iter().flatten();
            for other in others {
                let key = |name: &String| (project.clone(), name.clone());
                let names = names.iter().filter(|name| *name != other);
                pairs.extend(names.map(|name| (key(name), key(other))));
            }
        }
    }
    pairs
}

/// All files below a folder that are not hidden.
pub(super) fn files_below(folder: &Path, project: &str) -> BTreeMap<Key, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(at) = pending.pop() {
        let Ok(entries) = fs::read_dir(&at) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.file_name().unwrap().to_string_lossy().starts_with('.') {
                continue;
            }
            if path.is_dir() {
                pending.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
                files.insert((project.to_owned(), name), fs::read(&path).unwrap());
            }
        }
    }
    files
}

/// The path of an open file or folder.
fn real(opened: &Path) -> String {
    fs::read_link(opened).unwrap_or_default().display().to_string()
}

/// The names in a folder, each with its inode and the beginning of its content.
fn names_in(folder: &Path) -> String {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        use std::os::unix::fs::MetadataExt as _;
        let entry = entry.unwrap();
        let (name, inode) =
            (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().ino());
        let content = fs::read(entry.path()).ok().map(|bytes| format!("={}", show(&Some(bytes))));
        names.push(format!("{name}#{inode}{}", content.unwrap_or_default()));
    }
    names.sort();
    names.join(" ")
}

/// The machine, shared by the threads of its processes.
pub(super) struct Machine {
    world: Mutex<World>,
    changed: Condvar,
}

impl Machine {
    pub(super) fn new(world: World) -> Arc<Self> {
        Arc::new(Self { world: Mutex::new(world), changed: Condvar::new() })
    }

    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Waits until it is a process's turn.
    pub(super) fn await_turn<'a>(
        &'a self,
        mut world: MutexGuard<'a, World>,
        id: usize,
    ) -> MutexGuard<'a, World> {
        if world.current != id {
            self.changed.notify_all();
        }
        while world.current != id {
            world = self.changed.wait(world).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        world
    }

    /// Ends a process and gives the turn to another.
    pub(super) fn end_process(&self, id: usize) {
        let mut world = self.world();
        world.processes[id] = ProcessState::Ended;
        world.pass_turn();
        self.changed.notify_all();
    }
}

/// One process on the machine.
pub(super) struct Process {
    pub(super) machine: Arc<Machine>,
    pub(super) id: usize,
}

impl Process {
    fn world(&self) -> MutexGuard<'_, World> {
        self.machine.world()
    }

    /// Ends the thread of a process that is dead; an error if it is ending already.
    fn check_alive(&self, world: &World) -> io::Result<bool> {
        match world.processes[self.id] {
            ProcessState::Alive => Ok(true),
            ProcessState::Dead if !std::thread::panicking() => Ok(false),
            ProcessState::Dead | ProcessState::Ended => {
                Err(io::Error::other("the process has ended"))
            }
        }
    }

    fn die(world: MutexGuard<'_, World>) -> ! {
        drop(world);
        std::panic::resume_unwind(Box::new(Killed))
    }

    fn path(file: BorrowedFd<'_>) -> PathBuf {
        format!("/proc/self/fd/{}", file.as_raw_fd()).into()
    }

    fn inode(file: BorrowedFd<'_>) -> u64 {
        use std::os::unix::fs::MetadataExt as _;
        fs::metadata(Self::path(file)).map(|metadata| metadata.ino()).unwrap_or_default()
    }
}

impl SimulatedMachine for Process {
    fn turn(&self, step: Step) -> io::Result<()> {
        let mut world = self.world();
        if !self.check_alive(&world)? {
            Self::die(world);
        }
        world.tick();
        world.list_call(|_| format!("call {}", step.name()));
        if !world.is_busy {
            let mut planned = world.planned_fault(step);
            while let Some(event) = planned {
                match event {
                    PlannedFault::Error => return Err(io::Error::from_raw_os_error(ERRORS[0])),
                    PlannedFault::Save(file, text) => world.save(&file, text),
                    PlannedFault::Delete(file) => world.delete(&file),
                    PlannedFault::Death => {
                        world.processes[self.id] = ProcessState::Dead;
                        Self::die(world);
                    }
                    PlannedFault::Other => {
                        if let Some(work) = world.other.take() {
                            drop(world);
                            work();
                            world = self.world();
                        }
                    }
                }
                planned = match world.planned.front() {
                    Some((PlannedCall::Same, _)) => {
                        world.planned.pop_front().map(|(_, event)| event)
                    }
                    _ => None,
                };
            }
            let is_missing = step == Step::Exchange && !world.rules.has_exchange;
            return if is_missing { Err(io::ErrorKind::Unsupported.into()) } else { Ok(()) };
        }
        world.count("calls");
        let note = format!("{} {}", self.id, step.name());
        for byte in note.bytes() {
            world.trace = (world.trace ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
        world.happen();
        let switch = world.rules.switch;
        if world.chance.one_in(switch) {
            world.pass_turn();
        }
        let mut world = self.machine.await_turn(world, self.id);
        if !self.check_alive(&world)? {
            Self::die(world);
        }
        if step == Step::Exchange && !world.rules.has_exchange {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let is_move = world.moving > 0 && step == Step::OpenFolder;
        let times = if is_move { world.moving } else { world.rules.error };
        if world.chance.one_in(times) {
            let error = ERRORS[world.chance.below(ERRORS.len())];
            world.count("failed calls");
            let event = format!("process {} gets error {error} at {}", self.id, step.name());
            world.note(event);
            return Err(io::Error::from_raw_os_error(error));
        }
        Ok(())
    }

    fn wait(&self) {
        let mut world = self.world();
        world.tick();
        if world.processes[self.id] == ProcessState::Alive {
            if world.is_busy {
                world.happen();
            }
            world.pass_turn_on(self.id);
            drop(self.machine.await_turn(world, self.id));
        }
    }

    fn reach(&self, file: BorrowedFd<'_>) -> io::Result<()> {
        let is_reachable = self.world().disk.is_reachable(Self::inode(file));
        if is_reachable { Ok(()) } else { Err(io::Error::from_raw_os_error(ERRORS[0])) }
    }

    fn written(&self, file: BorrowedFd<'_>) {
        let mut world = self.world();
        let now = world.file_time();
        let file = Self::path(file);
        world.list_call(|_| format!("{} is written", real(&file)));
        world.disk.written(&file, now);
    }

    fn dated(&self, file: BorrowedFd<'_>, since_1970: Duration) {
        self.world().disk.dated(&Self::path(file), since_1970.as_nanos() as i64);
    }

    fn names_changed(&self, folders: &[BorrowedFd<'_>]) {
        let mut world = self.world();
        let now = world.file_time();
        let folders: Vec<PathBuf> = folders.iter().map(|folder| Self::path(*folder)).collect();
        for folder in &folders {
            world.list_call(|_| format!("names in {} are {}", real(folder), names_in(folder)));
        }
        world.disk.names_changed(&folders, now);
    }

    fn forced(&self, file: BorrowedFd<'_>) {
        let mut world = self.world();
        let file = Self::path(file);
        world.list_call(|_| format!("{} is forced", real(&file)));
        world.disk.forced(&file);
    }

    fn names_forced(&self, folder: BorrowedFd<'_>) {
        let mut world = self.world();
        let folder = Self::path(folder);
        world.list_call(|_| format!("names in {} are forced", real(&folder)));
        world.disk.names_forced(&folder);
    }

    fn all_forced(&self, folder: BorrowedFd<'_>) {
        self.world().disk.all_forced(&Self::path(folder));
    }

    fn node(&self, inode: u64) -> Option<SimulatedNode> {
        self.world().disk.node(inode)
    }

    fn attachment(&self, folder: &Path) -> u64 {
        self.world().disk.attachment(folder)
    }

    fn now_ns(&self) -> i64 {
        self.world().clock_ns
    }

    fn moment(&self) -> Duration {
        Duration::from_nanos(self.world().moment_ns)
    }

    fn random_bits(&self) -> u64 {
        self.world().chance.bits()
    }

    fn process_id(&self) -> u32 {
        self.world().pid_of[self.id]
    }

    fn boot(&self) -> PretendedBoot {
        let world = self.world();
        if world.rules.knows_boot {
            PretendedBoot::Number(world.boot)
        } else {
            PretendedBoot::Unknown
        }
    }
}
