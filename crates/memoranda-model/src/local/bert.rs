//! The BERT network. It takes one text at a time, so that no padding or masking is needed; several
//! texts run on several threads.

use ndarray::{Array1, Array2, Axis, Slice};

use super::folder::{ActivationFunction, BertShape, PoolingMode};
use super::weights::ModelWeights;

/// A loaded BERT network.
pub(super) struct BertModel {
    word_embeddings: Array2<f32>,
    position_embeddings: Array2<f32>,
    /// Token type embedding of the first of two texts; there is only one here.
    segment: Array1<f32>,
    embedding_norm: LayerNorm,
    layers: Vec<BertLayer>,
    shape: BertShape,
}

struct BertLayer {
    query: LinearLayer,
    key: LinearLayer,
    value: LinearLayer,
    attended: LinearLayer,
    attention_norm: LayerNorm,
    intermediate: LinearLayer,
    output: LinearLayer,
    norm: LayerNorm,
}

/// Matrix product plus bias.
struct LinearLayer {
    weight: Array2<f32>,
    bias: Array1<f32>,
}

/// Normalises each row to mean 0 and variance 1, then scales and shifts it by learned values.
struct LayerNorm {
    weight: Array1<f32>,
    bias: Array1<f32>,
    epsilon: f32,
}

impl BertModel {
    pub(super) fn new(shape: &BertShape, weights: &ModelWeights<'_>) -> Result<Self, String> {
        let BertShape { hidden, vocabulary, positions, .. } = *shape;
        let segments = "embeddings.token_type_embeddings.weight";
        let segment = (1..=2).find_map(|count| weights.matrix(segments, count, hidden).ok());
        let segment =
            segment.ok_or_else(|| format!("it contains no {segments} of {hidden} columns"))?;
        let layers = (0..shape.layers).map(|n| BertLayer::new(shape, weights, n));
        Ok(Self {
            word_embeddings: weights.matrix(
                "embeddings.word_embeddings.weight",
                vocabulary,
                hidden,
            )?,
            position_embeddings: weights.matrix(
                "embeddings.position_embeddings.weight",
                positions,
                hidden,
            )?,
            segment: segment.row(0).to_owned(),
            embedding_norm: LayerNorm::new(shape, weights, "embeddings.LayerNorm")?,
            layers: layers.collect::<Result<_, _>>()?,
            shape: *shape,
        })
    }

    /// Returns the embedding of a text, given by its token ids.
    pub(super) fn embed(&self, tokens: &[u32]) -> Vec<f32> {
        let tokens = tokens.get(..self.shape.positions).unwrap_or(tokens);
        if tokens.is_empty() {
            return vec![0.0; self.shape.hidden];
        }
        let mut x = Array2::zeros((tokens.len(), self.shape.hidden));
        for ((mut row, &token), place) in
            x.rows_mut().into_iter().zip(tokens).zip(self.position_embeddings.rows())
        {
            // A token without a row in the model adds nothing.
            if (token as usize) < self.word_embeddings.nrows() {
                row += &self.word_embeddings.row(token as usize);
            }
            row += &place;
            row += &self.segment;
        }
        self.embedding_norm.apply(&mut x);
        for layer in &self.layers {
            x = layer.apply(&x, &self.shape);
        }
        match self.shape.pooling {
            PoolingMode::First => x.row(0).to_vec(),
            PoolingMode::Mean => x.mean_axis(Axis(0)).map(|mean| mean.to_vec()).unwrap_or_default(),
        }
    }
}

impl BertLayer {
    fn new(shape: &BertShape, weights: &ModelWeights<'_>, n: usize) -> Result<Self, String> {
        let BertShape { hidden, intermediate, .. } = *shape;
        let name = |part: &str| format!("encoder.layer.{n}.{part}");
        let linear = |part, rows, columns| LinearLayer::new(weights, &name(part), rows, columns);
        Ok(Self {
            query: linear("attention.self.query", hidden, hidden)?,
            key: linear("attention.self.key", hidden, hidden)?,
            value: linear("attention.self.value", hidden, hidden)?,
            attended: linear("attention.output.dense", hidden, hidden)?,
            attention_norm: LayerNorm::new(shape, weights, &name("attention.output.LayerNorm"))?,
            intermediate: linear("intermediate.dense", intermediate, hidden)?,
            output: linear("output.dense", hidden, intermediate)?,
            norm: LayerNorm::new(shape, weights, &name("output.LayerNorm"))?,
        })
    }

    fn apply(&self, x: &Array2<f32>, shape: &BertShape) -> Array2<f32> {
        let mut attended = self.attended.apply(&self.attend(x, shape));
        attended += x;
        self.attention_norm.apply(&mut attended);
        let mut intermediate = self.intermediate.apply(&attended);
        intermediate.mapv_inplace(|number| activate(shape.activation, number));
        let mut output = self.output.apply(&intermediate);
        output += &attended;
        self.norm.apply(&mut output);
        output
    }

    /// Multi-head self-attention.
    fn attend(&self, x: &Array2<f32>, shape: &BertShape) -> Array2<f32> {
        let (query, key, value) = (self.query.apply(x), self.key.apply(x), self.value.apply(x));
        let size = shape.hidden / shape.heads;
        let mut attention = Array2::zeros(x.raw_dim());
        for head in 0..shape.heads {
            let part = Slice::from(head * size..(head + 1) * size);
            let head_part = |all: &Array2<f32>| all.slice_axis(Axis(1), part).to_owned();
            let mut scores = head_part(&query).dot(&head_part(&key).t());
            scores /= (size as f32).sqrt();
            for mut row in scores.rows_mut() {
                let most = row.fold(f32::NEG_INFINITY, |most, &x| most.max(x));
                row.mapv_inplace(|x| (x - most).exp());
                let sum = row.sum();
                row /= sum;
            }
            attention.slice_axis_mut(Axis(1), part).assign(&scores.dot(&head_part(&value)));
        }
        attention
    }
}

impl LinearLayer {
    fn new(
        weights: &ModelWeights<'_>,
        name: &str,
        rows: usize,
        columns: usize,
    ) -> Result<Self, String> {
        Ok(Self {
            weight: weights.matrix(&format!("{name}.weight"), rows, columns)?,
            bias: weights.row(&format!("{name}.bias"), rows)?,
        })
    }

    fn apply(&self, x: &Array2<f32>) -> Array2<f32> {
        x.dot(&self.weight.t()) + &self.bias
    }
}

impl LayerNorm {
    fn new(shape: &BertShape, weights: &ModelWeights<'_>, name: &str) -> Result<Self, String> {
        Ok(Self {
            weight: weights.row(&format!("{name}.weight"), shape.hidden)?,
            bias: weights.row(&format!("{name}.bias"), shape.hidden)?,
            epsilon: shape.epsilon,
        })
    }

    fn apply(&self, x: &mut Array2<f32>) {
        let length = self.weight.len() as f32;
        for mut row in x.rows_mut() {
            let mean = row.sum() / length;
            row -= mean;
            let spread = row.fold(0.0, |sum, x| sum + x * x) / length;
            row /= (spread + self.epsilon).sqrt();
            row *= &self.weight;
            row += &self.bias;
        }
    }
}

fn activate(activation: ActivationFunction, x: f32) -> f32 {
    match activation {
        ActivationFunction::Gelu => {
            0.5 * x * (1.0 + error_function(x * std::f32::consts::FRAC_1_SQRT_2))
        }
        ActivationFunction::GeluTanh => {
            let inner = (2.0 / std::f32::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3));
            0.5 * x * (1.0 + inner.tanh())
        }
        ActivationFunction::Relu => x.max(0.0),
    }
}

/// The error function, accurate to seven decimal places (Abramowitz and Stegun, 7.1.26).
fn error_function(x: f32) -> f32 {
    const POWERS: [f32; 5] = [1.061_405_4, -1.453_152_1, 1.421_413_8, -0.284_496_72, 0.254_829_6];
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs());
    let sum = POWERS.iter().fold(0.0, |sum, power| sum * t + power) * t;
    (1.0 - sum * (-x * x).exp()).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activations_have_their_known_values() {
        let check = |activation, x: f32, expected: f32| {
            let found = activate(activation, x);
            assert!((found - expected).abs() < 2e-6, "{activation:?} {x}: {found}");
        };
        check(ActivationFunction::Gelu, 1.0, 0.841_344_7);
        check(ActivationFunction::Gelu, -1.0, -0.158_655_3);
        check(ActivationFunction::Gelu, 0.1, 0.053_982_8);
        check(ActivationFunction::Gelu, 6.0, 6.0);
        check(ActivationFunction::Gelu, -6.0, 0.0);
        check(ActivationFunction::GeluTanh, 1.0, 0.841_192);
        check(ActivationFunction::GeluTanh, -0.5, -0.154_286);
        check(ActivationFunction::Relu, -3.0, 0.0);
        check(ActivationFunction::Relu, 3.0, 3.0);
    }
}
