//! Showing files and directories, as much at once as a view may hold, and how to go on.

use memoranda_core::path::NotePath;
use memoranda_engine::{DirEntryKind, EngineError};

use super::command::ViewRange;
use super::execute::{place, target};
use super::outcome::{ListedEntry, MemoryError, MemoryOutcome, PathAccess};
use super::path::{self, MemoryPath};
use super::{FRAME_CHARS, MAX_CHARS, lines};
use crate::registry::CallContext;

/// Less than a line's number and a little of the line would never come to its end.
const LEAST: usize = 16;

/// Shows a file or a directory.
pub(super) fn view(
    call: &CallContext<'_>,
    path: String,
    range: Option<ViewRange>,
) -> Result<MemoryOutcome, MemoryError> {
    let memories = &call.settings.memories;
    let failed = |e: &EngineError| MemoryError::from_engine(e, &path, PathAccess::Read);
    let at = match target(call, &path, PathAccess::Read)? {
        MemoryPath::Root => return list(call, path, None, range),
        MemoryPath::At(at) => at,
    };
    let note = match call.memory.read_at(&place(memories, &at)) {
        Ok(note) => note,
        Err(e) => match failed(&e) {
            MemoryError::NotAFile { .. } => return list(call, path, Some(&at), range),
            other => return Err(other),
        },
    };
    call.memory.store().note_use(memories, &at);
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
    let numbered = cut(lines::numbered(&part, first), from, most(call));
    Ok(MemoryOutcome::FileContent { path, numbered })
}

/// The most characters of lines in one answer.
fn most(call: &CallContext<'_>) -> usize {
    call.settings.view_chars.clamp(LEAST, MAX_CHARS - FRAME_CHARS)
}

/// Holds a view to its cap and says how to go on.
fn cut(shown: String, range: ViewRange, cap: usize) -> String {
    let Some((at, _)) = shown.char_indices().nth(cap) else { return shown };
    let last = range.last;
    let (kept, rest, how) = match shown[..at].rfind('\n') {
        // The line at which there is no more room comes whole with the next view.
        Some(end) => {
            let kept = &shown[..end];
            let next = range.first + kept.matches('\n').count() as i64 + 1;
            (kept, &shown[end + 1..], format!("continue with view_range [{next}, {last}]"))
        }
        // A line that no view can hold goes on by its characters.
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
    gather(call, at, ListedEntry { size: 0, path: shown.clone() }, &shown, 2, &mut entries)
        .map_err(|e| MemoryError::from_engine(&e, &path, PathAccess::Read))?;
    let (entries, left) = part(entries, range.unwrap_or_default(), most(call));
    Ok(MemoryOutcome::Listing { path, entries, left })
}

/// As many entries as fit, and which comes next if some are left. The range counts entries, and
/// only where they do not all fit: otherwise the official tool pays no heed to it, and nor do we.
fn part(
    mut entries: Vec<ListedEntry>,
    range: ViewRange,
    cap: usize,
) -> (Vec<ListedEntry>, Option<RemainingEntries>) {
    let weight = |entry: &ListedEntry| entry.path.chars().count() + 10;
    if entries.iter().map(weight).sum::<usize>() <= cap {
        return (entries, None);
    }
    let total = entries.len();
    let first = usize::try_from(range.first.max(1) - 1).unwrap_or(usize::MAX).min(total);
    let last = match usize::try_from(range.last) {
        Ok(last) => last.clamp(first, total),
        Err(_) => total,
    };
    let mut room = cap;
    let fits = |entry: &&ListedEntry| match room.checked_sub(weight(entry)) {
        Some(left) => {
            room = left;
            true
        }
        None => false,
    };
    // One at least, so that going on comes to an end.
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

/// The entries of a directory that an answer had no room for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RemainingEntries {
    /// How many.
    pub(crate) count: usize,
    /// The first of them.
    pub(crate) next: usize,
    /// The last that was asked for; -1 for all.
    pub(crate) last: i64,
}

/// Lists a folder by its own line, and then what is in it, so many levels deep.
fn gather(
    call: &CallContext<'_>,
    at: Option<&NotePath>,
    own: ListedEntry,
    shown: &str,
    levels: usize,
    entries: &mut Vec<ListedEntry>,
) -> Result<(), EngineError> {
    let Some(found) = call.memory.store().entries(&call.settings.memories, at)? else {
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
                // One folder that cannot be read does not hide the others.
                gather(call, Some(&inner), own, &path, levels - 1, entries).ok();
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_goes_on_where_it_was_cut() {
        let entries = |from: usize, to: usize| -> Vec<ListedEntry> {
            (from..=to).map(|n| ListedEntry { size: 0, path: format!("{n:05}") }).collect()
        };
        // Each weighs 15.
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
            assert_eq!(part(entries(1, 10), range, cap), expected, "{first} {last} {cap}");
        }
    }
}
