//! A slow, failing or missing model: searches fall back to the built-in one and say so, and
//! existing embeddings are kept.

use std::time::{Duration, Instant};

use memoranda_engine::{EmbedOutcome, EmbedReport, EmbeddingSource, SearchPage};
use serde_json::{Value, json};

use super::stand_in_server::{ClosedPort, StandInReply, StandInServer};
use super::vault::{
    LIMIT, coverage, endpoint, first_path, household_vault, open_with_model, open_with_stand_in,
    requested_texts, search, start_stand_in, subject_vectors, vectors_file, write_note,
};

fn ignore_progress(_: u64, _: u64) {}

fn is_question(body: &Value) -> bool {
    body["input"].as_array().is_some_and(|input| input.len() == 1)
}

/// Asserts that a search fell back for a reason that contains a word, and found the right note.
fn assert_fallback(page: &SearchPage, word: &str) {
    match &page.meaning {
        EmbeddingSource::FellBack { reason, .. } => assert!(reason.contains(word), "{reason}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(first_path(page), "money.md");
}

const QUESTION: &str = "when is the electricity bill due";

#[test]
fn a_question_ends_at_its_time_limit_and_is_not_repeated() {
    let folder = household_vault();
    let stand_in = StandInServer::answering(|_, body| {
        let slow = Duration::from_secs(if is_question(body) { 3600 } else { 0 });
        subject_vectors(body).after(slow)
    });
    let memory =
        open_with_model(&folder, endpoint(stand_in.url(), "small"), Duration::from_millis(300));
    memory.make_meanings(&mut ignore_progress).unwrap();
    let begun = Instant::now();
    assert_fallback(&search(&memory, QUESTION), "no answer within 0.3 s");
    assert!(begun.elapsed() < Duration::from_secs(600));
    let asked = requested_texts(&stand_in).len();
    assert_fallback(&search(&memory, QUESTION), "no answer within 0.3 s");
    assert_eq!(requested_texts(&stand_in).len(), asked, "it was asked again at once");
}

#[test]
fn embeddings_of_another_length_are_rejected() {
    let folder = household_vault();
    let short = |body: &Value| {
        let count = body["input"].as_array().unwrap().len();
        let data: Vec<_> = (0..count).map(|_| json!({ "embedding": [1.0, 2.0] })).collect();
        StandInReply::new(200, json!({ "data": data }).to_string())
    };
    // The first two requests return the right embeddings, later ones shorter ones.
    let stand_in =
        StandInServer::answering(
            move |n, body| if n < 2 { subject_vectors(body) } else { short(body) },
        );
    let memory = open_with_stand_in(&folder, &stand_in);
    memory.make_meanings(&mut ignore_progress).unwrap();
    assert_fallback(&search(&memory, QUESTION), "has 2 numbers, and those of the passages have 5");
    write_note(&memory, "new.md", "A new note.\n");
    let error = memory.make_meanings(&mut ignore_progress).unwrap_err().to_string();
    assert!(error.contains("have 2 numbers now, and had 5"), "{error}");
    assert_eq!((coverage(&memory).covered, coverage(&memory).passages), (4, 5));
    // New embeddings are made only on request.
    memory.forget_meanings().unwrap();
    let made = EmbedOutcome::Done(EmbedReport { made: 5, refused: 0 });
    assert_eq!(memory.make_meanings(&mut ignore_progress).unwrap(), made);
}

#[test]
fn embeddings_outlive_their_model() {
    let folder = household_vault();
    let nobody = ClosedPort::new();
    let memory = open_with_model(&folder, endpoint(nobody.url(), "small"), LIMIT);
    assert_fallback(&search(&memory, QUESTION), "0 of 4");
    assert!(
        memory.make_meanings(&mut ignore_progress).unwrap_err().to_string().contains("reached")
    );
    assert!(memory.try_model().unwrap().is_err());

    let stand_in = StandInServer::answering(|n, body| match n {
        0..2 => subject_vectors(body),
        _ => StandInReply::new(403, r#"{"error":{"message":"no more credit"}}"#),
    });
    let memory = open_with_stand_in(&folder, &stand_in);
    memory.make_meanings(&mut ignore_progress).unwrap();
    assert_fallback(&search(&memory, QUESTION), "no more credit");
    assert_eq!(coverage(&memory).covered, 4);
}

#[test]
fn a_rejected_text_does_not_stop_the_others() {
    let folder = household_vault();
    let stand_in = StandInServer::answering(|_, body| match body["input"].to_string() {
        input if input.contains("poison") => StandInReply::new(400, r#"{"error":"too long"}"#),
        _ => subject_vectors(body),
    });
    let memory = open_with_stand_in(&folder, &stand_in);
    for n in 0..12 {
        write_note(&memory, &format!("n{n}.md"), &format!("Note {n} about a dog.\n"));
    }
    write_note(&memory, "bad.md", "This poison is about a cat.\n");
    let made = EmbedOutcome::Done(EmbedReport { made: 16, refused: 1 });
    assert_eq!(memory.make_meanings(&mut ignore_progress).unwrap(), made);
    let page = search(&memory, "deadly poison");
    assert_eq!(
        page.meaning,
        EmbeddingSource::FellBack {
            model: "small".into(),
            reason: "it answered with status 400: too long".into(),
        }
    );
    let memory = open_with_stand_in(&folder, &stand_in);
    let page = search(&memory, "zorblat");
    assert_eq!(page.meaning, EmbeddingSource::Chosen { model: "small".into(), left: 1 });
    // A model that rejects every text is an error.
    let stand_in = StandInServer::answering(|n, body| match n {
        0 => subject_vectors(body),
        _ => StandInReply::new(400, r#"{"error":"nothing is taken here"}"#),
    });
    let memory = open_with_model(&folder, endpoint(stand_in.url(), "other"), LIMIT);
    let error = memory.make_meanings(&mut ignore_progress).unwrap_err().to_string();
    assert!(error.contains("nothing is taken here"), "{error}");
}

#[test]
fn damaged_embeddings_are_made_again() {
    let (folder, stand_in) = (household_vault(), start_stand_in());
    let memory = open_with_stand_in(&folder, &stand_in);
    memory.make_meanings(&mut ignore_progress).unwrap();
    let file = vectors_file(&folder);
    let whole = std::fs::read(&file).unwrap();
    let check = |bytes: &[u8], left: u64, word: &str| {
        drop(open_with_stand_in(&folder, &stand_in));
        std::fs::write(&file, bytes).unwrap();
        let memory = open_with_stand_in(&folder, &stand_in);
        assert_eq!(coverage(&memory).covered, left, "{word}");
        memory.make_meanings(&mut ignore_progress).unwrap();
        assert_eq!(coverage(&memory).covered, 4, "{word}");
        assert_eq!(first_path(&search(&memory, "zorblat")), "pets.md", "{word}");
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

#[test]
fn passages_without_embeddings_are_compared_once_the_vectors_of_the_table_are_loaded() {
    let folder = household_vault();
    let stand_in = StandInServer::answering(|_, body| match body["input"].to_string() {
        input if input.contains("poison") => StandInReply::new(400, r#"{"error":"too long"}"#),
        _ => subject_vectors(body),
    });
    let memory = open_with_stand_in(&folder, &stand_in);
    for n in 0..12 {
        write_note(&memory, &format!("n{n}.md"), &format!("Note {n} about a dog.\n"));
    }
    write_note(&memory, "bad.md", "A deadly poison in the kitchen.\n");
    memory.make_meanings(&mut ignore_progress).unwrap();
    let memory = open_with_stand_in(&folder, &stand_in);
    memory.defer_vectors_above(3);
    // The words of the note are not in the question, and the model has not embedded the note.
    let question = "lethal toxin";
    let page = search(&memory, question);
    let expected = EmbeddingSource::ChosenLoading { model: "small".into(), left: 1 };
    assert_eq!(page.meaning, expected);
    let begun = Instant::now();
    let page = loop {
        let page = search(&memory, question);
        if page.meaning != expected {
            break page;
        }
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(page.meaning, EmbeddingSource::Chosen { model: "small".into(), left: 1 });
    assert_eq!(first_path(&page), "bad.md");
}
