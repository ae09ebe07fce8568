//! How texts are shown, searched and cut into lines: at LF and nowhere else, as the official
//! tool does it.

/// More lines than this cannot be numbered in six columns.
pub(super) const MAX_LINES: usize = 999_999;
/// Lines shown before and after a change.
const AROUND: usize = 2;

/// The lines of a text; one that ends in LF has an empty last line.
pub(super) fn lines(text: &str) -> Vec<&str> {
    text.split('\n').collect()
}

/// Lines with their numbers, the first given.
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

/// The lines that a range asks for: its first line and the lines. An end of -1 is the end of the
/// file, one below counts from there; a range that holds nothing gives nothing.
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

/// The lines around the place where a change began, in the new text.
pub(super) fn snippet(text: &str, line: usize) -> String {
    let lines = lines(text);
    let first = line.saturating_sub(AROUND).max(1);
    let last = (line + AROUND).min(lines.len());
    numbered(lines.get(first - 1..last).unwrap_or_default(), first)
}

/// The line on which each occurrence of a text begins; occurrences do not overlap.
pub(super) fn occurrences(text: &str, wanted: &str) -> Vec<usize> {
    let (mut line, mut counted) = (1, 0);
    let mut found = Vec::new();
    for (at, _) in text.match_indices(wanted) {
        line += text.as_bytes()[counted..at].iter().filter(|&&b| b == b'\n').count();
        counted = at;
        found.push(line);
    }
    found
}

/// The text with lines put after a line, or how many lines it has if there is no such line. The
/// file ends in a newline afterwards.
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

/// A size as people read it: `512B`, `1K`, `1.5K`.
pub(super) fn size(bytes: u64) -> String {
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
    fn lines_go_in_after_a_line() {
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
    fn sizes_read_well() {
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
            assert_eq!(size(bytes), expected);
        }
    }
}
