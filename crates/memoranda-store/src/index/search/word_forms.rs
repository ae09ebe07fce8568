//! Forms of a query's words in languages other than English. The index keeps English stems, so the
//! words of its vocabulary are compared by the stems of the language that the query shows, or of
//! languages in which the scope has texts.

use memoranda_core::embed::StaticEmbeddingModel;
use memoranda_core::language::Language;
use memoranda_core::porter::porter_stem;
use memoranda_core::query::{Query, QueryTerm, TermKind};
use memoranda_core::tokenize::fold_for_index;
use rusqlite::{Connection, params};

use super::scope::SearchScope;
use super::term_stats::{passages_with_stem, word_of};
use crate::error::Result;

/// Minimum length of a word that is compared by its stem.
const MIN_WORD_CHARS: usize = 3;
/// Maximum number of forms of one word.
const MAX_FORMS: usize = 24;
/// Number of passages with a typical word that shows that the scope has texts of a language.
const MIN_PASSAGES: usize = 2;

/// Looks up the forms of words in a scope.
pub(super) struct FormLookup<'s> {
    db: &'s Connection,
    scope: &'s SearchScope,
    languages: Vec<Language>,
    /// True if the query does not show its language; English words then have no other forms.
    is_guess: bool,
}

impl<'s> FormLookup<'s> {
    /// Determines the languages of a query.
    pub(super) fn new(db: &'s Connection, query: &Query, scope: &'s SearchScope) -> Result<Self> {
        let mut languages: Vec<Language> = query.language.into_iter().collect();
        let is_guess = languages.is_empty();
        if is_guess && !query.is_english() && query.terms.iter().any(may_be_foreign) {
            for language in [Language::German, Language::French, Language::Spanish] {
                if is_written_in(db, language, scope)? {
                    languages.push(language);
                }
            }
        }
        Ok(Self { db, scope, languages, is_guess })
    }

    /// Returns a word for every other form of a term that the scope contains.
    pub(super) fn of(&self, term: &QueryTerm) -> Result<Vec<String>> {
        let mut forms: Vec<String> = Vec::new();
        let [word] = term.words.as_slice() else { return Ok(forms) };
        if term.kind != TermKind::Word || (self.is_guess && !may_be_foreign(term)) {
            return Ok(forms);
        }
        let word = fold_for_index(word);
        for &language in &self.languages {
            if word.chars().count() < MIN_WORD_CHARS || !language.can_write(&word) {
                continue;
            }
            for stem in self.stems_like(&word, language)? {
                let is_new = forms.iter().all(|form| porter_stem(form) != stem);
                if is_new
                    && forms.len() < MAX_FORMS
                    && passages_with_stem(self.db, &stem, self.scope)?.0 > 0
                {
                    forms.extend(word_of(&stem));
                }
            }
        }
        Ok(forms)
    }

    /// Returns the stems of the index that are forms of a word.
    fn stems_like(&self, word: &str, language: Language) -> Result<Vec<String>> {
        let own = porter_stem(word);
        let sought = [language.stem(word), language.stem(&own)];
        // Some rules change the last letter of a stem.
        let shortest = sought.iter().map(|stem| stem.chars().count()).min().unwrap_or_default();
        let begin: String = word.chars().take(shortest.saturating_sub(1).max(2)).collect();
        let mut select = self
            .db
            .prepare_cached("SELECT term FROM word_counts WHERE term >= ?1 AND term < ?2")?;
        let mut rows = select.query(params![begin, format!("{begin}\u{10ffff}")])?;
        let mut stems = Vec::new();
        while let Some(row) = rows.next()? {
            let stem = row.get_ref(0)?.as_str().unwrap_or_default();
            if stem != own && sought.contains(&language.stem(stem)) {
                stems.push(stem.to_owned());
            }
        }
        Ok(stems)
    }
}

/// Returns true if a term is a word that no English text need contain.
fn may_be_foreign(term: &QueryTerm) -> bool {
    let is_foreign = |word: &String| {
        !word.bytes().any(|byte| byte.is_ascii_digit())
            && !StaticEmbeddingModel::bundled().is_known_word(&word.to_lowercase())
    };
    term.kind == TermKind::Word && term.words.iter().all(is_foreign)
}

/// Returns true if texts of the scope contain the typical words of a language.
fn is_written_in(db: &Connection, language: Language, scope: &SearchScope) -> Result<bool> {
    for word in language.index_words() {
        if passages_with_stem(db, word, scope)?.0 < MIN_PASSAGES {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::search::{FilterSql, SearchFilter};
    use crate::index::write::first_passage;

    #[allow(clippy::disallowed_methods, reason = "the index in memory is nobody else's")]
    fn forms(texts: &[&str], query: &str) -> Vec<Vec<String>> {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(include_str!("../schema.sql")).unwrap();
        let insert =
            "INSERT INTO words (rowid, title, heading, tags, body) VALUES (?, '', '', '', ?)";
        for (file, text) in (1..).zip(texts) {
            db.execute(insert, (first_passage(file), text)).unwrap();
        }
        let everything = FilterSql::new(&Query::default(), &SearchFilter::default());
        let scope = SearchScope::read(&db, &everything).unwrap();
        let query = Query::parse(query);
        let lookup = FormLookup::new(&db, &query, &scope).unwrap();
        query.terms.iter().map(|term| lookup.of(term).unwrap()).collect()
    }

    const GERMAN: [&str; 3] =
        ["Die Häuser und nicht die Hütten", "Kein Haus und nicht der Hase", "the house of cards"];

    #[test]
    fn english_words_have_no_other_forms() {
        let english = ["The houses and the huts", "a house, not the hare", "housing in Hamburg"];
        for query in ["where is the house", "house", "Hamburgs housen", "die hard"] {
            assert!(forms(&english, query).iter().all(Vec::is_empty), "{query}");
        }
        for query in ["where is the house", "house of cards", "the huts and houses"] {
            assert!(forms(&GERMAN, query).iter().all(Vec::is_empty), "{query}");
        }
    }

    #[test]
    fn forms_are_those_of_the_index() {
        assert_eq!(forms(&GERMAN, "Wo ist das Haus?"), [["hauser"]]);
        // The language of a single word is that of the texts.
        assert_eq!(forms(&GERMAN, "Hütte"), [["hutten"]]);
        assert_eq!(forms(&["в книгах", "о книге и не о кино"], "книга"), [["книгах", "книге"]]);
    }
}
