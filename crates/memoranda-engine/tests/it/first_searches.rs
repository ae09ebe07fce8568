//! The first searches of a process whose vault has too many passages to read all vectors at once.

use std::time::{Duration, Instant};

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_engine::{
    EmbeddingSource, Memory, SearchFilter, SearchPage, SearchRequest, WriteMode, WriteRequest,
};
use tempfile::TempDir;

use crate::search::{asked, open, paths, put, who};

const NOTES: [(&str, &str); 3] = [
    ("pets.md", "# Animals\n\nOur cat Minka sleeps beside the dog all afternoon.\n"),
    ("money.md", "# Invoices\n\nThe electricity bill is due at the end of March.\n"),
    ("garden.md", "# Garden\n\nThe tomatoes need water every evening in the summer.\n"),
];
/// A question without a word of the note that answers it.
const MEANING: &str = "kitten naps";

fn vault() -> TempDir {
    let folder = TempDir::new().unwrap();
    let memory = open(&folder);
    NOTES.iter().for_each(|(path, text)| put(&memory, path, text));
    let request = WriteRequest {
        project: ProjectName::parse("other").unwrap(),
        path: NotePath::parse("pets.md").unwrap(),
        content: NOTES[0].1.into(),
        mode: WriteMode::Create,
        message: None,
    };
    memory.write(&who(), &request).unwrap();
    folder
}

fn search(memory: &Memory, text: &str) -> SearchPage {
    memory.search(&SearchRequest { min_relevance: 0.0, ..asked(text) }).unwrap()
}

#[test]
fn they_go_by_words_and_say_so_until_the_vectors_are_read() {
    let folder = vault();
    let expected = paths(&search(&open(&folder), MEANING));
    assert_eq!(expected[0], "pets.md");
    let memory = open(&folder);
    memory.defer_vectors_above(3);
    let page = search(&memory, "cat");
    assert_eq!(page.meaning, EmbeddingSource::Loading);
    assert_eq!(paths(&page)[0], "pets.md");
    let begun = Instant::now();
    let page = loop {
        let page = search(&memory, MEANING);
        if page.meaning != EmbeddingSource::Loading {
            break page;
        }
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(page.meaning, EmbeddingSource::BuiltIn);
    assert_eq!(paths(&page), expected);
    // The vectors of later notes are read by the searches.
    put(&memory, "cats.md", "A kitten naps on the sofa.\n");
    let page = search(&memory, "kitten");
    assert_eq!((page.meaning.clone(), &*paths(&page)[0]), (EmbeddingSource::BuiltIn, "cats.md"));
}

#[test]
fn a_small_scope_is_compared_by_meaning_at_once() {
    let folder = vault();
    let memory = open(&folder);
    memory.defer_vectors_above(3);
    for _ in 0..2 {
        let projects = vec![ProjectName::parse("other").unwrap()];
        let filter = SearchFilter { projects, ..SearchFilter::default() };
        let request = SearchRequest { min_relevance: 0.0, filter, ..asked(MEANING) };
        let page = memory.search(&request).unwrap();
        assert_eq!(page.meaning, EmbeddingSource::BuiltIn);
        assert_eq!(paths(&page), ["pets.md"]);
    }
}
