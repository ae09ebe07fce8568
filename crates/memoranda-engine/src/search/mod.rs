//! Searching: candidates from the store, ranked by the core, cut to a limit and a budget.

mod beside_pending;
mod corpus;
pub(crate) mod embedding;
pub(crate) mod fragments;
pub(crate) mod pack;
pub(crate) mod results;

use jiff::Timestamp;
use memoranda_core::embed::StaticEmbeddingModel;
use memoranda_core::id::ProjectName;
use memoranda_core::query::{Query, QueryTerm, TermRequirement, TimeExpression, TimeRange};
use memoranda_core::rank::{
    FeatureValues, RELEVANCE_THRESHOLD, RankOptions, RankQuery, RankSignal, RelevanceValues,
    rank_notes, without_speaker_names,
};
use memoranda_core::snippet::Snippet;
use memoranda_store::{
    CandidateQuery, CandidateSet, SearchFilter, Snapshot, TermCorrection, clock,
};

use crate::Memory;
use crate::error::{EngineError, Result};
use crate::links::resolve::NoteLocation;
use crate::search::embedding::{EmbeddingSource, QueryMeaning};
use crate::search::fragments::ResolvedQuery;
use crate::search::results::{ResultBuilder, ResultPage};

/// Minimum number of notes that are compared at a time, so that pages fit together.
const CANDIDATES: usize = 40;
/// Relevance that the most relevant result must reach, or nothing is shown, unless a caller chooses
/// another threshold (`docs/search.md`).
pub const MIN_RELEVANCE: f64 = RELEVANCE_THRESHOLD;
/// Relevance below which a result is noise, even if another one is relevant.
pub const LOW_RELEVANCE: f64 = 0.15;
/// Share of the best score below which a result is not shown in a scope of many passages, unless it
/// is certain.
pub const RELATIVE_CUT: f64 = 0.5;
/// Numbers of passages at which a scope begins to be cut, and from which on it is cut fully.
const CUT_PASSAGES: (f64, f64) = (30.0, 600.0);
/// Relevance from which on a result is shown however much better the best one is: its passage
/// contains all words of the query.
const CERTAIN_RELEVANCE: f64 = 0.75;

/// Projects of the facts that agents remember one at a time. These facts are compared with each
/// other: a thousand notes in the vault do not make a match with one of them less relevant.
const MEMORY_PROJECTS: [&str; 4] = ["banks", "graph", "memories", "records"];

/// Returns the names of the projects of what agents remember.
pub(crate) fn remembering_projects() -> impl Iterator<Item = ProjectName> {
    MEMORY_PROJECTS.iter().filter_map(|name| ProjectName::parse(name).ok())
}

/// Search request. Start with the default and set what differs.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// The words, as they were typed.
    pub text: String,
    /// Selection of the searched notes.
    pub filter: SearchFilter,
    /// Maximum number of results.
    pub limit: usize,
    /// Number of results to skip.
    pub offset: usize,
    /// Number of notes compared per batch. A caller that needs only a hint sets a small number.
    pub candidates: usize,
    /// Maximum length of a quotation, in characters.
    pub snippet_chars: usize,
    /// Maximum number of tokens of all quotations together.
    pub max_tokens: Option<usize>,
    /// Unit of one result.
    pub unit: SearchUnit,
    /// Number of further passages that are quoted of each note, if a result is a note.
    pub further_passages: usize,
    /// Minimum probability, from 0 to 1, that a result concerns the query. With its default, the
    /// most relevant result decides, and the others need only `fill_relevance`.
    pub min_relevance: f64,
    /// Relevance down to which results are shown if the most relevant one reaches the default of
    /// `min_relevance`.
    pub fill_relevance: f64,
    /// Share of the best score below which a result is left out, if `min_relevance` has its default;
    /// 0 leaves none out. A query that requires words, and a result with all words, are not cut.
    pub relative_cut: f64,
    /// Treatment of results with a word of the query whose relevance is too low.
    pub typed_words: TypedWords,
    /// Minimum similarity of meaning, 0 to 1, of a result without a word of the query.
    pub min_similarity: Option<f64>,
    /// Weights of the ranking signals.
    pub options: RankOptions,
    /// Reference time of words like "yesterday"; `None` for now.
    pub now: Option<Timestamp>,
}

/// Treatment of results that contain a word of the query as it was typed, if `min_relevance` has its
/// default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TypedWords {
    /// They need the same relevance as other results, because a model asks in sentences and trusts
    /// the answer.
    #[default]
    ByRelevance,
    /// They are shown: a person who types a word expects the notes that contain it.
    Always,
}

/// Unit of one result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SearchUnit {
    /// A note, with its best passage.
    #[default]
    Notes,
    /// A passage; a note may have several. Equal passages of several notes are one result.
    Passages,
    /// A passage; equal passages of several notes are one result each.
    EveryPassage,
    /// A note whose parts are compared next. Excluded words apply to the parts, not to the note.
    Holders,
}

impl Default for SearchRequest {
    fn default() -> Self {
        Self {
            text: String::new(),
            filter: SearchFilter::default(),
            limit: 10,
            offset: 0,
            candidates: CANDIDATES,
            snippet_chars: 300,
            max_tokens: None,
            unit: SearchUnit::Notes,
            further_passages: 0,
            min_relevance: MIN_RELEVANCE,
            fill_relevance: LOW_RELEVANCE,
            relative_cut: RELATIVE_CUT,
            typed_words: TypedWords::ByRelevance,
            min_similarity: None,
            options: RankOptions::STANDARD,
            now: None,
        }
    }
}

impl SearchRequest {
    /// Sets the threshold that a caller chose; without a choice the default stays.
    ///
    /// ```
    /// use memoranda_engine::SearchRequest;
    ///
    /// let all = SearchRequest::default().with_min_relevance(Some(0.0));
    /// assert_eq!(all.min_relevance, 0.0);
    /// ```
    pub fn with_min_relevance(self, chosen: Option<f64>) -> Self {
        Self { min_relevance: chosen.unwrap_or(self.min_relevance), ..self }
    }

    /// Returns true if no other threshold was chosen than the default.
    fn has_default_threshold(&self) -> bool {
        self.min_relevance.to_bits() == MIN_RELEVANCE.to_bits()
    }

    /// Returns the part of the relative cut that applies to a scope, from 0 for a small to 1 for a large
    /// one.
    fn cut_share(passages: u64) -> f64 {
        let (small, large) = CUT_PASSAGES;
        ((passages as f64 / small).ln() / (large / small).ln()).clamp(0.0, 1.0)
    }

    /// Returns the filter of the facts among what is searched; `None` if no facts are.
    fn memory_filter(&self) -> Option<SearchFilter> {
        let asked = &self.filter.projects;
        let projects: Vec<_> = remembering_projects()
            .filter(|name| asked.is_empty() || asked.contains(name))
            .collect();
        (!projects.is_empty()).then(|| SearchFilter { projects, ..self.filter.clone() })
    }
}

/// One page of results.
#[derive(Clone, Debug)]
pub struct SearchPage {
    /// The results, best first.
    pub results: Vec<SearchResult>,
    /// True if there are more results.
    pub has_more: bool,
    /// Results left out because of the token budget.
    pub left_out: usize,
    /// True if a word was so frequent that only the newest notes with it were compared.
    pub partial: bool,
    /// Query words that no text contains, and the words searched instead.
    pub corrections: Vec<TermCorrection>,
    /// The time that the question names, which lifts notes of that time.
    pub when: Option<TimeRange>,
    /// Probability that the most relevant candidate concerns the query, even if it is not shown.
    pub relevance: f64,
    /// By which model meanings were compared.
    pub meaning: EmbeddingSource,
    /// As what the question was understood.
    pub understood: ResolvedQuery,
}

impl SearchPage {
    /// Returns the query with the words that its beginnings stand for; `None` if it has none.
    pub fn with_whole_words(&self, text: &str) -> Option<String> {
        let whole = |read: &TermCorrection| Some((read.typed.clone(), read.example.clone()?));
        let whole: Vec<_> = self.corrections.iter().filter_map(whole).collect();
        let replace = |text: String, (typed, word): &(String, String)| text.replace(typed, word);
        (!whole.is_empty()).then(|| whole.iter().fold(text.to_owned(), replace))
    }
}

/// A note or passage that was found.
#[derive(Clone, Debug)]
pub struct SearchResult {
    /// The file's number in the index.
    pub file: i64,
    /// Location of the note.
    pub place: NoteLocation,
    /// Title.
    pub title: String,
    /// Permalink.
    pub permalink: String,
    /// Note type.
    pub note_type: String,
    /// Frontmatter as JSON.
    pub metadata: String,
    /// Creation time.
    pub created: Timestamp,
    /// Time of the last change.
    pub updated: Timestamp,
    /// The sum of its signals.
    pub score: f64,
    /// Probability, from 0 to 1, that the note concerns the query.
    pub relevance: f64,
    /// Parts of the score.
    pub why: Vec<RankSignal>,
    /// The headings above the best passage.
    pub heading: String,
    /// The lines of the best passage.
    pub lines: (usize, usize),
    /// The piece of it that answers best.
    pub snippet: Snippet,
    /// Further passages of the note, best first.
    pub further: Vec<FurtherPassage>,
    /// Other notes that hold the very same passage.
    pub also: Vec<NoteLocation>,
    /// Batch of candidates in which the note was found. Earlier batches rank first.
    pub batch: usize,
    /// Ranking features of the best passage.
    pub features: FeatureValues,
    /// Values from which the relevance of the best passage was estimated.
    pub relevance_values: RelevanceValues,
}

/// A further passage of a note that was found.
#[derive(Clone, Debug)]
pub struct FurtherPassage {
    /// The headings above it.
    pub heading: String,
    /// First and last line.
    pub lines: (usize, usize),
    /// Score of the passage alone.
    pub score: f64,
    /// The piece of it that answers best.
    pub snippet: Snippet,
}

impl Memory {
    /// Finds notes by their words and by what they mean.
    ///
    /// ```
    /// use memoranda_engine::{AddRequest, Memory, OpenOptions, SearchRequest};
    /// # use memoranda_engine::core::change::{Author, ChangeChannel};
    /// # use memoranda_engine::core::id::ProjectName;
    /// # let folder = tempfile::tempdir()?;
    /// # let memory = Memory::open(OpenOptions::in_folder(folder.path()))?;
    /// # let who = Author::new("example", "example", ChangeChannel::Cli);
    /// memory.add(&who, &AddRequest::new(ProjectName::parse("main")?, "The boiler warranty lapses in March."))?;
    /// let request = SearchRequest { text: "boiler guarantee".to_owned(), ..SearchRequest::default() };
    /// let found = memory.search(&request)?.results;
    /// assert_eq!(found[0].title, "The boiler warranty lapses in March.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn search(&self, request: &SearchRequest) -> Result<SearchPage> {
        let snapshot = self.snapshot()?;
        match self.search_in(&snapshot, request) {
            Err(EngineError::Store(error)) if snapshot.renew_after(&error)? => {
                self.search_in(&snapshot, request)
            }
            page => page,
        }
    }

    fn search_in(&self, snapshot: &Snapshot<'_>, request: &SearchRequest) -> Result<SearchPage> {
        let mut query = Query::parse(&request.text);
        let mut forbidden = Vec::new();
        if request.unit == SearchUnit::Holders {
            let is_forbidden = |term: &mut QueryTerm| term.need == TermRequirement::Excluded;
            forbidden = query.terms.extract_if(.., is_forbidden).collect();
        }
        if query.is_empty() && query.tags.is_empty() && request.filter.tags.is_empty() {
            let why = if query.only_excludes() {
                "says only what must not be there; a search needs something to look for beside \
                     it, such as a word (report NOT draft) or tag:name; words that begin with a \
                     sign go in quotes (\"-Werror\")"
            } else {
                "holds nothing to search for; give a word, a \"phrase\" or tag:name"
            };
            let typed: String = request.text.chars().take(100).collect();
            return Err(EngineError::Invalid(format!("{typed:?} {why}")));
        }
        let now = request.now.unwrap_or_else(clock::now);
        let named = Some(&query.free_text)
            .filter(|_| request.options.uses_time())
            .and_then(|said| TimeExpression::find(said, &now.to_zoned((self.zone)())));
        let when = named.as_ref().map(|named| named.range);
        // Words that name a time do not mean what the notes of that time are about.
        let is_about_more =
            |named: &TimeExpression| query.wanted_terms().any(|term| !named.is_named_by(term));
        let mut asked = if request.options.uses_meaning() && query.allows_semantic_match() {
            self.meant(&query.free_text, StaticEmbeddingModel::bundled().embed(&query.free_text))
        } else {
            QueryMeaning::default()
        };
        // Another model may know languages that the table can only spell, and what a time means.
        let says_something = StaticEmbeddingModel::bundled().has_known_word(&query.free_text)
            && named.as_ref().is_none_or(is_about_more);
        if asked.model.is_none() && !says_something {
            asked.meant = None;
        }
        let memories = request.memory_filter();
        let question = CandidateQuery {
            text: &request.text,
            query: &query,
            filter: &request.filter,
            corpus: memories.as_ref(),
            vector: asked.meant.as_ref(),
            model: asked.model.as_deref(),
            when,
            round: request.candidates,
            wanted: match request.unit {
                SearchUnit::Notes | SearchUnit::Holders => request.offset + request.limit + 1,
                // A note usually has several passages that match.
                SearchUnit::Passages | SearchUnit::EveryPassage => {
                    (request.offset + request.limit) / 3 + 1
                }
            },
        };
        let reader = snapshot.search_reader(asked.model.as_deref())?;
        let mut rounds = reader.candidates(&question)?;
        self.add_corpus(&question, &mut rounds.found)?;
        let mut meant = asked.meant.clone();
        if let Some(meant) = &mut meant {
            let first = rounds.found.notes.iter().filter(|note| note.batch == 0);
            let cuts = first.flat_map(|note| &note.passages).map(|passage| &passage.tokens);
            let said = without_speaker_names(&rounds.found.query, cuts);
            let unnamed = said.map(|said| StaticEmbeddingModel::bundled().embed(&said));
            if let Some(unnamed) = unnamed.filter(|vector| !vector.is_zero()) {
                meant.static_vector = unnamed;
            }
        }
        let guessed: Vec<_> = rounds.found.corrections.iter().map(|read| read.term).collect();
        let options = match request.unit {
            SearchUnit::Notes | SearchUnit::Holders => request.options.of_notes(),
            SearchUnit::Passages | SearchUnit::EveryPassage => request.options,
        };
        let mut compared = 0;
        let (relevance, page) = loop {
            let further = rounds.found.notes.get_mut(compared..).unwrap_or_default();
            if let Some(meant) = &meant {
                reader.add_similarities(meant, further)?;
            }
            compared = rounds.found.notes.len();
            let candidates = &rounds.found;
            let comparison = RankQuery {
                query: &candidates.query,
                doc_freqs: &candidates.holders,
                corrected_terms: &guessed,
                passage_count: candidates.passages,
                time: named.as_ref(),
                now,
            };
            let ranked = rank_notes(&candidates.notes, &comparison, &options);
            let relevance = ranked.iter().map(|note| note.relevance).fold(0.0, f64::max);
            let found = ResultBuilder { candidates, shown: &reader, request };
            let likely = found.likely(ranked)?;
            if likely.missing == 0 || !rounds.next_batch(likely.missing)? {
                let found = ResultBuilder { candidates: &rounds.found, shown: &reader, request };
                break (relevance, found.page(likely)?);
            }
        };
        let ResultPage { results, has_more, left_out } = page;
        if rounds.found.is_meaning_deferred {
            asked.by = asked.by.while_loading();
            self.load_vectors_in_background();
        }
        let CandidateSet { mut query, mut holders, passages, corrections, partial, .. } =
            rounds.found;
        holders.resize(query.terms.len() + forbidden.len(), 0);
        query.terms.extend(forbidden.iter().cloned());
        let understood = ResolvedQuery {
            query,
            holders,
            guessed,
            passages,
            vector: meant,
            when: named.clone(),
            now,
            options: request.options,
            // The note was relevant enough; its parts are compared with each other.
            min_relevance: if request.has_default_threshold() {
                LOW_RELEVANCE
            } else {
                request.min_relevance
            },
            min_similarity: request.min_similarity,
        };
        Ok(SearchPage {
            results,
            has_more,
            left_out,
            partial,
            corrections,
            when,
            relevance,
            meaning: asked.by,
            understood,
        })
    }
}
