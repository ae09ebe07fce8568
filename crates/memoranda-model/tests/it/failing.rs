//! A model that is slow, wrong or gone costs nobody anything: searches go by the table and say
//! so, and what was made stays.

use std::time::{Duration, Instant};

use memoranda_engine::{Made, MakeOutcome, MeaningBy, SearchPage};
use serde_json::{Value, json};

use super::stand_in::{Nobody, Reply, StandIn};
use super::vault::{
    LIMIT, by, by_stand_in, coverage, endpoint, first, household, knowing, put, search, texts,
    vectors, vectors_file,
};

fn quiet(_: u64, _: u64) {}

fn is_question(body: &Value) -> bool {
    body["input"].as_array().is_some_and(|input| input.len() == 1)
}

/// Whether a search went by the table, for a reason that holds a word, and found what it should.
fn fell_back(page: &SearchPage, word: &str) {
    match &page.meaning {
        MeaningBy::FellBack { reason, .. } => assert!(reason.contains(word), "{reason}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(first(page), "money.md");
}

const QUESTION: &str = "when is the electricity bill due";

#[test]
fn a_question_waits_no_longer_than_its_limit_and_not_twice() {
    let folder = household();
    let stand_in = StandIn::answering(|_, body| match is_question(body) {
        true => vectors(body).after(Duration::from_secs(3600)),
        false => vectors(body),
    });
    let memory = by(&folder, endpoint(stand_in.url(), "small"), Duration::from_millis(300));
    memory.make_meanings(&mut quiet).unwrap();
    let begun = Instant::now();
    fell_back(&search(&memory, QUESTION), "no answer within 0.3 s");
    assert!(begun.elapsed() < Duration::from_secs(600));
    let asked = texts(&stand_in).len();
    fell_back(&search(&memory, QUESTION), "no answer within 0.3 s");
    assert_eq!(texts(&stand_in).len(), asked, "it was asked again at once");
}

#[test]
fn vectors_of_another_length_are_not_taken() {
    let folder = household();
    let short = |body: &Value| {
        let count = body["input"].as_array().unwrap().len();
        let data: Vec<_> = (0..count).map(|_| json!({ "embedding": [1.0, 2.0] })).collect();
        Reply::new(200, json!({ "data": data }).to_string())
    };
    // Two requests make the vectors; whoever answers afterwards makes others.
    let stand_in =
        StandIn::answering(move |n, body| if n < 2 { vectors(body) } else { short(body) });
    let memory = by_stand_in(&folder, &stand_in);
    memory.make_meanings(&mut quiet).unwrap();
    fell_back(&search(&memory, QUESTION), "has 2 numbers, and those of the passages have 5");
    put(&memory, "new.md", "A new note.\n");
    let error = memory.make_meanings(&mut quiet).unwrap_err().to_string();
    assert!(error.contains("have 2 numbers now, and had 5"), "{error}");
    assert_eq!((coverage(&memory).covered, coverage(&memory).passages), (4, 5));
    // Whoever wants the new ones says so.
    memory.forget_meanings().unwrap();
    let made = MakeOutcome::Done(Made { made: 5, refused: 0 });
    assert_eq!(memory.make_meanings(&mut quiet).unwrap(), made);
}

#[test]
fn a_model_that_is_gone_leaves_what_it_made() {
    let folder = household();
    let nobody = Nobody::new();
    let memory = by(&folder, endpoint(nobody.url(), "small"), LIMIT);
    fell_back(&search(&memory, QUESTION), "0 of 4");
    assert!(memory.make_meanings(&mut quiet).unwrap_err().to_string().contains("reached"));
    assert!(memory.try_model().unwrap().is_err());

    let stand_in = StandIn::answering(|n, body| match n {
        0..2 => vectors(body),
        _ => Reply::new(403, r#"{"error":{"message":"no more credit"}}"#),
    });
    let memory = by_stand_in(&folder, &stand_in);
    memory.make_meanings(&mut quiet).unwrap();
    fell_back(&search(&memory, QUESTION), "no more credit");
    assert_eq!(coverage(&memory).covered, 4);
}

#[test]
fn a_text_that_a_model_does_not_take_stops_nothing() {
    let folder = household();
    let stand_in = StandIn::answering(|_, body| match body["input"].to_string() {
        input if input.contains("poison") => Reply::new(400, r#"{"error":"too long"}"#),
        _ => vectors(body),
    });
    let memory = by_stand_in(&folder, &stand_in);
    for n in 0..12 {
        put(&memory, &format!("n{n}.md"), &format!("Note {n} about a dog.\n"));
    }
    put(&memory, "bad.md", "This poison is about a cat.\n");
    let made = MakeOutcome::Done(Made { made: 16, refused: 1 });
    assert_eq!(memory.make_meanings(&mut quiet).unwrap(), made);
    let page = search(&memory, "deadly poison");
    assert_eq!(
        page.meaning,
        MeaningBy::FellBack {
            model: "small".into(),
            reason: "it answered with status 400: too long".into(),
        }
    );
    let memory = by_stand_in(&folder, &stand_in);
    let page = search(&memory, "zorblat");
    assert_eq!(page.meaning, MeaningBy::Chosen { model: "small".into(), left: 1 });
    // A model that takes nothing at all is said to take nothing.
    let stand_in = StandIn::answering(|n, body| match n {
        0 => vectors(body),
        _ => Reply::new(400, r#"{"error":"nothing is taken here"}"#),
    });
    let memory = by(&folder, endpoint(stand_in.url(), "other"), LIMIT);
    let error = memory.make_meanings(&mut quiet).unwrap_err().to_string();
    assert!(error.contains("nothing is taken here"), "{error}");
}

#[test]
fn damaged_vectors_are_made_again() {
    let (folder, stand_in) = (household(), knowing());
    let memory = by_stand_in(&folder, &stand_in);
    memory.make_meanings(&mut quiet).unwrap();
    let file = vectors_file(&folder);
    let whole = std::fs::read(&file).unwrap();
    let check = |bytes: &[u8], left: u64, word: &str| {
        drop(by_stand_in(&folder, &stand_in));
        std::fs::write(&file, bytes).unwrap();
        let memory = by_stand_in(&folder, &stand_in);
        assert_eq!(coverage(&memory).covered, left, "{word}");
        memory.make_meanings(&mut quiet).unwrap();
        assert_eq!(coverage(&memory).covered, 4, "{word}");
        assert_eq!(first(&search(&memory, "zorblat")), "pets.md", "{word}");
    };
    let mut flipped = whole.clone();
    let last = flipped.len() - 6;
    flipped[last] ^= 1;
    check(&flipped, 3, "a flipped bit");
    check(&whole[..whole.len() - 3], 3, "a record cut short");
    check(&whole[..10], 0, "a line cut short");
    check(b"something else entirely\n", 0, "another file");
    check(b"", 0, "an empty file");
}
