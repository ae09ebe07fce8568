//! Letters in composed form and in decomposed form, as macOS writes them, are equal in a search.

use memoranda_core::path::NotePath;
use memoranda_engine::{SearchFilter, SearchRequest};
use tempfile::TempDir;

use crate::search::{asked, open, paths, put};

/// Texts as people write them, and as macOS does.
const BOTH: [(&str, &str); 6] = [
    ("Мой ёжик и чай", "Мои\u{306} е\u{308}жик и чаи\u{306}"),
    (
        "한국어 공부",
        "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}\u{110b}\u{1165} \u{1100}\u{1169}\u{11bc}\u{1107}\u{116e}",
    ),
    ("Άλλα νέα λόγια", "Α\u{301}λλα νε\u{301}α λο\u{301}για"),
    ("Tiếng Việt đẹp", "Tie\u{302}\u{301}ng Vie\u{323}\u{302}t đe\u{323}p"),
    ("أسئلة كثيرة", "ا\u{654}سي\u{654}لة كثيرة"),
    ("ガラスのびん", "カ\u{3099}ラスのひ\u{3099}ん"),
];

/// Searched words for each text, in composed and in decomposed form.
const ASKED: [&[(&str, &str)]; 6] = [
    &[
        ("мой", "мои\u{306}"),
        ("ёжик", "е\u{308}жик"),
        ("\"ёжик и чай\"", "\"е\u{308}жик и чаи\u{306}\""),
        ("ёжи*", "е\u{308}жи*"),
        ("ёжи", "е\u{308}жи"),
        ("+чай +ёжик", "+чаи\u{306} +е\u{308}жик"),
    ],
    &[
        ("한국어", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}\u{110b}\u{1165}"),
        ("\"국어 공\"", "\"\u{1100}\u{116e}\u{11a8}\u{110b}\u{1165} \u{1100}\u{1169}\u{11bc}\""),
        ("공부", "\u{1100}\u{1169}\u{11bc}\u{1107}\u{116e}"),
    ],
    &[
        ("άλλα", "α\u{301}λλα"),
        ("\"νέα λόγια\"", "\"νε\u{301}α λο\u{301}για\""),
        ("λόγ", "λο\u{301}γ"),
    ],
    &[
        ("Việt", "Vie\u{323}\u{302}t"),
        ("\"tiếng việt\"", "\"tie\u{302}\u{301}ng vie\u{323}\u{302}t\""),
        ("+đẹp", "+đe\u{323}p"),
    ],
    &[("أسئلة", "ا\u{654}سي\u{654}لة"), ("أسئ*", "ا\u{654}سي\u{654}*")],
    &[("ガラス", "カ\u{3099}ラス"), ("\"のびん\"", "\"のひ\u{3099}ん\"")],
];

#[test]
fn words_are_found_however_their_letters_are_written() {
    for ((composed, decomposed), asked_for) in BOTH.into_iter().zip(ASKED) {
        for text in [composed, decomposed] {
            let folder = TempDir::new().unwrap();
            let memory = open(&folder);
            put(&memory, "note.md", &format!("{text}\n"));
            put(&memory, "other.md", "Something else altogether, да и нет.\n");
            for words in asked_for.iter().flat_map(|(one, several)| [one, several]) {
                let page = memory.search(&asked(words)).unwrap();
                assert_eq!(paths(&page), ["note.md"], "{words:?} in {text:?}");
                // The quote is the text of the file.
                let quoted = &page.results[0].snippet;
                assert_eq!(quoted.text.trim(), text, "{words:?}");
                assert!(!quoted.highlights.is_empty(), "{words:?} in {text:?}");
            }
        }
    }
}

#[test]
fn titles_tags_and_aliases_are_found_however_their_letters_are_written() {
    for (composed, decomposed) in BOTH {
        for (text, other) in [(composed, decomposed), (decomposed, composed)] {
            let folder = TempDir::new().unwrap();
            let memory = open(&folder);
            let first = |text: &str| text.split(' ').next().unwrap_or_default().to_owned();
            let tag = first(text);
            let note = format!("---\ntitle: {text}\ntags: [{tag}]\n---\nOf a pump.\n");
            put(&memory, "title.md", &note);
            put(&memory, "alias.md", &format!("---\naliases: [{text} 2]\n---\nOf a car.\n"));
            let found = |text: &str| paths(&memory.search(&asked(text)).unwrap());
            for said in [text, other] {
                assert_eq!(found(said)[0], "title.md", "{said:?}");
                assert_eq!(found(&format!("{said} 2"))[0], "alias.md", "{said:?}");
                let tag = first(said);
                assert_eq!(found(&format!("tag:{tag}")), ["title.md"], "{tag:?}");
                assert_eq!(found(&format!("pump tag:{tag}")), ["title.md"], "{tag:?}");
                assert!(!found(&format!("pump -tag:{tag}")).contains(&"title.md".to_owned()));
                let filter = SearchFilter { tags: vec![tag.clone()], ..SearchFilter::default() };
                let tagged = SearchRequest { filter, ..asked("pump") };
                assert_eq!(paths(&memory.search(&tagged).unwrap()), ["title.md"], "{tag:?}");
            }
        }
    }
}

#[test]
fn folders_are_looked_in_however_their_letters_are_written() {
    for (composed, decomposed) in BOTH {
        for written in [composed, decomposed] {
            let folder = TempDir::new().unwrap();
            let memory = open(&folder);
            put(&memory, &format!("{written}/a.md"), "Of a pump.\n");
            put(&memory, "b.md", "Of another pump.\n");
            for said in [composed, decomposed].map(|said| NotePath::parse(said).unwrap()) {
                for filter in [
                    SearchFilter { folder: Some(said.clone()), ..SearchFilter::default() },
                    SearchFilter { folders: vec![said.clone()], ..SearchFilter::default() },
                ] {
                    let request = SearchRequest { filter, ..asked("pump") };
                    let found = paths(&memory.search(&request).unwrap());
                    assert_eq!(found, [format!("{written}/a.md")], "{said} as {written}");
                }
            }
        }
    }
}
