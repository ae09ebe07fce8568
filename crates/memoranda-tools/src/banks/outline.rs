//! The headings of a text: a quick look, line by line, that knows code fences and nothing else.
//! A bank may hold megabytes, and this is asked for each time it is shown.

/// One heading.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct OutlineHeading {
    /// 1 for `#` to 6 for `######`.
    pub(crate) level: usize,
    /// Its text.
    pub(crate) title: String,
    /// Its line, from 1.
    pub(crate) line: usize,
    /// Where its line begins, in bytes.
    pub(crate) start: usize,
    /// Where the line after it begins.
    pub(crate) end: usize,
}

/// The headings of a text, in order.
pub(crate) fn headings(text: &str) -> Vec<OutlineHeading> {
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

/// The mark of a fence, its length, and whether nothing follows it.
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
    // Marks at the end are decoration, if a space is before them.
    let bare = title.trim_end_matches('#');
    let title =
        if bare.is_empty() || bare.ends_with([' ', '\t']) { bare.trim_end() } else { title };
    Some((level, title.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_found_outside_of_code() {
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
