//! Guessing the scope of a statement.

use super::scope_cues::{
    CAPITALISED_NAMES, CONVERSATION, EVERYWHERE, GROUP, HYPHENATED, PERSON, PRIVATE, REPOSITORY,
    REPOSITORY_ENDINGS, SPEECH_ORDERS, UNSPACED_PERSON, UNSPACED_REPOSITORY, USER_VERBS,
};
use super::software_cues::{CODE_WORK, SOFTWARE};
use super::words::StatementWords;
use super::{StatementKind, StatementScope};

/// Minimum length of the last part of a repository's name that is recognised by itself.
const MIN_NAME_CHARS: usize = 3;

/// Guesses the scope. What names a repository is never the person's.
pub(super) fn guess_scope(
    text: &str,
    words: &StatementWords,
    kind: StatementKind,
    repositories: &[&str],
) -> StatementScope {
    use StatementScope::{Person, Repository};
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
    if words.has(GROUP) {
        return if words.has(PRIVATE) { Person } else { Repository };
    }
    let is_software = words.has(SOFTWARE) || has_code_form(text, words) || has_identifier(words);
    let is_speech = words.begins(SPEECH_ORDERS)
        || ["always", "never", "don't", "dont", "not", "immer", "toujours"].contains(&words.at(0))
            && SPEECH_ORDERS.contains(&words.at(1));
    if kind == StatementKind::Rule && (is_speech || words.has(CONVERSATION) && !is_software) {
        return Person;
    }
    if (words.has(PRIVATE) || text.contains('$')) && !has_code_form(text, words) {
        return Person;
    }
    match kind {
        StatementKind::Preference => {
            if words.has(&["team", "teams"]) {
                Repository
            } else {
                Person
            }
        }
        StatementKind::Rule | StatementKind::Decision => Repository,
        _ if is_software => Repository,
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
