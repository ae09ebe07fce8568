//! A fast scanner for headings that only knows code fences. A bank may contain megabytes, and every
//! activation scans it.

/// A heading.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutlineHeading {
    /// Level from 1 to 6.
    pub level: usize,
    /// The text.
    pub title: String,
    /// The line, from 1.
    pub line: usize,
    /// Byte offset of its line.
    pub start: usize,
    /// Byte offset of the next line.
    pub end: usize,
}

/// Returns the headings of a text, in order.
pub fn headings(text: &str) -> Vec<OutlineHeading> {
    let mut found = Vec::new();
    let mut fence: Option<(u8, usize)> = None;
    let mut start = 0;
    for (n, line) in text.split_inclusive('\n').enumerate() {
        let end = start + line.len();
        let content = line.trim_end();
        let indent = content.len() - content.trim_start_matches(' ').len();
        let content = content.get(indent..).unwrap_or_default();
        if indent < 4 {
            match (fence, fence_mark(content)) {
                (None, Some((mark, length, _))) => fence = Some((mark, length)),
                (Some((open, least)), Some((mark, length, is_bare)))
                    if open == mark && length >= least && is_bare =>
                {
                    fence = None;
                }
                (None, None) => {
                    if let Some((level, title)) = heading(content) {
                        found.push(OutlineHeading { level, title, line: n + 1, start, end });
                    }
                }
                _ => {}
            }
        }
        start = end;
    }
    found
}

/// Parses a fence: its mark, its length, and true if nothing follows it.
fn fence_mark(line: &str) -> Option<(u8, usize, bool)> {
    let mark = *line.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
    let length = line.bytes().take_while(|byte| *byte == mark).count();
    let rest = line.get(length..).unwrap_or_default();
    let opens = length >= 3 && (mark == b'~' || !rest.contains('`'));
    opens.then(|| (mark, length, rest.trim().is_empty()))
}

fn heading(line: &str) -> Option<(usize, String)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let rest = line.get(level..)?;
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let title = rest.trim();
    // Closing marks are ignored if a space precedes them.
    let bare = title.trim_end_matches('#');
    let title =
        if bare.is_empty() || bare.ends_with([' ', '\t']) { bare.trim_end() } else { title };
    Some((level, title.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_in_code_are_ignored() {
        let text = "# A\n\ntext # no\n```sh\n# comment\n~~~\n## no\n````\n  ## B ##\n#no\n\
                    ~~~\n# no\n```\n~~~\n### C#\n";
        let found: Vec<_> = headings(text)
            .into_iter()
            .map(|heading| (heading.level, heading.title, heading.line))
            .collect();
        let expected = [(1, "A".to_owned(), 1), (2, "B".to_owned(), 9), (3, "C#".to_owned(), 15)];
        assert_eq!(found, expected);
        let last = headings(text).pop().unwrap();
        assert_eq!(&text[last.start..last.end], "### C#\n");
    }
}
