//! A vault and a folder with the files of other systems.

use std::path::Path;

use memoranda_engine::core::change::ChangeChannel;
use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::path::NotePath;
use memoranda_engine::{Author, Memory, NoteLocation, OpenOptions, clock};
use memoranda_import::{
    DeletedPolicy, ImportInput, ImportMode, ImportOptions, ImportOutcome, ImportSummary,
    ImportTarget, detect_source, import_source,
};
use tempfile::TempDir;

pub(crate) struct ImportFixture {
    folder: TempDir,
    pub(crate) memory: Memory,
}

impl ImportFixture {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let memory = Memory::open(OpenOptions::in_folder(folder.path()));
        Self { folder, memory: memory.unwrap() }
    }

    /// Returns the folder outside the vault.
    pub(crate) fn outside(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file outside the vault.
    pub(crate) fn put(&self, name: &str, text: &str) {
        std::fs::write(self.outside().join(name), text).unwrap();
    }

    /// Imports a file, and checks how many notes were new, updated, unchanged, edited and deleted.
    #[track_caller]
    pub(crate) fn import(&self, name: &str, expected: [usize; 5]) -> ImportSummary {
        self.import_as(name, ImportMode::Write, DeletedPolicy::Stay, expected)
    }

    #[track_caller]
    pub(crate) fn import_as(
        &self,
        name: &str,
        mode: ImportMode,
        deleted: DeletedPolicy,
        expected: [usize; 5],
    ) -> ImportSummary {
        let input = ImportInput::open(&self.outside().join(name)).unwrap();
        let source = detect_source(&input).unwrap();
        let options = ImportOptions { source, mode, deleted, at: clock::now() };
        let target = ImportTarget::default();
        let report =
            import_source(&self.memory, &author(), &input, &target, options, &mut |_| {}).unwrap();
        let outcomes = [
            ImportOutcome::Created,
            ImportOutcome::Updated,
            ImportOutcome::Unchanged,
            ImportOutcome::Edited,
            ImportOutcome::Deleted,
        ];
        assert_eq!(outcomes.map(|outcome| report.count(outcome)), expected, "{report:?}");
        report
    }

    /// Reads a note without the time and the hash of its import; `None` if it does not exist.
    pub(crate) fn note(&self, place: &NoteLocation) -> Option<String> {
        let bytes = self.memory.read_file(place).unwrap()?.bytes;
        let text = String::from_utf8(bytes).unwrap();
        let is_kept =
            |line: &&str| !line.starts_with("imported_at") && !line.starts_with("imported_hash");
        Some(text.lines().filter(is_kept).map(|line| format!("{line}\n")).collect())
    }
}

pub(crate) fn author() -> Author {
    Author::new("test", "import", ChangeChannel::Import)
}

pub(crate) fn place(project: &str, path: &str) -> NoteLocation {
    NoteLocation::new(&ProjectName::parse(project).unwrap(), NotePath::parse(path).unwrap())
}
