//! The network itself. One text at a time, so that nothing has to be padded or masked; several
//! texts go to several threads.

use ndarray::{Array1, Array2, Axis, Slice};

use super::folder::{Activation, Pooling, Shape};
use super::weights::Weights;

/// BERT, ready to be asked.
pub(super) struct Bert {
    words: Array2<f32>,
    places: Array2<f32>,
    /// What marks the first of two texts; there is only one here.
    segment: Array1<f32>,
    begin: Norm,
    layers: Vec<Layer>,
    shape: Shape,
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    attended: Linear,
    attended_norm: Norm,
    wide: Linear,
    narrow: Linear,
    norm: Norm,
}

/// A product and a sum.
struct Linear {
    weight: Array2<f32>,
    bias: Array1<f32>,
}

/// Brings each row to mean 0 and spread 1, and then to what was learned.
struct Norm {
    weight: Array1<f32>,
    bias: Array1<f32>,
    epsilon: f32,
}

impl Bert {
    pub(super) fn new(shape: &Shape, weights: &Weights<'_>) -> Result<Self, String> {
        let Shape { hidden, words, places, .. } = *shape;
        let segments = "embeddings.token_type_embeddings.weight";
        let segment = (1..=2).find_map(|count| weights.matrix(segments, count, hidden).ok());
        let segment =
            segment.ok_or_else(|| format!("it holds no {segments} of {hidden} columns"))?;
        let layers = (0..shape.layers).map(|n| Layer::new(shape, weights, n));
        Ok(Self {
            words: weights.matrix("embeddings.word_embeddings.weight", words, hidden)?,
            places: weights.matrix("embeddings.position_embeddings.weight", places, hidden)?,
            segment: segment.row(0).to_owned(),
            begin: Norm::new(shape, weights, "embeddings.LayerNorm")?,
            layers: layers.collect::<Result<_, _>>()?,
            shape: *shape,
        })
    }

    /// The vector of a text, given by the numbers of its tokens.
    pub(super) fn vector(&self, tokens: &[u32]) -> Vec<f32> {
        let tokens = tokens.get(..self.shape.places).unwrap_or(tokens);
        if tokens.is_empty() {
            return vec![0.0; self.shape.hidden];
        }
        let mut x = Array2::zeros((tokens.len(), self.shape.hidden));
        for ((mut row, &token), place) in
            x.rows_mut().into_iter().zip(tokens).zip(self.places.rows())
        {
            // A token that the model has no row for says nothing.
            if (token as usize) < self.words.nrows() {
                row += &self.words.row(token as usize);
            }
            row += &place;
            row += &self.segment;
        }
        self.begin.apply(&mut x);
        for layer in &self.layers {
            x = layer.apply(&x, &self.shape);
        }
        match self.shape.pooling {
            Pooling::First => x.row(0).to_vec(),
            Pooling::Mean => x.mean_axis(Axis(0)).map(|mean| mean.to_vec()).unwrap_or_default(),
        }
    }
}

impl Layer {
    fn new(shape: &Shape, weights: &Weights<'_>, n: usize) -> Result<Self, String> {
        let Shape { hidden, inner, .. } = *shape;
        let name = |part: &str| format!("encoder.layer.{n}.{part}");
        let linear = |part, rows, columns| Linear::new(weights, &name(part), rows, columns);
        Ok(Self {
            query: linear("attention.self.query", hidden, hidden)?,
            key: linear("attention.self.key", hidden, hidden)?,
            value: linear("attention.self.value", hidden, hidden)?,
            attended: linear("attention.output.dense", hidden, hidden)?,
            attended_norm: Norm::new(shape, weights, &name("attention.output.LayerNorm"))?,
            wide: linear("intermediate.dense", inner, hidden)?,
            narrow: linear("output.dense", hidden, inner)?,
            norm: Norm::new(shape, weights, &name("output.LayerNorm"))?,
        })
    }

    fn apply(&self, x: &Array2<f32>, shape: &Shape) -> Array2<f32> {
        let mut attended = self.attended.apply(&self.attend(x, shape));
        attended += x;
        self.attended_norm.apply(&mut attended);
        let mut wide = self.wide.apply(&attended);
        wide.mapv_inplace(|number| activate(shape.activation, number));
        let mut narrow = self.narrow.apply(&wide);
        narrow += &attended;
        self.norm.apply(&mut narrow);
        narrow
    }

    /// Each token takes from all tokens what concerns it, in several ways at once.
    fn attend(&self, x: &Array2<f32>, shape: &Shape) -> Array2<f32> {
        let (query, key, value) = (self.query.apply(x), self.key.apply(x), self.value.apply(x));
        let size = shape.hidden / shape.heads;
        let mut taken = Array2::zeros(x.raw_dim());
        for head in 0..shape.heads {
            let part = Slice::from(head * size..(head + 1) * size);
            let of = |all: &Array2<f32>| all.slice_axis(Axis(1), part).to_owned();
            let mut shares = of(&query).dot(&of(&key).t());
            shares /= (size as f32).sqrt();
            for mut row in shares.rows_mut() {
                let most = row.fold(f32::NEG_INFINITY, |most, &x| most.max(x));
                row.mapv_inplace(|x| (x - most).exp());
                let sum = row.sum();
                row /= sum;
            }
            taken.slice_axis_mut(Axis(1), part).assign(&shares.dot(&of(&value)));
        }
        taken
    }
}

impl Linear {
    fn new(weights: &Weights<'_>, name: &str, rows: usize, columns: usize) -> Result<Self, String> {
        Ok(Self {
            weight: weights.matrix(&format!("{name}.weight"), rows, columns)?,
            bias: weights.row(&format!("{name}.bias"), rows)?,
        })
    }

    fn apply(&self, x: &Array2<f32>) -> Array2<f32> {
        x.dot(&self.weight.t()) + &self.bias
    }
}

impl Norm {
    fn new(shape: &Shape, weights: &Weights<'_>, name: &str) -> Result<Self, String> {
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

fn activate(activation: Activation, x: f32) -> f32 {
    match activation {
        Activation::Gelu => 0.5 * x * (1.0 + error_function(x * std::f32::consts::FRAC_1_SQRT_2)),
        Activation::GeluTanh => {
            let inner = (2.0 / std::f32::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3));
            0.5 * x * (1.0 + inner.tanh())
        }
        Activation::Relu => x.max(0.0),
    }
}

/// The error function, right to seven places (Abramowitz and Stegun, 7.1.26).
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
        check(Activation::Gelu, 1.0, 0.841_344_7);
        check(Activation::Gelu, -1.0, -0.158_655_3);
        check(Activation::Gelu, 0.1, 0.053_982_8);
        check(Activation::Gelu, 6.0, 6.0);
        check(Activation::Gelu, -6.0, 0.0);
        check(Activation::GeluTanh, 1.0, 0.841_192);
        check(Activation::GeluTanh, -0.5, -0.154_286);
        check(Activation::Relu, -3.0, 0.0);
        check(Activation::Relu, 3.0, 3.0);
    }
}
