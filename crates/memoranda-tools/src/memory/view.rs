//! The command `view`: shows files and directories up to a maximum length, and how to continue.

use memoranda_core::path::NotePath;
use memoranda_engine::{DirEntryKind, EngineError};

use super::command::ViewRange;
use super::execute::{place, resolve_path};
use super::outcome::{ListedEntry, MemoryError, MemoryOutcome, PathAccess};
use super::path::{self, MemoryPath};
use super::{FRAME_CHARS, MAX_CHARS, lines};
use crate::registry::CallContext;

/// Minimum length of a view in characters: a line number and a part of the line.
const MIN_VIEW_CHARS: usize = 16;

/// Shows a file or a directory.
pub(super) fn view(
    call: &CallContext<'_>,
    path: String,
    range: Option<ViewRange>,
) -> Result<MemoryOutcome, MemoryError> {
    let memories = &call.settings.memories;
    let failed = |e: &EngineError| MemoryError::from_engine(e, &path, PathAccess::Read);
    let at = match resolve_path(call, &path, PathAccess::Read)? {
        // `/` and `.` are names of the directory that no entry could be added to.
        MemoryPath::Root if path.trim_matches(['/', '.']).is_empty() => {
            return list(call, "/memories".to_owned(), None, range);
        }
        MemoryPath::Root => return list(call, path, None, range),
        MemoryPath::At(at) => at,
    };
    let place = place(memories, &at);
    let note = match call.memory.read_at(&place) {
        Ok(note) => note,
        Err(e) => match failed(&e) {
            MemoryError::NotAFile { .. } => return list(call, path, Some(&at), range),
            other => return Err(other),
        },
    };
    call.memory.record_use(&place);
    let shown = note.lossy_text();
    let lines = lines::lines(&shown);
    if lines.len() > lines::MAX_LINES {
        return Err(MemoryError::TooManyLines { path });
    }
    let range = range.unwrap_or_default();
    let (first, lines) = lines::in_range(&lines, (range.first, range.last));
    let part = match lines {
        [line, rest @ ..] if range.character > 1 => {
            let skipped = usize::try_from(range.character - 1).unwrap_or(usize::MAX);
            let from = line.char_indices().nth(skipped).map_or(line.len(), |(at, _)| at);
            [&[&line[from..]], rest].concat()
        }
        lines => lines.to_vec(),
    };
    let from = ViewRange { first: i64::try_from(first).unwrap_or(i64::MAX), ..range };
    let numbered = cut_view(lines::numbered(&part, first), from, max_view_chars(call));
    Ok(MemoryOutcome::FileContent { path, numbered })
}

/// Returns the maximum length of the lines in one answer, in characters.
fn max_view_chars(call: &CallContext<'_>) -> usize {
    call.settings.view_chars.clamp(MIN_VIEW_CHARS, MAX_CHARS - FRAME_CHARS)
}

/// Cuts a view to its maximum length, and adds how to continue.
fn cut_view(shown: String, range: ViewRange, max_chars: usize) -> String {
    let Some((at, _)) = shown.char_indices().nth(max_chars) else { return shown };
    let last = range.last;
    let (kept, rest, how) = match shown[..at].rfind('\n') {
        // The next view starts with the line that does not fit.
        Some(end) => {
            let kept = &shown[..end];
            let next = range.first + kept.matches('\n').count() as i64 + 1;
            (kept, &shown[end + 1..], format!("continue with view_range [{next}, {last}]"))
        }
        // A line that is longer than a view continues at a character.
        None => {
            let (kept, first) = (&shown[..at], range.first);
            let line = kept.split_once('\t').map_or("", |(_, line)| line);
            let next = range.character.max(1).saturating_add(line.chars().count() as i64);
            let how = format!(
                "line {first} is longer than a view; continue with view_range \
                 [{first}, {last}, {next}], where the third number is its next character"
            );
            (kept, &shown[at..], how)
        }
    };
    format!("{kept}\n\n[...truncated {} chars; {how}]", rest.chars().count())
}

fn list(
    call: &CallContext<'_>,
    path: String,
    at: Option<&NotePath>,
    range: Option<ViewRange>,
) -> Result<MemoryOutcome, MemoryError> {
    let shown = path.trim_end_matches('/').to_owned();
    let mut entries = Vec::new();
    list_folder(call, at, ListedEntry { size: 0, path: shown.clone() }, &shown, 2, &mut entries)
        .map_err(|e| MemoryError::from_engine(&e, &path, PathAccess::Read))?;
    let (entries, left) = fit_entries(entries, range.unwrap_or_default(), max_view_chars(call));
    Ok(MemoryOutcome::Listing { path, entries, left })
}

/// Returns the entries that fit, and the remaining ones. The range counts entries, and only if they
/// do not all fit: otherwise the official tool ignores the range.
fn fit_entries(
    mut entries: Vec<ListedEntry>,
    range: ViewRange,
    cap: usize,
) -> (Vec<ListedEntry>, Option<RemainingEntries>) {
    let cost = |entry: &ListedEntry| entry.path.chars().count() + 10;
    if entries.iter().map(cost).sum::<usize>() <= cap {
        return (entries, None);
    }
    let total = entries.len();
    let first = usize::try_from(range.first.max(1) - 1).unwrap_or(usize::MAX).min(total);
    let last = match usize::try_from(range.last) {
        Ok(last) => last.clamp(first, total),
        Err(_) => total,
    };
    let mut room = cap;
    let fits = |entry: &&ListedEntry| match room.checked_sub(cost(entry)) {
        Some(left) => {
            room = left;
            true
        }
        None => false,
    };
    // At least one entry, so that continuing comes to an end.
    let count = entries[first..last].iter().take_while(fits).count().max(1).min(last - first);
    entries.truncate(first + count);
    entries.drain(..first);
    let next = first + count;
    let left = (next < last).then(|| RemainingEntries {
        count: last - next,
        next: next + 1,
        last: range.last,
    });
    (entries, left)
}

/// Entries of a directory that do not fit into an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RemainingEntries {
    /// Number of remaining entries.
    pub(crate) count: usize,
    /// Number of the first remaining entry.
    pub(crate) next: usize,
    /// Last requested entry; -1 for all.
    pub(crate) last: i64,
}

/// Lists a folder and its content, `levels` levels deep.
fn list_folder(
    call: &CallContext<'_>,
    at: Option<&NotePath>,
    own: ListedEntry,
    shown: &str,
    levels: usize,
    entries: &mut Vec<ListedEntry>,
) -> Result<(), EngineError> {
    let Some(found) = call.memory.list_folder(&call.settings.memories, at)? else {
        return Ok(());
    };
    entries.push(ListedEntry { size: found.size, ..own });
    if levels == 0 {
        return Ok(());
    }
    for entry in found.entries {
        if entry.name.starts_with('.') || entry.name == "node_modules" {
            continue;
        }
        let path = format!("{shown}/{}", path::on_one_line(&entry.name));
        match entry.kind {
            DirEntryKind::File => entries.push(ListedEntry { size: entry.size, path }),
            DirEntryKind::Folder => {
                let inner = match at {
                    Some(at) => format!("{at}/{}", entry.name),
                    None => entry.name,
                };
                let Ok(inner) = NotePath::parse(&inner) else { continue };
                let own = ListedEntry { size: 0, path: format!("{path}/") };
                // A folder that cannot be read does not hide the others.
                list_folder(call, Some(&inner), own, &path, levels - 1, entries).ok();
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_continues_where_it_was_cut() {
        let entries = |from: usize, to: usize| -> Vec<ListedEntry> {
            (from..=to).map(|n| ListedEntry { size: 0, path: format!("{n:05}") }).collect()
        };
        // Each entry costs 15.
        for (first, last, cap, shown, left) in [
            (1, -1, 150, (1, 10), None),
            (4, 5, 150, (1, 10), None),
            (1, -1, 100, (1, 6), Some((4, 7, -1))),
            (7, -1, 100, (7, 10), None),
            (2, 9, 50, (2, 4), Some((5, 5, 9))),
            (9, 9, 100, (9, 9), None),
            (3, -1, 1, (3, 3), Some((7, 4, -1))),
            (99, -1, 100, (1, 0), None),
        ] {
            let range = ViewRange { first, last, character: 1 };
            let left = left.map(|(count, next, last)| RemainingEntries { count, next, last });
            let expected = (entries(shown.0, shown.1), left);
            assert_eq!(fit_entries(entries(1, 10), range, cap), expected, "{first} {last} {cap}");
        }
    }
}
