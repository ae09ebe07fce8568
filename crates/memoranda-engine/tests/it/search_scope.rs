//! The scope of a search is part of the question: notes outside of it change nothing.

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_engine::{
    Memory, PackRequest, SearchFilter, SearchPage, SearchRequest, SearchUnit, WriteMode,
    WriteRequest,
};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::search::{asked, open, paths, put, who};

fn put_in(memory: &Memory, project: &str, path: &str, text: &str) {
    let project = memory.create_project(project).unwrap().name;
    let request = WriteRequest {
        project,
        path: NotePath::parse(path).unwrap(),
        content: text.into(),
        mode: WriteMode::CreateOrOverwrite,
        message: None,
    };
    memory.write(&who(), &request).unwrap();
}

fn project(name: &str) -> SearchFilter {
    SearchFilter { projects: vec![ProjectName::parse(name).unwrap()], ..SearchFilter::default() }
}

fn folder(name: &str) -> SearchFilter {
    SearchFilter { folder: NotePath::parse(name).ok(), ..project("main") }
}

/// All that a reader of a page can see, with the exact scores.
fn seen(page: &SearchPage) -> Vec<String> {
    let results = page.results.iter().map(|result| {
        format!(
            "{} {:?} {:x} {:x} {}",
            result.place,
            result.lines,
            result.score.to_bits(),
            result.relevance.to_bits(),
            result.snippet.text
        )
    });
    let read = page.corrections.iter().map(|read| format!("{} > {}", read.typed, read.meant));
    results.chain(read).collect()
}

#[test]
fn a_word_of_another_project_does_not_end_the_search_by_beginnings() {
    let folder = TempDir::new().unwrap();
    let memory = open(&folder);
    put(&memory, "passkeys.md", "We chose authentication by passkeys\n");
    put(&memory, "cluster.md", "The kubernetes cluster runs in Dublin\n");
    let check = |text: &str, expected: &[&str]| {
        let request = SearchRequest { filter: project("main"), ..asked(text) };
        assert_eq!(paths(&memory.search(&request).unwrap()), expected, "{text:?}");
    };
    for _ in 0..2 {
        check("authen", &["passkeys.md"]);
        check("kuberntes", &["cluster.md"]);
        put_in(&memory, "other", "z.md", "authen is a word here, and so is kuberntes\n");
    }
}

#[test]
fn words_that_begin_with_a_word_match_below_the_word_itself() {
    let folder = TempDir::new().unwrap();
    let memory = open(&folder);
    put(&memory, "a.md", "The authentication of users takes a second\n");
    put(&memory, "b.md", "Tokens of auth last for an hour\n");
    put(&memory, "c.md", "Tomatoes need water\n");
    let page = memory.search(&asked("auth")).unwrap();
    assert_eq!(paths(&page), ["b.md", "a.md"]);
    assert!(page.corrections.is_empty(), "{:?}", page.corrections);
}

#[test]
fn required_stop_words_are_required() {
    let folder = TempDir::new().unwrap();
    let memory = open(&folder);
    put(&memory, "a.md", "An apple and all about it\n");
    put(&memory, "b.md", "An apple a day\n");
    let found = |text: &str| paths(&memory.search(&asked(text)).unwrap());
    assert_eq!(found("apple AND about"), ["a.md"]);
    assert_eq!(found("apple +about"), ["a.md"]);
    assert_eq!(found("(apple OR pear) AND about"), ["a.md"]);
    assert_eq!(found("apple about").len(), 2);
}

#[test]
fn every_process_gives_the_same_order() {
    let folder = TempDir::new().unwrap();
    let first = open(&folder);
    for n in 0..60 {
        let more = "and a long way home ".repeat(n % 7);
        put(&first, &format!("n{n}.md"), &format!("The storm took fence {n} {more}\n\nRain.\n"));
    }
    let request = |unit| SearchRequest {
        unit,
        limit: 50,
        now: Some("2026-01-01T00:00:00Z".parse().unwrap()),
        ..asked("storm at the fence").with_min_relevance(Some(0.0))
    };
    let second = open(&folder);
    for unit in [SearchUnit::Notes, SearchUnit::Passages] {
        let expected = seen(&first.search(&request(unit)).unwrap());
        assert_eq!(expected.len(), 50);
        // The first search of a process reads the index, later ones read memory.
        for memory in [&second, &second, &first, &open(&folder)] {
            assert_eq!(seen(&memory.search(&request(unit)).unwrap()), expected);
        }
    }
}

#[test]
fn packed_passages_of_a_smaller_budget_are_a_subset() {
    let folder = TempDir::new().unwrap();
    let memory = open(&folder);
    for n in 0..8 {
        let text = format!(
            "The harbour fee of quay {n} is due.\n\n{}\n\nThe fee was paid {n}.\n",
            "Boats come and go. ".repeat(n * 3)
        );
        put(&memory, &format!("n{n}.md"), &text);
    }
    let pack = |max_tokens| {
        let search = asked("harbour fee").with_min_relevance(Some(0.0));
        let request = PackRequest { max_tokens: Some(max_tokens), ..PackRequest::new(search) };
        memory.search_packed(&request).unwrap()
    };
    let mut before = pack(4_000).notes;
    assert!(before.len() > 4 && before[0].passages.len() > 1, "{before:?}");
    for budget in [1_000, 500, 200, 100, 30, 1] {
        let packed = pack(budget).notes;
        assert!(!packed.is_empty(), "{budget}");
        for (few, many) in packed.iter().zip(&before) {
            assert_eq!(few.file, many.file, "{budget}");
            let held = |lines| many.passages.iter().any(|passage| passage.lines == lines);
            assert!(few.passages.iter().all(|passage| held(passage.lines)), "{budget}");
        }
        assert!(packed.len() <= before.len());
        before = packed;
    }
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    let word = "(auth|author|authentication|plan|plans|planet|storm|storms|fence|kubernetes|kuberntes|teh|the|rain) ";
    let text = prop::collection::vec(word, 1..14).prop_map(|words| words.concat());
    prop::collection::vec(text, 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 40, ..ProptestConfig::default() })]
    #[test]
    fn notes_outside_of_the_scope_change_nothing(
        own in texts(),
        other in texts(),
        questions in prop::collection::vec(
            "(auth|authen|plan|planets|storm|fence|kubernets|rain|\\+storm|auth AND the|\"storm fence\"|stor*|rain -plan)( (fence|auth|plan|stor))?", 4),
    ) {
        let home = TempDir::new().unwrap();
        let memory = open(&home);
        for (n, text) in own.iter().enumerate() {
            put(&memory, &format!("inside/n{n}.md"), &format!("# Note {n}\n\n{text}\n\nrain {text}\n"));
        }
        let ask = |filter: SearchFilter, unit| -> Vec<Vec<String>> {
            let page = |text: &String| {
                let request = SearchRequest {
                    filter: filter.clone(),
                    unit,
                    now: Some("2026-01-01T00:00:00Z".parse().unwrap()),
                    ..asked(text).with_min_relevance(Some(0.0))
                };
                seen(&memory.search(&request).unwrap())
            };
            questions.iter().map(page).collect()
        };
        let all = || {
            let filters = [project("main"), folder("inside")];
            let units = [SearchUnit::Notes, SearchUnit::Passages];
            let both = filters.iter().flat_map(|filter| units.map(|unit| (filter.clone(), unit)));
            both.map(|(filter, unit)| ask(filter, unit)).collect::<Vec<_>>()
        };
        let before = all();
        for (n, text) in other.iter().enumerate() {
            put_in(&memory, "other", &format!("o{n}.md"), &format!("# Other {n}\n\n{text}\n"));
        }
        prop_assert_eq!(&all(), &before);
        // Another folder of the same project is outside of a search in one folder.
        let inside = |asked: &[Vec<Vec<String>>]| asked[2..].to_vec();
        for (n, text) in other.iter().enumerate() {
            put(&memory, &format!("outside/o{n}.md"), &format!("# Other {n}\n\n{text}\n"));
        }
        prop_assert_eq!(inside(&all()), inside(&before));
    }
}
