//! Recalling: the one search over everything that a caller may see, as passages within a token
//! budget, each with its places, age, author and kind.

mod as_of;
mod known;
mod nearest;
mod observations;
mod passage;
mod query;

pub use nearest::{NearestRank, keep_nearest, nearest_statements};
pub(crate) use observations::split_observations;
pub(crate) use passage::statement_key;
pub use passage::{RecalledPassage, RecalledSubject};

use jiff::Timestamp;
use memoranda_core::id::ProjectName;
use memoranda_core::statement::StatementKind;
use memoranda_store::TermCorrection;

use crate::Memory;
use crate::records::{RecordResult, VisibleScopes};

/// Token budget of an answer if the caller gives none.
pub const RECALL_TOKENS: usize = 1_500;

/// Words of a question that only asks for all statements of a kind.
const LISTING_WORDS: &[&str] = &[
    "a",
    "all",
    "and",
    "any",
    "are",
    "current",
    "do",
    "did",
    "every",
    "for",
    "have",
    "i",
    "in",
    "is",
    "know",
    "known",
    "list",
    "made",
    "me",
    "my",
    "of",
    "on",
    "our",
    "project",
    "repo",
    "repository",
    "s",
    "show",
    "so",
    "far",
    "stored",
    "tell",
    "the",
    "there",
    "they",
    "this",
    "us",
    "user",
    "we",
    "what",
    "which",
    "you",
];

/// A request to recall.
#[derive(Clone, Debug)]
pub struct RecallRequest {
    /// The question; `None` for what is known about the person and the repository.
    pub query: Option<String>,
    /// Token budget of all passages together.
    pub max_tokens: usize,
    /// The kinds; all if empty.
    pub kinds: Vec<StatementKind>,
    /// The only project to search; `None` for all.
    pub project: Option<ProjectName>,
    /// The scopes of the caller: the person, and the repository if there is one.
    pub visible: VisibleScopes,
    /// Only what changed since then.
    pub since: Option<Timestamp>,
    /// The state of the memory at this time; `None` for now.
    pub as_of: Option<Timestamp>,
    /// Minimum relevance that the caller gives, 0 to 1; `None` for the default and, if nothing is
    /// relevant, the nearest statements.
    pub min_relevance: Option<f64>,
}

impl RecallRequest {
    /// Recalls everything within the default budget.
    pub fn new(query: Option<String>, visible: VisibleScopes) -> Self {
        Self {
            query,
            max_tokens: RECALL_TOKENS,
            kinds: Vec::new(),
            project: None,
            visible,
            since: None,
            as_of: None,
            min_relevance: None,
        }
    }

    /// Returns the request for all statements of some kinds, if the question names kinds alone: "all
    /// rules", "what decisions do we have".
    fn listing_of_kinds(&self) -> Option<Self> {
        let query = self.query.as_deref()?.to_lowercase();
        let mut kinds = Vec::new();
        for word in query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let singular = word.strip_suffix('s').unwrap_or(word);
            match StatementKind::parse(singular) {
                // Everything else can be called a note.
                Some(kind) if kind != StatementKind::Note => kinds.push(kind),
                _ if LISTING_WORDS.contains(&word) => {}
                _ => return None,
            }
        }
        if !self.kinds.is_empty() {
            kinds.retain(|kind| self.kinds.contains(kind));
        }
        (!kinds.is_empty()).then(|| Self { query: None, kinds, ..self.clone() })
    }

    /// Returns true if a kind is requested.
    fn includes(&self, kind: StatementKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }
}

/// Recalled passages.
#[derive(Clone, Debug, Default)]
pub struct RecallAnswer {
    /// The passages, the most relevant first.
    pub passages: Vec<RecalledPassage>,
    /// Number of passages that the budget left out.
    pub left_out: usize,
    /// Nearest statements of agents to a question without a relevant passage.
    pub nearest: Vec<RecalledPassage>,
    /// Words that no text contains, and what was searched for instead.
    pub corrections: Vec<TermCorrection>,
    /// True if notes were not looked for by their meaning, because the vectors are not loaded yet.
    pub is_by_words_alone: bool,
}

impl RecallAnswer {
    /// Joins the answers of several spaces within one budget. Without a question, what is about the
    /// person comes first, as in an answer of one vault.
    pub fn joined(mut answers: Vec<(Option<&str>, Self)>, max_tokens: usize) -> Self {
        if let [(None, only)] = answers.as_mut_slice() {
            return std::mem::take(only);
        }
        let mut joined = Self::default();
        for (space, answer) in answers {
            joined.left_out += answer.left_out;
            joined.corrections.extend(answer.corrections);
            joined.is_by_words_alone |= answer.is_by_words_alone;
            let in_space = |passage: RecalledPassage| RecalledPassage {
                space: space.map(str::to_owned).or(passage.space),
                ..passage
            };
            joined.passages.extend(answer.passages.into_iter().map(in_space));
            joined.nearest.extend(answer.nearest.into_iter().map(in_space));
        }
        if !joined.passages.is_empty() {
            joined.nearest.clear();
        }
        keep_nearest(&mut joined.nearest, &NearestRank::of);
        let order = |passage: &RecalledPassage| match passage.subject {
            Some(RecalledSubject::Person) => 0,
            Some(RecalledSubject::Everywhere) => 1,
            Some(RecalledSubject::Repository) => 2,
            None => 3,
        };
        joined.passages.sort_by(|a, b| {
            let scores = b.score.unwrap_or(0.0).total_cmp(&a.score.unwrap_or(0.0));
            order(a).cmp(&order(b)).then(scores)
        });
        let mut spent = 0;
        let fits = |passage: &RecalledPassage| {
            spent += passage.tokens();
            spent <= max_tokens
        };
        let kept = joined.passages.iter().map(fits).take_while(|fits| *fits).count().max(1);
        let all = joined.passages.len();
        joined.passages.truncate(kept);
        joined.left_out += all - joined.passages.len();
        joined
    }

    /// Keeps the first passages that fit the budget, and adds the authors.
    fn pack(mut self, memory: &Memory, request: &RecallRequest) -> RecordResult<Self> {
        let max_tokens = request.max_tokens;
        let (mut spent, mut cut) = (0, 0);
        let mut kept: Vec<RecalledPassage> = Vec::new();
        for mut passage in std::mem::take(&mut self.passages) {
            if kept.is_empty() {
                passage.shrink(max_tokens);
            }
            spent += passage.tokens();
            if cut > 0 || spent > max_tokens && !kept.is_empty() {
                cut += 1;
                continue;
            }
            kept.push(passage);
        }
        for passage in &mut kept {
            passage.add_author(memory, request.as_of)?;
        }
        self.passages = kept;
        self.left_out += cut;
        Ok(self)
    }
}

/// Recalls what fits a question, or what is known about the person and the repository.
///
/// ```
/// use memoranda_engine::{AddRequest, Memory, OpenOptions};
/// # use memoranda_engine::core::change::{Author, ChangeChannel};
/// # use memoranda_engine::core::id::ProjectName;
/// # let folder = tempfile::tempdir()?;
/// # let memory = Memory::open(OpenOptions::in_folder(folder.path()))?;
/// # let who = Author::new("example", "example", ChangeChannel::Cli);
/// use memoranda_engine::recall::{RecallRequest, recall};
/// use memoranda_engine::records::VisibleScopes;
///
/// memory.add(&who, &AddRequest::new(ProjectName::parse("main")?, "The boiler warranty lapses in March."))?;
/// let everywhere = VisibleScopes::new(None);
/// let answer = recall(&memory, &RecallRequest::new(Some("boiler".to_owned()), everywhere))?;
/// assert!(answer.passages[0].text.contains("lapses in March"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn recall(memory: &Memory, request: &RecallRequest) -> RecordResult<RecallAnswer> {
    let answer = match (&request.query, request.as_of) {
        (Some(query), None) => query::search(memory, request, query)?,
        (Some(query), Some(time)) => as_of::search(memory, request, query, time)?,
        (None, _) => known::about_person_and_repository(memory, request)?,
    };
    let mut answer = answer.pack(memory, request)?;
    if answer.passages.is_empty()
        && let Some(listing) = request.listing_of_kinds()
    {
        let listed =
            known::about_person_and_repository(memory, &listing)?.pack(memory, &listing)?;
        answer = RecallAnswer { corrections: answer.corrections, ..listed };
    }
    if answer.passages.is_empty() {
        answer.nearest = nearest_statements(memory, request, &|_| true)?;
    }
    Ok(answer)
}
