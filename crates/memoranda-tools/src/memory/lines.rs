//! Lines of a text: numbering, ranges, snippets and insertion. A line ends at LF only, as in the
//! official tool.

/// Maximum number of lines: six columns of digits.
pub(super) const MAX_LINES: usize = 999_999;
/// Maximum number of listed line numbers.
const MAX_LISTED: usize = 1_000;
/// Lines shown before and after a change.
const CONTEXT_LINES: usize = 2;

/// Splits a text into lines. A text that ends in LF has an empty last line.
pub(super) fn lines(text: &str) -> Vec<&str> {
    text.split('\n').collect()
}

/// Numbers lines from `first`.
pub(super) fn numbered(lines: &[&str], first: usize) -> String {
    let mut shown = String::new();
    for (n, line) in lines.iter().enumerate() {
        if n > 0 {
            shown.push('\n');
        }
        shown.push_str(&format!("{:>6}\t{line}", first + n));
    }
    shown
}

/// Returns the first line number of a range and its lines. An end of -1 is the end of the file, and
/// a lower end counts from there. An empty range has no lines.
pub(super) fn in_range<'l, 't>(lines: &'l [&'t str], range: (i64, i64)) -> (usize, &'l [&'t str]) {
    let count = i64::try_from(lines.len()).unwrap_or(i64::MAX);
    let first = range.0.max(1);
    let last = match range.1 {
        -1 => count,
        end if end < -1 => (count + end).max(0),
        end => end.min(count),
    };
    let first_at = usize::try_from(first - 1).unwrap_or(usize::MAX);
    let last_at = usize::try_from(last).unwrap_or(0);
    (first_at.saturating_add(1), lines.get(first_at..last_at).unwrap_or_default())
}

/// Start of a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ChangeStart {
    /// Line, from 1.
    pub(super) line: usize,
    /// Number of characters before the change in its line.
    pub(super) before: usize,
}

/// Finds the start of the first occurrence of a text.
pub(super) fn change_start(text: &str, wanted: &str) -> ChangeStart {
    let before = text.find(wanted).map_or("", |at| &text[..at]);
    let line = before.matches('\n').count() + 1;
    ChangeStart { line, before: before.rsplit('\n').next().unwrap_or_default().chars().count() }
}

/// Shows the lines around the start of a change in the new text. If `cap` characters are too few,
/// long lines are shown in part, the changed line around the change.
pub(super) fn snippet(text: &str, change_start: ChangeStart, cap: usize) -> String {
    let lines = lines(text);
    let first = change_start.line.saturating_sub(CONTEXT_LINES).max(1);
    let last = (change_start.line + CONTEXT_LINES).min(lines.len());
    let lines = lines.get(first - 1..last).unwrap_or_default();
    let whole = numbered(lines, first);
    if whole.chars().nth(cap).is_none() {
        return whole;
    }
    // Besides its part, a line has a number, and an ellipsis at each end.
    let share = (cap / (2 * CONTEXT_LINES + 1)).saturating_sub(16);
    let mut shortened = Vec::new();
    let parts: Vec<String> = lines
        .iter()
        .enumerate()
        .map(|(n, line)| {
            let length = line.chars().count();
            if length <= share {
                return (*line).to_owned();
            }
            shortened.push((first + n).to_string());
            let from = if first + n == change_start.line {
                change_start.before.saturating_sub(share / 4).min(length - share)
            } else {
                0
            };
            let part: String = line.chars().skip(from).take(share).collect();
            let sign = |is_cut| if is_cut { "…" } else { "" };
            format!("{}{part}{}", sign(from > 0), sign(from + share < length))
        })
        .collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    format!(
        "{}\n\n[...too long to be shown whole: line {}; the command view with view_range \
         [{first}, {last}] shows all of it]",
        numbered(&parts, first),
        shortened.join(", ")
    )
}

/// Lines of all occurrences of a text, including overlapping ones. The official tool lists
/// overlapping occurrences, but does not count them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct OccurrenceLines {
    pub(crate) lines: Vec<usize>,
    /// True if more occurrences exist than are listed.
    pub(crate) has_more: bool,
}

/// Finds the lines of all occurrences of a text, up to a maximum.
pub(super) fn occurrence_lines(text: &str, wanted: &str) -> OccurrenceLines {
    let (mut line, mut counted) = (1, 0);
    let mut lines = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(wanted)).map(|at| from + at) {
        if lines.len() == MAX_LISTED {
            return OccurrenceLines { lines, has_more: true };
        }
        line += text.as_bytes()[counted..at].iter().filter(|&&b| b == b'\n').count();
        counted = at;
        lines.push(line);
        if at == text.len() {
            break;
        }
        from = text.ceil_char_boundary(at + 1);
    }
    OccurrenceLines { lines, has_more: false }
}

/// Inserts lines after a line, and ends the text in a newline. The error is the number of lines, if
/// there is no such line.
pub(super) fn inserted(text: &str, after: i64, addition: &str) -> Result<String, usize> {
    let whole = text.strip_suffix('\n').unwrap_or(text);
    let count = if text.is_empty() { 0 } else { whole.split('\n').count() };
    let after = usize::try_from(after).ok().filter(|after| *after <= count).ok_or(count)?;
    let at = match after {
        0 => 0,
        after => whole.match_indices('\n').nth(after - 1).map_or(text.len(), |(at, _)| at + 1),
    };
    let (before, rest) = text.split_at(at);
    let mut result = String::with_capacity(text.len() + addition.len() + 2);
    result.push_str(before);
    if !before.is_empty() && !before.ends_with('\n') {
        result.push('\n');
    }
    result.push_str(addition.trim_end_matches('\n'));
    result.push('\n');
    result.push_str(rest);
    if !result.ends_with('\n') {
        result.push('\n');
    }
    Ok(result)
}

/// Formats a size in bytes: `512B`, `1K`, `1.5K`.
pub(super) fn format_size(bytes: u64) -> String {
    const UNITS: [&str; 3] = ["K", "M", "G"];
    if bytes < 1024 {
        return format!("{bytes}B");
    }
    let mut amount = bytes as f64 / 1024.0;
    let mut unit = 0;
    while amount >= 1024.0 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    let unit = UNITS[unit];
    if amount.fract() == 0.0 { format!("{amount:.0}{unit}") } else { format!("{amount:.1}{unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_inserted_after_a_line() {
        for (text, after, addition, expected) in [
            ("a\nb\n", 0, "x", Ok("x\na\nb\n")),
            ("a\nb\n", 1, "x\n\n", Ok("a\nx\nb\n")),
            ("a\nb\n", 2, "x", Ok("a\nb\nx\n")),
            ("a\nb", 2, "x", Ok("a\nb\nx\n")),
            ("a\nb", 1, "x", Ok("a\nx\nb\n")),
            ("", 0, "x", Ok("x\n")),
            ("", 1, "x", Err(0)),
            ("a\nb\n", 3, "x", Err(2)),
            ("a\nb\n", -1, "x", Err(2)),
            ("a\r\nb\r\n", 1, "x", Ok("a\r\nx\nb\r\n")),
            ("\n", 1, "x", Ok("\nx\n")),
        ] {
            let expected = expected.map(str::to_owned);
            assert_eq!(inserted(text, after, addition), expected, "{text:?} {after}");
        }
    }

    #[test]
    fn ranges_are_lenient() {
        let text = ["a", "b", "c", "d"];
        for (range, expected) in [
            ((2, 3), (2, &text[1..3])),
            ((0, 2), (1, &text[..2])),
            ((3, -1), (3, &text[2..])),
            ((2, 99), (2, &text[1..])),
            ((9, 12), (9, &[][..])),
            ((3, 2), (3, &[][..])),
            ((1, -2), (1, &text[..2])),
            ((i64::MAX, i64::MIN), (i64::MAX as usize, &[][..])),
        ] {
            assert_eq!(in_range(&text, range), expected, "{range:?}");
        }
    }

    #[test]
    fn snippets_show_a_change_in_a_long_line() {
        let long = "x".repeat(1000);
        let check = |text: &str, line: usize, before: usize, cap: usize, expected: &str| {
            assert_eq!(snippet(text, ChangeStart { line, before }, cap), expected, "{text:.40}");
        };
        let told = |line: &str, range: &str| {
            format!(
                "\n\n[...too long to be shown whole: line {line}; the command view with \
                 view_range {range} shows all of it]"
            )
        };
        check("a\nb\nc\nd\n", 2, 0, 100, "     1\ta\n     2\tb\n     3\tc\n     4\td");
        let part = "x".repeat(64);
        check(
            &format!("{long}\nnew"),
            2,
            0,
            400,
            &format!("     1\t{part}…\n     2\tnew{}", told("1", "[1, 2]")),
        );
        let (lead, tail) = ("x".repeat(16), "x".repeat(45));
        check(
            &format!("{long}new{long}\n{long}"),
            1,
            1000,
            400,
            &format!("     1\t…{lead}new{tail}…\n     2\t{part}…{}", told("1, 2", "[1, 2]")),
        );
        check(
            &format!("{long}new"),
            1,
            1000,
            400,
            &format!("     1\t…{}new{}", "x".repeat(61), told("1", "[1, 1]")),
        );
        assert_eq!(change_start("a\nbcd e", "e"), ChangeStart { line: 2, before: 4 });
        assert_eq!(change_start("é e", "e"), ChangeStart { line: 1, before: 2 });
    }

    #[test]
    fn overlapping_occurrences_are_listed() {
        let many = "a\n".repeat(MAX_LISTED + 1);
        for (text, wanted, expected) in [
            ("aaa\naaaa\n", "aa", &[1, 1, 2, 2, 2][..]),
            ("one\ntwo one\n", "one", &[1, 2]),
            ("éé\né", "é", &[1, 1, 2]),
            ("a\n", "", &[1, 1, 2]),
            ("a\na\na", "a\na", &[1, 2]),
        ] {
            assert_eq!(occurrence_lines(text, wanted).lines, expected, "{text:?} {wanted:?}");
            assert!(!occurrence_lines(text, wanted).has_more);
        }
        let found = occurrence_lines(&many, "a");
        assert!(found.has_more && found.lines.last() == Some(&MAX_LISTED));
    }

    #[test]
    fn sizes_are_formatted() {
        for (bytes, expected) in [
            (0, "0B"),
            (512, "512B"),
            (1024, "1K"),
            (1025, "1.0K"),
            (1536, "1.5K"),
            (1280, "1.2K"),
            (4096, "4K"),
            (5 << 20, "5M"),
            (3 << 30, "3G"),
        ] {
            assert_eq!(format_size(bytes), expected);
        }
    }
}
