//! Context of a command: printer, settings, and access to the vault.

use std::cell::OnceCell;
use std::path::Path;
use std::time::Duration;

use memoranda_engine::core::change::{Author, ChangeChannel, UNNAMED_PERSON};
use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::path::NotePath;
use memoranda_engine::{
    DEFAULT_PROJECT, EngineError, Memory, NoteLocation, OpenOptions, ResolveIntent, ResolvedNote,
    ScanReport, SyncScope, name_in_project,
};

use crate::cli::GlobalArgs;
use crate::config::AppSettings;
use crate::env;
use crate::error::{CommandError, FailureKind, Result, quoted};
use crate::exit::Exit;
use crate::output::{OutputFormat, Printer, visible};
use crate::progress::ProgressBar;
use crate::time;
use crate::wrap::with_tilde;

/// State of one run of the program.
pub(crate) struct CommandContext {
    /// Printer for data and messages.
    pub(crate) printer: Printer,
    /// Global flags.
    pub(crate) args: GlobalArgs,
    settings: Result<AppSettings>,
    command: String,
    memory: OnceCell<Memory>,
}

/// A note or a folder named by the user.
pub(crate) enum NoteOrFolder {
    /// A note.
    Note(NoteLocation),
    /// A folder.
    Folder(NoteLocation),
}

impl CommandContext {
    /// Creates the context of a command.
    pub(crate) fn new(
        printer: Printer,
        args: GlobalArgs,
        settings: Result<AppSettings>,
        command: &str,
    ) -> Self {
        Self { printer, args, settings, command: command.to_owned(), memory: OnceCell::new() }
    }

    /// Returns the settings, or the error of an invalid configuration.
    pub(crate) fn settings(&self) -> Result<&AppSettings> {
        self.settings.as_ref().map_err(Clone::clone)
    }

    /// Returns true if the output is JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.printer.format == OutputFormat::Json
    }

    /// Returns the author of changes made by this command.
    pub(crate) fn author(&self) -> Author {
        Author::new(
            concat!("memoranda ", env!("CARGO_PKG_VERSION")),
            self.command.clone(),
            ChangeChannel::Cli,
        )
        .with_account(self.settings().ok().and_then(AppSettings::person_name))
    }

    /// Returns the name that people know an author by.
    pub(crate) fn author_name(&self, author: &Author) -> String {
        author.display_name(Some(&self.person_name()))
    }

    /// Returns the name of the person.
    pub(crate) fn person_name(&self) -> String {
        let name = self.settings().ok().and_then(AppSettings::person_name);
        name.unwrap_or_else(|| UNNAMED_PERSON.to_owned())
    }

    /// Writes a path for people, with `~` for the home folder. Programs get the whole path.
    pub(crate) fn shown_path(&self, path: &Path) -> String {
        match (self.printer.format, self.settings()) {
            // Without the variable, `~` would not say whose home folder it is.
            (OutputFormat::Pretty, Ok(settings)) if env::is_home_set() => {
                with_tilde(path, &settings.directories.user)
            }
            _ => path.display().to_string(),
        }
    }

    /// Shows the output that follows in the user's pager, if it is for a terminal.
    pub(crate) fn start_pager(&self) {
        if let (false, Ok(settings)) = (self.args.no_pager, self.settings()) {
            self.printer.start_pager(settings.pager());
        }
    }

    /// Opens the vault and creates it if it is missing.
    pub(crate) fn open_or_create(&self) -> Result<&Memory> {
        if let Some(memory) = self.memory.get() {
            return Ok(memory);
        }
        let memory = self.open_memory()?;
        Ok(self.memory.get_or_init(|| memory))
    }

    /// Opens an owned handle of the vault and creates the vault if it is missing.
    pub(crate) fn open_memory(&self) -> Result<Memory> {
        let settings = self.settings()?;
        if !env::is_home_set() && settings.is_default_home() && !self.has_vault()? {
            self.printer.warn(format!(
                "HOME is not set; the vault is made in the home folder of this account: {}",
                settings.home().display()
            ));
        }
        let memory = Memory::open(OpenOptions {
            home: settings.home(),
            cache: settings.directories.cache.clone(),
            state: settings.directories.state.clone(),
            file_sync: Duration::from_secs(settings.file_sync_seconds()),
            lock_patience: Duration::from_secs(settings.lock_wait_seconds()),
        })?
        .with_zone(crate::time::zone)
        .with_default_project(settings.default_project())
        .with_person(settings.person_name());
        Ok(match settings.search_model() {
            Some(model) => memory.with_model(model),
            None => memory,
        })
    }

    /// Opens the vault; fails if it does not exist.
    pub(crate) fn open_existing(&self) -> Result<&Memory> {
        if !self.has_vault()? {
            let home = self.settings()?.home();
            let shown = self.shown_path(&home);
            return Err(CommandError::configuration(format!("there is no vault at {shown}"))
                .hint("`memoranda init` makes it; `--home DIR` names another"));
        }
        self.open_or_create()
    }

    /// Returns true if the vault exists.
    pub(crate) fn has_vault(&self) -> Result<bool> {
        Ok(self.settings()?.home().join(".memoranda").is_dir())
    }

    /// Opens a temporary empty vault for a dry run without a vault.
    pub(crate) fn open_scratch(&self) -> Result<(Memory, tempfile::TempDir)> {
        let folder = crate::files::private_folder("memoranda-dry-run-");
        let folder = folder.map_err(|e| CommandError::io("make a folder for the dry run", &e))?;
        let memory = Memory::open(OpenOptions::in_folder(folder.path()))?;
        Ok((memory, folder))
    }

    /// Opens the vault after scanning all files for edits.
    pub(crate) fn open_synced(&self) -> Result<&Memory> {
        self.sync_first(self.open_existing()?, &SyncScope::Everything)
    }

    /// Opens the vault after scanning all files for edits, for a copy of everything: what could not be
    /// read may be missing in it.
    pub(crate) fn open_synced_for_copy(&self) -> Result<&Memory> {
        let memory = self.open_existing()?;
        let report = self.scan_first(memory, &SyncScope::Everything)?;
        for (project, place, reason) in report.iter().flat_map(|report| &report.unreadable) {
            let place =
                if place.is_empty() { project.to_string() } else { format!("{project}/{place}") };
            self.printer.warn(format!(
                "{place} cannot be read, and recent edits there may be missing: {reason}"
            ));
        }
        Ok(memory)
    }

    /// Opens or creates the vault after scanning the files of a scope.
    pub(crate) fn open_synced_for(&self, concern: &SyncScope) -> Result<&Memory> {
        self.sync_first(self.open_or_create()?, concern)
    }

    fn sync_first<'a>(&self, memory: &'a Memory, concern: &SyncScope) -> Result<&'a Memory> {
        self.scan_first(memory, concern)?;
        Ok(memory)
    }

    /// Scans the files of a scope; `None` if that was not needed, or not possible.
    fn scan_first(&self, memory: &Memory, concern: &SyncScope) -> Result<Option<ScanReport>> {
        if self.args.no_scan {
            return Ok(None);
        }
        let mut progress = ProgressBar::new(&self.printer);
        let report = memory.catch_up(concern, &mut |step| progress.update(step));
        drop(progress);
        let report = match report {
            // Indexed content can still be read.
            Err(EngineError::Store(e)) if e.is_unwritable() || e.is_busy() => {
                self.printer.warn(format!(
                    "the files were not scanned, so recent edits by hand may be missing: {e}"
                ));
                return Ok(None);
            }
            report => report?,
        };
        self.warn_unreachable(report.as_ref());
        Ok(report)
    }

    /// Scans a new project, even if another process watches the vault: that process may not have
    /// scanned the project yet.
    pub(crate) fn sync_project(&self, memory: &Memory, project: &ProjectName) -> Result<()> {
        if self.args.no_scan {
            return Ok(());
        }
        if !memory.is_watched() {
            return self.sync_first(memory, &SyncScope::Everything).map(drop);
        }
        let mut progress = ProgressBar::new(&self.printer);
        let report = memory.sync_project(project, &mut |step| progress.update(step))?;
        drop(progress);
        self.warn_unreachable(Some(&report));
        Ok(())
    }

    /// Warns about folders and files that a scan could not read.
    fn warn_unreachable(&self, report: Option<&ScanReport>) {
        for (project, reason) in report.iter().flat_map(|report| &report.unavailable) {
            self.printer.warn(format!(
                "the folder of project {project} cannot be reached: {reason}; what is known of it stays"
            ));
        }
        for (project, place, reason) in report.iter().flat_map(|report| &report.unreadable) {
            self.printer.detail(format!("{project}/{place} cannot be read: {reason}"));
        }
    }

    /// Returns the project for new notes. A requested project must exist, so that a typing error
    /// creates no project.
    pub(crate) fn project_for_new_notes(&self, memory: &Memory) -> Result<ProjectName> {
        let settings = self.settings()?;
        match &settings.project {
            Some(name) if name != DEFAULT_PROJECT && name != settings.default_project() => {
                Ok(memory.project(name)?.name)
            }
            Some(name) => Ok(parse_project(name)?),
            None => Ok(parse_project(settings.default_project())?),
        }
    }

    /// Returns the requested project; `None` if none was requested.
    pub(crate) fn requested_project(&self, memory: &Memory) -> Result<Option<ProjectName>> {
        let asked = self.settings()?.project.as_ref();
        asked.map(|name| Ok(memory.project(name)?.name)).transpose()
    }

    /// Resolves a note in the requested project, or first in the default project.
    pub(crate) fn resolve_note(
        &self,
        memory: &Memory,
        name: &str,
        intent: ResolveIntent,
    ) -> Result<ResolvedNote> {
        match self.resolve_present_note(memory, name, intent) {
            Err(error) if error.kind == FailureKind::Exit(Exit::NotFound) => {
                Err(self.deleted_note_error(memory, name)?.unwrap_or(error))
            }
            found => found,
        }
    }

    /// Returns the error for a note that was deleted; `None` if no note ever had this name.
    pub(crate) fn deleted_note_error(
        &self,
        memory: &Memory,
        name: &str,
    ) -> Result<Option<CommandError>> {
        let (project, name) = self.strip_project_prefix(name)?;
        let Ok(place) = memory.place_in_history(project, &name, ResolveIntent::Read) else {
            return Ok(None);
        };
        let last = memory.revisions(&place, 1)?.into_iter().next();
        let Some(last) = last.filter(|last| last.change.after.is_none()) else { return Ok(None) };
        let when = time::ago(last.commit.time, &time::now());
        let who = visible(&self.author_name(&last.commit.author)).into_owned();
        let quoted = quoted(&place.to_string());
        Ok(Some(
            CommandError::new(Exit::NotFound, format!("{place} was deleted {when} by {who}"))
                .hint(format!("`memoranda restore {quoted}` brings it back"))
                .hint(format!("`memoranda log {quoted}` lists its versions")),
        ))
    }

    fn resolve_present_note(
        &self,
        memory: &Memory,
        name: &str,
        intent: ResolveIntent,
    ) -> Result<ResolvedNote> {
        // Ignored files are hidden from agents only.
        let resolve =
            |project: Option<&str>, name: &str| match memory.resolve(project, name, intent) {
                Err(EngineError::Ignored { place, .. }) => {
                    Ok(ResolvedNote { place, file: None, other: None })
                }
                found => found,
            };
        let settings = self.settings()?;
        if let Some(project) = &settings.project {
            return match resolve(Some(project), name) {
                // Output names a note as `work/plan.md`; this also works with `-p work`.
                Err(EngineError::NotFound { identifier, scope, suggestions }) => {
                    let within =
                        name.strip_prefix(project.as_str()).and_then(|n| n.strip_prefix('/'));
                    let found = within.map(|within| resolve(Some(project), within));
                    found.and_then(Result::ok).ok_or_else(|| {
                        EngineError::NotFound { identifier, scope, suggestions }.into()
                    })
                }
                other => Ok(other?),
            };
        }
        Ok(resolve(None, name)?)
    }

    /// Returns the requested project and the name without its `project/` prefix.
    pub(crate) fn strip_project_prefix(&self, name: &str) -> Result<(Option<&str>, String)> {
        let project = self.settings()?.project.as_deref();
        let within = project.and_then(|project| name_in_project(project, name));
        Ok((project, within.unwrap_or(name).to_owned()))
    }

    /// Resolves a note or a folder. A trailing slash requests a folder.
    pub(crate) fn resolve_note_or_folder(
        &self,
        memory: &Memory,
        name: &str,
        intent: ResolveIntent,
    ) -> Result<NoteOrFolder> {
        let missing = match name.strip_suffix('/') {
            None => match self.resolve_note(memory, name, intent) {
                Ok(found) => return Ok(NoteOrFolder::Note(found.place)),
                Err(e) => e,
            },
            Some(_) => CommandError::new(
                crate::exit::Exit::NotFound,
                format!("there is no folder {name:?} in any project"),
            )
            .hint("`memoranda list` lists the notes and their folders"),
        };
        match self.find_folder(memory, name.trim_end_matches('/'))? {
            Some(place) => Ok(NoteOrFolder::Folder(place)),
            None => Err(missing),
        }
    }

    /// Finds a non-empty folder by name.
    fn find_folder(&self, memory: &Memory, name: &str) -> Result<Option<NoteLocation>> {
        for (project, path) in self.candidate_locations(memory, name)? {
            let Ok(path) = NotePath::parse(&path) else { continue };
            let path = memory.folder_at(&project, &path)?.unwrap_or(path);
            let below = memory.snapshot()?.below(&project, &path)?;
            if !below.folders.is_empty() || !below.files.is_empty() {
                return Ok(Some(NoteLocation { project, path }));
            }
        }
        Ok(None)
    }

    /// Returns the possible locations of a path, the most likely first.
    pub(crate) fn candidate_locations(
        &self,
        memory: &Memory,
        name: &str,
    ) -> Result<Vec<(ProjectName, String)>> {
        let settings = self.settings()?;
        let mut places = Vec::new();
        let asked = settings.project.as_deref();
        let first = asked.unwrap_or(settings.default_project());
        match memory.project(first) {
            Ok(project) => places.push((project.name, name.to_owned())),
            Err(e) if asked.is_some() => return Err(e.into()),
            Err(_) => {}
        }
        if let Some((project, rest)) = name.split_once('/')
            && asked.is_none_or(|asked| asked == project)
            && let Ok(project) = memory.project(project)
        {
            places.push((project.name, rest.to_owned()));
        }
        Ok(places)
    }

    /// Asks for confirmation. `--yes` confirms; without a terminal the command fails.
    pub(crate) fn confirm(&self, question: &str) -> Result<()> {
        if self.args.yes {
            return Ok(());
        }
        if self.args.no_input || !self.printer.can_ask() {
            return Err(CommandError::usage(format!("not done without a yes: {question}"))
                .hint("`--yes` answers it"));
        }
        if self.printer.ask(question)? {
            return Ok(());
        }
        Err(CommandError::new(crate::exit::Exit::NotFound, "nothing was done")
            .hint("`--yes` answers the question"))
    }

    /// Prints a hint about the next command in the format for people.
    pub(crate) fn hint_after(&self, hint: &str) {
        if self.printer.format == OutputFormat::Pretty {
            self.printer.hint(hint);
        }
    }

    /// Prints a hint that names the undo command of a commit.
    pub(crate) fn hint_undo(&self, commit: &str) {
        self.hint_after(&format!("`memoranda undo {}` undoes this", quoted(commit)));
    }
}

fn parse_project(name: &str) -> Result<ProjectName> {
    ProjectName::parse(name).map_err(|e| EngineError::from(e).into())
}
