//! Guesses the kind and the scope of a statement to remember. Closed lists of common words and the
//! form of the sentence speak for a kind and a scope; learned weights of words, grammar and meaning
//! decide with them.

mod compare;
mod features;
mod kind;
mod kind_cues;
mod learned;
mod order_cues;
mod scope;
mod scope_cues;
mod software_cues;
mod software_names;
mod update;
mod words;

pub use compare::{StatementDifference, compare_statements};
pub use features::{FEATURE_COUNT, StatementFeatures};
use scope::ScopeEvidence;
pub use update::is_update;
use words::StatementWords;

/// Maximum number of characters that are read: the first sentences show the kind of a text.
const MAX_CHARS: usize = 600;

/// The kind of a statement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StatementKind {
    /// A standing order.
    Rule,
    /// A choice that was made.
    Decision,
    /// A liking of the person.
    Preference,
    /// A state of the world.
    Fact,
    /// A way to do something.
    Skill,
    /// An event, a plan or a task.
    Note,
}

impl StatementKind {
    /// All kinds, in listing order.
    pub const ALL: [Self; 6] =
        [Self::Rule, Self::Decision, Self::Preference, Self::Fact, Self::Skill, Self::Note];
    /// Names of all kinds, in listing order.
    pub const NAMES: [&'static str; 6] =
        ["rule", "decision", "preference", "fact", "skill", "note"];

    /// Returns the name of the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Decision => "decision",
            Self::Preference => "preference",
            Self::Fact => "fact",
            Self::Skill => "skill",
            Self::Note => "note",
        }
    }

    /// Parses the name of a kind.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// The scope of a statement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StatementScope {
    /// True wherever the person works.
    Person,
    /// True of the repository at hand.
    Repository,
}

impl StatementScope {
    /// All scopes, in listing order.
    pub const ALL: [Self; 2] = [Self::Person, Self::Repository];
    /// Names of all scopes, in listing order.
    pub const NAMES: [&'static str; 2] = ["person", "repository"];

    /// Returns the name of the scope.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Repository => "repository",
        }
    }

    /// Parses the name of a scope.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text)
    }
}

/// Kind and scope of a statement, as guessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StatementGuess {
    /// The kind.
    pub kind: StatementKind,
    /// The scope.
    pub scope: StatementScope,
    /// True if the statement is about a repository without doubt. Where no repository is known, such
    /// a statement is refused, and a doubtful one is the person's.
    pub needs_repository: bool,
}

/// Guesses the kind and the scope of a statement. `repositories` are names of known repositories,
/// such as `github.com/acme/shop`: a statement that names one of them belongs to a repository.
///
/// ```
/// use memoranda_core::statement::{StatementKind, StatementScope, guess_statement};
///
/// let guess = guess_statement("I prefer tabs", &[]);
/// assert_eq!((guess.kind, guess.scope), (StatementKind::Preference, StatementScope::Person));
/// let guess = guess_statement("this repo uses pnpm", &[]);
/// assert_eq!((guess.kind, guess.scope), (StatementKind::Fact, StatementScope::Repository));
/// ```
pub fn guess_statement(text: &str, repositories: &[&str]) -> StatementGuess {
    let text = read_part(text);
    let words = without_opening(text);
    let learned = learned::LearnedScores::of_words(&words);
    // A kind without cues does not decide about the scope.
    let with_cues = kind::guess_kind(text, &words);
    let kind = with_cues.unwrap_or(StatementKind::Fact);
    let evidence = scope::guess_scope(text, &words, kind, repositories, &learned);
    let scope = match evidence {
        ScopeEvidence::Person => StatementScope::Person,
        ScopeEvidence::Repository | ScopeEvidence::PossiblyRepository => StatementScope::Repository,
    };
    StatementGuess {
        kind: learned.kind(with_cues),
        scope,
        needs_repository: evidence == ScopeEvidence::Repository,
    }
}

/// Returns the part of a text that is read.
fn read_part(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_CHARS).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

/// Returns the words of a statement without a polite or empty beginning.
fn without_opening(text: &str) -> StatementWords {
    let mut words = StatementWords::new(read_part(text));
    while let Some(opening) = kind_cues::OPENINGS.iter().find(|opening| words.begins(&[opening])) {
        words.drop_first(opening.split(' ').count());
    }
    words
}

/// Returns the known repositories that a text names, by the whole name or its last part.
pub fn named_repositories<'a>(text: &str, repositories: &[&'a str]) -> Vec<&'a str> {
    scope::named(&StatementWords::new(text), repositories)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sentences that were labelled before the rules were written.
    const LABELLED: &str = include_str!("../../tests/data/statements.tsv");
    /// Sentences that were added when the rules existed.
    const LATER: &str = include_str!("../../tests/data/statements-later.tsv");
    /// Sentences of other domains, grammar and tools.
    const VARIED: &str = include_str!("../../tests/data/statements-varied.tsv");
    /// Minimum share of right guesses.
    const MIN_RIGHT: f64 = 0.95;

    fn rows(data: &str) -> impl Iterator<Item = (StatementKind, StatementScope, &str)> {
        data.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(|line| {
            let fields: Vec<&str> = line.splitn(3, '\t').collect();
            let [kind, scope, text] = fields[..] else { panic!("{line:?}") };
            (StatementKind::parse(kind).unwrap(), StatementScope::parse(scope).unwrap(), text)
        })
    }

    #[test]
    fn most_guesses_are_right() {
        for data in [LABELLED, LATER, VARIED] {
            let (mut all, mut kinds, mut scopes) = (0, 0, 0);
            for (kind, scope, text) in rows(data) {
                let guess = guess_statement(text, &[]);
                all += 1;
                kinds += usize::from(guess.kind == kind);
                scopes += usize::from(guess.scope == scope);
            }
            assert!(all >= 200, "{all}");
            for right in [kinds, scopes] {
                assert!(right as f64 >= MIN_RIGHT * f64::from(all), "{right} of {all}");
            }
        }
    }

    #[test]
    fn nothing_of_a_repository_is_taken_for_the_persons() {
        for (_, scope, text) in rows(LABELLED).chain(rows(LATER)).chain(rows(VARIED)) {
            if scope == StatementScope::Repository {
                assert_eq!(guess_statement(text, &[]).scope, scope, "{text}");
            }
        }
    }

    #[test]
    fn a_known_repository_is_recognised_by_its_name() {
        let known = ["github.com/acme/Lighthouse", "github.com/acme/ox"];
        for (text, expected) in [
            ("I love how lighthouse starts", &["github.com/acme/Lighthouse"][..]),
            ("acme/ox is mine", &["github.com/acme/ox"]),
            ("an ox is an animal", &[]),
            ("Lighthouse's parser and github.com/acme/ox", &known),
        ] {
            assert_eq!(named_repositories(text, &known), expected, "{text}");
        }
        let guess = guess_statement("I love how lighthouse starts", &known);
        assert_eq!(guess.scope, StatementScope::Repository);
        assert_eq!(guess_statement("I love the sea", &known).scope, StatementScope::Person);
    }

    #[test]
    fn no_text_makes_it_fail() {
        let long = "é, ".repeat(10_000);
        for text in ["", " ", "...", "'", "`", "/", "-", ":", "I", long.as_str(), "\u{0}", "🦀🦀"]
        {
            guess_statement(text, &["", "/", "a/"]);
        }
    }
}
