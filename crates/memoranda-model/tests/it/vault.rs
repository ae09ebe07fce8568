//! A vault, a model that knows a few subjects, and both together.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use memoranda_engine::core::change::{Author, ChangeChannel};
use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::path::NotePath;
use memoranda_engine::{
    EmbeddingCoverage, EmbeddingModel, EmbeddingOptions, Memory, OpenOptions, SearchPage,
    SearchRequest, TextEmbedder, WriteMode, WriteRequest,
};
use memoranda_model::{EndpointOptions, ModelEndpoint, ModelProtocol};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::stand_in_server::{StandInReply, StandInServer};

/// Words that the stand-in treats as synonyms. The first of each row is an invented word, so that
/// only the stand-in knows it.
const SUBJECTS: [&[&str]; 4] = [
    &["zorblat", "cat", "dog", "pets"],
    &["quimfex", "bill", "invoice", "electricity"],
    &["vashtu", "tomatoes", "garden", "water"],
    &["drolpen", "released", "deployment", "friday"],
];

/// Returns embeddings of the requested texts, by subject.
pub(crate) fn subject_vectors(body: &Value) -> StandInReply {
    let texts: Vec<&str> =
        body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    let vectors = texts.iter().map(|text| subject_vector(text)).enumerate();
    let data: Vec<_> =
        vectors.map(|(index, vector)| json!({ "index": index, "embedding": vector })).collect();
    StandInReply::new(200, json!({ "data": data }).to_string())
}

fn subject_vector(text: &str) -> Vec<f32> {
    let text = text.to_lowercase();
    let held = |words: &&[&str]| words.iter().filter(|word| text.contains(**word)).count() as f32;
    let mut vector: Vec<f32> = SUBJECTS.iter().map(held).collect();
    vector.push(0.3);
    vector
}

pub(crate) fn start_stand_in() -> StandInServer {
    StandInServer::answering(|_, body| subject_vectors(body))
}

/// Returns all requested texts, in order.
pub(crate) fn requested_texts(stand_in: &StandInServer) -> Vec<String> {
    let asked = stand_in.asked();
    let inputs = asked.iter().flat_map(|asked| asked.body["input"].as_array().unwrap().clone());
    inputs.map(|text| text.as_str().unwrap().trim().to_owned()).collect()
}

/// Returns the requested texts without the sentences of the calibration.
pub(crate) fn requested_passages(stand_in: &StandInServer) -> Vec<String> {
    let mut texts = requested_texts(stand_in);
    texts
        .retain(|text| !memoranda_engine::core::embed::BASELINE_SENTENCES.contains(&text.as_str()));
    texts
}

/// Longer than any response takes, also on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn endpoint(url: String, model: &str) -> Arc<dyn TextEmbedder> {
    let options = EndpointOptions {
        protocol: ModelProtocol::OpenAi,
        url,
        model: model.to_owned(),
        key: None,
        limit: LIMIT,
        max_answer_bytes: 1 << 20,
    };
    Arc::new(ModelEndpoint::new(options).unwrap())
}

pub(crate) fn open(folder: &TempDir) -> Memory {
    Memory::open(OpenOptions::in_folder(folder.path())).unwrap()
}

/// Opens the vault with a model and its time limit.
pub(crate) fn open_with_model(
    folder: &TempDir,
    model: Arc<dyn TextEmbedder>,
    limit: Duration,
) -> Memory {
    let options =
        EmbeddingOptions { limit, question_prefix: String::new(), passage_prefix: String::new() };
    open(folder).with_model(EmbeddingModel::new(model, options))
}

/// Opens the vault with the stand-in as its model.
pub(crate) fn open_with_stand_in(folder: &TempDir, stand_in: &StandInServer) -> Memory {
    open_with_model(folder, endpoint(stand_in.url(), "small"), LIMIT)
}

pub(crate) fn author() -> Author {
    Author::new("test", "test", ChangeChannel::Cli)
}

/// Returns the file with the embeddings of the only model.
pub(crate) fn vectors_file(folder: &TempDir) -> PathBuf {
    let cache = std::fs::read_dir(folder.path().join("cache")).unwrap().next().unwrap().unwrap();
    let files = std::fs::read_dir(cache.path()).unwrap().map(|entry| entry.unwrap().path());
    let is_vectors = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("meanings-") && !name.ends_with(".claim")
    };
    files.into_iter().find(is_vectors).unwrap()
}

pub(crate) fn write_note(memory: &Memory, path: &str, text: &str) {
    let request = WriteRequest {
        project: ProjectName::parse("main").unwrap(),
        path: NotePath::parse(path).unwrap(),
        content: text.into(),
        mode: WriteMode::CreateOrOverwrite,
        message: None,
    };
    memory.write(&author(), &request).unwrap();
}

/// Creates a vault with four everyday notes.
pub(crate) fn household_vault() -> TempDir {
    let folder = TempDir::new().unwrap();
    let memory = open(&folder);
    write_note(&memory, "pets.md", "Our cat Minka sleeps beside the dog all afternoon.\n");
    write_note(&memory, "money.md", "The electricity bill is due at the end of March.\n");
    write_note(&memory, "garden.md", "The tomatoes need water every evening in the summer.\n");
    write_note(&memory, "work.md", "The billing service is released every Friday.\n");
    folder
}

pub(crate) fn search(memory: &Memory, text: &str) -> SearchPage {
    memory.search(&SearchRequest { text: text.into(), ..SearchRequest::default() }).unwrap()
}

pub(crate) fn first_path(page: &SearchPage) -> &str {
    page.results.first().map_or("nothing", |result| result.place.path.as_str())
}

pub(crate) fn coverage(memory: &Memory) -> EmbeddingCoverage {
    memory.model_status().unwrap().unwrap().coverage.unwrap()
}
