//! The door to a model's folder, and what its small files say.

#![allow(clippy::disallowed_methods, reason = "models lie outside the vault; they are only read")]

use std::path::Path;

use memoranda_engine::ModelError;
use serde_json::Value;

use super::unusable;

/// How many tokens a text may have if nothing is said.
const USUAL_TOKENS: usize = 512;

/// A model as it lies on disk.
pub(super) struct Folder {
    pub(super) shape: Shape,
    pub(super) tokenizer: Vec<u8>,
    pub(super) weights: Vec<u8>,
    pub(super) max_tokens: usize,
}

/// What the network is like.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Shape {
    pub(super) hidden: usize,
    pub(super) layers: usize,
    pub(super) heads: usize,
    pub(super) inner: usize,
    pub(super) words: usize,
    pub(super) places: usize,
    pub(super) epsilon: f32,
    pub(super) activation: Activation,
    pub(super) pooling: Pooling,
}

/// What a layer does to each number in its middle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Activation {
    Gelu,
    GeluTanh,
    Relu,
}

/// How the vectors of words become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pooling {
    Mean,
    First,
}

impl Folder {
    pub(super) fn read(path: &Path) -> Result<Self, ModelError> {
        if !path.is_dir() {
            return Err(unusable(format!("{} is no folder", path.display())));
        }
        let config = needed_json(path, "config.json")?;
        let pooling = match json(path, "1_Pooling/config.json")? {
            Some(said) => pooling(&said).map_err(|e| in_file(path, "1_Pooling/config.json", &e))?,
            None => Pooling::Mean,
        };
        if let Some(modules) = json(path, "modules.json")? {
            check_modules(&modules).map_err(|e| in_file(path, "modules.json", &e))?;
        }
        let shape = shape(&config, pooling).map_err(|e| in_file(path, "config.json", &e))?;
        let sentence = json(path, "sentence_bert_config.json")?;
        let said = sentence.as_ref().and_then(|said| said.get("max_seq_length")?.as_u64());
        let said = said.and_then(|said| usize::try_from(said).ok()).unwrap_or(USUAL_TOKENS);
        Ok(Self {
            shape,
            tokenizer: needed(path, "tokenizer.json")?,
            weights: needed(path, "model.safetensors")?,
            max_tokens: said.clamp(8, shape.places.max(8)),
        })
    }

    /// Names the model by all that its vectors depend on.
    pub(super) fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.tokenizer);
        hasher.update(&self.weights);
        hasher.update(format!("{:?} {}", self.shape, self.max_tokens).as_bytes());
        hasher.finalize().to_hex().chars().take(16).collect()
    }
}

fn shape(config: &Value, pooling: Pooling) -> Result<Shape, String> {
    let kind = config.get("model_type").and_then(Value::as_str).unwrap_or("none");
    if kind != "bert" {
        return Err(format!("models of type {kind:?} cannot be run here, only \"bert\""));
    }
    let places = config.get("position_embedding_type").and_then(Value::as_str);
    if places.is_some_and(|places| places != "absolute") {
        return Err(format!(
            "position_embedding_type {places:?} cannot be done, only \"absolute\""
        ));
    }
    let number = |name: &str| {
        let found = config.get(name).and_then(Value::as_u64).filter(|n| (1..1 << 24).contains(n));
        found.map(|n| n as usize).ok_or_else(|| format!("{name} is missing, or no size"))
    };
    let (hidden, heads) = (number("hidden_size")?, number("num_attention_heads")?);
    if !hidden.is_multiple_of(heads) {
        return Err(format!("hidden_size {hidden} cannot be shared by {heads} heads"));
    }
    let activation = config.get("hidden_act").and_then(Value::as_str).unwrap_or("gelu");
    Ok(Shape {
        hidden,
        heads,
        layers: number("num_hidden_layers")?,
        inner: number("intermediate_size")?,
        words: number("vocab_size")?,
        places: number("max_position_embeddings")?,
        epsilon: config.get("layer_norm_eps").and_then(Value::as_f64).unwrap_or(1e-12) as f32,
        activation: match activation {
            "gelu" => Activation::Gelu,
            "gelu_new" | "gelu_pytorch_tanh" => Activation::GeluTanh,
            "relu" => Activation::Relu,
            other => return Err(format!("hidden_act {other:?} is not known")),
        },
        pooling,
    })
}

fn pooling(said: &Value) -> Result<Pooling, String> {
    let modes = said.as_object().into_iter().flatten();
    let on: Vec<&str> = modes
        .filter(|(name, on)| name.starts_with("pooling_mode_") && on.as_bool() == Some(true))
        .map(|(name, _)| name.as_str())
        .collect();
    match on.as_slice() {
        ["pooling_mode_mean_tokens"] => Ok(Pooling::Mean),
        ["pooling_mode_cls_token"] => Ok(Pooling::First),
        other => Err(format!("pooling by {other:?} cannot be done, only by mean or by CLS")),
    }
}

/// Whether all that happens after the network is known.
fn check_modules(modules: &Value) -> Result<(), String> {
    let kinds = modules.as_array().into_iter().flatten();
    let kinds = kinds.filter_map(|module| module.get("type")?.as_str());
    for kind in kinds {
        let last = kind.rsplit('.').next().unwrap_or_default();
        // Lengths play no part when only directions are compared.
        if !["Transformer", "Pooling", "Normalize"].contains(&last) {
            return Err(format!("the step {kind} cannot be done"));
        }
    }
    Ok(())
}

fn needed(path: &Path, name: &str) -> Result<Vec<u8>, ModelError> {
    std::fs::read(path.join(name)).map_err(|e| in_file(path, name, &e.to_string()))
}

fn needed_json(path: &Path, name: &str) -> Result<Value, ModelError> {
    serde_json::from_slice(&needed(path, name)?).map_err(|e| in_file(path, name, &e.to_string()))
}

fn json(path: &Path, name: &str) -> Result<Option<Value>, ModelError> {
    if path.join(name).exists() { needed_json(path, name).map(Some) } else { Ok(None) }
}

fn in_file(path: &Path, name: &str, what: &str) -> ModelError {
    unusable(format!("{}: {what}", path.join(name).display()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_cannot_be_done_exactly_is_refused() {
        let usual = json!({ "model_type": "bert", "hidden_size": 8, "num_attention_heads": 2,
            "num_hidden_layers": 1, "intermediate_size": 16, "vocab_size": 9,
            "max_position_embeddings": 32 });
        let check = |change: Value, expected: Result<Activation, &str>| {
            let mut config = usual.clone();
            let (map, change) = (config.as_object_mut().unwrap(), change.as_object().unwrap());
            map.extend(change.clone());
            let found = shape(&config, Pooling::Mean).map(|shape| shape.activation);
            match expected {
                Ok(activation) => assert_eq!(found, Ok(activation)),
                Err(word) => assert!(found.clone().is_err_and(|e| e.contains(word)), "{found:?}"),
            }
        };
        check(json!({}), Ok(Activation::Gelu));
        check(json!({ "hidden_act": "gelu_new" }), Ok(Activation::GeluTanh));
        check(json!({ "hidden_act": "relu" }), Ok(Activation::Relu));
        check(json!({ "hidden_act": "swish" }), Err("swish"));
        check(json!({ "model_type": "t5" }), Err("t5"));
        check(json!({ "num_attention_heads": 3 }), Err("3 heads"));
        check(json!({ "hidden_size": 0 }), Err("hidden_size"));
        check(json!({ "vocab_size": "many" }), Err("vocab_size"));
        check(json!({ "position_embedding_type": "relative_key" }), Err("relative_key"));
    }

    #[test]
    fn words_become_one_vector_as_the_folder_says() {
        let check = |said: Value, expected: Result<Pooling, &str>| match (pooling(&said), expected)
        {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(found), Err(word)) => assert!(found.contains(word), "{found}"),
            (found, expected) => panic!("{found:?} {expected:?}"),
        };
        check(json!({ "pooling_mode_mean_tokens": true }), Ok(Pooling::Mean));
        check(
            json!({ "pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false }),
            Ok(Pooling::First),
        );
        check(json!({ "pooling_mode_max_tokens": true }), Err("max_tokens"));
        check(json!({}), Err("only by mean"));
        let step = |kind: &str| check_modules(&json!([{ "type": kind }]));
        assert_eq!(step("sentence_transformers.models.Normalize"), Ok(()));
        assert!(step("sentence_transformers.models.Dense").is_err());
    }
}
