//! Drives that forget what was not forced.
//!
//! The calls themselves are made on a real folder in memory. Here is what a disk would know of them:
//! for each file the bytes that were forced, for each folder the names that were forced, and the
//! changes of names that were not, in order. A power cut keeps the forced state and whatever chance
//! adds to it: for each folder the first so many changes of its names, for each file any mixture of old
//! and new pages, zeros where nothing was written yet.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use memoranda_store::faults::SimulatedNode;

use super::chance::Chance;

/// Bytes of a page: small, so that short notes have several.
const PAGE: usize = 64;

pub(super) type NodeId = u64;
type Names = BTreeMap<String, NodeId>;

#[derive(Clone)]
enum NodeContent {
    File { forced: Vec<u8>, now: Vec<u8> },
    Folder { forced: Names, now: Names, forced_ns: i64 },
}

#[derive(Clone)]
struct Node {
    drive: usize,
    content: NodeContent,
    links: usize,
    mtime_ns: i64,
    ctime_ns: i64,
    /// Event in which the bytes were written.
    written: DiskEvent,
    /// Event of the last change of the name that has reached the disk.
    named: DiskEvent,
}

/// A change of a file. Clocks can be set back, so that its number tells the order.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct DiskEvent {
    number: u64,
    at_ns: i64,
}

/// A name that changed: folder, name, and what has the name since.
type ChangedName = (NodeId, String, Option<NodeId>);

/// Names that changed in one step.
struct NameChange {
    names: Vec<ChangedName>,
    /// The folders have this time since.
    event: DiskEvent,
}

struct Drive {
    root: PathBuf,
    node: NodeId,
    device: u64,
    is_pulled: bool,
    /// Number of times that the drive was attached.
    attachment: u64,
    unforced: Vec<NameChange>,
}

fn empty_folder(now_ns: i64) -> NodeContent {
    NodeContent::Folder { forced: Names::new(), now: Names::new(), forced_ns: now_ns }
}

/// The drives of a machine.
pub(super) struct Disk {
    nodes: BTreeMap<NodeId, Node>,
    by_inode: HashMap<u64, NodeId>,
    /// Real inodes that a power cut or a pulled drive made useless, with their drive.
    stale: HashMap<u64, usize>,
    drives: Vec<Drive>,
    next_node: NodeId,
    next_device: u64,
    events: u64,
}

impl Disk {
    /// Makes drives of empty folders.
    pub(super) fn new(roots: &[PathBuf]) -> Self {
        let mut disk = Self {
            nodes: BTreeMap::new(),
            by_inode: HashMap::new(),
            stale: HashMap::new(),
            drives: Vec::new(),
            next_node: 100,
            next_device: 10,
            events: 0,
        };
        for (drive, root) in roots.iter().enumerate() {
            fs::create_dir_all(root).unwrap();
            let content = empty_folder(0);
            let node = disk.add_node(drive, content, 0);
            disk.by_inode.insert(fs::metadata(root).unwrap().ino(), node);
            let (root, device) = (root.clone(), disk.next_device());
            let (is_pulled, attachment, unforced) = (false, 0, Vec::new());
            disk.drives.push(Drive { root, node, device, is_pulled, attachment, unforced });
        }
        disk
    }

    fn next_event(&mut self, at_ns: i64) -> DiskEvent {
        self.events += 1;
        DiskEvent { number: self.events, at_ns }
    }

    fn next_device(&mut self) -> u64 {
        self.next_device += 1;
        self.next_device
    }

    fn add_node(&mut self, drive: usize, content: NodeContent, now_ns: i64) -> NodeId {
        self.next_node += 1;
        let (mtime_ns, ctime_ns, written) = (now_ns, now_ns, self.next_event(now_ns));
        let named = DiskEvent::default();
        let node = Node { drive, content, links: 0, mtime_ns, ctime_ns, written, named };
        self.nodes.insert(self.next_node, node);
        self.next_node
    }

    pub(super) fn node(&self, inode: u64) -> Option<SimulatedNode> {
        let inode = *self.by_inode.get(&inode)?;
        let node = self.nodes.get(&inode)?;
        let device = self.drives[node.drive].device;
        Some(SimulatedNode { device, inode, mtime_ns: node.mtime_ns, ctime_ns: node.ctime_ns })
    }

    /// Returns false if the drive of a real file or folder was pulled since it was opened.
    pub(super) fn is_reachable(&self, inode: u64) -> bool {
        match self.by_inode.get(&inode).and_then(|node| self.nodes.get(node)) {
            Some(node) => !self.drives[node.drive].is_pulled,
            None => !self.stale.get(&inode).is_some_and(|drive| self.drives[*drive].is_pulled),
        }
    }

    pub(super) fn is_pulled(&self, drive: usize) -> bool {
        self.drives[drive].is_pulled
    }

    /// Returns how often the drive of a folder was put back.
    pub(super) fn attachment(&self, folder: &Path) -> u64 {
        let drive = self.drives.iter().find(|drive| folder.starts_with(&drive.root));
        drive.map_or(0, |drive| drive.attachment)
    }

    /// Records that names may have changed in these folders, given by their real paths.
    pub(super) fn names_changed(&mut self, folders: &[PathBuf], now_ns: i64) {
        let mut change = Vec::new();
        let mut seen = BTreeSet::new();
        let mut drive = None;
        // What left one folder may have come to another, so links are counted at the end.
        let mut listed = Vec::new();
        for path in folders {
            let Ok(metadata) = fs::metadata(path) else { continue };
            let Some(&folder) = self.by_inode.get(&metadata.ino()) else { continue };
            if !seen.insert(folder) {
                continue;
            }
            drive = Some(self.nodes[&folder].drive);
            listed.push((folder, path.clone()));
        }
        let Some(drive) = drive else { return };
        for (folder, path) in &listed {
            let before = self.names(*folder).clone();
            let mut now = Names::new();
            let mut entries: Vec<_> = fs::read_dir(path).unwrap().map(|e| e.unwrap()).collect();
            entries.sort_by_key(fs::DirEntry::file_name);
            for entry in entries {
                let name = entry.file_name().into_string().unwrap();
                let Ok(metadata) = entry.metadata() else { continue };
                let known = self.by_inode.get(&metadata.ino()).copied();
                // An inode without a name is gone; a new file can have its number.
                let known =
                    known.filter(|node| self.nodes.get(node).is_some_and(|known| known.links > 0));
                let node = match known {
                    Some(node) => node,
                    None => self.discover(drive, &entry.path(), &metadata, now_ns, &mut change),
                };
                now.insert(name, node);
            }
            let all: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
            let mut changed = Vec::new();
            for name in all {
                if before.get(name) != now.get(name) {
                    changed.push((*folder, name.clone(), now.get(name).copied()));
                }
            }
            if !changed.is_empty() {
                let node = self.nodes.get_mut(folder).unwrap();
                node.mtime_ns = now_ns;
                node.ctime_ns = now_ns;
            }
            change.extend(changed);
        }
        for (folder, name, after) in &change {
            if let Some(before) = self.names(*folder).get(name).copied() {
                self.link(before, -1, now_ns);
            }
            if let Some(after) = after {
                self.link(*after, 1, now_ns);
            }
            let names = self.names_mut(*folder);
            match after {
                Some(after) => names.insert(name.clone(), *after),
                None => names.remove(name),
            };
        }
        if !change.is_empty() {
            let event = self.next_event(now_ns);
            self.drives[drive].unforced.push(NameChange { names: change, event });
        }
    }

    fn link(&mut self, node: NodeId, by: isize, now_ns: i64) {
        if let Some(node) = self.nodes.get_mut(&node) {
            node.links = node.links.saturating_add_signed(by);
            node.ctime_ns = now_ns;
        }
    }

    fn names(&self, folder: NodeId) -> &Names {
        match &self.nodes[&folder].content {
            NodeContent::Folder { now, .. } => now,
            NodeContent::File { .. } => panic!("a file has no names"),
        }
    }

    fn names_mut(&mut self, folder: NodeId) -> &mut Names {
        match &mut self.nodes.get_mut(&folder).unwrap().content {
            NodeContent::Folder { now, .. } => now,
            NodeContent::File { .. } => panic!("a file has no names"),
        }
    }

    fn discover(
        &mut self,
        drive: usize,
        path: &Path,
        metadata: &fs::Metadata,
        now_ns: i64,
        change: &mut Vec<ChangedName>,
    ) -> NodeId {
        let content = if metadata.is_dir() {
            empty_folder(now_ns)
        } else {
            NodeContent::File { forced: Vec::new(), now: fs::read(path).unwrap_or_default() }
        };
        let node = self.add_node(drive, content, now_ns);
        self.by_inode.insert(metadata.ino(), node);
        if metadata.is_dir() {
            let mut entries: Vec<_> = fs::read_dir(path).unwrap().map(|e| e.unwrap()).collect();
            entries.sort_by_key(fs::DirEntry::file_name);
            for entry in entries {
                let name = entry.file_name().into_string().unwrap();
                let metadata = entry.metadata().unwrap();
                let child = self.discover(drive, &entry.path(), &metadata, now_ns, change);
                change.push((node, name, Some(child)));
            }
        }
        node
    }

    /// Records that a file has other bytes.
    pub(super) fn written(&mut self, path: &Path, now_ns: i64) {
        let Some(node) = self.file_at(path) else { return };
        let bytes = fs::read(path).unwrap_or_default();
        let event = self.next_event(now_ns);
        let node = self.nodes.get_mut(&node).unwrap();
        if let NodeContent::File { now, .. } = &mut node.content {
            *now = bytes;
            (node.mtime_ns, node.ctime_ns, node.written) = (now_ns, now_ns, event);
        }
    }

    pub(super) fn dated(&mut self, path: &Path, mtime_ns: i64) {
        if let Some(node) = self.file_at(path) {
            self.nodes.get_mut(&node).unwrap().mtime_ns = mtime_ns;
        }
    }

    /// Returns the files below a folder, each with its names from there.
    pub(super) fn names_below(&self, folder: &Path) -> BTreeMap<NodeId, Vec<String>> {
        let mut names: BTreeMap<NodeId, Vec<String>> = BTreeMap::new();
        let mut pending = vec![folder.to_owned()];
        while let Some(at) = pending.pop() {
            for entry in fs::read_dir(&at).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    pending.push(path);
                } else if let Some(node) = self.file_at(&path) {
                    let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
                    names.entry(node).or_default().push(name);
                }
            }
        }
        names
    }

    fn file_at(&self, path: &Path) -> Option<NodeId> {
        self.by_inode.get(&fs::metadata(path).ok()?.ino()).copied()
    }

    pub(super) fn forced(&mut self, path: &Path) {
        if let Some(node) = self.file_at(path) {
            self.force_node(node);
        }
    }

    fn force_node(&mut self, node: NodeId) {
        if let Some(NodeContent::File { forced, now }) =
            self.nodes.get_mut(&node).map(|node| &mut node.content)
        {
            forced.clone_from(now);
        }
    }

    pub(super) fn names_forced(&mut self, path: &Path) {
        if let Some(folder) = self.file_at(path) {
            self.force_names(folder, usize::MAX);
        }
    }

    /// Forces the first so many unforced changes of a folder, and whatever they depend on.
    fn force_names(&mut self, folder: NodeId, count: usize) {
        let drive = self.nodes[&folder].drive;
        let unforced = std::mem::take(&mut self.drives[drive].unforced);
        let touches =
            |change: &NameChange, folder| change.names.iter().any(|(of, ..)| *of == folder);
        let own = unforced.iter().enumerate().filter(|(_, change)| touches(change, folder));
        let Some((last, _)) = own.take(count).last() else {
            self.drives[drive].unforced = unforced;
            return;
        };
        // A change of two folders needs everything before it in both.
        let mut until: BTreeMap<NodeId, usize> = BTreeMap::from([(folder, last)]);
        for (n, change) in unforced.iter().enumerate().rev() {
            if change.names.iter().any(|(of, ..)| until.get(of).is_some_and(|until| n <= *until)) {
                for (of, ..) in &change.names {
                    let known = until.entry(*of).or_insert(n);
                    *known = n.max(*known);
                }
            }
        }
        let mut left = Vec::new();
        for (n, change) in unforced.into_iter().enumerate() {
            if change.names.iter().any(|(of, ..)| until.get(of).is_some_and(|until| n <= *until)) {
                self.apply_forced(change);
            } else {
                left.push(change);
            }
        }
        self.drives[drive].unforced = left;
    }

    fn apply_forced(&mut self, change: NameChange) {
        for (folder, name, after) in change.names {
            if let Some(node) = after.and_then(|after| self.nodes.get_mut(&after)) {
                node.named = change.event;
            }
            if let Some(NodeContent::Folder { forced, forced_ns, .. }) =
                self.nodes.get_mut(&folder).map(|node| &mut node.content)
            {
                *forced_ns = change.event.at_ns;
                match after {
                    Some(after) => forced.insert(name, after),
                    None => forced.remove(&name),
                };
            }
        }
    }

    /// Forces everything on the drive of a folder.
    pub(super) fn all_forced(&mut self, path: &Path) {
        if let Some(folder) = self.file_at(path) {
            self.force_drive(self.nodes[&folder].drive);
        }
    }

    pub(super) fn force_drive(&mut self, drive: usize) {
        for change in std::mem::take(&mut self.drives[drive].unforced) {
            self.apply_forced(change);
        }
        let own = self.nodes.iter().filter(|(_, node)| node.drive == drive);
        for node in own.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.force_node(node);
        }
    }

    /// Does what a kernel does on its own: some pages or names reach the disk early.
    pub(super) fn write_back(&mut self, chance: &mut Chance) {
        let drive = chance.below(self.drives.len());
        if chance.one_in(2) {
            let dirty = |(_, node): &(&NodeId, &Node)| {
                node.drive == drive
                    && matches!(&node.content, NodeContent::File { forced, now } if forced != now)
            };
            let dirty: Vec<NodeId> = self.nodes.iter().filter(dirty).map(|(id, _)| *id).collect();
            if dirty.is_empty() {
                return;
            }
            let node = dirty[chance.below(dirty.len())];
            if let NodeContent::File { forced, now } =
                &mut self.nodes.get_mut(&node).unwrap().content
            {
                *forced = mix(forced, now, chance);
            }
        } else {
            let folders: Vec<NodeId> = self.unforced_names(drive).map(|(of, ..)| *of).collect();
            if !folders.is_empty() {
                let folder = folders[chance.below(folders.len())];
                let count = chance.below(4) + 1;
                self.force_names(folder, count);
            }
        }
    }

    fn unforced_names(&self, drive: usize) -> impl Iterator<Item = &ChangedName> {
        self.drives[drive].unforced.iter().flat_map(|change| &change.names)
    }

    /// Takes the power away from a drive: what was not forced is as chance has it.
    pub(super) fn cut(&mut self, drive: usize, chance: &mut Chance) {
        let unforced = std::mem::take(&mut self.drives[drive].unforced);
        let likely = [0, 50, 90, 100][chance.below(4)];
        let mut stopped = BTreeSet::new();
        for change in unforced {
            let is_free = change.names.iter().all(|(of, ..)| !stopped.contains(of));
            if is_free && chance.below(100) < likely {
                self.apply_forced(change);
            } else {
                stopped.extend(change.names.iter().map(|(of, ..)| *of));
            }
        }
        let own = self.nodes.iter().filter(|(_, node)| node.drive == drive);
        for id in own.map(|(id, _)| *id).collect::<Vec<_>>() {
            let node = self.nodes.get_mut(&id).unwrap();
            node.links = 0;
            match &mut node.content {
                NodeContent::File { forced, now } => {
                    // Size and times of the file are those of the lost bytes.
                    let left = mix(forced, now, chance);
                    (*forced, *now) = (left.clone(), left);
                    // A lost change of a name has left no time, either.
                    node.ctime_ns = node.written.max(node.named).at_ns;
                }
                NodeContent::Folder { forced, now, forced_ns } => {
                    now.clone_from(forced);
                    (node.mtime_ns, node.ctime_ns) = (*forced_ns, *forced_ns);
                }
            }
        }
        self.rebuild(drive);
    }

    /// Takes the power away from a drive, and with it everything that was not forced.
    pub(super) fn forget_unforced(&mut self, drive: usize) {
        self.drives[drive].unforced.clear();
        for node in self.nodes.values_mut().filter(|node| node.drive == drive) {
            node.links = 0;
            match &mut node.content {
                NodeContent::File { forced, now } => {
                    now.clone_from(forced);
                    node.ctime_ns = node.written.max(node.named).at_ns;
                }
                NodeContent::Folder { forced, now, .. } => now.clone_from(forced),
            }
        }
        self.rebuild(drive);
    }

    /// Makes the real folder what the drive holds.
    fn rebuild(&mut self, drive: usize) {
        let (root, node) = (self.drives[drive].root.clone(), self.drives[drive].node);
        let gone = self.by_inode.iter().filter(|(_, id)| self.nodes[id].drive == drive);
        let gone: Vec<u64> = gone.filter(|(_, id)| **id != node).map(|(inode, _)| *inode).collect();
        for inode in gone {
            self.by_inode.remove(&inode);
            self.stale.insert(inode, drive);
        }
        for entry in fs::read_dir(&root).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        }
        let mut made = BTreeMap::from([(node, root.clone())]);
        self.rebuild_folder(&root, node, &mut made);
        self.nodes.retain(|id, node| node.drive != drive || made.contains_key(id));
    }

    fn rebuild_folder(
        &mut self,
        path: &Path,
        folder: NodeId,
        made: &mut BTreeMap<NodeId, PathBuf>,
    ) {
        for (name, id) in self.names(folder).clone() {
            let place = path.join(&name);
            self.nodes.get_mut(&id).unwrap().links += 1;
            match (&self.nodes[&id].content, made.get(&id)) {
                (NodeContent::File { .. }, Some(first)) => fs::hard_link(first, &place).unwrap(),
                (NodeContent::File { now, .. }, None) => fs::write(&place, now).unwrap(),
                // A moved folder with only one half of the move on disk.
                (NodeContent::Folder { .. }, Some(_)) => continue,
                (NodeContent::Folder { .. }, None) => fs::create_dir(&place).unwrap(),
            }
            self.by_inode.insert(fs::metadata(&place).unwrap().ino(), id);
            made.entry(id).or_insert_with(|| place.clone());
            if place.is_dir() {
                self.rebuild_folder(&place, id, made);
            }
        }
    }

    /// Pulls a drive: an empty folder is in its place.
    pub(super) fn pull(&mut self, drive: usize, chance: &mut Chance) {
        self.cut(drive, chance);
        let root = self.drives[drive].root.clone();
        fs::rename(&root, away(&root)).unwrap();
        fs::create_dir(&root).unwrap();
        self.drives[drive].is_pulled = true;
    }

    /// Puts a drive back.
    pub(super) fn put_back(&mut self, drive: usize) {
        let root = self.drives[drive].root.clone();
        fs::remove_dir_all(&root).unwrap();
        fs::rename(away(&root), &root).unwrap();
        self.drives[drive].is_pulled = false;
        self.drives[drive].attachment += 1;
    }
}

fn away(root: &Path) -> PathBuf {
    root.with_extension("away")
}

/// Returns what may be on disk of a file: pages of either state, zeros where nothing was written.
fn mix(forced: &[u8], now: &[u8], chance: &mut Chance) -> Vec<u8> {
    if forced == now {
        return now.to_vec();
    }
    match chance.below(4) {
        0 => forced.to_vec(),
        1 => now.to_vec(),
        _ => {
            let (low, high) = (forced.len().min(now.len()), forced.len().max(now.len()));
            let length = match chance.below(3) {
                0 => forced.len(),
                1 => now.len(),
                _ => low + chance.below(high - low + 1),
            };
            let mut mixed = vec![0; length];
            for (n, page) in mixed.chunks_mut(PAGE).enumerate() {
                let source = match chance.below(3) {
                    0 if n * PAGE >= forced.len() => &[][..],
                    0 => forced,
                    _ => now,
                };
                for (at, byte) in page.iter_mut().enumerate() {
                    *byte = source.get(n * PAGE + at).copied().unwrap_or(0);
                }
            }
            mixed
        }
    }
}
