//! A small network with fixed pseudo-random weights, in a folder as sentence transformers are
//! published.

use std::path::Path;

use serde_json::{Value, json};

const HIDDEN: usize = 8;
const INNER: usize = 16;
const LAYERS: usize = 2;
const PLACES: usize = 32;
const VOCABULARY: &str = "[PAD] [UNK] [CLS] [SEP] the cat sleep ##s on sofa invoice is due in \
                          march a dog ##ing . ? who when pay we our";

/// Number format of the weights.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "not every test needs both")]
pub(crate) enum WeightFormat {
    F32,
    BF16,
}

/// Writes the folder. `pooling` is the mode in its pooling file; `None` for no such file.
pub(crate) fn write(folder: &Path, pooling: Option<&str>, kept: WeightFormat) {
    std::fs::create_dir_all(folder).unwrap();
    let put = |name: &str, value: &Value| std::fs::write(folder.join(name), value.to_string());
    put("config.json", &config()).unwrap();
    put("tokenizer.json", &tokenizer()).unwrap();
    if let Some(mode) = pooling {
        std::fs::create_dir_all(folder.join("1_Pooling")).unwrap();
        put("1_Pooling/config.json", &json!({ mode: true, "word_embedding_dimension": HIDDEN }))
            .unwrap();
    }
    std::fs::write(folder.join("model.safetensors"), weights(kept)).unwrap();
}

pub(crate) fn config() -> Value {
    json!({
        "model_type": "bert", "hidden_size": HIDDEN, "num_hidden_layers": LAYERS,
        "num_attention_heads": 2, "intermediate_size": INNER, "hidden_act": "gelu",
        "max_position_embeddings": PLACES, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
        "vocab_size": VOCABULARY.split(' ').count(),
    })
}

fn tokenizer() -> Value {
    let words = VOCABULARY.split(' ').enumerate();
    let vocab: serde_json::Map<_, _> = words.map(|(n, word)| (word.into(), json!(n))).collect();
    let special = |id: &str, n: u32| json!({ "id": id, "ids": [n], "tokens": [id] });
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": { "type": "BertNormalizer", "clean_text": true, "lowercase": true,
            "handle_chinese_chars": true, "strip_accents": null },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "post_processor": { "type": "TemplateProcessing",
            "single": [
                { "SpecialToken": { "id": "[CLS]", "type_id": 0 } },
                { "Sequence": { "id": "A", "type_id": 0 } },
                { "SpecialToken": { "id": "[SEP]", "type_id": 0 } },
            ],
            "pair": [],
            "special_tokens": { "[CLS]": special("[CLS]", 2), "[SEP]": special("[SEP]", 3) } },
        "decoder": null,
        "model": { "type": "WordPiece", "unk_token": "[UNK]", "vocab": vocab,
            "continuing_subword_prefix": "##", "max_input_chars_per_word": 100 },
    })
}

/// Names and shapes of all tensors, in the order of generation.
fn tensors() -> Vec<(String, Vec<usize>)> {
    let mut all: Vec<(String, Vec<usize>)> = Vec::new();
    let mut add = |name: String, shape: &[usize]| all.push((name, shape.to_vec()));
    add("embeddings.word_embeddings.weight".into(), &[VOCABULARY.split(' ').count(), HIDDEN]);
    add("embeddings.position_embeddings.weight".into(), &[PLACES, HIDDEN]);
    add("embeddings.token_type_embeddings.weight".into(), &[2, HIDDEN]);
    let mut pair = |name: String, shape: &[usize]| {
        add(format!("{name}.weight"), shape);
        add(format!("{name}.bias"), &shape[..1]);
    };
    pair("embeddings.LayerNorm".into(), &[HIDDEN]);
    for n in 0..LAYERS {
        let name = |part: &str| format!("encoder.layer.{n}.{part}");
        for part in ["query", "key", "value"] {
            pair(name(&format!("attention.self.{part}")), &[HIDDEN, HIDDEN]);
        }
        pair(name("attention.output.dense"), &[HIDDEN, HIDDEN]);
        pair(name("attention.output.LayerNorm"), &[HIDDEN]);
        pair(name("intermediate.dense"), &[INNER, HIDDEN]);
        pair(name("output.dense"), &[HIDDEN, INNER]);
        pair(name("output.LayerNorm"), &[HIDDEN]);
    }
    all
}

/// The safetensors file: length of the header, header, numbers.
fn weights(kept: WeightFormat) -> Vec<u8> {
    let mut state: u32 = 7;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (f64::from(state) / 4_294_967_296.0 - 0.5) as f32
    };
    let mut head = serde_json::Map::new();
    let mut data = Vec::new();
    for (name, shape) in tensors() {
        let start = data.len();
        let around = if name.ends_with("LayerNorm.weight") { 1.0 } else { 0.0 };
        for _ in 0..shape.iter().product::<usize>() {
            let bytes = (next() + around).to_le_bytes();
            match kept {
                WeightFormat::F32 => data.extend_from_slice(&bytes),
                WeightFormat::BF16 => data.extend_from_slice(&bytes[2..]),
            }
        }
        let dtype = match kept {
            WeightFormat::F32 => "F32",
            WeightFormat::BF16 => "BF16",
        };
        let entry = json!({ "dtype": dtype, "shape": shape, "data_offsets": [start, data.len()] });
        head.insert(name, entry);
    }
    let head = Value::Object(head).to_string();
    let mut file = (head.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(head.as_bytes());
    file.extend_from_slice(&data);
    file
}
