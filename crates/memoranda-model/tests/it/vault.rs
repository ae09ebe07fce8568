//! A vault, a model that understands a few subjects, and the two together.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use memoranda_engine::core::change::{Author, ChangeChannel};
use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::path::NotePath;
use memoranda_engine::{
    AskOptions, ChosenModel, Coverage, Embedder, Memory, OpenOptions, SearchPage, SearchRequest,
    WriteMode, WriteRequest,
};
use memoranda_model::{Endpoint, Options, Protocol};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::stand_in::{Reply, StandIn};

/// Words that the stand-in takes to mean the same; the first of each is no word at all, so that
/// nothing else knows what it means.
const SUBJECTS: [&[&str]; 4] = [
    &["zorblat", "cat", "dog", "pets"],
    &["quimfex", "bill", "invoice", "electricity"],
    &["vashtu", "tomatoes", "garden", "water"],
    &["drolpen", "released", "deployment", "friday"],
];

/// The vectors of what was asked, by subjects.
pub(crate) fn vectors(body: &Value) -> Reply {
    let texts: Vec<&str> =
        body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    let vectors = texts.iter().map(|text| vector(text)).enumerate();
    let data: Vec<_> =
        vectors.map(|(index, vector)| json!({ "index": index, "embedding": vector })).collect();
    Reply::new(200, json!({ "data": data }).to_string())
}

fn vector(text: &str) -> Vec<f32> {
    let text = text.to_lowercase();
    let held = |words: &&[&str]| words.iter().filter(|word| text.contains(**word)).count() as f32;
    let mut vector: Vec<f32> = SUBJECTS.iter().map(held).collect();
    vector.push(0.3);
    vector
}

pub(crate) fn knowing() -> StandIn {
    StandIn::answering(|_, body| vectors(body))
}

/// Every text that was asked for, in order.
pub(crate) fn texts(stand_in: &StandIn) -> Vec<String> {
    let asked = stand_in.asked();
    let inputs = asked.iter().flat_map(|asked| asked.body["input"].as_array().unwrap().clone());
    inputs.map(|text| text.as_str().unwrap().trim().to_owned()).collect()
}

/// Those that are no sentences of the calibration.
pub(crate) fn own_texts(stand_in: &StandIn) -> Vec<String> {
    let mut texts = texts(stand_in);
    texts
        .retain(|text| !memoranda_engine::core::embed::BASELINE_SENTENCES.contains(&text.as_str()));
    texts
}

/// More than any answer takes, however busy the machine is.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn endpoint(url: String, model: &str) -> Arc<dyn Embedder> {
    let options = Options {
        protocol: Protocol::OpenAi,
        url,
        model: model.to_owned(),
        key: None,
        limit: LIMIT,
        max_answer_bytes: 1 << 20,
    };
    Arc::new(Endpoint::new(options).unwrap())
}

pub(crate) fn open(folder: &TempDir) -> Memory {
    Memory::open(OpenOptions {
        home: folder.path().join("home"),
        cache: folder.path().join("cache"),
        state: folder.path().join("state"),
        file_sync: Duration::from_secs(60),
        lock_patience: Duration::from_secs(30),
    })
    .unwrap()
}

/// The vault, searched by a model that may take so long.
pub(crate) fn by(folder: &TempDir, model: Arc<dyn Embedder>, limit: Duration) -> Memory {
    let options =
        AskOptions { limit, question_prefix: String::new(), passage_prefix: String::new() };
    open(folder).with_model(ChosenModel::new(model, options))
}

/// The vault, searched by a stand-in.
pub(crate) fn by_stand_in(folder: &TempDir, stand_in: &StandIn) -> Memory {
    by(folder, endpoint(stand_in.url(), "small"), LIMIT)
}

pub(crate) fn who() -> Author {
    Author { client: "test".into(), tool: "test".into(), channel: ChangeChannel::Cli }
}

/// The file that the vectors of the one model lie in.
pub(crate) fn vectors_file(folder: &TempDir) -> PathBuf {
    let cache = std::fs::read_dir(folder.path().join("cache")).unwrap().next().unwrap().unwrap();
    let files = std::fs::read_dir(cache.path()).unwrap().map(|entry| entry.unwrap().path());
    let is_vectors = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("meanings-") && !name.ends_with(".claim")
    };
    files.into_iter().find(is_vectors).unwrap()
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

/// A vault with some notes of an ordinary life.
pub(crate) fn household() -> TempDir {
    let folder = TempDir::new().unwrap();
    let memory = open(&folder);
    put(&memory, "pets.md", "Our cat Minka sleeps beside the dog all afternoon.\n");
    put(&memory, "money.md", "The electricity bill is due at the end of March.\n");
    put(&memory, "garden.md", "The tomatoes need water every evening in the summer.\n");
    put(&memory, "work.md", "The billing service is released every Friday.\n");
    folder
}

pub(crate) fn search(memory: &Memory, text: &str) -> SearchPage {
    memory.search(&SearchRequest { text: text.into(), ..SearchRequest::default() }).unwrap()
}

pub(crate) fn first(page: &SearchPage) -> &str {
    page.results.first().map_or("nothing", |result| result.place.path.as_str())
}

pub(crate) fn coverage(memory: &Memory) -> Coverage {
    memory.model_status().unwrap().unwrap().coverage.unwrap()
}
