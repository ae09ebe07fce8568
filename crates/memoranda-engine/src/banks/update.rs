//! Adding content to a bank: deciding where it belongs, writing it, and merging repetitions.

use memoranda_core::change::Commit;
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;

use super::bank::{DUMP_FILE, MemoryBank};
use super::cache::LoadedBank;
use super::deduplicate;
use super::diagnostics::{DiagnosticSeverity, record_diagnostic};
use super::error::{BankError, BankResult};
use super::insert::{self, TextOperation};
use super::outline::headings;
use super::placement::{self, DecisionSource, Placement, PlacementDecision, PlacementRequest};
use super::template;
use crate::{
    Author, EngineError, FileOperation, LanguageModel, Memory, NoteLocation, TransactOutcome,
};

/// Maximum number of sections of a file that a decision considers.
const MAX_SECTIONS: usize = 20;
/// Maximum length of the id of a conversation, in characters.
const MAX_CONVERSATION_CHARS: usize = 100;

/// Content to add to a bank.
#[derive(Clone, Debug, Default)]
pub struct ContentUpdate {
    /// The file; `None` to choose it.
    pub file: Option<String>,
    /// The operation; `None` to choose it.
    pub operation: Option<TextOperation>,
    /// The text.
    pub content: String,
    /// Heading for an insertion.
    pub position: Option<String>,
    /// The event that led to the update.
    pub trigger: Option<String>,
    /// Id of the conversation.
    pub conversation: Option<String>,
    /// Number of the update in the conversation.
    pub count: Option<u64>,
}

impl ContentUpdate {
    /// Returns the id of the conversation without control characters, cut if it is long.
    pub fn conversation_id(&self) -> Option<String> {
        let conversation = self.conversation.as_deref()?;
        let plain = conversation.chars().filter(|c| !c.is_control());
        Some(plain.take(MAX_CONVERSATION_CHARS).collect())
    }

    /// Returns the commit message: operation, file, decision and conversation.
    fn message(&self, bank: &MemoryBank, decision: &PlacementDecision) -> String {
        let Placement { file, operation, .. } = &decision.placement;
        let mut message = format!(
            "banks: {} {file} of {}, by {}",
            operation.as_str(),
            bank.key(),
            decision.source.as_str()
        );
        if let Some(trigger) = &self.trigger {
            message.push_str(&format!(", {trigger}"));
        }
        if self.count.is_some() || self.conversation.is_some() {
            let count = self.count.map_or(String::new(), |count| format!(" #{count}"));
            message.push_str(&format!(", update{count}"));
            if let Some(conversation) = self.conversation_id() {
                message.push_str(&format!(" for conversation {conversation}"));
            }
        }
        message
    }
}

/// Content that was added to a bank.
#[derive(Clone, Debug)]
pub struct UpdateReport {
    /// The placement, and who decided it.
    pub decision: PlacementDecision,
    /// The file.
    pub place: NoteLocation,
    /// Permalink of the file; `None` if the file is not indexed yet.
    pub permalink: Option<String>,
    /// The commit; `None` if the file contained the content already.
    pub commit: Option<Commit>,
    /// True if the section was added.
    pub is_new_section: bool,
}

/// Decides where content belongs and writes it in one commit.
pub fn update_bank(
    memory: &Memory,
    who: &Author,
    project: &ProjectName,
    model: Option<&dyn LanguageModel>,
    (bank, loaded): (&MemoryBank, Option<&LoadedBank>),
    update: &ContentUpdate,
) -> BankResult<UpdateReport> {
    let content = update.content.as_str();
    let decision = decide(model, bank, loaded, update)?;
    if let Some(reason) = &decision.fallback {
        let description =
            format!("LLM processing failed, using fallback rule-based processing ({reason})");
        // The update itself does not depend on the record of the problem.
        record_diagnostic(memory, &bank.key(), DiagnosticSeverity::Warning, &description).ok();
    }
    let placement = &decision.placement;
    let place = bank
        .place(project, &placement.file)
        .ok_or_else(|| BankError::NotABankFile(placement.file.clone()))?;
    let message = update.message(bank, &decision);
    let mut is_new_section = false;
    let outcome = memory.transact(who, Some(&message), |desk| {
        let stored = desk.text(&place)?.map(|(text, _)| text);
        // The first content of a file is added to its template.
        let completed = template::completed(bank.kind, &placement.file, stored.as_deref());
        let old = completed.or(stored).unwrap_or_default();
        let is_callers = decision.source == DecisionSource::Caller;
        if !is_callers && insert::contains_block(&old, content) {
            return Ok(Vec::new());
        }
        let text = match (placement.operation, &placement.section) {
            (TextOperation::Replace, _) => insert::replaced(content),
            (TextOperation::Insert, Some(section)) => {
                // A caller's placement is carried out exactly; other placements drop placeholders.
                let sentence = (!is_callers)
                    .then(|| template::placeholder(bank.kind, &placement.file, section))
                    .flatten();
                let inserted = insert::inserted(&old, section, content, sentence);
                is_new_section = inserted.is_new_section;
                inserted.text
            }
            (TextOperation::Append | TextOperation::Insert, _) => insert::appended(&old, content),
        };
        Ok::<_, EngineError>(vec![FileOperation::put(place.clone(), text)])
    })?;
    let commit = match outcome {
        TransactOutcome::Committed(commit) => Some(commit),
        TransactOutcome::Unchanged => None,
        TransactOutcome::Conflict(_) => return Err(BankError::Conflict),
    };
    let names = memory.title_and_permalink(&place).ok().flatten();
    let permalink = names.map(|(_, permalink)| permalink);
    Ok(UpdateReport { decision, place, permalink, commit, is_new_section })
}

fn decide(
    model: Option<&dyn LanguageModel>,
    bank: &MemoryBank,
    loaded: Option<&LoadedBank>,
    update: &ContentUpdate,
) -> BankResult<PlacementDecision> {
    let files = files_with_sections(bank, loaded);
    let named = update.file.as_deref().map(|file| named_file(file, &files)).transpose()?;
    if let Some(file) = named {
        // Without an operation, a position implies an insertion.
        let operation = update.operation.unwrap_or(match update.position {
            Some(_) => TextOperation::Insert,
            None => TextOperation::Append,
        });
        let section = update.position.as_deref().map(insert::section_title);
        let section = section.filter(|_| operation == TextOperation::Insert);
        let placement =
            Placement { file, section, operation, category: String::new(), confidence: 1.0 };
        return Ok(PlacementDecision { placement, source: DecisionSource::Caller, fallback: None });
    }
    if update.operation == Some(TextOperation::Replace) {
        return Err(BankError::ReplaceWithoutFile);
    }
    let mut decision = placement::decide(
        model,
        &PlacementRequest {
            kind: bank.kind,
            files: &files,
            content: &update.content,
            trigger: update.trigger.as_deref(),
        },
    );
    let placement = &mut decision.placement;
    match (update.operation, &update.position) {
        (Some(TextOperation::Append), _) => {
            (placement.operation, placement.section) = (TextOperation::Append, None);
        }
        (_, Some(position)) => {
            placement.operation = TextOperation::Insert;
            placement.section = Some(insert::section_title(position));
        }
        _ => {}
    }
    Ok(decision)
}

/// Returns the files of a bank and of its template with their sections.
fn files_with_sections(
    bank: &MemoryBank,
    loaded: Option<&LoadedBank>,
) -> Vec<(String, Vec<String>)> {
    let mut files: Vec<(String, Vec<String>)> = Vec::new();
    for file in loaded.iter().flat_map(|loaded| &loaded.files) {
        let sections = headings(&file.text).into_iter().filter(|heading| heading.level == 2);
        let sections = sections.map(|heading| heading.title).take(MAX_SECTIONS).collect();
        files.push((bank.name_of(&file.path).to_owned(), sections));
    }
    for file in template::files(bank.kind) {
        if !files.iter().any(|(name, _)| name == file.path) {
            let sections = file.sections.iter().map(|(name, _)| (*name).to_owned()).collect();
            files.push((file.path.to_owned(), sections));
        }
    }
    files
}

/// Returns the name of a file within the bank. The extension can be left out.
fn named_file(name: &str, files: &[(String, Vec<String>)]) -> BankResult<String> {
    let name = name.trim();
    let invalid = || BankError::NotABankFile(name.to_owned());
    let path = NotePath::parse(name.strip_prefix("./").unwrap_or(name)).map_err(|_| invalid())?;
    if path.is_hidden() || path.file_name() == DUMP_FILE {
        return Err(invalid());
    }
    let path = path.as_str().to_owned();
    let with_extension = format!("{path}.md");
    let is_known = |wanted: &str| files.iter().any(|(name, _)| name == wanted);
    Ok(if !is_known(&path) && is_known(&with_extension) { with_extension } else { path })
}

/// Merges repetitions in the files of a bank in one commit; `None` if there are none.
pub fn deduplicate_bank(
    memory: &Memory,
    who: &Author,
    project: &ProjectName,
    bank: &MemoryBank,
    loaded: &LoadedBank,
) -> BankResult<Option<Commit>> {
    let places: Vec<NoteLocation> = loaded
        .files
        .iter()
        .filter(|file| file.path.as_str().ends_with(".md"))
        .map(|file| NoteLocation::new(project, file.path.clone()))
        .collect();
    let message = format!("banks: merge repetitions in {}", bank.key());
    let outcome = memory.transact(who, Some(&message), |desk| {
        let mut steps = Vec::new();
        for place in &places {
            let Some((text, _)) = desk.text(place)? else { continue };
            let name = bank.name_of(&place.path);
            if let Some(text) = deduplicate::deduplicated_text(bank.kind, name, &text) {
                steps.push(FileOperation::put(place.clone(), text));
            }
        }
        Ok::<_, EngineError>(steps)
    })?;
    Ok(match outcome {
        TransactOutcome::Committed(commit) => Some(commit),
        TransactOutcome::Unchanged | TransactOutcome::Conflict(_) => None,
    })
}

/// Returns the names and texts of the files, those of the template first in its order.
pub fn ordered_files<'l>(bank: &MemoryBank, loaded: &'l LoadedBank) -> Vec<(&'l str, &'l str)> {
    let template = template::files(bank.kind);
    let mut files: Vec<(usize, &str, &str)> = loaded
        .files
        .iter()
        .map(|file| {
            let name = bank.name_of(&file.path);
            let position = template.iter().position(|file| file.path == name);
            (position.unwrap_or(usize::MAX), name, &*file.text)
        })
        .collect();
    files.sort_by_key(|(position, name, _)| (*position, *name));
    files.into_iter().map(|(_, name, text)| (name, text)).collect()
}
