//! Placement of a text by deterministic rules.

use super::bank::BankType;
use super::category_rules::{CATEGORIES, ContentCategory, DEFAULT};
use super::insert::TextOperation;
use super::outline::headings;
use super::placement::Placement;

/// Maximum number of words that are considered.
const MAX_WORDS: usize = 4000;
/// Maximum number of words that a lone `*` in a cue matches.
const MAX_GAP: usize = 4;

/// Places a text in a bank of a type. `trigger` is the event that led to the update.
pub(super) fn categorize(kind: BankType, content: &str, trigger: Option<&str>) -> Placement {
    let words = words(content);
    let title = title_of(content);
    let (category, confidence) = choose(kind, content, &words, title.as_deref(), trigger);
    let home = category.home(kind);
    let section = home
        .sections
        .iter()
        .map(|(name, cues)| (*name, cues.iter().filter(|cue| matches_cue(&words, cue)).count()))
        .reduce(|best, next| if next.1 > best.1 { next } else { best })
        .map(|(name, _)| name.to_owned());
    // A text with headings, or for a file without sections, is appended.
    let (operation, section) = match (title.is_some(), section) {
        (false, Some(section)) => (TextOperation::Insert, Some(section)),
        _ => (TextOperation::Append, None),
    };
    Placement {
        file: home.file.to_owned(),
        section,
        operation,
        category: category.name.to_owned(),
        confidence,
    }
}

fn choose(
    kind: BankType,
    content: &str,
    words: &[String],
    title: Option<&str>,
    trigger: Option<&str>,
) -> (&'static ContentCategory, f64) {
    if let Some(title) = title {
        let title_words = self::words(title);
        let names = |cues: &[&str]| cues.iter().any(|cue| matches_cue(&title_words, cue));
        if let Some(category) = CATEGORIES.iter().find(|category| names(category.titles)) {
            return (category, 1.0);
        }
        if let Some(category) = CATEGORIES.iter().find(|category| names(category.cues)) {
            return (category, 0.9);
        }
    }
    let hinted = trigger.and_then(trigger_category);
    let mut scores: Vec<(usize, &'static ContentCategory)> = CATEGORIES
        .iter()
        .map(|category| {
            // A cue of several words counts twice.
            let weight = |cue: &str| 1 + usize::from(cue.contains(' '));
            let cues = category.cues.iter().filter(|cue| matches_cue(words, cue));
            let found: usize = cues.map(|cue| weight(cue)).sum();
            (
                found
                    + format_score(category.name, content)
                    + usize::from(hinted == Some(category.name)),
                category,
            )
        })
        .collect();
    let all: usize = scores.iter().map(|(score, _)| score).sum();
    if all == 0 {
        return (&DEFAULT, 0.0);
    }
    // The sort is stable: of equal scores the first in the table wins.
    scores.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let Some((_, best)) = scores.first() else { return (&DEFAULT, 0.0) };
    // The confidence in a file is the score of all categories that share it.
    let file = best.home(kind).file;
    let shared = scores.iter().filter(|(_, category)| category.home(kind).file == file);
    let shared: usize = shared.map(|(score, _)| score).sum();
    (best, (shared as f64 / all as f64 * 100.0).round() / 100.0)
}

/// Scores the format of a text: fences suggest code, a URL suggests a reference.
fn format_score(category: &str, content: &str) -> usize {
    match category {
        "code" if content.contains("```") => 3,
        "reference" if content.contains("https://") || content.contains("http://") => 2,
        "tasks" if content.contains("- [ ]") => 2,
        "progress" if content.contains("- [x]") => 2,
        _ => 0,
    }
}

/// Returns the category that a trigger suggests.
fn trigger_category(trigger: &str) -> Option<&'static str> {
    match trigger {
        "architecture" => Some("architecture"),
        "technology" => Some("technology"),
        "progress" | "commit" => Some("progress"),
        _ => None,
    }
}

/// Returns the title of a text that begins with a heading.
fn title_of(content: &str) -> Option<String> {
    let first = headings(content).into_iter().next()?;
    content.get(..first.start)?.trim().is_empty().then_some(first.title)
}

/// Splits a text into lower-case words without punctuation.
fn words(text: &str) -> Vec<String> {
    let trimmed = |word: &str| {
        let marks = |c: char| !c.is_alphanumeric() && !matches!(c, '/' | '%');
        word.trim_start_matches(marks).trim_end_matches(marks).to_lowercase().replace('’', "'")
    };
    text.split_whitespace().take(MAX_WORDS).map(trimmed).filter(|word| !word.is_empty()).collect()
}

/// Returns true if a cue matches anywhere in the words.
fn matches_cue(words: &[String], cue: &str) -> bool {
    let parts: Vec<&str> = cue.split(' ').map(|part| part.trim_end_matches([',', ':'])).collect();
    (0..words.len()).any(|at| matches_at(words.get(at..).unwrap_or_default(), &parts))
}

fn matches_at(words: &[String], parts: &[&str]) -> bool {
    let Some((part, rest)) = parts.split_first() else { return true };
    if *part == "*" {
        return (1..=MAX_GAP)
            .take_while(|gap| *gap <= words.len())
            .any(|gap| matches_at(words.get(gap..).unwrap_or_default(), rest));
    }
    let Some((word, after)) = words.split_first() else { return false };
    let fits = match part.strip_suffix('*') {
        Some(beginning) => word.starts_with(beginning),
        None => word == part,
    };
    fits && matches_at(after, rest)
}

#[cfg(test)]
#[path = "categorize_tests.rs"]
mod tests;
