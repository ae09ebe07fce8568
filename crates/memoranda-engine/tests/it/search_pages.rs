//! Pages of a search: whatever their size, one behind the other they hold the same.

use memoranda_core::rank::RankOptions;
use memoranda_engine::{LOW_RELEVANCE, Memory, SearchFilter, SearchRequest, SearchUnit};
use tempfile::TempDir;

use crate::search::{asked, open};

/// Text, lines and score of a result.
type Shown = (String, (usize, usize), f64);

/// Notes about pets, about what is near to them, and about other things, all in one.
fn vault() -> (TempDir, Memory) {
    let subjects = [
        "cat", "dog", "kitten", "hamster", "parrot", "horse", "animal", "garden", "tomato",
        "farmer", "village", "train", "invoice", "harbour", "melody", "theorem", "senate",
        "battery", "glacier", "window",
    ];
    let things = [
        "sleeps beside the stove",
        "was at the vet",
        "lives with us",
        "needs food every day",
        "belongs to the neighbours",
        "was seen on the road",
        "is described in the report",
        "costs too much",
        "came up in the meeting",
        "will be painted",
        "was in the newspaper",
        "is on the list",
        "was measured twice",
        "has a name",
        "is older than ours",
        "was sold",
        "goes home",
        "makes a noise",
        "is shown in the picture",
        "waits for spring",
    ];
    let folder = TempDir::new().unwrap();
    let home = folder.path().join("home/main");
    std::fs::create_dir_all(&home).unwrap();
    for (s, subject) in subjects.iter().enumerate() {
        for (t, thing) in things.iter().enumerate() {
            let importance = (s * 7 + t * 3) % 10;
            let text = format!(
                "---\ntags: [all]\nimportance: 0.{importance}\n---\nThe {subject} {thing}.\n"
            );
            std::fs::write(home.join(format!("n{s}-{t}.md")), text).unwrap();
        }
    }
    let memory = open(&folder);
    memory.sync(&mut |_| ()).unwrap();
    (folder, memory)
}

/// All pages of a size, one behind the other.
fn walk(memory: &Memory, request: &SearchRequest, size: usize) -> Vec<Shown> {
    let mut shown = Vec::new();
    loop {
        let now = "2040-07-15T10:30:00Z".parse().ok();
        let request = SearchRequest { limit: size, offset: shown.len(), now, ..request.clone() };
        let page = memory.search(&request).unwrap();
        let is_full = page.results.len() == size;
        assert!(is_full || !page.has_more, "{} of {size}", page.results.len());
        shown.extend(
            page.results
                .iter()
                .map(|result| (result.place.path.to_string(), result.lines, result.score)),
        );
        if !page.has_more {
            return shown;
        }
    }
}

#[test]
fn pages_of_any_size_hold_the_same() {
    let (_folder, memory) = vault();
    let tagged = SearchFilter { tags: vec!["all".into()], ..SearchFilter::default() };
    let check = |request: &SearchRequest, least: usize| {
        let expected = walk(&memory, request, 1000);
        let found = expected.len();
        assert!(found >= least, "{:?}: {found}", request.text);
        for size in [5, 10, 50] {
            let shown = walk(&memory, request, size);
            assert_eq!(shown.len(), found, "{:?} by {size}", request.text);
            assert_eq!(shown, expected, "{:?} by {size}", request.text);
        }
    };
    for (text, least) in [
        ("which pets live with us", 20),
        ("cat dog road report", 60),
        ("+cat", 20),
        // Many notes hold a word of it and have else nothing to do with it.
        (
            "the cat or the dog was in the newspaper, in the picture, on the list or in the report",
            0,
        ),
    ] {
        for options in [RankOptions::WORDS, RankOptions::STANDARD, RankOptions::MEANING] {
            check(&SearchRequest { options, ..asked(text) }, 0);
            let request = SearchRequest { options, min_relevance: LOW_RELEVANCE, ..asked(text) };
            check(&request, if options == RankOptions::STANDARD { least } else { 0 });
            check(&SearchRequest { min_similarity: Some(0.45), ..request.clone() }, 0);
            check(&SearchRequest { min_relevance: 0.3, ..request }, 0);
        }
    }
    check(&SearchRequest { unit: SearchUnit::Passages, ..asked("pets") }, 20);
    check(&asked("tag:all"), 400);
    check(&SearchRequest { filter: tagged, ..asked("") }, 400);
    check(&SearchRequest { min_relevance: 0.0, ..asked("which pets live with us") }, 60);
}
