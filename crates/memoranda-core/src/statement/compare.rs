//! Comparing two statements: the same words, another value of the same subject, or near.

use super::kind_cues::OPENINGS;
use super::update::is_update;
use super::words::StatementWords;

/// The difference between two statements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StatementDifference {
    /// Equal words.
    Same,
    /// One subject with exactly one other value.
    Value,
    /// Much in common: the one may replace the other.
    Near,
    /// Little in common.
    Unrelated,
}

/// Maximum number of words of a value.
const MAX_VALUE_WORDS: usize = 3;
/// Maximum number of words of a part that differs in near statements.
const MAX_NEAR_WORDS: usize = 4;
/// Minimum share of common words of near statements.
const MIN_SHARED: f64 = 0.6;

/// Words without meaning of their own.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "at", "be", "by", "for", "has", "have", "i", "i'm", "in", "is", "it",
    "its", "my", "now", "of", "on", "our", "please", "that", "the", "there", "this", "to", "was",
    "we", "with", "will",
];

/// Words that lead to a number: what comes behind them can change while the subject stays. A past
/// tense leads to an event, which stays true.
const VALUE_LEADS: &[&str] = &[
    "is", "has", "have", "takes", "take", "costs", "cost", "lasts", "last", "expire", "expires",
    "listens", "allows", "allow", "needs", "need", "targets", "requires", "require", "equals", "=",
    ":", "after", "until", "within", "least", "most",
];

/// Words that may stand between such a word and its number.
const VALUE_FILLERS: &[&str] = &[
    "about",
    "around",
    "roughly",
    "approximately",
    "only",
    "now",
    "exactly",
    "at",
    "least",
    "most",
];

/// Verbs behind which "on" leads to the date that a thing has.
const DATED: &[&str] = &["expires", "expire", "ends", "starts", "begins", "due", "renews"];

/// Verbs that end a subject with one value. "Are" lists some of several values.
const COPULAS: &[&str] = &["is", "=", ":", "called", "named", "ist", "est", "es", "é"];

/// Words of a subject that is one of several, or that holds now and then: another value is another
/// fact.
const INDEFINITE: &[&str] = &[
    "a",
    "an",
    "one",
    "another",
    "some",
    "any",
    "every",
    "each",
    "among",
    "many",
    "several",
    "few",
    "other",
    "also",
    "too",
    "sometimes",
    "often",
    "usually",
    "normally",
    "mostly",
    "typically",
    "maybe",
    "can",
    "could",
    "may",
    "might",
    "ein",
    "eine",
    "un",
    "une",
    "una",
];

/// People and things that a person has several of: "my friend's birthday" may be of two friends.
const SEVERAL_OF: &[&str] = &[
    "friend",
    "colleague",
    "coworker",
    "neighbour",
    "neighbor",
    "cousin",
    "uncle",
    "aunt",
    "brother",
    "sister",
    "son",
    "daughter",
    "child",
    "kid",
    "nephew",
    "niece",
    "customer",
    "client",
    "teammate",
    "student",
    "pupil",
    "patient",
    "roommate",
    "flatmate",
    "grandmother",
    "grandfather",
    "dog",
    "cat",
];

/// Nouns that have one number at a time.
const SINGLE_VALUED: &[&str] = &[
    "phone",
    "number",
    "timezone",
    "zone",
    "version",
    "port",
    "host",
    "url",
    "address",
    "branch",
    "deadline",
    "limit",
    "size",
    "length",
    "timeout",
    "password",
    "birthday",
    "height",
    "weight",
    "salary",
    "budget",
    "title",
    "region",
    "date",
    "day",
    "time",
    "price",
    "coverage",
    "threshold",
];

/// Nouns whose value is a name, and not a description.
const NAMED_VALUES: &[&str] = &[
    "name",
    "email",
    "mail",
    "phone",
    "number",
    "timezone",
    "zone",
    "version",
    "host",
    "url",
    "address",
    "branch",
    "manager",
    "boss",
    "owner",
    "maintainer",
    "password",
    "birthday",
    "employer",
    "editor",
    "shell",
    "region",
    "handle",
    "username",
    "spelled",
    "deadline",
    "browser",
    "font",
    "surname",
    "nickname",
    "dentist",
    "doctor",
    "bank",
    "capital",
    "licence",
    "license",
];

/// Words of a liking that has one object.
const FAVOURITES: &[&str] = &["favourite", "favorite", "preferred"];

/// Common adjectives.
const DESCRIPTIONS: &[&str] = &[
    "bad",
    "big",
    "broken",
    "cheap",
    "clean",
    "close",
    "cold",
    "cool",
    "dead",
    "dirty",
    "down",
    "due",
    "early",
    "easy",
    "empty",
    "far",
    "fast",
    "fine",
    "flaky",
    "free",
    "full",
    "fun",
    "funny",
    "gone",
    "good",
    "great",
    "happy",
    "hard",
    "hidden",
    "high",
    "hot",
    "important",
    "invalid",
    "kind",
    "large",
    "late",
    "lazy",
    "long",
    "loud",
    "low",
    "mandatory",
    "missing",
    "near",
    "new",
    "nice",
    "obsolete",
    "off",
    "ok",
    "old",
    "on",
    "open",
    "optional",
    "out",
    "poor",
    "pretty",
    "private",
    "public",
    "quiet",
    "ready",
    "red",
    "rich",
    "right",
    "sad",
    "safe",
    "secret",
    "short",
    "sick",
    "slow",
    "small",
    "smart",
    "stable",
    "strict",
    "tall",
    "terrible",
    "tiny",
    "ugly",
    "unclear",
    "unknown",
    "unstable",
    "up",
    "valid",
    "weak",
    "wide",
    "wrong",
    "young",
];

/// Words that restrict a value to a case.
const CONDITIONS: &[&str] =
    &["in", "for", "on", "at", "when", "during", "per", "if", "with", "and", "or"];

/// Words that turn a statement into its opposite.
const NEGATIONS: &[&str] =
    &["not", "no", "never", "don't", "dont", "isn't", "aren't", "without", "nicht", "kein", "pas"];

/// Compares an older statement with a newer one.
///
/// ```
/// use memoranda_core::statement::{StatementDifference, compare_statements};
///
/// let difference = compare_statements("The rate limit is 100", "The rate limit is 200");
/// assert_eq!(difference, StatementDifference::Value);
/// ```
pub fn compare_statements(old: &str, new: &str) -> StatementDifference {
    // Words are compared without signs, which can make another statement: a question, a pattern.
    let has_same_signs = signs(old) == signs(new);
    let is_changed = is_update(old, new);
    let (old, new) = (comparable_words(old), comparable_words(new));
    if old == new {
        return match (old.is_empty(), has_same_signs) {
            (true, _) => StatementDifference::Unrelated,
            (false, true) => StatementDifference::Same,
            (false, false) => StatementDifference::Near,
        };
    }
    let same = |(a, b): &(&String, &String)| a == b;
    let prefix = old.iter().zip(&new).take_while(same).count();
    let room = old.len().min(new.len()) - prefix;
    let suffix = old.iter().rev().zip(new.iter().rev()).take(room).take_while(same).count();
    let old_part = old.get(prefix..old.len() - suffix).unwrap_or_default();
    let new_part = new.get(prefix..new.len() - suffix).unwrap_or_default();
    let (lead, rest) =
        (old.get(..prefix).unwrap_or_default(), old.get(old.len() - suffix..).unwrap_or_default());
    let is_negated =
        [old_part, new_part].into_iter().flatten().any(|word| NEGATIONS.contains(&word.as_str()));
    if !is_negated && is_other_value(lead, rest, old_part, new_part) {
        return StatementDifference::Value;
    }
    let framed = lead.iter().chain(rest).filter(|word| is_significant(word)).count();
    let is_short = |part: &[String]| part.len() <= MAX_NEAR_WORDS;
    if framed > 0 && lead.len() + rest.len() >= 2 && is_short(old_part) && is_short(new_part) {
        return StatementDifference::Near;
    }
    if is_changed || shared(&old, &new) >= MIN_SHARED {
        return StatementDifference::Near;
    }
    StatementDifference::Unrelated
}

/// Returns true if one part behind the subject differs, and the subject has one value at a time.
fn is_other_value(lead: &[String], rest: &[String], old: &[String], new: &[String]) -> bool {
    let fits = |part: &[String]| (1..=MAX_VALUE_WORDS).contains(&part.len());
    if !fits(old) || !fits(new) || lead.iter().filter(|word| is_significant(word)).count() == 0 {
        return false;
    }
    let has_any = |words: &[&str]| lead.iter().any(|word| words.contains(&word.as_str()));
    let owner = |word: &String| SEVERAL_OF.contains(&word.strip_suffix("'s").unwrap_or(word));
    if has_any(INDEFINITE) || lead.iter().any(owner) {
        return false;
    }
    let from_end = |back: usize| {
        lead.len().checked_sub(back).and_then(|at| lead.get(at)).map_or("", String::as_str)
    };
    if is_number(old) && is_number(new) {
        // Elsewhere a number is part of a name: "port 80 is open", "I own book number 3".
        let last = from_end(1);
        let behind_lead = VALUE_LEADS.contains(&last)
            || VALUE_FILLERS.contains(&last) && VALUE_LEADS.contains(&from_end(2))
            || last == "on" && DATED.contains(&from_end(2));
        let behind_noun = SINGLE_VALUED.contains(&last) && has_any(VALUE_LEADS);
        return behind_lead || behind_noun;
    }
    // A part with a condition, as in "100 in production", has more than one value.
    let has_condition =
        |part: &[String]| part.iter().any(|word| CONDITIONS.contains(&word.as_str()));
    if has_condition(old) || has_condition(new) {
        return false;
    }
    let ends_in_copula = COPULAS.contains(&from_end(1));
    let noun = if from_end(2) == "is" { from_end(3) } else { from_end(2) };
    let is_named =
        has_any(NAMED_VALUES) && (NAMED_VALUES.contains(&noun) || has_any(&["of", "for"]));
    let is_described = |part: &[String]| part.iter().any(|word| is_description(word));
    ends_in_copula
        && rest.is_empty()
        && (has_any(FAVOURITES) || is_named && !is_described(old) && !is_described(new))
}

/// Returns true for a number, a version, a date or a price.
fn is_number(part: &[String]) -> bool {
    let starts_with_digit = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    match part {
        [word] => {
            let unmarked = word.trim_start_matches(['v', '$', '€', '£', '~', '<', '>', '+', '-']);
            starts_with_digit(unmarked)
        }
        _ => false,
    }
}

/// Returns true for a word that describes: "the default branch is broken" gives no other name to it.
fn is_description(word: &str) -> bool {
    const ENDINGS: [&str; 8] = ["ful", "ous", "ing", "able", "ible", "less", "ed", "ive"];
    DESCRIPTIONS.contains(&word)
        || word.len() > 4 && ENDINGS.iter().any(|ending| word.ends_with(ending))
}

/// Words that date a statement, and change nothing in what it says.
const DATED_NOW: &[&str] = &["now", "currently", "nowadays"];

/// Returns the words that are compared: lower case, without polite openings, final signs and words
/// for the present.
fn comparable_words(text: &str) -> Vec<String> {
    let mut words = StatementWords::new(text);
    while let Some(opening) = OPENINGS.iter().find(|opening| words.begins(&[opening])) {
        words.drop_first(opening.split(' ').count());
    }
    let is_kept = |word: &&String| {
        !matches!(word.as_str(), "," | ";" | ".") && !DATED_NOW.contains(&word.as_str())
    };
    words.all().iter().filter(is_kept).map(|word| word.trim_matches('`').to_owned()).collect()
}

/// Returns the signs that change the content of a statement.
fn signs(text: &str) -> String {
    text.chars().filter(|c| "?*<>[]{}".contains(*c)).collect()
}

pub(super) fn is_significant(word: &str) -> bool {
    !STOP_WORDS.contains(&word)
}

/// Returns the share of significant words that two statements have in common.
fn shared(old: &[String], new: &[String]) -> f64 {
    let distinct = |words: &[String]| {
        let mut words: Vec<String> =
            words.iter().filter(|word| is_significant(word)).cloned().collect();
        words.sort_unstable();
        words.dedup();
        words
    };
    let (old, new) = (distinct(old), distinct(new));
    let common = old.iter().filter(|word| new.binary_search(word).is_ok()).count();
    let all = old.len() + new.len() - common;
    if all == 0 { 0.0 } else { common as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_another_value_of_the_same_subject_is_a_value() {
        use StatementDifference::{Near, Same, Unrelated, Value};
        for (old, new, expected) in [
            ("I prefer tabs", "i prefer  tabs.", Same),
            ("I prefer tabs", "Please remember that I prefer tabs", Same),
            ("The API rate limit is 100", "the api rate limit is 200", Value),
            (
                "API rate limit is 100 requests per minute",
                "API rate limit is 250 requests per minute",
                Value,
            ),
            ("Auth tokens expire after 15 minutes", "Auth tokens expire after 30 minutes", Value),
            ("My favourite editor is helix", "My favourite editor is zed", Value),
            ("The default branch is main", "The default branch is develop", Value),
            ("My timezone is Europe/Berlin", "My timezone is America/New_York", Value),
            ("Node version: 20", "Node version: 22", Value),
            ("our main branch is called trunk", "our main branch is called main", Value),
            ("The API timeout is 30 seconds", "The API timeout is now 60 seconds", Value),
            ("I prefer tabs", "I now prefer tabs", Same),
            // What changed is named, and perhaps no longer true.
            ("I prefer tabs", "I now prefer spaces", Near),
            ("The API listens on port 8080", "We moved from port 8080 to 9090", Near),
            ("We use Jest for unit tests", "We switched from Jest to Vitest", Near),
            // The number is part of the subject.
            ("Port 3000 is used by the shop", "Port 3001 is used by the shop", Near),
            ("I own a book about town number 1", "I own a book about town number 2", Near),
            ("Room 12 has 3 windows", "Room 12 has 4 windows", Value),
            ("The shop listens on port 80", "The shop listens on port 81", Value),
            // Both can be true.
            ("This repo uses pnpm", "This repo uses docker", Near),
            ("My dog is big", "My dog is brown", Near),
            ("I prefer tabs", "I prefer dark mode", Near),
            // The opposite is not a value.
            ("The build is not cached", "The build is cached", Near),
            ("My favourite colour is not blue", "My favourite colour is green", Near),
            // Two values differ.
            ("The limit is 100 per minute", "The limit is 200 per hour", Near),
            ("The limit is 100 in prod", "The limit is 200 in dev", Near),
            ("I have two cats", "The build takes nine minutes", Unrelated),
            ("I live in Lisbon", "Production runs PostgreSQL 15", Unrelated),
            ("", "", Unrelated),
        ] {
            assert_eq!(compare_statements(old, new), expected, "{old} / {new}");
        }
    }

    #[test]
    fn another_fact_is_never_another_value() {
        for (old, new) in [
            ("One of the main problems is latency", "One of the main problems is cost"),
            ("A current risk is churn", "A current risk is fraud"),
            ("Another favourite band is Muse", "Another favourite band is Blur"),
            ("My main hobbies are chess", "My main hobbies are climbing"),
            ("The default ports are 80", "The default ports are 443"),
            ("A related ticket number is 4312", "A related ticket number is 4313"),
            ("My friend's birthday is 3 May", "My friend's birthday is 7 June"),
            ("My brother's phone number is 555", "My brother's phone number is 777"),
            ("The bug is in 1.2", "The bug is in 1.3"),
            ("This is chapter 3", "This is chapter 4"),
            ("The outage was 2024-05-03", "The outage was 2024-06-10"),
            ("Her score was 12", "Her score was 14"),
            ("The service runs on 10.0.0.4", "The service runs on 10.0.0.5"),
            ("The object store is s3", "The object store is r2"),
            ("My phone number is 123 456", "My phone number is 123 999"),
            ("We use Redis?", "We use Redis"),
            ("Ignore *.log", "Ignore .log"),
            ("Some tests take 5 minutes", "Some tests take 9 minutes"),
            ("The name of a good dentist is Miller", "The name of a good dentist is Chang"),
            ("A customer's email is a@x.com", "A customer's email is b@x.com"),
            ("One default setting is dark mode", "One default setting is wrap lines"),
            ("I was in Rome for 3 days", "I was in Rome for 5 days"),
            ("There is a meeting at 3", "There is a meeting at 5"),
            ("My daughter's school is at 12 Oak Street", "My daughter's school is at 9 Elm Street"),
            ("Step 2 is lint", "Step 2 is test"),
            ("Among the owners is Kim", "Among the owners is Lee"),
            ("My job is fun", "My job is stressful"),
            ("The main building is old", "The main building is tall"),
            ("The project language is English", "The project language is Rust"),
            ("Sometimes the limit is 100", "Sometimes the limit is 300"),
            ("Usually the port is 80", "Usually the port is 8080"),
        ] {
            assert_eq!(compare_statements(old, new), StatementDifference::Near, "{old} / {new}");
        }
        for (old, new) in [
            ("The object storage region is eu-west-1", "The object storage region is us-east-1"),
            ("Coverage is at 82 %", "Coverage is at 85 %"),
            ("The certificate expires on 2026-03-01", "The certificate expires on 2027-03-01"),
            ("The API listens on port 80", "The API listens on port 8080"),
            ("The name of my dentist is Miller", "The name of my dentist is Chang"),
            ("Builds take 9 minutes", "Builds take 12 minutes"),
            ("My favourite colour is blue", "My favourite colour is green"),
        ] {
            assert_eq!(compare_statements(old, new), StatementDifference::Value, "{old} / {new}");
        }
    }
}
