//! Searching by a model that was chosen: it counts when it has come far enough, and makes no
//! vector twice.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::path::NotePath;
use memoranda_engine::{
    AskOptions, ChosenModel, DeleteRequest, Made, MakeOutcome, MeaningBy, MeaningBy::Chosen, Place,
    ScanProgress, VacuumExtent, VacuumRequest,
};

use super::stand_in::{Reply, StandIn};
use super::vault::{
    LIMIT, by, by_stand_in, coverage, endpoint, first, household, knowing, open, own_texts, put,
    search, texts, vectors, vectors_file, who,
};

fn done(made: usize) -> MakeOutcome {
    MakeOutcome::Done(Made { made, refused: 0 })
}

fn quiet(_: u64, _: u64) {}

#[test]
fn a_search_goes_by_the_model_once_it_has_come_to_the_passages() {
    let (folder, stand_in) = (household(), knowing());
    let memory = by_stand_in(&folder, &stand_in);
    // Nobody but the stand-in knows what that means.
    let before = search(&memory, "zorblat");
    assert!(
        matches!(&before.meaning, MeaningBy::FellBack { reason, .. } if reason.contains("0 of 4")),
        "{:?}",
        before.meaning
    );
    assert_eq!(texts(&stand_in), Vec::<String>::new());
    let mut steps = Vec::new();
    assert_eq!(memory.make_meanings(&mut |n, of| steps.push((n, of))).unwrap(), done(4));
    assert_eq!(steps, [(4, 4)]);
    for (question, expected) in
        [("zorblat", "pets.md"), ("quimfex", "money.md"), ("vashtu", "garden.md")]
    {
        let page = search(&memory, question);
        assert_eq!(page.meaning, Chosen { model: "small".into(), left: 0 });
        assert_eq!(first(&page), expected, "{question}");
        let why: Vec<_> = page.results[0].why.iter().map(|signal| signal.name()).collect();
        assert!(why.contains(&"meaning"), "{why:?}");
    }
    // The next page of the same question does not ask again.
    let asked = texts(&stand_in).len();
    search(&memory, "vashtu");
    assert_eq!(texts(&stand_in).len(), asked);
    // Words alone concern no model.
    assert_eq!(search(&memory, "\"cat Minka\"").meaning, MeaningBy::Nothing);
    // Without a model the vault is as ever.
    let plain = open(&folder);
    assert_eq!(search(&plain, "our pets").meaning, MeaningBy::BuiltIn);
    assert!(plain.model_status().unwrap().is_none() && plain.make_meanings(&mut quiet).is_err());
}

#[test]
fn an_edit_costs_the_passages_that_changed() {
    let (folder, stand_in) = (household(), knowing());
    let memory = by_stand_in(&folder, &stand_in);
    let [one, two, three] = ["# One\n\nThe cat.", "# Two\n\nThe bill.", "# Three\n\nA third."];
    put(&memory, "long.md", &format!("{one}\n\n{two}\n\n{three}\n"));
    memory.make_meanings(&mut quiet).unwrap();
    let before = texts(&stand_in).len();
    let changed = "# Two\n\nAnother invoice.";
    put(&memory, "long.md", &format!("{one}\n\n{changed}\n\n{three}\n"));
    // What was written just now is found at once, by the table if by nothing else.
    let page = search(&memory, "another invoice");
    assert_eq!(first(&page), "long.md");
    assert_eq!(memory.make_meanings(&mut quiet).unwrap(), done(1));
    assert_eq!(texts(&stand_in)[before..].last().map(String::as_str), Some(changed));
    assert_eq!(coverage(&memory).covered, 7);
    // Neither a text that comes back, nor a move, nor a new index costs anything.
    let before = own_texts(&stand_in).len();
    put(&memory, "long.md", &format!("{one}\n\n{two}\n\n{three}\n"));
    put(&memory, "copy.md", &format!("{one}\n\n{two}\n\n{three}\n"));
    memory.reindex(&mut |_: ScanProgress| {}).unwrap();
    assert_eq!(memory.make_meanings(&mut quiet).unwrap(), done(0));
    assert_eq!(own_texts(&stand_in).len(), before);
    assert_eq!(coverage(&memory).covered, coverage(&memory).passages);
}

#[test]
fn another_model_is_made_while_searches_go_on() {
    let (folder, stand_in) = (household(), knowing());
    let small = by_stand_in(&folder, &stand_in);
    small.make_meanings(&mut quiet).unwrap();
    let large = by(&folder, endpoint(stand_in.url(), "large"), LIMIT);
    let between = search(&large, "when is the electricity bill due");
    assert!(matches!(between.meaning, MeaningBy::FellBack { .. }));
    assert_eq!(first(&between), "money.md");
    assert_eq!(large.make_meanings(&mut quiet).unwrap(), done(4));
    assert_eq!(search(&large, "zorblat").meaning, Chosen { model: "large".into(), left: 0 });
    // What the other made is still there.
    let asked = own_texts(&stand_in).len();
    assert_eq!(small.make_meanings(&mut quiet).unwrap(), done(0));
    assert_eq!(own_texts(&stand_in).len(), asked);
    assert_eq!(first(&search(&small, "zorblat")), "pets.md");
}

#[test]
fn whoever_is_interrupted_goes_on_where_it_stopped() {
    let folder = household();
    // The calibration and one batch, then nothing more.
    let stand_in = StandIn::answering(|n, body| match n {
        0..2 => vectors(body),
        _ => Reply::new(401, "{}"),
    });
    let memory = by_stand_in(&folder, &stand_in);
    for n in 0..60 {
        put(&memory, &format!("n{n}.md"), &format!("Note number {n} about a cat.\n"));
    }
    assert!(memory.make_meanings(&mut quiet).is_err());
    assert_eq!((coverage(&memory).covered, coverage(&memory).passages), (32, 64));
    drop(memory);
    let made: BTreeSet<String> = own_texts(&stand_in)[..32].iter().cloned().collect();

    // The same model at another moment: the address stays, so the stand-in is the same.
    let healthy = knowing();
    let url = stand_in.url();
    let memory =
        by(&folder, Arc::new(Elsewhere { url, real: endpoint(healthy.url(), "small") }), LIMIT);
    assert_eq!(memory.make_meanings(&mut quiet).unwrap(), done(32));
    let rest: BTreeSet<String> = own_texts(&healthy).into_iter().collect();
    assert_eq!((rest.len(), rest.intersection(&made).count()), (32, 0));
}

/// An endpoint that moved: it is known by its old address.
#[derive(Debug)]
struct Elsewhere {
    url: String,
    real: Arc<dyn memoranda_engine::Embedder>,
}

impl memoranda_engine::Embedder for Elsewhere {
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
fn a_server_makes_vectors_in_the_background_and_no_two_do() {
    let (folder, stand_in) = (household(), knowing());
    let (one, two) = (by_stand_in(&folder, &stand_in), by_stand_in(&folder, &stand_in));
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
    // Whoever writes, the one that watches hears of it.
    put(&two, "more.md", "The dog is called Rex.\n");
    wait(5);
    assert_eq!(first(&search(&two, "zorblat")), "pets.md");
    let mut made = own_texts(&stand_in);
    made.retain(|text| text != "zorblat");
    let distinct: BTreeSet<_> = made.iter().collect();
    assert_eq!((made.len(), distinct.len()), (5, 5), "{made:?}");
}

#[test]
fn what_a_model_wants_before_texts_is_put_there() {
    let (folder, stand_in) = (household(), knowing());
    let options = AskOptions {
        limit: LIMIT,
        question_prefix: "query: ".into(),
        passage_prefix: "passage: ".into(),
    };
    let model = ChosenModel::new(endpoint(stand_in.url(), "small"), options);
    let memory = open(&folder).with_model(model);
    memory.make_meanings(&mut quiet).unwrap();
    search(&memory, "zorblat");
    let (last, before) =
        texts(&stand_in).split_last().map(|(l, b)| (l.clone(), b.to_vec())).unwrap();
    assert_eq!(last, "query: zorblat");
    assert!(before.iter().all(|text| text.starts_with("passage: ")), "{before:?}");
    // Vectors of texts without it are others.
    let bare = by_stand_in(&folder, &stand_in);
    assert_eq!(coverage(&bare).covered, 0);
}

#[test]
fn what_leaves_for_good_leaves_no_vector_behind() {
    let (folder, stand_in) = (household(), knowing());
    let memory = by_stand_in(&folder, &stand_in);
    memory.make_meanings(&mut quiet).unwrap();
    let size = || std::fs::metadata(vectors_file(&folder)).unwrap().len();
    let whole = size();
    let place = Place {
        project: ProjectName::parse("main").unwrap(),
        path: NotePath::parse("money.md").unwrap(),
    };
    memory.delete(&who(), &DeleteRequest { place, expected: None }).unwrap();
    assert_eq!(size(), whole, "until then it can come back");
    let now = memoranda_engine::clock::now();
    let vacuum = VacuumRequest { project: None, before: now, what: VacuumExtent::Deleted };
    assert_eq!(memory.vacuum(&vacuum).unwrap().notes.len(), 1);
    // A record: the text's name, a scale, five numbers, a checksum.
    assert_eq!(whole - size(), 16 + 4 + 5 + 4);
    assert_eq!((coverage(&memory).covered, coverage(&memory).passages), (3, 3));
    assert_eq!(first(&search(&memory, "zorblat")), "pets.md");
}
