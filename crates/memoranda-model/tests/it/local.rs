//! A network run in this process, compared with another implementation of the same weights
//! (BERT of `transformers`, run once; its results are constants here).

use std::path::Path;
use std::sync::Arc;

use memoranda_engine::{EmbedOutcome, EmbeddingSource, ModelError, TextEmbedder as _};
use memoranda_model::LocalModel;
use serde_json::json;
use tempfile::TempDir;

use super::tiny_model::{self, WeightFormat};
use super::vault::{LIMIT, coverage, first_path, household_vault, open_with_model, search};

fn assert_near(found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len());
    let off = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(off < tolerance, "{off}: {found:?}, and should be {expected:?}");
}

#[rustfmt::skip]
const BY_MEAN: [(&str, [f32; 8]); 4] = [
    ("The cat sleeps on the sofa.",
     [0.186_571, 0.856_962, -1.016_123, 0.293_85, -0.154_68, 1.638_64, 0.811_809, -0.483_806]),
    ("Invoice due in March?",
     [0.345_501, 0.574_224, -1.004_306, 0.287_255, -0.237_157, 1.657_569, 1.002_361, -0.519_854]),
    ("Who is Élan",
     [0.059_465, 0.200_001, -1.003_398, 0.561_28, -0.186_465, 1.817_922, 0.743_487, -0.079_541]),
    ("",
     [0.128_487, 0.340_66, -0.827_54, 0.451_531, -0.442_711, 2.184_233, 0.791_427, -0.727_682]),
];

#[rustfmt::skip]
const BY_FIRST: [(&str, [f32; 8]); 2] = [
    ("The cat sleeps on the sofa.",
     [-0.307_879, 0.033_287, -0.607_118, 0.429_503, 0.038_079, 2.606_87, 0.013_42, -0.516_121]),
    ("Who is Élan",
     [-0.392_404, -0.441_838, -0.530_203, 0.612_882, -0.029_177, 2.596_913, 0.029_47, -0.229_279]),
];

/// Mean for "the" fifty times; the network truncates it to thirty.
#[rustfmt::skip]
const CUT: [f32; 8] =
    [-0.342_44, 0.342_115, -0.906_901, 0.340_759, -0.227_948, 1.927_424, 0.958_365, 0.029_507];

#[test]
fn embeddings_equal_those_of_the_reference_implementation() {
    let folder = TempDir::new().unwrap();
    let check = |pooling, kept, cases: &[(&str, [f32; 8])], tolerance| {
        tiny_model::write(folder.path(), pooling, kept);
        let model = LocalModel::new(folder.path());
        let texts: Vec<&str> = cases.iter().map(|(text, _)| *text).collect();
        let made = model.embed(&texts, LIMIT).unwrap();
        assert_eq!(made.len(), cases.len());
        for (found, (_, expected)) in made.iter().zip(cases) {
            assert_near(found, expected, tolerance);
        }
    };
    check(Some("pooling_mode_mean_tokens"), WeightFormat::F32, &BY_MEAN, 5e-5);
    check(Some("pooling_mode_mean_tokens"), WeightFormat::BF16, &BY_MEAN, 0.2);
    check(Some("pooling_mode_cls_token"), WeightFormat::F32, &BY_FIRST, 5e-5);
    std::fs::remove_dir_all(folder.path().join("1_Pooling")).unwrap();
    let long = "the ".repeat(50);
    check(None, WeightFormat::F32, &[(long.as_str(), CUT)], 5e-5);
}

#[test]
fn the_id_of_a_folder_covers_all_that_embeddings_depend_on() {
    let folder = TempDir::new().unwrap();
    let id = |name: &str, change: &dyn Fn(&Path)| {
        let path = folder.path().join(name);
        tiny_model::write(&path, None, WeightFormat::F32);
        change(&path);
        LocalModel::new(&path).id().unwrap()
    };
    let plain = id("tiny", &|_| {});
    // Vectors on disk are named by it.
    assert_eq!(plain, "tiny 3c4e825be2539302");
    assert_eq!(id("tiny", &|_| {}), plain);
    assert_ne!(id("tiny", &|path| tiny_model::write(path, None, WeightFormat::BF16)), plain);
    assert_ne!(
        id("tiny", &|path| tiny_model::write(
            path,
            Some("pooling_mode_cls_token"),
            WeightFormat::F32
        )),
        plain
    );
}

#[test]
fn an_unusable_folder_names_the_reason() {
    let folder = TempDir::new().unwrap();
    let check = |name: &str, content: Option<&[u8]>, word: &str| {
        tiny_model::write(folder.path(), None, WeightFormat::F32);
        let path = folder.path().join(name);
        match content {
            Some(bytes) => std::fs::write(&path, bytes).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        let error = LocalModel::new(folder.path()).embed(&["x"], LIMIT).unwrap_err();
        assert!(matches!(error, ModelError::Unusable { .. }), "{error:?}");
        assert!(error.to_string().contains(word), "{error}");
        tiny_model::write(folder.path(), None, WeightFormat::F32);
    };
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        check(name, None, name);
        check(name, Some(b"\xff\xff\xff"), name);
    }
    let mut other = tiny_model::config();
    other["hidden_size"] = json!(16);
    check("config.json", Some(other.to_string().as_bytes()), "of 16 columns");
    let mut other = tiny_model::config();
    other["model_type"] = json!("roberta");
    check("config.json", Some(other.to_string().as_bytes()), "roberta");
    let dense = json!([{ "type": "sentence_transformers.models.Dense" }]);
    check("modules.json", Some(dense.to_string().as_bytes()), "Dense");
    let missing = LocalModel::new(&folder.path().join("nowhere"));
    assert!(missing.id().unwrap_err().to_string().contains("not a folder"));
}

#[test]
fn a_vault_is_searched_with_a_model_in_a_folder() {
    let (folder, models) = (household_vault(), TempDir::new().unwrap());
    let path = models.path().join("tiny");
    let memory = open_with_model(&folder, Arc::new(LocalModel::new(&path)), LIMIT);
    let question = "when is the electricity bill due";
    let page = search(&memory, question);
    assert!(
        matches!(&page.meaning, EmbeddingSource::FellBack { reason, .. } if reason.contains("not a folder"))
    );
    assert_eq!(first_path(&page), "money.md");
    assert!(memory.try_model().unwrap().is_err());

    tiny_model::write(&path, None, WeightFormat::F32);
    let memory = open_with_model(&folder, Arc::new(LocalModel::new(&path)), LIMIT);
    assert!(matches!(memory.make_meanings(&mut |_, _| {}), Ok(EmbedOutcome::Done(_))));
    assert_eq!((coverage(&memory).covered, coverage(&memory).passages), (4, 4));
    let page = search(&memory, question);
    assert_eq!(page.meaning, EmbeddingSource::Chosen { model: "tiny".into(), left: 0 });
    // Random weights carry no meaning, so the words decide.
    assert_eq!(first_path(&page), "money.md");
    // Embeddings are unused without the model, and still there when it is back.
    std::fs::rename(&path, models.path().join("away")).unwrap();
    let memory = open_with_model(&folder, Arc::new(LocalModel::new(&path)), LIMIT);
    assert!(matches!(search(&memory, question).meaning, EmbeddingSource::FellBack { .. }));
    std::fs::rename(models.path().join("away"), &path).unwrap();
    let memory = open_with_model(&folder, Arc::new(LocalModel::new(&path)), LIMIT);
    assert_eq!(coverage(&memory).covered, 4);
}
