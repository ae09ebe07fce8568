//! Results of `search_notes`: notes, facts and relations, each with its own address.

use jiff::Timestamp;
use memoranda_core::note::permalink::slug;
use memoranda_core::rank::RankSignal;
use memoranda_core::token_estimate::{estimate_tokens, truncate_to_tokens};
use memoranda_engine::{
    FileSummary, NoteLocation, ObservationRow, PackedNote, RelationRow, SearchResult, hash,
};
use serde_json::{Value, json};

use super::scope;
use crate::registry::{CallContext, ToolError, quote_lines};

/// Maximum length of the text of a fact in its address, in characters. A longer fact has a hash.
const ADDRESS_CHARS: usize = 200;
const HASH_CHARS: usize = 12;

/// Position of a match in its note, and its signals.
#[derive(Clone)]
pub(super) struct MatchDetails {
    /// Headings above the match.
    pub(super) heading: String,
    /// Lines of passages. A fact has its own line.
    pub(super) lines: Vec<(usize, usize)>,
    /// Relevance, 0 to 1.
    pub(super) relevance: f64,
    pub(super) why: Vec<RankSignal>,
}

/// Fields of a result in the structured answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum HitDetail {
    /// All fields.
    Full,
    /// Only what a reader needs, for an answer with a token budget.
    Essential,
}

/// One result of a search.
#[derive(Clone)]
pub(super) struct NoteHit {
    pub(super) kind: &'static str,
    pub(super) detail: HitDetail,
    /// File id of the note.
    pub(super) file: i64,
    pub(super) place: NoteLocation,
    /// Name of the space; `None` unless several are searched.
    pub(super) space: Option<String>,
    pub(super) title: String,
    pub(super) permalink: String,
    pub(super) created: Timestamp,
    pub(super) updated: Timestamp,
    pub(super) score: f64,
    /// Frontmatter of the note, as JSON.
    pub(super) metadata: String,
    /// Shown text.
    pub(super) content: String,
    pub(super) more: Value,
    /// Details of the match. `None` for a search without words.
    pub(super) by: Option<MatchDetails>,
}

impl MatchDetails {
    /// Returns the names of the signals that contributed.
    fn signals(&self) -> Vec<&'static str> {
        self.why.iter().map(|signal| signal.name()).collect()
    }

    /// Renders the lines: `[12, 14]`, or one such list per passage.
    fn lines_json(&self) -> Value {
        match self.lines.as_slice() {
            [only] => json!(only),
            several => json!(several),
        }
    }

    fn is_below_a_heading(&self, title: &str) -> bool {
        !self.heading.is_empty() && self.heading != title
    }
}

/// Rounds a relevance to two digits.
fn rounded(relevance: f64) -> f64 {
    (relevance * 100.0).round() / 100.0
}

/// Returns the category of a fact, by default `note`.
pub(super) fn category(fact: &ObservationRow) -> &str {
    fact.category.as_deref().unwrap_or("note")
}

/// Returns the address of a fact: note, category and text.
pub(super) fn fact_address(note: &str, category: &str, text: &str) -> String {
    let mut name = slug(text);
    if let Some((cut, _)) = name.char_indices().nth(ADDRESS_CHARS) {
        name.truncate(cut);
        let hash = hash(text.as_bytes()).to_string();
        name.push('-');
        name.push_str(hash.get(..HASH_CHARS).unwrap_or(&hash));
    }
    format!("{note}/observations/{}/{name}", slug(category))
}

/// Returns the address of a relation: source, type and target.
pub(super) fn relation_address(
    call: &CallContext<'_>,
    note: &str,
    link: &RelationRow,
) -> Result<(String, Option<String>), ToolError> {
    let to = scope::link_target(call, link)?.map(|file| file.permalink);
    let name = to.clone().unwrap_or_else(|| slug(&link.target));
    Ok((format!("{note}/{}/{name}", slug(&link.relation_type)), to))
}

/// Returns a stable id for an address.
fn address_id(project: &str, address: &str) -> u64 {
    let hash = hash(format!("{project}/{address}").as_bytes());
    // 48 bits: every JSON reader represents the number exactly.
    hash.0.iter().take(6).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

impl NoteHit {
    /// Creates a result from an entry of the index.
    pub(super) fn note(file: FileSummary) -> Self {
        Self {
            kind: "entity",
            detail: HitDetail::Full,
            file: file.id,
            more: json!({ "entity": file.permalink, "note_type": file.note_type }),
            place: NoteLocation { project: file.project, path: file.path },
            space: None,
            title: file.title,
            permalink: file.permalink,
            created: file.created,
            updated: file.updated,
            score: 1.0,
            metadata: file.metadata,
            // Filled in for shown results only.
            content: String::new(),
            by: None,
        }
    }

    /// Creates a result from a search result.
    pub(super) fn found(result: SearchResult) -> Self {
        Self {
            kind: "entity",
            detail: HitDetail::Full,
            file: result.file,
            more: json!({
                "entity": result.permalink,
                "note_type": result.note_type,
                "matched_chunk": result.snippet.text,
            }),
            by: Some(MatchDetails {
                heading: result.heading,
                lines: vec![result.lines],
                relevance: result.relevance,
                why: result.why,
            }),
            place: result.place,
            space: None,
            title: result.title,
            permalink: result.permalink,
            created: result.created,
            updated: result.updated,
            score: result.score,
            metadata: result.metadata,
            content: result.snippet.text,
        }
    }

    /// Creates a result from the whole passages of a note.
    pub(super) fn packed(note: PackedNote, detail: HitDetail) -> Self {
        Self {
            kind: "entity",
            detail,
            file: note.file,
            more: match detail {
                HitDetail::Full => {
                    let best = note.passages.iter().find(|passage| passage.lines == note.lines);
                    json!({
                        "entity": note.permalink,
                        "note_type": note.note_type,
                        "matched_chunk": best.map(|best| &best.text),
                    })
                }
                HitDetail::Essential => json!({}),
            },
            content: note.text(),
            by: Some(MatchDetails {
                lines: note.line_ranges(),
                heading: note.heading,
                relevance: note.relevance,
                why: note.why,
            }),
            place: note.place,
            space: None,
            title: note.title,
            permalink: note.permalink,
            created: note.created,
            updated: note.updated,
            score: note.score,
            metadata: note.metadata,
        }
    }

    /// Creates a result for a part of this note.
    fn part(&self, kind: &'static str, permalink: String, content: String, more: Value) -> Self {
        Self {
            kind,
            detail: self.detail,
            file: self.file,
            place: self.place.clone(),
            space: self.space.clone(),
            title: self.title.clone(),
            permalink,
            created: self.created,
            updated: self.updated,
            score: self.score,
            metadata: self.metadata.clone(),
            content,
            more,
            by: None,
        }
    }

    /// Creates a result for a fact of this note.
    pub(super) fn fact(&self, fact: &ObservationRow) -> Self {
        let category = category(fact);
        self.part(
            "observation",
            fact_address(&self.permalink, category, &fact.text),
            format!("[{category}] {}", fact.text),
            json!({
                "entity": self.permalink,
                "category": category,
                "observation_id": fact.id,
                "line": fact.line,
            }),
        )
    }

    /// Creates a result for a relation of this note.
    pub(super) fn relation(
        &self,
        call: &CallContext<'_>,
        link: &RelationRow,
    ) -> Result<Self, ToolError> {
        let (permalink, to) = relation_address(call, &self.permalink, link)?;
        let more = json!({
            "entity": self.permalink,
            "relation_id": address_id(self.place.project.as_str(), &permalink),
            "relation_type": link.relation_type,
            "from_entity": self.permalink,
            "to_entity": to,
        });
        let content = format!("{} {} [[{}]]", self.title, link.relation_type, link.target);
        Ok(self.part("relation", permalink, content, more))
    }

    /// Renders the structured result with the fields that a reader needs.
    fn essential_item(&self) -> Value {
        let mut item = json!({
            "title": self.title,
            "type": self.kind,
            "permalink": self.permalink,
            "project": self.place.project.as_str(),
            "file_path": self.place.path.as_str(),
            "content": self.content,
        });
        if let Some(space) = &self.space {
            item["space"] = json!(space);
        }
        if let Some(by) = &self.by {
            item["lines"] = by.lines_json();
            item["relevance"] = json!(rounded(by.relevance));
        }
        item
    }

    /// Renders the structured result.
    pub(super) fn item(&self) -> Value {
        if self.detail == HitDetail::Essential {
            return self.essential_item();
        }
        let project = self.place.project.as_str();
        let entity = self.more["entity"].as_str().unwrap_or(&self.permalink);
        let mut item = json!({
            "title": self.title,
            "type": self.kind,
            "score": (self.score * 1000.0).round() / 1000.0,
            "permalink": self.permalink,
            "external_id": format!("{project}/{}", self.permalink),
            "entity_id": address_id(project, entity),
            "project": project,
            "file_path": self.place.path.as_str(),
            "content": self.content,
            "updated_at": self.updated.to_string(),
        });
        item["metadata"] = serde_json::from_str(&self.metadata).unwrap_or_default();
        if let Some(space) = &self.space {
            item["space"] = json!(space);
        }
        if let (Value::Object(item), Value::Object(more)) = (&mut item, &self.more) {
            item.extend(more.clone());
        }
        if let Some(by) = &self.by {
            if !by.lines.is_empty() {
                item["lines"] = by.lines_json();
            }
            item["relevance"] = json!(rounded(by.relevance));
            item["why"] = json!(by.signals());
            if by.is_below_a_heading(&self.title) {
                item["heading"] = json!(by.heading);
            }
        }
        item
    }

    /// Returns the length in tokens, of the longer of text and structure.
    pub(super) fn cost(&self) -> usize {
        // Includes the separator.
        estimate_tokens(&self.item().to_string()).max(estimate_tokens(&self.text())) + 1
    }

    /// Removes the frontmatter, and cuts the text to the room.
    fn shrink(&mut self, room: usize) {
        self.metadata.clear();
        let content = std::mem::take(&mut self.content);
        let chunk = self.more.get_mut("matched_chunk").map(Value::take);
        // The matched text occurs twice, and may contain escapes.
        let left = room.saturating_sub(self.cost()) / 4;
        self.content = truncate_to_tokens(&content, left).to_owned();
        if chunk.is_some() {
            self.more["matched_chunk"] = json!(self.content);
        }
    }

    /// Renders the text.
    pub(super) fn text(&self) -> String {
        let kind = if self.kind == "entity" { String::new() } else { format!(" ({})", self.kind) };
        let mut text = format!(
            "\n### {}{kind}\npermalink: {} | project: {}",
            self.title, self.permalink, self.place.project
        );
        if let Some(space) = &self.space {
            text.push_str(&format!(" | space: {space}"));
        }
        if let Some(by) = &self.by {
            if by.is_below_a_heading(&self.title) {
                text.push_str(&format!(" | heading: {}", by.heading));
            }
            let range = |&(first, last): &(usize, usize)| format!("{first}-{last}");
            let lines: Vec<String> = by.lines.iter().map(range).collect();
            if !lines.is_empty() {
                text.push_str(&format!(" | lines: {}", lines.join(", ")));
            }
        }
        if let Some(line) = self.more.get("line") {
            text.push_str(&format!(" | line: {line}"));
        }
        text.push_str(&match self.detail {
            HitDetail::Full => format!(" | updated: {}", self.updated),
            HitDetail::Essential => format!(" | updated: {}", self.updated.strftime("%Y-%m-%d")),
        });
        if let Some(by) = &self.by {
            text.push_str(&format!(" | relevance: {}", rounded(by.relevance)));
            if self.detail == HitDetail::Full {
                let signals = by.signals().join(", ");
                text.push_str(&format!(" | score: {:.3} ({signals})", self.score));
            }
        }
        text.push('\n');
        text.push_str(&quote_lines(&self.content));
        text
    }
}

/// Returns the results that fit into the room in tokens, with their structures, and the number of
/// results left out. The first result is always returned, shortened if necessary.
pub(super) fn fit_to_budget(
    hits: Vec<NoteHit>,
    room: Option<usize>,
) -> (Vec<(NoteHit, Value)>, usize) {
    let total = hits.len();
    let mut left = room;
    let mut kept = Vec::new();
    for mut hit in hits {
        if let Some(left) = &mut left {
            if hit.cost() > *left && kept.is_empty() {
                hit.shrink(*left);
            }
            let cost = hit.cost();
            if cost > *left && !kept.is_empty() {
                break;
            }
            *left = left.saturating_sub(cost);
        }
        let item = hit.item();
        kept.push((hit, item));
    }
    let left_out = total - kept.len();
    (kept, left_out)
}
