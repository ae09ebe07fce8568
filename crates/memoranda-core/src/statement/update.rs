//! Statements that tell of a change: what an older statement says may hold no longer.

use super::compare::is_significant;
use super::words::StatementWords;

/// Words by which a statement tells of a change.
const CHANGES: &[&str] = &[
    "moved",
    "switched",
    "switch",
    "switching",
    "migrated",
    "changed",
    "upgraded",
    "downgraded",
    "renamed",
    "replaced",
    "raised",
    "lowered",
    "increased",
    "reduced",
    "became",
    "stopped",
    "dropped",
    "removed",
    "now",
    "no longer",
    "not anymore",
    "anymore",
    "any more",
    "instead",
    "from now on",
];
/// Words behind which a statement names what held before.
const OLD_VALUE_LEADS: &[&str] = &["from", "instead of", "replaced", "dropped", "than", "over"];
/// Words of a change that say nothing about its subject.
const CHANGE_FRAME: &[&str] =
    &["to", "from", "instead", "longer", "no", "not", "use", "uses", "used", "using", "go", "goes"];
/// Words of a place where somebody lives, and of a move to another one.
const RESIDENCE: &[&str] = &["live", "lives", "living", "based", "resides", "home"];
const MOVES: &[&str] = &["moved", "relocated", "moving", "emigrated"];
/// Number of words that a subject has in both statements, unless the old value is named.
const MIN_COMMON_WORDS: usize = 2;

/// Returns true if a newer statement tells of a change of what an older one says.
///
/// ```
/// use memoranda_core::statement::is_update;
///
/// assert!(is_update("The API listens on port 8080", "We moved from port 8080 to 9090"));
/// assert!(!is_update("The API listens on port 8080", "We moved the docs of the API to Notion"));
/// ```
pub fn is_update(old: &str, new: &str) -> bool {
    let (old, new) = (StatementWords::new(old), StatementWords::new(new));
    if !new.has(CHANGES) && !new.has(MOVES) {
        return false;
    }
    if old.has(RESIDENCE) && new.has(MOVES) && old.at(0) == new.at(0) {
        return true;
    }
    let old_stems = stems(&old);
    let new_stems = stems(&new);
    let common = new_stems.iter().filter(|stem| old_stems.contains(stem)).count();
    common >= MIN_COMMON_WORDS || names_old_value(&new, &old_stems) || has_other_number(&old, &new)
}

/// Returns true if the statement names what held before, and the older one says it.
fn names_old_value(new: &StatementWords, old_stems: &[String]) -> bool {
    (0..new.all().len()).any(|at| {
        OLD_VALUE_LEADS.iter().filter(|lead| new.matches_at(at, lead)).any(|lead| {
            let value = new.at(at + lead.split(' ').count());
            is_subject(value) && old_stems.contains(&stem(value))
        })
    })
}

/// Returns true if both statements give one thing a number, and the numbers differ: "Node 18" and
/// "Node 22".
fn has_other_number(old: &StatementWords, new: &StatementWords) -> bool {
    let numbered = |words: &StatementWords| -> Vec<(String, String)> {
        let pairs = words.all().windows(2).filter_map(|pair| match pair {
            [name, number]
                if is_subject(name) && number.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                Some((name.clone(), number.clone()))
            }
            _ => None,
        });
        pairs.collect()
    };
    let old = numbered(old);
    numbered(new)
        .iter()
        .any(|(name, number)| old.iter().any(|(known, other)| known == name && other != number))
}

/// Returns the words that can name a subject, each without the ending of a plural.
fn stems(words: &StatementWords) -> Vec<String> {
    let mut stems: Vec<String> =
        words.all().iter().filter(|word| is_subject(word)).map(|word| stem(word)).collect();
    stems.sort_unstable();
    stems.dedup();
    stems
}

fn is_subject(word: &str) -> bool {
    word.contains(char::is_alphanumeric)
        && is_significant(word)
        && !CHANGE_FRAME.contains(&word)
        && !CHANGES.contains(&word)
}

fn stem(word: &str) -> String {
    let word = word.trim_matches('`');
    let is_plural = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
    if is_plural { word.trim_end_matches('s').to_owned() } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_the_same_subject_is_an_update() {
        for (old, new) in [
            ("The API listens on port 8080", "We moved from port 8080 to 9090"),
            ("We use Jest as test runner", "We switched from Jest to Vitest"),
            ("I live in Lisbon", "I moved to Porto"),
            ("The service runs on Node 18", "We upgraded to Node 22"),
            ("Deploys go out on Fridays", "Deploys no longer go out on Friday"),
            ("This repo uses pnpm, never npm", "We use bun instead of pnpm now"),
            ("The database host is db1", "The database host changed to db2"),
            ("Staging is hosted on Heroku", "We dropped Heroku for staging"),
        ] {
            assert!(is_update(old, new), "{old} / {new}");
        }
    }

    #[test]
    fn a_statement_about_something_else_is_no_update() {
        for (old, new) in [
            ("The API listens on port 8080", "We moved the API docs to Notion"),
            ("The API listens on port 8080", "The API listens on port 9090"),
            ("We use Jest as test runner", "The build is green now"),
            ("I live in Lisbon", "We moved to Kubernetes"),
            ("The service runs on Node 18", "Python 3.12 is required now"),
            ("I prefer tabs", "I no longer drink coffee"),
            ("Users are stored in Postgres", "The list of users is now too long for the page"),
            ("", "now"),
            ("now", ""),
        ] {
            assert!(!is_update(old, new), "{old} / {new}");
        }
    }
}
