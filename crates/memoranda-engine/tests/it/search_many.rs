//! Finding in vaults that hold much: words that many notes hold, filters that few notes pass, and
//! the same answers however long the process has been asked.

use memoranda_core::rank::RankOptions;
use memoranda_engine::recall::{RecallRequest, recall};
use memoranda_engine::records::VisibleScopes;
use memoranda_engine::{Memory, SearchFilter, SearchPage, SearchRequest};
use tempfile::TempDir;

use crate::search::{asked, open, paths, put};

/// Files as a person has them, known to the vault.
fn vault(files: impl IntoIterator<Item = (String, String)>) -> (TempDir, Memory) {
    let folder = TempDir::new().unwrap();
    for (path, text) in files {
        let path = folder.path().join("home/main").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let memory = open(&folder);
    memory.sync(&mut |_| ()).unwrap();
    (folder, memory)
}

fn words(text: &str) -> SearchRequest {
    SearchRequest { options: RankOptions::WORDS, limit: 10, ..asked(text) }
}

#[test]
fn words_that_the_index_writes_in_its_own_way_are_found_however_many_hold_them() {
    let text = |n: usize| format!("Мой файл max_tokens __init__ άλλα номер {n}.\n");
    let (_folder, memory) = vault((0..420).map(|n| (format!("n{n}.md"), text(n))));
    for word in ["мой", "файл", "max_tokens", "__init__", "άλλα", "номер", "tokens"]
    {
        let page = memory.search(&words(word)).unwrap();
        assert_eq!(page.results.len(), 10, "{word}: {:?}", page.corrections);
        assert!(page.corrections.is_empty() && page.results[0].relevance > 0.5, "{word}");
    }
    for begin in ["фай*", "max_to*", "άλλ*", "но*", "max*"] {
        assert_eq!(memory.search(&words(begin)).unwrap().results.len(), 10, "{begin}");
    }
}

#[test]
fn all_that_match_are_reached_page_by_page() {
    let (_folder, memory) = vault((0..450).map(|n| (format!("n{n}.md"), format!("walrus {n}\n"))));
    let page = memory.search(&SearchRequest { limit: 1000, ..words("+walrus") }).unwrap();
    assert_eq!((page.results.len(), page.has_more, page.partial), (450, false, false));
    let last = SearchRequest { limit: 50, offset: 400, ..words("+walrus") };
    assert_eq!(memory.search(&last).unwrap().results.len(), 50);
}

#[test]
fn what_a_filter_leaves_is_found_by_its_meaning_whoever_asked_before() {
    let facts: String =
        (0..1200).map(|n| format!("- [pet] The dog eats dog food, {n}\n")).collect();
    let rare = |n: usize| {
        let text = format!("---\ntags: [rare]\ntype: odd\n---\nFeeding animals at the zoo, {n}.\n");
        (format!("zoo{n}.md"), text)
    };
    let dogs = [("dogs.md".to_owned(), facts)];
    let (folder, memory) = vault(dogs.into_iter().chain((0..5).map(rare)));
    for filter in [
        SearchFilter { tags: vec!["rare".into()], ..SearchFilter::default() },
        SearchFilter { note_types: vec!["odd".into()], ..SearchFilter::default() },
    ] {
        let request = SearchRequest { filter, ..asked("which pet eats food") };
        let fresh = paths(&open(&folder).search(&request).unwrap());
        assert_eq!(fresh.len(), 5);
        for again in 1..4 {
            assert_eq!(paths(&memory.search(&request).unwrap()), fresh, "{again}");
        }
    }
}

#[test]
fn one_large_note_changes_what_words_are_worth_for_everyone() {
    let note = |n: usize| {
        let word = if n < 5 { "walrus" } else { "porridge" };
        (format!("n{n}.md"), format!("{word} day {n}\n"))
    };
    let (folder, memory) = vault((0..120).map(note));
    let scores = |page: SearchPage| -> Vec<(String, f64)> {
        let results = page.results.iter();
        results.map(|result| (result.place.path.to_string(), result.score)).collect()
    };
    // One moment for both searches: the age of a note is part of its score.
    let now = Some(jiff::Timestamp::now());
    let request = SearchRequest { limit: 100, now, ..words("walrus porridge") };
    for request in [&request, &asked("which walrus"), &asked("which walrus")] {
        memory.search(request).unwrap();
    }
    let large: String = (0..3000).map(|n| format!("- [other] something else {n}\n")).collect();
    put(&memory, "large.md", &large);
    let fresh = scores(open(&folder).search(&request).unwrap());
    assert_eq!(scores(memory.search(&request).unwrap()), fresh);
}

#[test]
fn a_note_is_found_by_each_of_its_names() {
    let text = "---\naliases: [Quokka Manual]\n---\nHow the pump is primed.\n";
    let other = "A quokka. A manual for the quokka, and a quokka manual.\n";
    let files = [("machine.md", text), ("zoo.md", other)];
    let (_folder, memory) = vault(files.map(|(path, text)| (path.to_owned(), text.to_owned())));
    for name in ["Quokka Manual", "quokka manual", "machine"] {
        assert_eq!(paths(&memory.search(&asked(name)).unwrap())[0], "machine.md", "{name}");
    }
}

#[test]
fn facts_of_agents_are_found_by_meaning_among_many_notes() {
    let days = ["Monday", "Tuesday", "Wednesday", "Saturday", "Sunday"];
    let text = |n: usize| {
        let (day, other) = (days[n % 5], days[n / 5 % 5]);
        format!(
            "The museum closes at six on {day}. The choir meets on {other} in hall {n}. The \
             mirror costs {n}. Rain all {day}; the fern liked it.\n"
        )
    };
    let notes = (0..600).map(|n| (format!("n{n}.md"), text(n)));
    let facts = [
        ("clean.md", "The cleaning lady comes every second Friday\n"),
        ("coffee.md", "I take my coffee without sugar\n"),
        ("bike.md", "My bicycle has a carbon frame and hydraulic brakes\n"),
        ("rent.md", "The rent goes up by forty euros in June\n"),
    ];
    let facts = facts.map(|(name, text)| (format!("../memories/{name}"), text.to_owned()));
    let (_folder, memory) = vault(notes.chain(facts));
    // The first search of a process reads its vectors in another way than later ones.
    for _ in 0..2 {
        for (question, expected) in [
            ("how much more will the flat cost from summer on", "rent.md"),
            ("what is her bike made of", "bike.md"),
        ] {
            let page = memory.search(&asked(question)).unwrap();
            assert_eq!(paths(&page).first().map(String::as_str), Some(expected), "{question}");
        }
        for question in ["which planets have rings", "when does the housekeeper visit"] {
            let page = memory.search(&asked(question)).unwrap();
            assert!(page.results.is_empty(), "{question}: {:?}", paths(&page));
        }
    }
    // A fact that is too far from its question to be a result is the nearest statement.
    let question = Some("when does the housekeeper visit".to_owned());
    let request = RecallRequest::new(question, VisibleScopes::new(None));
    let answer = recall(&memory, &request).unwrap();
    assert!(answer.passages.is_empty(), "{:?}", answer.passages);
    assert_eq!(answer.nearest[0].places[0].path.as_str(), "clean.md");
}
