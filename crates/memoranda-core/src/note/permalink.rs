//! Permalinks, slugs, file names and folder names, by Basic Memory's rules, so that its links stay
//! valid.

use unicode_normalization::UnicodeNormalization as _;

use crate::abbreviate::cut_at_word;
use crate::id::Permalink;
use crate::path::NotePath;

/// Maximum length of a file name in bytes.
const MAX_NAME_BYTES: usize = 255;
/// Maximum length of a title that is derived from a text, in characters.
const MAX_DERIVED_TITLE_CHARS: usize = 60;
/// Extensions of note files.
const NOTE_ENDINGS: [&str; 2] = [".md", ".markdown"];

/// Returns the default permalink of a file: its path as a slug. A note's permalink has no extension
/// and is unambiguous: `Plan.md.md` becomes `plan-md`. Other files keep their extension, so that a
/// picture and a note can have the same name.
pub fn permalink_of(path: &NotePath) -> Permalink {
    if !path.is_markdown() {
        return Permalink(path_address(path.as_str()));
    }
    let bare = bare_address(path);
    let ending = NOTE_ENDINGS.iter().find(|ending| bare.ends_with(*ending));
    Permalink(match ending.and_then(|ending| bare.strip_suffix(ending)) {
        Some(rest) if !rest.is_empty() && !rest.ends_with('/') => {
            let ending = bare.get(rest.len() + 1..).unwrap_or_default();
            format!("{rest}-{ending}")
        }
        _ => bare,
    })
}

/// Removes the extension of a note file from a title, which callers often include; `None` if the
/// title has none.
pub fn title_without_extension(title: &str) -> Option<&str> {
    let mut bare = title.trim();
    while let Some(rest) = NOTE_ENDINGS.iter().find_map(|ending| {
        let at = bare.len().checked_sub(ending.len())?;
        bare.get(at..)?.eq_ignore_ascii_case(ending).then(|| bare.get(..at))?
    }) {
        bare = rest.trim_end();
    }
    let says_something = !bare.trim_matches('.').trim().is_empty();
    (says_something && bare.len() < title.trim().len()).then_some(bare)
}

/// Returns the address of a file without its extension; used for files other than notes if no note
/// matches.
pub fn bare_address(path: &NotePath) -> String {
    let extension = path.extension();
    // `version-2.0` has no extension: an extension contains a letter.
    let real = extension.bytes().any(|byte| byte.is_ascii_alphabetic())
        && extension.len() <= 10
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let whole = path.as_str();
    let cut = if real { whole.len() - extension.len() - 1 } else { whole.len() };
    path_address(whole.get(..cut).unwrap_or(whole))
}

/// Removes the project from a permalink, as Basic Memory writes it; `None` if the permalink has no
/// such prefix.
pub fn strip_project<'p>(permalink: &'p str, project: &str) -> Option<&'p str> {
    let (first, rest) = permalink.split_once('/')?;
    (!rest.is_empty() && slug(first) == slug(project)).then_some(rest)
}

/// Returns a path as an address: each name as its slug. A name of symbols only, such as an emoji,
/// is spelled by the symbols' names.
pub fn path_address(path: &str) -> String {
    let names = path.split('/').filter(|name| !name.is_empty()).map(|name| {
        let plain = slug(name);
        if plain.is_empty() { spell_symbols(name) } else { plain }
    });
    names.collect::<Vec<_>>().join("/")
}

/// Spells symbols by their names, such as `rocket`, or by their code points.
fn spell_symbols(name: &str) -> String {
    let signs = name.nfc().filter(|c| !c.is_whitespace() && !matches!(c, '\u{fe00}'..='\u{fe0f}'));
    let word = |c: char| {
        let word = slug(deunicode::deunicode_char(c).unwrap_or_default()).replace('/', "-");
        if word.is_empty() { format!("u{:x}", c as u32) } else { word }
    };
    signs.map(word).collect::<Vec<_>>().join("-")
}

/// Returns a slug: lower case, `-` between words, `/` and `.` kept, other alphabets transliterated,
/// Chinese, Japanese and Korean kept.
pub fn slug(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut last = CharClass::Gap;
    for c in text.nfc() {
        if matches!(c, '\'' | '\u{2018}' | '\u{2019}') || is_full_width_mark(c) {
            continue;
        }
        if is_cjk(c) {
            push(&mut out, c, CharClass::Cjk, &mut last);
        } else if c.is_ascii() || c.is_whitespace() {
            push_ascii(&mut out, c, &mut last);
        } else if let Some(latin) = transliterate(c) {
            for c in latin.chars().filter(|c| *c != '\'') {
                push_ascii(&mut out, c, &mut last);
            }
        }
    }
    let parts: Vec<&str> =
        out.split('/').map(|part| part.trim_matches('-')).filter(|part| !part.is_empty()).collect();
    parts.join("/")
}

/// Class of the last character; decides if a hyphen precedes the next one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Lower,
    Upper,
    Cjk,
    Gap,
}

fn push_ascii(out: &mut String, c: char, last: &mut CharClass) {
    match c {
        'a'..='z' | '0'..='9' => push(out, c, CharClass::Lower, last),
        'A'..='Z' => push(out, c.to_ascii_lowercase(), CharClass::Upper, last),
        '/' | '.' => {
            out.push(c);
            *last = CharClass::Gap;
        }
        _ => {
            if !out.ends_with('-') {
                out.push('-');
            }
            *last = CharClass::Gap;
        }
    }
}

fn push(out: &mut String, c: char, kind: CharClass, last: &mut CharClass) {
    let boundary = matches!(
        (*last, kind),
        (CharClass::Lower, CharClass::Upper | CharClass::Cjk)
            | (CharClass::Upper, CharClass::Cjk)
            | (CharClass::Cjk, CharClass::Lower | CharClass::Upper)
    );
    if boundary {
        out.push('-');
    }
    out.push(c);
    *last = kind;
}

/// Transliterates a letter or Western punctuation to ASCII; `None` for pictographs.
fn transliterate(c: char) -> Option<&'static str> {
    let readable = c.is_alphanumeric()
        || matches!(c, '\u{80}'..='\u{2ff}' | '\u{2000}'..='\u{206f}' | '\u{20a0}'..='\u{214f}');
    readable.then(|| deunicode::deunicode_char(c)).flatten()
}

fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{1100}'..='\u{11ff}'
        | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7af}' | '\u{20000}'..='\u{3ffff}')
}

fn is_full_width_mark(c: char) -> bool {
    matches!(c, '\u{3001}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}') && !c.is_alphanumeric()
}

/// Splits a text into lower-case words at non-alphanumeric characters and between a lower-case and
/// an upper-case letter.
pub(crate) fn split_words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for c in text.chars() {
        let breaks = !c.is_alphanumeric() || (after_lower && c.is_uppercase());
        if breaks {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        after_lower = c.is_lowercase() || c.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns a line of a text as a title: a long line is cut after a word and loses the punctuation
/// there.
pub fn title_from_line(line: &str) -> &str {
    let title = cut_at_word(line, MAX_DERIVED_TITLE_CHARS);
    if title.len() == line.len() {
        return line;
    }
    title.trim_end_matches([',', ';', ':', '.'])
}

/// Returns the file name of a note with this title, including `.md`.
pub fn file_name_from_title(title: &str) -> String {
    let mut name = String::with_capacity(title.len() + 3);
    for c in title.trim().nfc() {
        let bad = c.is_control() || "/\\<>:\"|?*".contains(c);
        let c = if bad { '-' } else { c };
        if c != '-' || !name.ends_with('-') {
            name.push(c);
        }
    }
    // A reserved device name gets a suffix.
    let ending = if is_reserved_name(&name) { "-.md" } else { ".md" };
    let mut room = MAX_NAME_BYTES - ending.len();
    while !name.is_char_boundary(room.min(name.len())) {
        room -= 1;
    }
    name.truncate(room);
    let name = name.trim_matches(|c: char| c == '.' || c.is_whitespace());
    match name.split_once('.').unwrap_or((name, "")).0 {
        "" => "untitled.md".to_owned(),
        first if is_reserved_name(first) => {
            format!("{}-{}.md", first.trim_end(), name.get(first.len()..).unwrap_or_default())
        }
        _ => format!("{name}.md"),
    }
}

/// Returns true if Windows reserves a file name for a device, whatever its extension. Such a file
/// cannot be copied or synced there.
pub fn is_reserved_name(name: &str) -> bool {
    let first = name.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let numbered = first.strip_prefix("com").or_else(|| first.strip_prefix("lpt"));
    ["con", "prn", "aux", "nul"].contains(&first.as_str())
        || numbered.is_some_and(|n| n.len() == 1 && n.bytes().all(|b| b.is_ascii_digit()))
}

/// Sanitizes a folder name: keeps letters, digits, `.`, blank, `-`, `_` and `/`; removes empty, `.`
/// and `..` parts. Empty for the top of the project.
pub fn normalize_directory(directory: &str) -> String {
    let kept: String = directory
        .nfc()
        .map(|c| if c == '\\' { '/' } else { c })
        .filter(|c| c.is_alphanumeric() || matches!(c, '.' | ' ' | '-' | '_' | '/'))
        .nfc()
        .collect();
    let parts: Vec<&str> = kept
        .split('/')
        .map(str::trim)
        .filter(|part| !part.is_empty() && !part.bytes().all(|byte| byte == b'.'))
        .collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permalinks_follow_the_path() {
        let cases = [
            ("Specs/Search Design.md", "specs/search-design"),
            ("notes/version-2.0.0.md", "notes/version-2.0.0"),
            ("notes/version-2.0", "notes/version-2.0"),
            ("camelCase/HTTPServer2Go.md", "camel-case/httpserver2-go"),
            ("a_b__c.md", "a-b-c"),
            ("It's a test.md", "its-a-test"),
            ("It\u{2019}s.md", "its"),
            ("Café/Über Straße.md", "cafe/uber-strasse"),
            ("Cafe\u{301}.md", "cafe"),
            ("中文/测试文档.md", "中文/测试文档"),
            ("中文abc测试.md", "中文-abc-测试"),
            ("测试，文档！.md", "测试文档"),
            ("日本語 ノート.md", "日本語-ノート"),
            ("한국어.md", "한국어"),
            ("Привет мир.md", "privet-mir"),
            ("a & b (c).md", "a-b-c"),
            ("--a--/-b-.md", "a/b"),
            ("a -- b.md", "a-b"),
            ("😀 smile.md", "smile"),
            ("data.json", "data.json"),
            ("a.b.c.txt", "a.b.c.txt"),
            ("docs/My Picture.PNG", "docs/my-picture.png"),
            (".hidden.md", ".hidden"),
            ("x – y.md", "x-y"),
            ("d/Plan.md.md", "d/plan-md"),
            ("Plan.MD.markdown", "plan-md"),
            ("Plan.markdown.md", "plan-markdown"),
            ("Plan.md.md.md", "plan.md-md"),
            ("d.md/Plan.md", "d.md/plan"),
        ];
        for (path, permalink) in cases {
            assert_eq!(permalink_of(&NotePath::parse(path).unwrap()).as_str(), permalink, "{path}");
        }
    }

    #[test]
    fn emoji_are_spelled_by_name() {
        let cases = [
            ("🚀.md", "rocket"),
            ("uni/🚀🚀.md", "uni/rocket-rocket"),
            ("uni/❤️.md", "uni/heart"),
            ("a/++.md", "a/u2b-u2b"),
            ("🚀 Launch.md", "launch"),
        ];
        for (path, permalink) in cases {
            let found = permalink_of(&NotePath::parse(path).unwrap());
            assert_eq!(found.as_str(), permalink, "{path}");
            assert_eq!(slug(permalink), permalink);
        }
    }

    #[test]
    fn slugs_are_stable() {
        for text in ["Specs/Search Design", "中文abc", "It's", "a_b", "HTTPServer2Go", "-/-"] {
            let once = slug(text);
            assert_eq!(slug(&once), once, "{text}");
        }
        assert_eq!(slug(""), "");
        assert_eq!(slug("//"), "");
    }

    #[test]
    fn titles_become_file_names() {
        let cases = [
            ("Search Design", "Search Design.md"),
            ("a/b\\c<d>e:f\"g|h?i*j", "a-b-c-d-e-f-g-h-i-j.md"),
            ("a//b", "a-b.md"),
            ("...dots...", "dots.md"),
            ("v2.0", "v2.0.md"),
            ("日本語", "日本語.md"),
            ("a\nb", "a-b.md"),
            ("", "untitled.md"),
            (" . ", "untitled.md"),
        ];
        for (title, name) in cases {
            assert_eq!(file_name_from_title(title), name);
        }
        assert!(file_name_from_title(&"語".repeat(300)).len() <= 255);
    }

    #[test]
    fn extensions_are_removed_from_titles() {
        for (title, bare) in [
            ("Plan.md", Some("Plan")),
            (" Plan.MD ", Some("Plan")),
            ("Plan.markdown", Some("Plan")),
            ("Plan.md.md", Some("Plan")),
            ("v2.0.md", Some("v2.0")),
            ("日本語.md", Some("日本語")),
            ("Plan", None),
            ("Plan.mdx", None),
            ("plan md", None),
            (".md", None),
            ("..md", None),
            ("", None),
        ] {
            assert_eq!(title_without_extension(title), bare, "{title:?}");
        }
    }

    #[test]
    fn directories_are_normalized() {
        let cases = [
            ("specs/search", "specs/search"),
            ("/specs//search/", "specs/search"),
            ("../../etc", "etc"),
            ("./a/./b", "a/b"),
            ("a<b>:c|d", "abcd"),
            ("My Notes/2026_01", "My Notes/2026_01"),
            ("a\\b", "a/b"),
            ("日本/語", "日本/語"),
            ("", ""),
        ];
        for (directory, clean) in cases {
            assert_eq!(normalize_directory(directory), clean, "{directory}");
        }
    }

    #[test]
    fn words_are_split() {
        for (text, words) in
            [("Meeting Notes", "meeting_notes"), ("camelCase", "camel_case"), ("a-b", "a_b")]
        {
            assert_eq!(split_words(text).join("_"), words);
        }
    }

    #[test]
    fn reserved_device_names_get_a_suffix() {
        for (title, expected) in [
            ("CON", "CON-.md"),
            ("con .v2", "con-.v2.md"),
            ("Com1.notes", "Com1-.notes.md"),
            ("Console", "Console.md"),
            ("COM10", "COM10.md"),
            ("v2.con", "v2.con.md"),
        ] {
            let name = file_name_from_title(title);
            assert_eq!(name, expected, "{title:?}");
            assert!(!is_reserved_name(&name), "{name:?}");
        }
        let long = file_name_from_title(&format!("con.{}", "x".repeat(300)));
        assert!(long.len() <= MAX_NAME_BYTES && long.starts_with("con-.x"), "{long}");
    }
}
