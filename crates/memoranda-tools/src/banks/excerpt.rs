//! Texts of a bank within a size budget: small files in full, large files as excerpts. An excerpt has
//! the beginning, the headings and the last lines, with the call that reads the rest.

use memoranda_core::token_estimate::estimate_tokens;

use memoranda_engine::banks::{MemoryBank, OutlineHeading, headings};

/// Minimum size of an excerpt, in bytes. With less room a file is only named.
const MIN_EXCERPT_BYTES: usize = 600;
/// Divisor of the room for the beginning of a cut file.
const HEAD_PART: usize = 5;
/// Divisor of the room for the headings of a cut file.
const OUTLINE_PART: usize = 3;

/// The shown part of a bank.
#[derive(Debug, Default)]
pub(super) struct BankExcerpt {
    /// Files with their shown texts, in the order of the bank.
    pub(super) files: Vec<(String, String)>,
    /// Files that are cut.
    pub(super) cut: Vec<CutFile>,
}

/// A file that is cut.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CutFile {
    pub(super) file: String,
    pub(super) tokens: usize,
    pub(super) shown_tokens: usize,
    /// The call that reads the rest.
    pub(super) read_with: String,
}

/// Selects texts for `budget` bytes of JSON. `note` bytes are reserved for each file that is cut.
pub(super) fn choose(
    bank: &MemoryBank,
    files: &[(&str, &str)],
    budget: usize,
    note: usize,
) -> BankExcerpt {
    // A text longer than the budget does not fit, so its exact size is not computed.
    let size = |text: &str| if text.len() > budget { text.len() } else { cost(text) };
    let costs: Vec<usize> = files.iter().map(|(name, text)| cost(name) + size(text)).collect();
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|n| costs[*n]);
    let mut room = budget;
    let mut whole = vec![false; files.len()];
    let mut large = files.len();
    for (place, n) in order.iter().enumerate() {
        if costs[*n] > room / (files.len() - place) {
            break;
        }
        whole[*n] = true;
        room -= costs[*n];
        large -= 1;
    }
    room -= large.saturating_mul(note).min(room / 2);
    let share = room.checked_div(large).unwrap_or(0);
    let mut shown = BankExcerpt::default();
    for ((name, text), is_whole) in files.iter().zip(whole) {
        if is_whole {
            shown.files.push(((*name).to_owned(), (*text).to_owned()));
            continue;
        }
        let excerpt = (share >= MIN_EXCERPT_BYTES).then(|| excerpt(bank, name, text, share));
        let (part, from) = excerpt.unwrap_or_default();
        shown.cut.push(CutFile {
            file: (*name).to_owned(),
            tokens: estimate_tokens(text),
            shown_tokens: estimate_tokens(&part),
            read_with: reading_call(bank, name, from.max(1)),
        });
        if !part.is_empty() {
            shown.files.push(((*name).to_owned(), part));
        }
    }
    shown
}

/// Returns a file from a line on, within `budget` bytes of JSON, and the next line.
pub(super) fn from_line(text: &str, line: usize, budget: usize) -> (String, Option<usize>) {
    let mut part = String::new();
    let mut spent = 0;
    for (n, text) in text.split_inclusive('\n').enumerate().skip(line.max(1) - 1) {
        spent += cost(text);
        if spent > budget && !part.is_empty() {
            return (part, Some(n + 1));
        }
        if spent > budget {
            // A line longer than the budget is cut.
            let end = text.floor_char_boundary(budget / 2);
            part.push_str(text.get(..end).unwrap_or_default());
            part.push_str(" […cut]\n");
            return (part, Some(n + 2));
        }
        part.push_str(text);
    }
    (part, None)
}

/// Renders the call that reads the rest of a file.
pub(super) fn reading_call(bank: &MemoryBank, file: &str, line: usize) -> String {
    let (kind, id) = (bank.kind.as_str(), &bank.id);
    format!("activate(bank_type=\"{kind}\", bank_id=\"{id}\", file=\"{file}\", from_line={line})")
}

/// Returns the size of a text in JSON, in bytes.
pub(super) fn cost(text: &str) -> usize {
    let more = |byte: u8| match byte {
        b'\n' | b'"' | b'\\' | b'\t' | b'\r' => 1,
        0..0x20 => 5,
        _ => 0,
    };
    text.len() + text.bytes().map(more).sum::<usize>() + 4
}

/// Returns the beginning of a text, the headings of its middle and its end, and the first hidden line.
fn excerpt(bank: &MemoryBank, name: &str, text: &str, room: usize) -> (String, usize) {
    // Escapes make JSON longer. The ratio is estimated from the first bytes.
    let room = room * text.len().min(1 << 14)
        / cost(text.get(..text.floor_char_boundary(1 << 14)).unwrap_or(text)).max(1);
    let room = room * 9 / 10;
    let head = whole_lines(text, room / HEAD_PART);
    let first_hidden = head.matches('\n').count() + 1;
    let all = headings(text);
    let note_room = 260 + 2 * name.len() + 2 * bank.id.len();
    let outline_room = room / OUTLINE_PART;
    let tail_room = room.saturating_sub(head.len() + outline_room + note_room);
    let tail = last_lines(text.get(head.len()..).unwrap_or_default(), tail_room);
    let lines = text.lines().count();
    let last_hidden = lines.saturating_sub(tail.lines().count());
    let hidden: Vec<(usize, &OutlineHeading)> = all
        .iter()
        .enumerate()
        .filter(|(_, heading)| (first_hidden..=last_hidden).contains(&heading.line))
        .collect();
    let hidden_bytes = text.len() - head.len() - tail.len();
    let mut part = format!(
        "{head}\n[Lines {first_hidden} to {last_hidden} of {lines} are not shown (about {} tokens). \
         {} reads them.",
        hidden_bytes.div_ceil(4),
        reading_call(bank, name, first_hidden)
    );
    if !hidden.is_empty() {
        part.push_str(" Headings there:\n");
    }
    let mut spent = 0;
    for (shown, (n, heading)) in hidden.iter().enumerate() {
        let end = all.get(n + 1).map_or(text.len(), |next| next.start);
        let tokens = (end - heading.start).div_ceil(4);
        let title: String = heading.title.chars().take(80).collect();
        let marks = "#".repeat(heading.level);
        let line = format!("- line {}: {marks} {title} (about {tokens} tokens)\n", heading.line);
        spent += line.len();
        if spent > outline_room {
            part.push_str(&format!("- and {} more\n", hidden.len() - shown));
            break;
        }
        part.push_str(&line);
    }
    part.push_str("]\n\n");
    part.push_str(tail);
    (part, first_hidden)
}

/// Returns the first whole lines that fit.
fn whole_lines(text: &str, room: usize) -> &str {
    let head = text.get(..text.floor_char_boundary(room)).unwrap_or_default();
    head.rfind('\n').and_then(|end| head.get(..=end)).unwrap_or_default()
}

/// Returns the last whole lines that fit, from a heading on if one is near.
fn last_lines(text: &str, room: usize) -> &str {
    let from = text.ceil_char_boundary(text.len().saturating_sub(room));
    let tail = text.get(from..).unwrap_or_default();
    if from == 0 {
        return tail;
    }
    let lines = tail.find('\n').and_then(|end| tail.get(end + 1..)).unwrap_or_default();
    match lines.find("\n#").filter(|at| *at < lines.len() / 3) {
        Some(at) => lines.get(at + 1..).unwrap_or(lines),
        None => lines,
    }
}

#[cfg(test)]
mod tests {
    use memoranda_engine::banks::BankType;

    use super::*;

    fn bank() -> MemoryBank {
        MemoryBank::new(BankType::Code, "shop").unwrap()
    }

    fn long(sections: usize) -> String {
        let section =
            |n| format!("## Part {n}\n{}\n\n", format!("words of \"part\" {n}\n").repeat(20));
        format!("# Long\n\n{}", (1..=sections).map(section).collect::<String>())
    }

    fn spent(shown: &BankExcerpt) -> usize {
        shown.files.iter().map(|(name, text)| cost(name) + cost(text)).sum()
    }

    #[test]
    fn small_files_stay_whole_and_large_ones_say_what_is_missing() {
        let (text, bank) = (long(200), bank());
        let files = [("a.md", "short\n"), ("big.md", text.as_str()), ("z.md", "also short\n")];
        let shown = choose(&bank, &files, 12_000, 0);
        assert!(spent(&shown) <= 12_000, "{}", spent(&shown));
        assert_eq!(shown.files[0], ("a.md".to_owned(), "short\n".to_owned()));
        assert_eq!(shown.files.len(), 3);
        let part = &shown.files[1].1;
        assert!(part.starts_with("# Long\n\n## Part 1\n"), "{part}");
        assert!(part.trim_end().ends_with("words of \"part\" 200"), "{part}");
        assert!(part.contains("## Part 50 (about "), "{part}");
        let [cut] = shown.cut.as_slice() else { panic!("{shown:?}") };
        assert!(
            cut.read_with
                .starts_with("activate(bank_type=\"code\", bank_id=\"shop\", file=\"big.md\"")
        );
        assert!(part.contains(&cut.read_with));
        let all = choose(&bank, &files, 10 << 20, 0);
        assert!(all.cut.is_empty() && all.files.len() == 3);
    }

    #[test]
    fn any_number_of_files_fits_any_budget() {
        let (text, bank) = (long(30), bank());
        for (count, budget) in [(1, 700), (3, 5000), (40, 16_000), (500, 16_000)] {
            let names: Vec<String> = (0..count).map(|n| format!("f{n}.md")).collect();
            let files: Vec<(&str, &str)> =
                names.iter().map(|name| (name.as_str(), text.as_str())).collect();
            let shown = choose(&bank, &files, budget, 0);
            assert!(spent(&shown) <= budget, "{count}: {} of {budget}", spent(&shown));
            assert_eq!(shown.cut.len(), count);
        }
    }

    #[test]
    fn reading_on_reaches_the_end() {
        let text = format!("{}{}\nlast\n", long(20), "x".repeat(5000));
        let (mut line, mut read) = (Some(1), String::new());
        while let Some(from) = line {
            let (part, next) = from_line(&text, from, 2000);
            assert!(next.is_none_or(|next| next > from));
            read.push_str(&part);
            line = next;
        }
        assert!(read.ends_with("last\n") && read.starts_with("# Long\n"));
        assert_eq!(read.lines().count(), text.lines().count());
        assert_eq!(from_line("a\n", 9, 100), (String::new(), None));
    }
}
