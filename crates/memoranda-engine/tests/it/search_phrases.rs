//! Phrases, wherever they stand: also where a long paragraph was cut into passages.

use memoranda_core::rank::RankOptions;
use memoranda_engine::{SearchRequest, SearchUnit};
use tempfile::TempDir;

use crate::search::{asked, open, paths, put};

/// A paragraph of so many words.
fn paragraph(words: usize) -> Vec<String> {
    (0..words).map(|n| format!("w{n}x")).collect()
}

#[test]
fn phrases_are_found_wherever_a_paragraph_was_cut() {
    let folder = TempDir::new().unwrap();
    let memory = open(&folder);
    let words = paragraph(260);
    let lines: Vec<_> = words.chunks(7).map(|line| line.join(" ")).collect();
    put(&memory, "line.md", &words.join(" "));
    put(&memory, "lines.md", &lines.join("\n"));
    // Equal words, but never two in a row.
    let apart: Vec<_> = words.iter().map(|word| format!("{word} and")).collect();
    put(&memory, "apart.md", &apart.join(" "));
    for length in [2, 3, 12] {
        for at in 0..=words.len() - length {
            let phrase = words[at..at + length].join(" ");
            let check = |text: String, expected: &[&str]| {
                let request = SearchRequest { options: RankOptions::WORDS, ..asked(&text) };
                let page = memory.search(&request).unwrap();
                let mut found = paths(&page);
                found.sort_unstable();
                assert_eq!(found, expected, "{text}");
                page
            };
            let page = check(format!("\"{phrase}\""), &["line.md", "lines.md"]);
            for result in &page.results {
                let quoted = result.snippet.text.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(quoted.contains(&phrase), "{phrase}: {quoted}");
            }
            if length == 2 {
                check(format!("+\"{phrase}\" and"), &["line.md", "lines.md"]);
                check(format!("{} -\"{phrase}\"", words[0]), &["apart.md"]);
            }
        }
    }
}

#[test]
fn a_phrase_does_not_go_on_behind_its_paragraph() {
    let folder = TempDir::new().unwrap();
    let memory = open(&folder);
    let text = format!("{} amber\n\nbasalt {}", paragraph(70).join(" "), paragraph(70).join(" "));
    put(&memory, "two.md", &text);
    put(&memory, "item.md", &text.replace("\n\n", "\n- "));
    put(&memory, "part.md", &text.replace("\n\n", "\n# "));
    let found = |text: &str| paths(&memory.search(&asked(text)).unwrap());
    assert_eq!(found("\"amber basalt\""), Vec::<String>::new());
    assert_eq!(found("+amber +basalt").len(), 3);
}

#[test]
fn characters_in_a_row_are_found_wherever_a_text_was_cut() {
    let folder = TempDir::new().unwrap();
    let memory = open(&folder);
    let text: Vec<char> = (0..620).filter_map(|n| char::from_u32(0x4e00 + n)).collect();
    put(&memory, "long.md", &text.iter().collect::<String>());
    for at in 0..=text.len() - 3 {
        let phrase: String = text[at..at + 3].iter().collect();
        for words in [phrase.clone(), format!("\"{phrase}\"")] {
            let request = SearchRequest { unit: SearchUnit::Passages, ..asked(&words) };
            assert_eq!(paths(&memory.search(&request).unwrap())[0], "long.md", "{words} {at}");
        }
    }
}
