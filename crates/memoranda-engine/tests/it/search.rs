//! Finding: by words, by meaning, by name, at the right time, and not at all when nothing fits.

use memoranda_core::change::{Author, ChangeChannel};
use memoranda_core::id::ProjectName;
use memoranda_core::note::edit::NoteEdit;
use memoranda_core::path::NotePath;
use memoranda_core::porter::porter_stem;
use memoranda_core::rank::RankOptions;
use memoranda_engine::{
    DeleteRequest, EditRequest, MIN_RELEVANCE, Memory, NoteLocation, OpenOptions, RELATIVE_CUT,
    SearchFilter, SearchPage, SearchRequest, SearchResult, SearchUnit, Superseded, TypedWords,
    WriteMode, WriteRequest,
};
use tempfile::TempDir;

pub(crate) fn open(folder: &TempDir) -> Memory {
    Memory::open(OpenOptions::in_folder(folder.path())).unwrap()
}

pub(crate) fn who() -> Author {
    Author::new("test", "test", ChangeChannel::Cli)
}

pub(crate) fn put(memory: &Memory, path: &str, text: &str) {
    let request = WriteRequest {
        project: ProjectName::parse("main").unwrap(),
        path: NotePath::parse(path).unwrap(),
        content: text.into(),
        mode: WriteMode::CreateOrOverwrite,
        message: None,
    };
    memory.write(&who(), &request).unwrap();
}

pub(crate) fn asked(text: &str) -> SearchRequest {
    SearchRequest { text: text.into(), ..SearchRequest::default() }
}

pub(crate) fn paths(page: &SearchPage) -> Vec<String> {
    page.results.iter().map(|result| result.place.path.to_string()).collect()
}

/// Some notes of an ordinary life.
fn household() -> (TempDir, Memory) {
    let folder = TempDir::new().unwrap();
    let memory = open(&folder);
    put(&memory, "pets.md", "# Animals\n\nOur cat Minka sleeps beside the dog all afternoon.\n");
    put(&memory, "money.md", "# Invoices\n\nThe electricity bill is due at the end of March.\n");
    put(&memory, "garden.md", "# Garden\n\nThe tomatoes need water every evening in the summer.\n");
    put(&memory, "work.md", "# Deployment\n\nThe billing service is released every Friday.\n");
    (folder, memory)
}

#[test]
fn each_of_many_alternatives_is_an_answer() {
    let (_folder, memory) = household();
    put(
        &memory,
        "long.md",
        "# Travel\n\nFrom Lisbon by night train.\n\n# Later\n\nTomatoes again.\n",
    );
    let check = |text: &str, expected: &[&str]| {
        let mut found = paths(&memory.search(&asked(text)).unwrap());
        found.sort_unstable();
        assert_eq!(found, expected, "{text:?}");
    };
    check(
        "minka OR electricity OR tomatoes OR friday OR lisbon OR zeppelin OR xylophone",
        &["garden.md", "long.md", "money.md", "pets.md", "work.md"],
    );
    check("minka OR zeppelin", &["pets.md"]);
    check("(lisbon OR summer) AND tomatoes", &["garden.md", "long.md"]);
    check("(lisbon OR minka) AND tomatoes", &["long.md"]);
    check("(lisbon OR minka) AND (tomatoes OR dog)", &["long.md", "pets.md"]);
    check("lisbon OR minka AND dog", &["long.md", "pets.md"]);
    check("tomatoes AND NOT (lisbon OR minka)", &["garden.md"]);
    check("minka OR electricity -dog", &["money.md"]);
}

#[test]
fn notes_are_found_by_what_they_mean() {
    let (_folder, memory) = household();
    let found = |text: &str| paths(&memory.search(&asked(text)).unwrap());
    assert_eq!(found("which pets live with us")[0], "pets.md");
    assert_eq!(found("unpaid bills")[0], "money.md");
    assert_eq!(found("watering vegetables")[0], "garden.md");
    // A required word must occur.
    assert_eq!(found("+pets +live"), Vec::<String>::new());
    assert_eq!(found("\"which pets\""), Vec::<String>::new());
    assert_eq!(found("a kitten that naps")[0], "pets.md");
    // Words alone, by choice.
    let words = SearchRequest { options: RankOptions::WORDS, ..asked("a kitten that naps") };
    assert!(memory.search(&words).unwrap().results.is_empty());
}

#[test]
fn nothing_is_better_than_noise() {
    let (_folder, memory) = household();
    let page = memory.search(&asked("quantum chromodynamics lattice spacing")).unwrap();
    assert_eq!(paths(&page), Vec::<String>::new());
    assert!(page.relevance < 0.1, "{}", page.relevance);
    let all = SearchRequest { min_relevance: 0.0, ..asked("quantum chromodynamics lattice") };
    assert!(!memory.search(&all).unwrap().results.is_empty());
    // A word of no language has no meaning, even without a threshold.
    let nonsense = SearchRequest { min_relevance: 0.0, ..asked("zzzqqq") };
    assert_eq!(paths(&memory.search(&nonsense).unwrap()), Vec::<String>::new());
}

#[test]
fn the_most_relevant_result_decides_about_silence() {
    let (_folder, memory) = household();
    for n in 0..600 {
        let text =
            format!("# Log {n}\n\nWalk {n} by the river, then soup, a book and an early night.\n");
        put(&memory, &format!("log/{n}.md"), &text);
    }
    let mut silent = Vec::new();
    for text in [
        "when is the electricity bill due",
        "does the cat sleep beside the dog",
        "a walk by the river and soup",
        "evening classes in quantum chromodynamics for beginners",
        "who won the summer election of the parliament in Lisbon",
    ] {
        let page = memory.search(&asked(text)).unwrap();
        let all = memory.search(&SearchRequest { min_relevance: 0.0, limit: 100, ..asked(text) });
        let all = all.unwrap();
        assert_eq!(page.results.is_empty(), page.relevance < MIN_RELEVANCE, "{text}");
        let best = all.results.iter().map(|result| result.score).fold(0.0, f64::max);
        let is_near = |r: &SearchResult| r.score >= RELATIVE_CUT * best || r.relevance >= 0.75;
        assert!(page.results.iter().all(is_near), "{text}");
        assert!(!all.results.is_empty() && page.results.len() < all.results.len(), "{text}");
        silent.extend(page.results.is_empty().then_some(text));
        // A threshold by choice applies to each result.
        let strict = asked(text).with_min_relevance(Some(0.6));
        let strict = memory.search(&strict).unwrap().results;
        assert!(strict.iter().all(|result| result.relevance >= 0.6), "{text}");
    }
    let unknown = [
        "evening classes in quantum chromodynamics for beginners",
        "who won the summer election of the parliament in Lisbon",
    ];
    assert_eq!(silent, unknown);
}

#[test]
fn a_person_finds_a_word_as_it_was_typed() {
    let (_folder, memory) = household();
    for n in 0..600 {
        put(&memory, &format!("log/{n}.md"), &format!("Walk {n} by the river, then soup.\n"));
    }
    put(&memory, "air.md", "In the attic lies a box with a model, a zeppelin, and old stamps.\n");
    let text = "which committee of the parliament discussed zeppelin taxes and budgets";
    assert_eq!(paths(&memory.search(&asked(text)).unwrap()), Vec::<String>::new());
    let typed = SearchRequest { typed_words: TypedWords::Always, ..asked(text) };
    assert_eq!(paths(&memory.search(&typed).unwrap()), ["air.md"]);
    // One word, or all of them, is never silenced.
    for text in ["zeppelin", "zeppelin stamps attic", "zeppelin taxes"] {
        assert_eq!(paths(&memory.search(&asked(text)).unwrap())[0], "air.md", "{text}");
    }
}

#[test]
fn what_the_table_cannot_read_is_found_by_its_words() {
    let folder = TempDir::new().unwrap();
    let memory = open(&folder);
    put(&memory, "cat.md", "# 猫\n\n猫叫豆豆,对鸡肉过敏,疫苗每年三月打,兽医是周医生。\n");
    put(&memory, "server.md", "# 云服务器\n\n服务器从阿里云迁到腾讯云,备份每天凌晨两点。\n");
    put(&memory, "travel.md", "# 旅行\n\n春节去云南,先飞昆明,再坐火车到大理,住在洱海边的客栈。\n");
    let check = |text: &str, expected: &[&str]| {
        assert_eq!(paths(&memory.search(&asked(text)).unwrap()), expected, "{text}");
    };
    check("豆豆的疫苗", &["cat.md"]);
    check("备份时间", &["server.md"]);
    check("宇宙飞船发射", &[]);
    check("新幹線の切符", &[]);
    check("how to bake bread", &[]);
}

#[test]
fn slips_and_beginnings_are_understood() {
    let (_folder, memory) = household();
    let page = memory.search(&asked("electrcity")).unwrap();
    assert_eq!(paths(&page), ["money.md"]);
    assert_eq!(page.corrections[0].typed, "electrcity");
    let page = memory.search(&asked("tomat")).unwrap();
    assert_eq!(paths(&page), ["garden.md"]);
    assert_eq!(page.corrections[0].meant, "tomat*");
    // Its stem, `coffe`, would be stemmed further if it were asked for.
    put(&memory, "kitchen.md", "# Kitchen\n\nThe coffee stands beside the bread.\n");
    let page = memory.search(&asked("cofee")).unwrap();
    assert_eq!(paths(&page), ["kitchen.md"]);
    assert_eq!(page.corrections[0].meant, "coffee");
    // The quoted word is the word of the text, not its stem.
    put(&memory, "plan.md", "# Plan\n\nOrganisations decide.\n");
    let page = memory.search(&asked("orgnisation")).unwrap();
    assert_eq!(paths(&page), ["plan.md"]);
    assert_eq!(page.corrections[0].meant, "organisations");
    let typed = memory.search(&asked("organisation")).unwrap();
    assert!(page.relevance < typed.relevance, "{} {}", page.relevance, typed.relevance);
    // With one letter too many nothing begins, and yet a longer word has that stem.
    put(&memory, "dogs.md", "# Walks\n\nThe terrier barks.\n");
    let page = memory.search(&asked("terrierr")).unwrap();
    assert_eq!(paths(&page), ["dogs.md"]);
    assert_eq!(page.corrections[0].meant, "terrier");
    // Words that people write are no slips of others.
    put(&memory, "diary.md", "# Diary\n\nIn the evening we found a job; a contract lay there.\n");
    for word in ["wedding", "jogging", "contact", "paste"] {
        let page = memory.search(&asked(word)).unwrap();
        assert!(page.corrections.is_empty(), "{word}: {:?}", page.corrections);
    }
}

#[test]
fn what_is_demanded_may_stand_anywhere_in_a_note() {
    let folder = TempDir::new().unwrap();
    let memory = open(&folder);
    put(&memory, "both.md", "# Both\n\nThe certificate expires.\n\nA zeppelin flies.\n");
    put(&memory, "one.md", "# One\n\nThe certificate was renewed.\n");
    put(&memory, "past.md", "# Past\n\nA certificate.\n\n## History\n\n- [a] ~~a zeppelin~~\n");
    let long = "A line about nothing.\n\n".repeat(450);
    put(&memory, "long.md", &format!("# Long\n\nThe certificate.\n\n{long}The zeppelin.\n"));
    let check = |text: &str, expected: &[&str]| {
        for unit in [SearchUnit::Notes, SearchUnit::Passages] {
            let page = memory.search(&SearchRequest { unit, ..asked(text) }).unwrap();
            let mut found = paths(&page);
            found.sort();
            found.dedup();
            assert_eq!(found, expected, "{text} {unit:?}");
        }
    };
    check("certificate AND zeppelin", &["both.md", "long.md"]);
    check("+certificate +zepelin", &["both.md", "long.md"]);
    check("certificate AND dirigible", &[]);
    check("certificate -zeppelin", &["one.md"]);
    check("certificate NOT zeppelin", &["one.md"]);
}

#[test]
fn facts_that_no_longer_hold_are_left_out() {
    let folder = TempDir::new().unwrap();
    let memory = open(&folder);
    put(
        &memory,
        "car.md",
        "# Car\n\n- [colour] the car is green\n\n## History\n\n- [colour] ~~the car is purple~~\n",
    );
    let lines = |superseded: Superseded| {
        let filter = SearchFilter { superseded, ..SearchFilter::default() };
        let request = SearchRequest { filter, unit: SearchUnit::Passages, ..asked("purple car") };
        let page = memory.search(&request).unwrap();
        page.results.iter().map(|result| result.lines).collect::<Vec<_>>()
    };
    assert_eq!(lines(Superseded::Exclude), [(1, 3)]);
    assert_eq!(lines(Superseded::Include).len(), 2);
}

#[test]
fn the_same_passage_is_told_once_and_each_note_is_found() {
    let folder = TempDir::new().unwrap();
    let memory = open(&folder);
    let text = "The harbour office opens at nine and closes at four, except on Sundays.\n";
    put(&memory, "a.md", text);
    put(&memory, "b.md", text);
    let page = memory.search(&asked("harbour office")).unwrap();
    assert_eq!(page.results.len(), 2);
    let passages = SearchRequest { unit: SearchUnit::Passages, ..asked("harbour office") };
    let page = memory.search(&passages).unwrap();
    assert_eq!(page.results.len(), 1);
    assert_eq!(page.results[0].also.len(), 1);
    // The passages around it differ.
    for (path, day) in [("c.md", "Monday"), ("d.md", "Tuesday")] {
        let above = format!("# {day}\n\nOn {day} we met early in the small room upstairs.\n\n");
        put(&memory, path, &format!("{above}{text}"));
    }
    let page = memory.search(&passages).unwrap();
    let also = page.results[0].also.iter().map(|place| place.path.to_string());
    let mut places: Vec<_> = also.chain([page.results[0].place.path.to_string()]).collect();
    places.sort();
    assert_eq!(places, ["a.md", "b.md", "c.md", "d.md"], "{:?}", page.results);
    // Equal words are not equal text.
    put(&memory, "e.md", &text.to_uppercase());
    let page = memory.search(&passages).unwrap();
    let mut also: Vec<_> = page.results.iter().map(|result| result.also.len()).collect();
    also.truncate(2);
    also.sort();
    assert_eq!(also, [0, 3], "{:?}", page.results);
}

#[test]
fn a_time_in_the_question_lifts_notes_of_that_time() {
    let folder = TempDir::new().unwrap();
    let memory = open(&folder);
    let met = "We met the neighbours and talked about the fence.\n";
    for (path, day) in [("a.md", "2025-01-10"), ("b.md", "2025-03-10"), ("c.md", "2025-05-10")] {
        put(&memory, path, &format!("---\ncreated: {day}\n---\n{met} {path}\n"));
    }
    let page = memory.search(&asked("what about the fence in March 2025")).unwrap();
    assert_eq!(paths(&page)[0], "b.md");
    assert!(page.when.is_some());
    assert_eq!(page.results.len(), 3, "a time is a hint, not a filter");
}

#[test]
fn who_asks_for_a_time_finds_the_notes_of_that_time() {
    let folder = TempDir::new().unwrap();
    let memory = open(&folder).with_zone(|| jiff::tz::TimeZone::fixed(jiff::tz::offset(-8)));
    put(&memory, "manual.md", "---\ncreated: 2025-01-01\n---\nNotes: what I did, what to do.\n");
    put(&memory, "diary/2025-03-22.md", "Cleaned the gutters.\n");
    put(&memory, "log.md", "---\ndate: 2025-03-22\n---\nThe backup ran.\n");
    put(&memory, "late.md", "---\ncreated: 2025-03-23T05:00:00Z\n---\nSlept badly.\n");
    put(&memory, "next.md", "---\ncreated: 2025-03-23T09:00:00Z\n---\nPainted a fence.\n");
    for n in 0..60 {
        put(&memory, &format!("n{n}.md"), &format!("---\ncreated: 2024-01-01\n---\nI do {n}.\n"));
    }
    // Late in the evening of the 23rd in that time zone.
    let now = Some("2025-03-24T06:00:00Z".parse().unwrap());
    for text in ["what did I do yesterday", "notes from yesterday", "yesterday"] {
        let page = memory.search(&SearchRequest { now, ..asked(text) }).unwrap();
        let mut first: Vec<_> = paths(&page).into_iter().take(3).collect();
        first.sort();
        assert_eq!(first, ["diary/2025-03-22.md", "late.md", "log.md"], "{text}");
    }
    let page = memory.search(&SearchRequest { now, ..asked("gutters in March 2025") }).unwrap();
    assert_eq!(paths(&page)[0], "diary/2025-03-22.md");
}

#[test]
fn modified_in_the_frontmatter_is_the_time_of_the_last_change() {
    let folder = TempDir::new().unwrap();
    let memory = open(&folder);
    let note = |key: &str| format!("---\n{key}: 2021-06-06\n---\nThe fence is green.\n");
    put(&memory, "old.md", &note("modified"));
    put(&memory, "new.md", &note("planted"));
    // A stated time in the future does not count.
    put(&memory, "wrong.md", "---\nmodified: 2999-01-01\n---\nThe fence is green.\n");
    let week = jiff::SignedDuration::from_hours(7 * 24);
    let after = Some(jiff::Timestamp::now() - week);
    let filter = SearchFilter { after, ..SearchFilter::default() };
    let recent = || {
        let request = SearchRequest { filter: filter.clone(), ..asked("green fence") };
        let page = memory.search(&request).unwrap();
        assert!(page.results.iter().all(|found| found.updated <= jiff::Timestamp::now()));
        let mut paths = paths(&page);
        paths.sort();
        paths
    };
    assert_eq!(recent(), ["new.md", "wrong.md"]);
    let place = NoteLocation {
        project: ProjectName::parse("main").unwrap(),
        path: NotePath::parse("old.md").unwrap(),
    };
    let edits = vec![NoteEdit::Append { text: "It was red.".into() }];
    let edit = EditRequest { place, edits, expected: None, message: None };
    memory.edit(&who(), &edit).unwrap();
    assert_eq!(recent(), ["new.md", "old.md", "wrong.md"]);
    let text = std::fs::read_to_string(folder.path().join("home/main/old.md")).unwrap();
    let today = jiff::Timestamp::now().to_string();
    assert!(text.contains(&format!("modified: {}\n", &today[..10])), "{text}");
}

#[test]
fn what_another_process_writes_and_deletes_is_found_and_gone_at_once() {
    let (folder, memory) = household();
    // The second search keeps what it compares.
    for _ in 0..2 {
        let page = memory.search(&asked("which pets live with us")).unwrap();
        assert_eq!(paths(&page)[0], "pets.md");
    }
    let other = open(&folder);
    put(&other, "boat.md", "The sailing dinghy is moored at the northern pier.\n");
    assert_eq!(paths(&memory.search(&asked("a ship in the harbour")).unwrap())[0], "boat.md");
    put(&other, "boat.md", "Nothing to see.\n");
    assert!(
        !paths(&memory.search(&asked("a ship in the harbour")).unwrap())
            .contains(&"boat.md".into())
    );
    let place = |path: &str| NoteLocation {
        project: ProjectName::parse("main").unwrap(),
        path: NotePath::parse(path).unwrap(),
    };
    let delete = DeleteRequest { place: place("pets.md"), expected: None };
    other.delete(&who(), &delete).unwrap();
    let found = paths(&memory.search(&asked("which pets live with us")).unwrap());
    assert!(!found.contains(&"pets.md".into()), "{found:?}");
}

#[test]
fn the_first_search_of_a_process_finds_what_later_ones_find() {
    let (folder, memory) = household();
    put(&memory, "pets.md", "# Animals\n\nThe parrot lives with the neighbours now.\n");
    let gone = NoteLocation {
        project: ProjectName::parse("main").unwrap(),
        path: NotePath::parse("garden.md").unwrap(),
    };
    memory.delete(&who(), &DeleteRequest { place: gone, expected: None }).unwrap();
    // Of one moment: a score tells how recent a note is.
    let now = Some(jiff::Timestamp::now());
    let scores = |memory: &Memory, text: &str| {
        let request = SearchRequest { min_relevance: 0.0, now, ..asked(text) };
        let page = memory.search(&request).unwrap();
        page.results.iter().map(|r| (r.place.path.to_string(), r.score)).collect::<Vec<_>>()
    };
    for text in ["which pets live with us", "unpaid bills", "watering vegetables"] {
        let fresh = open(&folder);
        let (first, second) = (scores(&fresh, text), scores(&fresh, text));
        assert_eq!(first, second, "{text}");
        assert_eq!(first, scores(&memory, text), "{text}");
        assert!(!first.is_empty() && first.iter().all(|(path, _)| path != "garden.md"), "{text}");
    }
}

#[test]
fn pages_fit_together() {
    let folder = TempDir::new().unwrap();
    let memory = open(&folder);
    for n in 0..30 {
        put(
            &memory,
            &format!("n{n}.md"),
            &format!("Storm number {n} broke the old fence again.\n"),
        );
    }
    let page = |offset: usize, limit: usize| {
        paths(&memory.search(&SearchRequest { offset, limit, ..asked("storm fence") }).unwrap())
    };
    let all = page(0, 30);
    assert_eq!(all.len(), 30);
    let parts: Vec<_> = (0..6).flat_map(|n| page(n * 5, 5)).collect();
    assert_eq!(parts, all);
    let budget = SearchRequest { max_tokens: Some(40), ..asked("storm fence") };
    let found = memory.search(&budget).unwrap();
    assert!(found.results.len() < 10 && found.left_out > 0, "{}", found.results.len());
}

#[test]
fn pages_fit_together_however_many_there_are() {
    let folder = TempDir::new().unwrap();
    let memory = open(&folder);
    let home = folder.path().join("home/main");
    std::fs::create_dir_all(&home).unwrap();
    for n in 0..130usize {
        // Of many lengths, and not in the order of how well they match.
        let storm = "storm ".repeat(1 + n * 7 % 4);
        let filler = "rain fell on the roof of the barn ".repeat(n * 11 % 13);
        let text = format!("{storm}broke the fence.\n\n{filler}\n\nNumber {n}.\n");
        std::fs::write(home.join(format!("n{n}.md")), text).unwrap();
    }
    memory.sync(&mut |_| {}).unwrap();
    for (text, unit) in [
        ("storm", SearchUnit::Notes),
        ("a storm on the fence", SearchUnit::Notes),
        ("storm", SearchUnit::Passages),
    ] {
        let page = |offset: usize, limit: usize| {
            let now = Some(jiff::Timestamp::UNIX_EPOCH);
            let request =
                SearchRequest { offset, limit, unit, min_relevance: 0.0, now, ..asked(text) };
            let found = memory.search(&request).unwrap().results;
            let told = |r: &SearchResult| (r.place.path.to_string(), r.lines, r.score.to_bits());
            found.iter().map(told).collect::<Vec<_>>()
        };
        let parts: Vec<_> = (0..12).flat_map(|n| page(n * 10, 10)).collect();
        let all = page(0, 120);
        assert_eq!(all.len(), 120, "{text}");
        assert!(parts == all, "{text} {unit:?}");
    }
}

#[test]
fn stems_are_those_of_the_index() {
    let folder = TempDir::new().unwrap();
    let memory = open(&folder);
    let words = "generalizations oscillators relational conditional rational valenci digitizer \
        conformabli radicalli differentli vileli analogousli vietnamization predication operator \
        feudalism decisiveness hopefulness callousness formaliti sensitiviti sensibiliti triplicate \
        formative formalize electriciti electrical hopeful goodness revival allowance inference \
        airliner gyroscopic adjustable defensible irritant replacement adjustment dependent adoption \
        homologou communism activate angulariti homologous effective bowdlerize probate cease \
        controlling rolling agreed feed plastered bled motoring sing hopping falling hissing fizzed \
        failing filing happy sky ponies ties caress cats skies dying technology apologies possibly";
    for (n, word) in words.split_whitespace().enumerate() {
        put(&memory, &format!("w{n}.md"), &format!("{word}\n"));
    }
    // A stem that differed would not be counted, and the note not be found by its word.
    for (n, word) in words.split_whitespace().enumerate() {
        let request = SearchRequest { options: RankOptions::WORDS, limit: 100, ..asked(word) };
        let page = memory.search(&request).unwrap();
        assert!(
            page.corrections.is_empty(),
            "{word} -> {}: {:?}",
            porter_stem(word),
            page.corrections
        );
        assert!(paths(&page).contains(&format!("w{n}.md")), "{word}");
    }
}

#[test]
fn words_are_counted_alike_whether_few_or_many_hold_them() {
    let folder = TempDir::new().unwrap();
    let memory = open(&folder);
    put(&memory, "first.md", "seldom\n");
    for n in 0..1000 {
        let lately = if n >= 520 { "lately" } else { "" };
        std::fs::write(
            folder.path().join(format!("home/main/n{n}.md")),
            format!("common {lately}\n"),
        )
        .unwrap();
    }
    memory.sync(&mut |_| {}).unwrap();
    let text = "seldom common lately never";
    let query = memoranda_core::query::Query::parse(text);
    let question = memoranda_store::CandidateQuery {
        text,
        query: &query,
        filter: &SearchFilter::default(),
        corpus: None,
        vector: None,
        model: None,
        when: None,
        round: 10,
        wanted: 10,
    };
    let snapshot = memory.snapshot().unwrap();
    let reader = snapshot.search_reader(None).unwrap();
    let found = reader.candidates(&question).unwrap().found;
    assert_eq!(found.holders, [1, 1000, 480, 0]);
}

#[test]
fn who_is_named_says_who_speaks_and_not_what_about() {
    let folder = TempDir::new().unwrap();
    let memory = open(&folder);
    let said = |name: &str, text: &str| format!("{name}: {text}\n\n");
    let chat: String = (0..6)
        .map(|day| {
            said("Maria", &format!("good morning Tobias, day {day} of the long journey begins"))
                + &said("Tobias", &format!("good morning Maria, hill {day} lies before us today"))
        })
        .collect();
    let chat = chat
        + &said("Tobias", "Maria, the doctor looked at my knee and sent me home")
        + &said("Maria", "Tobias, the doctor looked at my knee and sent me home");
    put(&memory, "chat.md", &chat);
    let check = |text: &str, expected: &str| {
        let request = SearchRequest { unit: SearchUnit::Passages, ..asked(text) };
        let found = memory.search(&request).unwrap();
        assert!(found.results[0].snippet.text.starts_with(expected), "{:?}", found.results[0]);
        assert!(found.results[0].why.iter().any(|signal| signal.name() == "speaker"));
    };
    check("what did the doctor do for Maria?", "Maria:");
    check("what did the doctor do for Tobias?", "Tobias:");
}

#[test]
fn what_is_meant_is_found_in_a_small_place_beside_very_many_nearer_notes() {
    let folder = TempDir::new().unwrap();
    let home = folder.path().join("home");
    for project in ["main", "other"] {
        std::fs::create_dir_all(home.join(project)).unwrap();
    }
    for n in 0..1100 {
        let text = format!("The cat sleeps in the sun, number {n}.\n");
        std::fs::write(home.join(format!("main/{n}.md")), text).unwrap();
    }
    std::fs::write(home.join("other/pets.md"), "A kitten naps on the warm terrace.\n").unwrap();
    let memory = open(&folder);
    memory.sync(&mut |_| {}).unwrap();
    let mut request = asked("where does the cat sleep");
    request.filter.projects = vec![ProjectName::parse("other").unwrap()];
    // The first search of a process reads what the next ones have in memory.
    for time in ["first", "second", "third"] {
        assert_eq!(paths(&memory.search(&request).unwrap()), ["pets.md"], "{time}");
    }
}

#[test]
fn notes_that_were_compared_before_are_compared_as_they_are_now() {
    let (folder, memory) = household();
    let other = open(&folder);
    let found = |text: &str| {
        let page = memory.search(&asked(text)).unwrap();
        let first = &page.results[0];
        (first.place.path.to_string(), first.title.clone(), first.snippet.text.clone())
    };
    for _ in 0..2 {
        assert_eq!(found("electricity bill").0, "money.md");
    }
    let text =
        "---\ntitle: Electricity bill\n---\n\nPaid at last.\n\nOur electricity bill was high.\n";
    put(&other, "money.md", text);
    let (path, title, snippet) = found("electricity bill");
    assert_eq!((&*path, &*title), ("money.md", "Electricity bill"), "{snippet}");
    let page = memory.search(&asked("Electricity bill")).unwrap();
    assert!(page.results[0].why.iter().any(|signal| signal.name() == "exact_title"));
    let place = NoteLocation {
        project: ProjectName::parse("main").unwrap(),
        path: NotePath::parse("money.md").unwrap(),
    };
    let delete = DeleteRequest { place, expected: None };
    other.delete(&who(), &delete).unwrap();
    put(&other, "bills/new.md", "The electricity bill is due.\n");
    assert_eq!(found("electricity bill").0, "bills/new.md");
    let left = paths(&memory.search(&asked("electricity bill")).unwrap());
    assert!(!left.contains(&"money.md".into()), "{left:?}");
}

#[test]
fn what_is_in_memory_of_an_index_is_not_true_of_the_next() {
    let folder = TempDir::new().unwrap();
    let memory = open(&folder);
    // In this order they have other numbers than a look at the folder gives them.
    put(&memory, "z.md", "The zebra grazes behind the old mill.\n");
    put(&memory, "m.md", "The mackerel is smoked over beech wood.\n");
    put(&memory, "a.md", "The anvil stands beside the forge.\n");
    let questions = [("zebra", "z.md"), ("mackerel", "m.md"), ("anvil", "a.md")];
    let check = || {
        for (text, path) in questions {
            let first = memory.search(&asked(text)).unwrap().results.remove(0);
            assert_eq!(first.place.path.as_str(), path, "{text}");
            assert!(first.why.iter().any(|signal| signal.name() == "words"), "{first:?}");
        }
    };
    check();
    check();
    std::fs::remove_dir_all(folder.path().join("cache")).unwrap();
    std::fs::create_dir(folder.path().join("cache")).unwrap();
    open(&folder).sync(&mut |_| {}).unwrap();
    check();
    check();
}
