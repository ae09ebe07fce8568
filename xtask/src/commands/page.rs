//! Extracts the commands of a page from its shell blocks, in order.

/// One command with the output that the page shows.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PageCommand {
    /// Line number of the command.
    pub(super) line: usize,
    /// Text of the command.
    pub(super) command: String,
    /// Output that the page shows; `None` if the page shows none.
    pub(super) shown: Option<String>,
}

/// Returns the commands of a page. A `console` block has a `$` before each command, followed by its
/// output. An `sh` block has only commands; a `text` block after it is the output. A comment
/// `<!-- before: COMMAND -->` prepares what the reader already has.
pub(super) fn steps(page: &str) -> Vec<PageCommand> {
    let mut steps: Vec<PageCommand> = Vec::new();
    let mut fence: Option<&str> = None;
    let mut is_right_behind_sh = false;
    for (n, line) in page.lines().enumerate() {
        let number = n + 1;
        if let Some(kind) = line.strip_prefix("```") {
            fence = match fence {
                Some("sh") => {
                    is_right_behind_sh = true;
                    None
                }
                Some(_) => None,
                None => Some(kind.trim()),
            };
            if fence.is_some_and(|kind| kind != "text") {
                is_right_behind_sh = false;
            }
            continue;
        }
        match fence {
            Some("console") => match line.strip_prefix("$ ") {
                Some(command) => steps.push(step(number, command)),
                None => show(&mut steps, line),
            },
            Some("sh") if continues(&steps) => {
                if let Some(last) = steps.last_mut() {
                    last.command.pop();
                    last.command.push_str(line.trim());
                }
            }
            Some("sh") if !line.trim().is_empty() && !line.starts_with('#') => {
                steps.push(step(number, line));
            }
            Some("text") if is_right_behind_sh => show(&mut steps, line),
            None => {
                let before = line.strip_prefix("<!-- before: ");
                if let Some(command) = before.and_then(|rest| rest.strip_suffix(" -->")) {
                    steps.push(step(number, command));
                }
                if !line.trim().is_empty() {
                    is_right_behind_sh = false;
                }
            }
            Some(_) => {}
        }
    }
    steps
}

fn step(line: usize, command: &str) -> PageCommand {
    PageCommand { line, command: command.to_owned(), shown: None }
}

fn continues(steps: &[PageCommand]) -> bool {
    steps.last().is_some_and(|last| last.command.ends_with('\\'))
}

fn show(steps: &mut [PageCommand], line: &str) {
    if let Some(last) = steps.last_mut() {
        let shown = last.shown.get_or_insert_default();
        shown.push_str(line);
        shown.push('\n');
    }
}

/// Returns true if the printed output equals the shown one, except for ids, days and times. A line
/// `...` matches any number of lines.
pub(super) fn fits(shown: &str, printed: &str, home: &str) -> bool {
    let shown: Vec<Vec<String>> = shown.lines().map(words).collect();
    let printed: Vec<Vec<String>> =
        printed.lines().map(|line| words(&line.replace(home, "~"))).collect();
    matches(&shown, &printed)
}

fn matches(shown: &[Vec<String>], printed: &[Vec<String>]) -> bool {
    match shown.split_first() {
        None => printed.iter().all(Vec::is_empty),
        Some((first, rest)) if first.concat() == "..." => {
            (0..=printed.len()).any(|n| matches(rest, &printed[n..]))
        }
        Some((first, rest)) => match printed.split_first() {
            Some((line, behind)) => is_same_line(first, line) && matches(rest, behind),
            None => false,
        },
    }
}

/// Splits a line into words and signs, without spaces: columns are as wide as their widest cell,
/// which may be an id or a time.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_open = false;
    for c in line.chars() {
        let is_letter = c.is_alphanumeric() || c == '_';
        match words.last_mut() {
            Some(word) if is_letter && is_open => word.push(c),
            _ if c.is_whitespace() => {}
            _ => words.push(c.to_string()),
        }
        is_open = is_letter;
    }
    words
}

fn is_same_line(shown: &[String], printed: &[String]) -> bool {
    shown.len() == printed.len() && shown.iter().zip(printed).all(|(a, b)| is_same(a, b))
}

/// Returns true if a word matches another: an id matches an id, a number of a date another number.
/// A shown id has a digit; a printed id need not.
fn is_same(shown: &str, printed: &str) -> bool {
    let is_lower = |c: char| c.is_ascii_digit() || c.is_ascii_lowercase();
    let is_digit = |c: char| c.is_ascii_digit();
    let is_id = matches!(shown.len(), 8 | 12 | 20..)
        && shown.chars().all(is_lower)
        && shown.contains(is_digit)
        && shown.contains(|c: char| c.is_ascii_lowercase());
    let is_number = |word: &str| (1..=4).contains(&word.len()) && word.chars().all(is_digit);
    shown == printed
        || is_id && printed.len() == shown.len() && printed.chars().all(is_lower)
        || is_number(shown) && is_number(printed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_with_their_output() {
        let page = "Text\n<!-- before: mkdir x -->\n```console\n$ one\nout\n$ two\n```\n\
                    ```sh\nthree \\\n  four\n# no command\nfive\n```\n\n```text\nfive's\n```\n\
                    ```text\nnobody's\n```\n```json\n$ no\n```\n";
        let found = steps(page);
        let commands: Vec<_> = found.iter().map(|step| step.command.as_str()).collect();
        assert_eq!(commands, ["mkdir x", "one", "two", "three four", "five"]);
        let shown: Vec<_> = found.iter().map(|step| step.shown.as_deref()).collect();
        assert_eq!(shown[1], Some("out\n"));
        assert_eq!(shown[2], None);
        assert!(shown[4].unwrap().starts_with("five's\n"));
        assert_eq!(found[1].line, 4);
    }

    #[test]
    fn only_ids_and_times_may_differ() {
        let check = |shown: &str, printed: &str, expected: bool| {
            assert_eq!(fits(shown, printed, "/h/ome"), expected, "{shown:?} {printed:?}");
        };
        check("Made ~/x\n", "Made /h/ome/x\n", true);
        check("(commit t8625vyf)\n", "(commit abc123de)\n", true);
        check("(commit t8625vyf)\n", "(commit abcdefgh)\n", true);
        check("(commit deadbeef)\n", "(commit abcdefgh)\n", false);
        check("a   b\n", "a b\n", true);
        check("(commit t8625vyf)\n", "(conflict abc123de)\n", false);
        check("on 2026-01-02 10:11\n", "on 2027-11-12 01:59\n", true);
        check("a\n...\nz\n", "a\nb\nc\nz\n", true);
        check("a\n...\nz\n", "a\nb\n", false);
        check("a\n", "a\nb\n", false);
    }
}
