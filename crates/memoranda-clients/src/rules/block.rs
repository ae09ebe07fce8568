//! Generated block in a file that people write; text outside the marks stays unchanged.

use super::render::MARK;

const BEGIN: &str = "<!-- memoranda:rules:begin (made by `memoranda rules generate`) -->";
const BEGIN_SIGN: &str = "<!-- memoranda:rules:begin";
const END: &str = "<!-- memoranda:rules:end -->";

/// Reason to leave a file unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockError {
    /// A mark is missing, doubled, or in the wrong order.
    Damaged,
}

/// Inserts, replaces or removes the block; an empty block is removed.
pub fn with_block(text: &str, block: &str) -> Result<String, BlockError> {
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let written = if block.is_empty() {
        String::new()
    } else {
        format!("{BEGIN}\n{}\n{END}\n", block.trim_end()).replace('\n', ending)
    };
    Ok(match find_block(text)? {
        Some((start, end)) if written.is_empty() => {
            // The separator before the block is removed with it.
            let (before, after) = (&text[..start], &text[end..]);
            let is_apart = |rest: &&str| rest.ends_with(ending) || after.is_empty();
            let before = before.strip_suffix(ending).filter(is_apart).unwrap_or(before);
            format!("{before}{after}")
        }
        Some((start, end)) => format!("{}{written}{}", &text[..start], &text[end..]),
        None if written.is_empty() => text.to_owned(),
        None if text.trim().is_empty() => written,
        // After a text without a last line ending there is no blank line, so that taking the
        // block out again gives the same text.
        None => format!("{text}{ending}{written}"),
    })
}

/// Returns the generated part of a text: the block with its marks, or a whole generated file;
/// `None` if nothing was generated.
pub fn generated_in(text: &str) -> Option<&str> {
    if text.contains(MARK) {
        return Some(text);
    }
    split_at_block(text).map(|[_, ours, _]| ours)
}

/// Returns a text without the block: what a person wrote.
pub fn without_block(text: &str) -> String {
    match split_at_block(text) {
        Some([above, _, below]) => [above, below].concat(),
        None if text.contains(MARK) => String::new(),
        None => text.to_owned(),
    }
}

/// Splits a text into the parts before, in and after the block; `None` without a complete block.
pub(super) fn split_at_block(text: &str) -> Option<[&str; 3]> {
    let (start, end) = find_block(text).ok()??;
    Some([text.get(..start)?, text.get(start..end)?, text.get(end..)?])
}

/// Returns the range of the block with its last line ending.
fn find_block(text: &str) -> Result<Option<(usize, usize)>, BlockError> {
    let (begins, ends) = (text.matches(BEGIN_SIGN).count(), text.matches(END).count());
    match (begins, ends) {
        (0, 0) => return Ok(None),
        (1, 1) => {}
        _ => return Err(BlockError::Damaged),
    }
    let (start, end) = (text.find(BEGIN_SIGN), text.find(END));
    let (Some(start), Some(end)) = (start, end) else { return Err(BlockError::Damaged) };
    if end < start {
        return Err(BlockError::Damaged);
    }
    let mut end = end + END.len();
    for ending in ["\r\n", "\n"] {
        if text[end..].starts_with(ending) {
            end += ending.len();
            break;
        }
    }
    Ok(Some((start, end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(text: &str) -> String {
        format!("{BEGIN}\n{text}\n{END}\n")
    }

    #[test]
    fn what_a_person_wrote_stays() {
        for person in ["", "# Mine\n", "# Mine", "a\r\nb\r\n", "a\n\n\nb\n"] {
            let with = with_block(person, "- one\n").unwrap();
            assert_eq!(with_block(&with, "- one").unwrap(), with, "{person:?}");
            let changed = with_block(&with, "- two\n").unwrap();
            assert_eq!(with_block(&changed, "- one").unwrap(), with, "{person:?}");
            let taken = with_block(&with, "").unwrap();
            assert_eq!(taken, person);
        }
        let around = format!("above\n\n{}\nbelow\n", block("- one"));
        let expected = format!("above\n\n{}\nbelow\n", block("- two"));
        assert_eq!(with_block(&around, "- two").unwrap(), expected);
    }

    #[test]
    fn damaged_marks_are_left_alone() {
        for text in [
            BEGIN.to_owned(),
            END.to_owned(),
            format!("{END}\n{BEGIN}\n"),
            block("x") + &block("y"),
        ] {
            assert_eq!(with_block(&text, "z"), Err(BlockError::Damaged));
        }
    }
}
