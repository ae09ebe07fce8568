//! Search with a chosen model: it is used once enough passages are embedded, and no text is
//! embedded twice.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::path::NotePath;
use memoranda_engine::{
    DeleteRequest, EmbedOutcome, EmbedReport, EmbeddingModel, EmbeddingOptions, EmbeddingSource,
    EmbeddingSource::Chosen, NoteLocation, ScanProgress, VacuumExtent, VacuumRequest,
};

use super::stand_in_server::{StandInReply, StandInServer};
use super::vault::{
    LIMIT, author, coverage, endpoint, first_path, household_vault, open, open_with_model,
    open_with_stand_in, requested_passages, requested_texts, search, start_stand_in,
    subject_vectors, vectors_file, write_note,
};

fn made_outcome(made: usize) -> EmbedOutcome {
    EmbedOutcome::Done(EmbedReport { made, refused: 0 })
}

fn ignore_progress(_: u64, _: u64) {}

#[test]
fn a_search_uses_the_model_once_all_passages_are_embedded() {
    let (folder, stand_in) = (household_vault(), start_stand_in());
    let memory = open_with_stand_in(&folder, &stand_in);
    // Only the stand-in knows this word.
    let before = search(&memory, "zorblat");
    assert!(
        matches!(&before.meaning, EmbeddingSource::FellBack { reason, .. } if reason.contains("0 of 4")),
        "{:?}",
        before.meaning
    );
    assert_eq!(requested_texts(&stand_in), Vec::<String>::new());
    let mut steps = Vec::new();
    assert_eq!(memory.make_meanings(&mut |n, of| steps.push((n, of))).unwrap(), made_outcome(4));
    assert_eq!(steps, [(4, 4)]);
    for (question, expected) in
        [("zorblat", "pets.md"), ("quimfex", "money.md"), ("vashtu", "garden.md")]
    {
        let page = search(&memory, question);
        assert_eq!(page.meaning, Chosen { model: "small".into(), left: 0 });
        assert_eq!(first_path(&page), expected, "{question}");
        let why: Vec<_> = page.results[0].why.iter().map(|signal| signal.name()).collect();
        assert!(why.contains(&"meaning"), "{why:?}");
    }
    // The next page of the same question sends no request.
    let asked = requested_texts(&stand_in).len();
    search(&memory, "vashtu");
    assert_eq!(requested_texts(&stand_in).len(), asked);
    // A phrase search uses no model.
    assert_eq!(search(&memory, "\"cat Minka\"").meaning, EmbeddingSource::Nothing);
    // Without a model the built-in one is used.
    let plain = open(&folder);
    assert_eq!(search(&plain, "our pets").meaning, EmbeddingSource::BuiltIn);
    assert!(
        plain.model_status().unwrap().is_none()
            && plain.make_meanings(&mut ignore_progress).is_err()
    );
}

#[test]
fn an_edit_embeds_only_the_changed_passages() {
    let (folder, stand_in) = (household_vault(), start_stand_in());
    let memory = open_with_stand_in(&folder, &stand_in);
    let [one, two, three] = ["# One\n\nThe cat.", "# Two\n\nThe bill.", "# Three\n\nA third."];
    write_note(&memory, "long.md", &format!("{one}\n\n{two}\n\n{three}\n"));
    memory.make_meanings(&mut ignore_progress).unwrap();
    let before = requested_texts(&stand_in).len();
    let changed = "# Two\n\nAnother invoice.";
    write_note(&memory, "long.md", &format!("{one}\n\n{changed}\n\n{three}\n"));
    // A new text is found at once, by the built-in model if by nothing else.
    let page = search(&memory, "another invoice");
    assert_eq!(first_path(&page), "long.md");
    assert_eq!(memory.make_meanings(&mut ignore_progress).unwrap(), made_outcome(1));
    assert_eq!(requested_texts(&stand_in)[before..].last().map(String::as_str), Some(changed));
    assert_eq!(coverage(&memory).covered, 7);
    // A restored text, a copy and a new index need no new embedding.
    let before = requested_passages(&stand_in).len();
    write_note(&memory, "long.md", &format!("{one}\n\n{two}\n\n{three}\n"));
    write_note(&memory, "copy.md", &format!("{one}\n\n{two}\n\n{three}\n"));
    memory.reindex(&mut |_: ScanProgress| {}).unwrap();
    assert_eq!(memory.make_meanings(&mut ignore_progress).unwrap(), made_outcome(0));
    assert_eq!(requested_passages(&stand_in).len(), before);
    assert_eq!(coverage(&memory).covered, coverage(&memory).passages);
}

#[test]
fn searches_work_while_another_model_is_embedded() {
    let (folder, stand_in) = (household_vault(), start_stand_in());
    let small = open_with_stand_in(&folder, &stand_in);
    small.make_meanings(&mut ignore_progress).unwrap();
    let large = open_with_model(&folder, endpoint(stand_in.url(), "large"), LIMIT);
    let between = search(&large, "when is the electricity bill due");
    assert!(matches!(between.meaning, EmbeddingSource::FellBack { .. }));
    assert_eq!(first_path(&between), "money.md");
    assert_eq!(large.make_meanings(&mut ignore_progress).unwrap(), made_outcome(4));
    assert_eq!(search(&large, "zorblat").meaning, Chosen { model: "large".into(), left: 0 });
    // The embeddings of the other model are kept.
    let asked = requested_passages(&stand_in).len();
    assert_eq!(small.make_meanings(&mut ignore_progress).unwrap(), made_outcome(0));
    assert_eq!(requested_passages(&stand_in).len(), asked);
    assert_eq!(first_path(&search(&small, "zorblat")), "pets.md");
}

#[test]
fn an_interrupted_run_continues_where_it_stopped() {
    let folder = household_vault();
    // The calibration and one batch succeed, then every request fails.
    let stand_in = StandInServer::answering(|n, body| match n {
        0..2 => subject_vectors(body),
        _ => StandInReply::new(401, "{}"),
    });
    let memory = open_with_stand_in(&folder, &stand_in);
    for n in 0..60 {
        write_note(&memory, &format!("n{n}.md"), &format!("Note number {n} about a cat.\n"));
    }
    assert!(memory.make_meanings(&mut ignore_progress).is_err());
    assert_eq!((coverage(&memory).covered, coverage(&memory).passages), (32, 64));
    drop(memory);
    let made: BTreeSet<String> = requested_passages(&stand_in)[..32].iter().cloned().collect();

    // A later start of this model: its id contains the address, so the address must stay.
    let healthy = start_stand_in();
    let url = stand_in.url();
    let memory = open_with_model(
        &folder,
        Arc::new(MovedEndpoint { url, real: endpoint(healthy.url(), "small") }),
        LIMIT,
    );
    assert_eq!(memory.make_meanings(&mut ignore_progress).unwrap(), made_outcome(32));
    let rest: BTreeSet<String> = requested_passages(&healthy).into_iter().collect();
    assert_eq!((rest.len(), rest.intersection(&made).count()), (32, 0));
}

/// An endpoint at a new address that keeps the id of the old one.
#[derive(Debug)]
struct MovedEndpoint {
    url: String,
    real: Arc<dyn memoranda_engine::TextEmbedder>,
}

impl memoranda_engine::TextEmbedder for MovedEndpoint {
    fn name(&self) -> &str {
        self.real.name()
    }

    fn id(&self) -> Result<String, memoranda_engine::ModelError> {
        endpoint(self.url.clone(), self.real.name()).id()
    }

    fn embed(
        &self,
        texts: &[&str],
        limit: Duration,
    ) -> Result<Vec<Vec<f32>>, memoranda_engine::ModelError> {
        self.real.embed(texts, limit)
    }
}

#[test]
fn only_one_server_embeds_in_the_background() {
    let (folder, stand_in) = (household_vault(), start_stand_in());
    let (one, two) =
        (open_with_stand_in(&folder, &stand_in), open_with_stand_in(&folder, &stand_in));
    one.start_background().unwrap();
    two.start_background().unwrap();
    let wait = |passages: u64| {
        let begun = Instant::now();
        loop {
            let found = coverage(&two);
            if (found.covered, found.passages) == (passages, passages) {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{found:?}");
            std::thread::sleep(Duration::from_millis(30));
        }
    };
    wait(4);
    // A write of the other process is noticed by the one that watches.
    write_note(&two, "more.md", "The dog is called Rex.\n");
    wait(5);
    assert_eq!(first_path(&search(&two, "zorblat")), "pets.md");
    let mut made = requested_passages(&stand_in);
    made.retain(|text| text != "zorblat");
    let distinct: BTreeSet<_> = made.iter().collect();
    assert_eq!((made.len(), distinct.len()), (5, 5), "{made:?}");
}

#[test]
fn prefixes_are_put_before_questions_and_passages() {
    let (folder, stand_in) = (household_vault(), start_stand_in());
    let options = EmbeddingOptions {
        limit: LIMIT,
        question_prefix: "query: ".into(),
        passage_prefix: "passage: ".into(),
    };
    let model = EmbeddingModel::new(endpoint(stand_in.url(), "small"), options);
    let memory = open(&folder).with_model(model);
    memory.make_meanings(&mut ignore_progress).unwrap();
    search(&memory, "zorblat");
    let (last, before) =
        requested_texts(&stand_in).split_last().map(|(l, b)| (l.clone(), b.to_vec())).unwrap();
    assert_eq!(last, "query: zorblat");
    assert!(before.iter().all(|text| text.starts_with("passage: ")), "{before:?}");
    // Texts without the prefix have other embeddings.
    let bare = open_with_stand_in(&folder, &stand_in);
    assert_eq!(coverage(&bare).covered, 0);
}

#[test]
fn vacuum_removes_the_vectors_of_purged_notes() {
    let (folder, stand_in) = (household_vault(), start_stand_in());
    let memory = open_with_stand_in(&folder, &stand_in);
    memory.make_meanings(&mut ignore_progress).unwrap();
    let size = || std::fs::metadata(vectors_file(&folder)).unwrap().len();
    let whole = size();
    let place = NoteLocation {
        project: ProjectName::parse("main").unwrap(),
        path: NotePath::parse("money.md").unwrap(),
    };
    memory.delete(&author(), &DeleteRequest { place, expected: None }).unwrap();
    assert_eq!(size(), whole, "until then it can come back");
    let now = memoranda_engine::clock::now();
    let vacuum = VacuumRequest { project: None, before: now, what: VacuumExtent::Deleted };
    assert_eq!(memory.vacuum(&author(), &vacuum).unwrap().notes.len(), 1);
    // A record: hash of the text, scale, five numbers, checksum.
    assert_eq!(whole - size(), 16 + 4 + 5 + 4);
    assert_eq!((coverage(&memory).covered, coverage(&memory).passages), (3, 3));
    assert_eq!(first_path(&search(&memory, "zorblat")), "pets.md");
}
