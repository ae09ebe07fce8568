//! Guessing the scope of a statement.

use super::StatementKind;
use super::learned::LearnedScores;
use super::scope_cues::{
    CAPITALISED_NAMES, CONVERSATION, EVERYWHERE, GROUP, HYPHENATED, PERSON, PRIVATE, REPOSITORY,
    REPOSITORY_ENDINGS, SPEECH_ORDERS, UNSPACED_PERSON, UNSPACED_REPOSITORY, USER_VERBS,
};
use super::software_cues::{CODE_WORK, SOFTWARE};
use super::software_names::{CAPITALISED_SOFTWARE, SOFTWARE_NAMES};
use super::words::StatementWords;

/// Minimum length of the last part of a repository's name that is recognised by itself.
const MIN_NAME_CHARS: usize = 3;

/// Learned probabilities of a repository from which a statement with or without other cues is taken
/// for one about a repository.
const VERY_UNLIKELY: f32 = 0.05;
const UNLIKELY: f32 = 0.2;
const POSSIBLE: f32 = 0.65;
const LIKELY: f32 = 0.8;

/// Scope that the words of a statement speak for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ScopeEvidence {
    Person,
    Repository,
    /// Only the meaning of the statement, or a word of software, speaks for a repository.
    PossiblyRepository,
}

/// Guesses the scope. What names a repository is never the person's.
pub(super) fn guess_scope(
    text: &str,
    words: &StatementWords,
    kind: StatementKind,
    repositories: &[&str],
    learned: &LearnedScores,
) -> ScopeEvidence {
    use ScopeEvidence::{Person, PossiblyRepository, Repository};
    if words.has(EVERYWHERE) {
        return Person;
    }
    let is_named = !named(words, repositories).is_empty();
    if is_named
        || words.has(REPOSITORY)
        || names_unknown_repository(words)
        || is_here(words)
        || UNSPACED_REPOSITORY.iter().any(|cue| text.contains(cue))
    {
        return Repository;
    }
    if names_person(text, words) {
        let is_work =
            matches!(kind, StatementKind::Note | StatementKind::Decision | StatementKind::Fact)
                && (words.has(CODE_WORK) || has_code_form(text, words));
        let is_described = words.has(PRIVATE) || is_about_self(words);
        return if is_work && !is_described { Repository } else { Person };
    }
    // Nobody is mentioned. Words have several meanings: "train the model", "the table is booked".
    let known = learned.repository_probability();
    let is_below = |limit: f32| known.is_some_and(|probability| probability < limit);
    let is_from = |limit: f32| known.is_some_and(|probability| probability >= limit);
    let is_certain = has_code_form(text, words)
        || names_software(words)
        || has_identifier(words) && !is_below(UNLIKELY);
    let is_private = words.has(PRIVATE) || text.contains('$');
    if words.has(GROUP) {
        let is_home = is_private && !is_certain && !is_from(LIKELY);
        return if is_home || is_below(UNLIKELY) { Person } else { Repository };
    }
    let is_software = is_certain || words.has(SOFTWARE);
    let is_speech = words.begins(SPEECH_ORDERS)
        || ["always", "never", "don't", "dont", "not", "immer", "toujours"].contains(&words.at(0))
            && SPEECH_ORDERS.contains(&words.at(1));
    if kind == StatementKind::Rule && (is_speech || words.has(CONVERSATION) && !is_software) {
        return Person;
    }
    if is_private && !is_certain && !is_from(LIKELY) {
        return Person;
    }
    match kind {
        StatementKind::Preference if words.has(&["team", "teams"]) => Repository,
        StatementKind::Preference => Person,
        _ if is_certain => Repository,
        StatementKind::Rule if is_below(VERY_UNLIKELY) => Person,
        StatementKind::Decision if is_below(UNLIKELY) => Person,
        StatementKind::Rule | StatementKind::Decision => Repository,
        // "Deploys go out on Tuesdays" is true of a repository, or of all work of the person.
        _ if is_software && !is_below(VERY_UNLIKELY) => PossiblyRepository,
        _ if is_from(POSSIBLE) => PossiblyRepository,
        _ => Person,
    }
}

/// Returns true if the writer or the user is mentioned.
fn names_person(text: &str, words: &StatementWords) -> bool {
    let is_user = |at: usize| words.at(at) == "user" && USER_VERBS.contains(&words.at(at + 1));
    words.has(PERSON)
        || (0..words.all().len()).any(is_user)
        || UNSPACED_PERSON.iter().any(|cue| text.contains(cue))
}

/// Returns the repositories that are named, by the whole name or its last part.
pub(super) fn named<'a>(words: &StatementWords, repositories: &[&'a str]) -> Vec<&'a str> {
    let is_named = |name: &&&str| {
        let name = name.to_lowercase();
        let mut parts = name.rsplit('/');
        let last = parts.next().unwrap_or_default().to_owned();
        let owned = parts.next().map(|owner| format!("{owner}/{last}"));
        words.all().iter().any(|word| {
            let word = word.trim_matches('`');
            let word = word.strip_suffix("'s").unwrap_or(word);
            word == name
                || owned.as_deref() == Some(word)
                || last.chars().count() >= MIN_NAME_CHARS && word == last
        })
    };
    repositories.iter().filter(is_named).copied().collect()
}

/// Returns true if a word looks like the name of a repository: `acme/shop`, `shop-api`, or a word
/// with a hyphen directly behind "in" or "for".
fn names_unknown_repository(words: &StatementWords) -> bool {
    let all = words.all();
    all.iter().enumerate().any(|(at, word)| {
        let word = word.trim_matches('`');
        let word = word.strip_suffix("'s").unwrap_or(word);
        if is_slug(word)
            || REPOSITORY_ENDINGS
                .iter()
                .any(|end| word.len() > end.len() + 1 && word.ends_with(end))
        {
            return true;
        }
        let before = at.checked_sub(1).map_or("", |before| words.at(before));
        let is_compound = word.split_once('-').is_some_and(|(first, rest)| {
            first.len() > 1
                && rest.len() > 1
                && first.bytes().all(|byte| byte.is_ascii_lowercase())
                && rest.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
                && !HYPHENATED.contains(&first)
        });
        is_compound && ["in", "for", "on"].contains(&before) && is_clause_end(words.at(at + 1))
    })
}

/// Returns true if a word can follow a name: "in shop-front we …", not "in client-facing texts".
fn is_clause_end(word: &str) -> bool {
    let others = [
        "", ",", ":", ".", "the", "we", "i", "all", "every", "use", "never", "always", "it",
        "don't",
    ];
    others.contains(&word)
}

/// Returns true for `owner/name`, with or without a host.
fn is_slug(word: &str) -> bool {
    let parts: Vec<&str> = word.split('/').collect();
    let hosts = ["github.com", "gitlab.com", "bitbucket.org", "codeberg.org"];
    if parts.len() >= 3 && parts.first().is_some_and(|host| hosts.contains(host)) {
        return true;
    }
    let zones = ["europe", "america", "asia", "africa", "australia", "pacific", "atlantic"];
    let pairs = [
        "and/or",
        "w/o",
        "n/a",
        "he/him",
        "she/her",
        "they/them",
        "his/her",
        "he/she",
        "async/await",
        "tcp/ip",
        "client/server",
        "input/output",
        "read/write",
        "yes/no",
        "on/off",
        "ci/cd",
        "ui/ux",
        "either/or",
        "true/false",
        "income/expense",
        "rest/graphql",
        "km/h",
    ];
    let is_name = |part: &&str| {
        part.len() > 1
            && part.starts_with(|c: char| c.is_ascii_alphabetic())
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    };
    parts.len() == 2
        && parts.iter().all(is_name)
        && !parts.first().is_some_and(|zone| zones.contains(zone))
        && !pairs.contains(&word)
}

/// Returns true for "here we use four spaces" and "we use four spaces here".
fn is_here(words: &StatementWords) -> bool {
    words.has(&["here"]) && words.has(GROUP)
}

/// Returns true if the writer describes themselves: "I'm a backend developer", "I work with Java".
fn is_about_self(words: &StatementWords) -> bool {
    words.has(&[
        "i'm a",
        "i am a",
        "i'm an",
        "i am an",
        "i work as",
        "i work at",
        "my job",
        "my role",
        "user is a",
        "user is an",
        "years of experience",
        "experience with",
        "i've been",
        "my laptop",
        "my machine",
        "my editor",
        "my shell",
        "my terminal",
        "my phone",
        "exam",
        "i'm learning",
        "i am learning",
    ])
}

/// Returns true if a word is the name of a tool, a version of something, or the place of a server.
fn names_software(words: &StatementWords) -> bool {
    words.originals().iter().zip(words.all()).any(|(original, word)| {
        let word = word.strip_suffix("'s").unwrap_or(word);
        let is_capital = original.starts_with(char::is_uppercase);
        SOFTWARE_NAMES.binary_search(&word).is_ok()
            || is_capital && CAPITALISED_SOFTWARE.binary_search(&word).is_ok()
            || is_version(word)
            || is_server_place(word)
    })
}

/// Returns true for `22.04.1`, `v2` and `2.3.1-rc1`. A number with one point may be a price.
fn is_version(word: &str) -> bool {
    let (digits, has_mark) = match word.strip_prefix('v') {
        Some(rest) => (rest, true),
        None => (word, false),
    };
    let parts: Vec<&str> = digits.split('.').collect();
    let is_number =
        |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_numbers = parts.first().is_some_and(is_number) && parts.iter().take(2).all(is_number);
    is_numbers && (has_mark || parts.len() >= 3)
}

/// Returns true for a region such as `eu-central-1`, an address such as `gs://lake` and a local one.
fn is_server_place(word: &str) -> bool {
    let is_region = || {
        let parts: Vec<&str> = word.split('-').collect();
        let is_word = |part: &str| part.len() >= 2 && part.bytes().all(|b| b.is_ascii_lowercase());
        matches!(parts.as_slice(), [first, second, number]
            if is_word(first) && is_word(second)
                && number.bytes().next().is_some_and(|byte| byte.is_ascii_digit()))
    };
    let is_address = || {
        word.split_once("://").is_some_and(|(scheme, rest)| {
            !["http", "https"].contains(&scheme) || rest.starts_with("localhost")
        })
    };
    is_region() || is_address() || word.starts_with("127.0.0.1") || word.starts_with("localhost:")
}

/// Returns true if a word has an inner capital, as identifiers have: `OrderMapper`.
fn has_identifier(words: &StatementWords) -> bool {
    words.originals().iter().zip(words.all()).any(|(word, lower)| {
        let mut chars = word.chars().peekable();
        let mut has_inner = false;
        while let Some(c) = chars.next() {
            has_inner |= c.is_lowercase() && chars.peek().is_some_and(|next| next.is_uppercase());
        }
        has_inner && !CAPITALISED_NAMES.contains(&lower.as_str())
    })
}

/// Returns true if the text contains code or the name of a file: a path, a name with underscores, a
/// call, a flag, a version, a name in backticks.
fn has_code_form(text: &str, words: &StatementWords) -> bool {
    text.contains('`')
        || words.originals().iter().any(|word| {
            let is_path = word.contains('/')
                && !word.starts_with('~')
                && !word.contains("//")
                && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"/-_.".contains(&b))
                && word.bytes().any(|b| b.is_ascii_lowercase())
                && (word.starts_with('/')
                    || word.ends_with('/')
                    || word.contains('.')
                    || word.contains('_'));
            let is_name = word.contains('_') && word.bytes().any(|b| b.is_ascii_alphabetic());
            is_path || is_name || word.contains("()") || word.starts_with("--") || is_file(word)
        })
}

/// Returns true for the name of a source or configuration file.
fn is_file(word: &str) -> bool {
    const EXTENSIONS: [&str; 24] = [
        "rs", "ts", "tsx", "js", "jsx", "py", "go", "java", "kt", "rb", "php", "c", "h", "cpp",
        "cs", "sql", "json", "yml", "yaml", "toml", "sh", "css", "html", "prod",
    ];
    word.starts_with('.') && word.len() > 3 && word.bytes().skip(1).all(|b| b.is_ascii_lowercase())
        || word.rsplit_once('.').is_some_and(|(stem, extension)| {
            stem.len() > 1
                && stem.bytes().all(|b| b.is_ascii_alphanumeric() || b"/-_.".contains(&b))
                && EXTENSIONS.contains(&extension)
        })
}
