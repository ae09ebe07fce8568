//! Reads a model's folder and its configuration files.

#![allow(clippy::disallowed_methods, reason = "models are outside the vault and only read")]

use std::path::Path;

use memoranda_engine::ModelError;
use serde_json::Value;

use super::unusable;

/// Maximum number of tokens of a text, unless the folder names one.
const DEFAULT_MAX_TOKENS: usize = 512;

/// The files of a model.
pub(super) struct ModelFolder {
    pub(super) shape: BertShape,
    pub(super) tokenizer: Vec<u8>,
    pub(super) weights: Vec<u8>,
    pub(super) max_tokens: usize,
}

/// Dimensions and functions of the network.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct BertShape {
    pub(super) hidden: usize,
    pub(super) layers: usize,
    pub(super) heads: usize,
    pub(super) intermediate: usize,
    pub(super) vocabulary: usize,
    pub(super) positions: usize,
    pub(super) epsilon: f32,
    pub(super) activation: ActivationFunction,
    pub(super) pooling: PoolingMode,
}

/// Activation function between the two dense layers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ActivationFunction {
    Gelu,
    GeluTanh,
    Relu,
}

/// Method that combines token vectors into one embedding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PoolingMode {
    Mean,
    First,
}

impl ModelFolder {
    pub(super) fn read(path: &Path) -> Result<Self, ModelError> {
        if !path.is_dir() {
            return Err(unusable(format!("{} is not a folder", path.display())));
        }
        let config = read_required_json(path, "config.json")?;
        let pooling = match read_optional_json(path, "1_Pooling/config.json")? {
            Some(config) => {
                parse_pooling(&config).map_err(|e| file_error(path, "1_Pooling/config.json", &e))?
            }
            None => PoolingMode::Mean,
        };
        if let Some(modules) = read_optional_json(path, "modules.json")? {
            check_modules(&modules).map_err(|e| file_error(path, "modules.json", &e))?;
        }
        let shape =
            parse_shape(&config, pooling).map_err(|e| file_error(path, "config.json", &e))?;
        let sentence = read_optional_json(path, "sentence_bert_config.json")?;
        let max_tokens =
            sentence.as_ref().and_then(|config| config.get("max_seq_length")?.as_u64());
        let max_tokens =
            max_tokens.and_then(|count| usize::try_from(count).ok()).unwrap_or(DEFAULT_MAX_TOKENS);
        Ok(Self {
            shape,
            tokenizer: read_required(path, "tokenizer.json")?,
            weights: read_required(path, "model.safetensors")?,
            max_tokens: max_tokens.clamp(8, shape.positions.max(8)),
        })
    }

    /// Returns a hash of everything that the embeddings depend on.
    pub(super) fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.tokenizer);
        hasher.update(&self.weights);
        let BertShape { hidden, layers, heads, intermediate, vocabulary, positions, .. } =
            self.shape;
        let BertShape { epsilon, activation, pooling, .. } = self.shape;
        // Vectors on disk are named by this text, so its words must not change.
        let shape = format!(
            "Shape {{ hidden: {hidden}, layers: {layers}, heads: {heads}, inner: {intermediate}, \
             words: {vocabulary}, places: {positions}, epsilon: {epsilon:?}, \
             activation: {activation:?}, pooling: {pooling:?} }} {}",
            self.max_tokens
        );
        hasher.update(shape.as_bytes());
        hasher.finalize().to_hex().chars().take(16).collect()
    }
}

fn parse_shape(config: &Value, pooling: PoolingMode) -> Result<BertShape, String> {
    let kind = config.get("model_type").and_then(Value::as_str).unwrap_or("none");
    if kind != "bert" {
        return Err(format!("models of type {kind:?} are not supported, only \"bert\""));
    }
    let positions = config.get("position_embedding_type").and_then(Value::as_str);
    if positions.is_some_and(|positions| positions != "absolute") {
        return Err(format!(
            "position_embedding_type {positions:?} is not supported, only \"absolute\""
        ));
    }
    let number = |name: &str| {
        let found = config.get(name).and_then(Value::as_u64).filter(|n| (1..1 << 24).contains(n));
        found.map(|n| n as usize).ok_or_else(|| format!("{name} is missing or not a size"))
    };
    let (hidden, heads) = (number("hidden_size")?, number("num_attention_heads")?);
    if !hidden.is_multiple_of(heads) {
        return Err(format!("hidden_size {hidden} is not divisible by {heads} heads"));
    }
    let activation = config.get("hidden_act").and_then(Value::as_str).unwrap_or("gelu");
    Ok(BertShape {
        hidden,
        heads,
        layers: number("num_hidden_layers")?,
        intermediate: number("intermediate_size")?,
        vocabulary: number("vocab_size")?,
        positions: number("max_position_embeddings")?,
        epsilon: config.get("layer_norm_eps").and_then(Value::as_f64).unwrap_or(1e-12) as f32,
        activation: match activation {
            "gelu" => ActivationFunction::Gelu,
            "gelu_new" | "gelu_pytorch_tanh" => ActivationFunction::GeluTanh,
            "relu" => ActivationFunction::Relu,
            other => return Err(format!("hidden_act {other:?} is not known")),
        },
        pooling,
    })
}

fn parse_pooling(config: &Value) -> Result<PoolingMode, String> {
    let modes = config.as_object().into_iter().flatten();
    let on: Vec<&str> = modes
        .filter(|(name, on)| name.starts_with("pooling_mode_") && on.as_bool() == Some(true))
        .map(|(name, _)| name.as_str())
        .collect();
    match on.as_slice() {
        ["pooling_mode_mean_tokens"] => Ok(PoolingMode::Mean),
        ["pooling_mode_cls_token"] => Ok(PoolingMode::First),
        other => Err(format!("pooling by {other:?} is not supported, only by mean or by CLS")),
    }
}

/// Rejects a model with an unknown step after the network.
fn check_modules(modules: &Value) -> Result<(), String> {
    let kinds = modules.as_array().into_iter().flatten();
    let kinds = kinds.filter_map(|module| module.get("type")?.as_str());
    for kind in kinds {
        let last = kind.rsplit('.').next().unwrap_or_default();
        // `Normalize` changes the length of a vector, and only directions are compared.
        if !["Transformer", "Pooling", "Normalize"].contains(&last) {
            return Err(format!("the step {kind} is not supported"));
        }
    }
    Ok(())
}

fn read_required(path: &Path, name: &str) -> Result<Vec<u8>, ModelError> {
    std::fs::read(path.join(name)).map_err(|e| file_error(path, name, &e.to_string()))
}

fn read_required_json(path: &Path, name: &str) -> Result<Value, ModelError> {
    serde_json::from_slice(&read_required(path, name)?)
        .map_err(|e| file_error(path, name, &e.to_string()))
}

fn read_optional_json(path: &Path, name: &str) -> Result<Option<Value>, ModelError> {
    if path.join(name).exists() { read_required_json(path, name).map(Some) } else { Ok(None) }
}

fn file_error(path: &Path, name: &str, what: &str) -> ModelError {
    unusable(format!("{}: {what}", path.join(name).display()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_unsupported_configuration_is_rejected() {
        let usual = json!({ "model_type": "bert", "hidden_size": 8, "num_attention_heads": 2,
            "num_hidden_layers": 1, "intermediate_size": 16, "vocab_size": 9,
            "max_position_embeddings": 32 });
        let check = |change: Value, expected: Result<ActivationFunction, &str>| {
            let mut config = usual.clone();
            let (map, change) = (config.as_object_mut().unwrap(), change.as_object().unwrap());
            map.extend(change.clone());
            let found = parse_shape(&config, PoolingMode::Mean).map(|shape| shape.activation);
            match expected {
                Ok(activation) => assert_eq!(found, Ok(activation)),
                Err(word) => assert!(found.clone().is_err_and(|e| e.contains(word)), "{found:?}"),
            }
        };
        check(json!({}), Ok(ActivationFunction::Gelu));
        check(json!({ "hidden_act": "gelu_new" }), Ok(ActivationFunction::GeluTanh));
        check(json!({ "hidden_act": "relu" }), Ok(ActivationFunction::Relu));
        check(json!({ "hidden_act": "swish" }), Err("swish"));
        check(json!({ "model_type": "t5" }), Err("t5"));
        check(json!({ "num_attention_heads": 3 }), Err("3 heads"));
        check(json!({ "hidden_size": 0 }), Err("hidden_size"));
        check(json!({ "vocab_size": "many" }), Err("vocab_size"));
        check(json!({ "position_embedding_type": "relative_key" }), Err("relative_key"));
    }

    #[test]
    fn pooling_and_steps_are_read_from_the_folder() {
        let check = |said: Value, expected: Result<PoolingMode, &str>| match (
            parse_pooling(&said),
            expected,
        ) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(found), Err(word)) => assert!(found.contains(word), "{found}"),
            (found, expected) => panic!("{found:?} {expected:?}"),
        };
        check(json!({ "pooling_mode_mean_tokens": true }), Ok(PoolingMode::Mean));
        check(
            json!({ "pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false }),
            Ok(PoolingMode::First),
        );
        check(json!({ "pooling_mode_max_tokens": true }), Err("max_tokens"));
        check(json!({}), Err("only by mean"));
        let step = |kind: &str| check_modules(&json!([{ "type": kind }]));
        for usual in ["Transformer", "Pooling", "Normalize"] {
            assert_eq!(step(&format!("sentence_transformers.models.{usual}")), Ok(()), "{usual}");
        }
        assert!(step("sentence_transformers.models.Dense").is_err());
    }
}
