//! Embeddings by the built-in model or by a model that the user configured. Only embeddings of the
//! same model are compared.

use super::StaticEmbeddingModel;
use super::vector::StaticVector;

/// Unrelated sentences. The average similarity that a model assigns to them is its baseline for
/// unrelated texts.
pub const BASELINE_SENTENCES: [&str; 12] = [
    "The train to the coast leaves at half past six.",
    "Whisk the egg whites until they form stiff peaks.",
    "Our lawyer sent back the signed contract yesterday.",
    "Mitochondria supply a cell with energy.",
    "The goalkeeper saved two penalties in the final.",
    "Restart the database after changing its port.",
    "She inherited a violin from her grandmother.",
    "Inflation slowed for the third month in a row.",
    "The cat hides under the sofa during storms.",
    "Medieval monks copied books by hand.",
    "Two screws of the bookshelf are missing.",
    "Glaciers carved this valley long ago.",
];

/// A vector of a configured model: any number of dimensions, quantized to 8 bits.
#[derive(Clone, PartialEq, Debug)]
pub struct QuantizedVector {
    /// Value of one quantization step.
    pub scale: f32,
    /// Quantized components.
    pub numbers: Box<[i8]>,
}

/// Embedding of a passage.
#[derive(Clone, PartialEq, Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all are of the large kind")]
pub enum Embedding {
    /// By the built-in model.
    Static(StaticVector),
    /// By the configured model.
    Model(QuantizedVector),
}

/// Embedding of a query, by each model that passages may be embedded with.
#[derive(Clone, PartialEq, Debug)]
pub struct QueryEmbedding {
    /// By the built-in model.
    pub static_vector: StaticVector,
    /// By the configured model, if it is used.
    pub model: Option<ModelQueryEmbedding>,
}

/// Embedding of a query by the configured model.
#[derive(Clone, PartialEq, Debug)]
pub struct ModelQueryEmbedding {
    /// Vector of the query.
    pub vector: QuantizedVector,
    /// Average similarity that the model assigns to unrelated texts.
    pub baseline: f32,
}

impl QuantizedVector {
    /// Normalizes and quantizes a model's output; `None` if it is zero or not finite.
    pub fn from_floats(floats: &[f32]) -> Option<Self> {
        let length = floats.iter().map(|x| x * x).sum::<f32>().sqrt();
        let most = floats.iter().fold(0.0f32, |most, x| most.max(x.abs()));
        if !length.is_finite() || length <= 1e-9 {
            return None;
        }
        let step = most / 127.0;
        let numbers = floats.iter().map(|x| (x / step).round() as i8).collect();
        Some(Self { scale: step / length, numbers })
    }

    /// Computes the cosine similarity; 0 if the numbers of dimensions differ.
    pub fn similarity(&self, other: &Self) -> f32 {
        QuantizedQueryVector::new(self).similarity(other.scale, &other.numbers)
    }
}

impl QueryEmbedding {
    /// Builds a query embedding of the built-in model only.
    pub fn from_static(static_vector: StaticVector) -> Self {
        Self { static_vector, model: None }
    }

    /// Returns the vector of the built-in model without the form of a question.
    pub fn subject(&self) -> StaticVector {
        StaticEmbeddingModel::bundled().without_question_form(&self.static_vector)
    }

    /// Computes the similarity of a query and a passage: 1 for equal texts, about 0 for unrelated
    /// ones, on the same scale for every model.
    pub fn similarity(&self, passage: &Embedding) -> f32 {
        match (passage, &self.model) {
            (Embedding::Static(passage), _) => self.static_vector.similarity(passage),
            (Embedding::Model(passage), Some(asked)) => {
                asked.rescale(asked.vector.similarity(passage))
            }
            (Embedding::Model(_), None) => 0.0,
        }
    }
}

impl ModelQueryEmbedding {
    /// Rescales a cosine so that unrelated texts have 0; the spread differs between models.
    pub fn rescale(&self, cosine: f32) -> f32 {
        ((cosine - self.baseline) / (1.0 - self.baseline)).clamp(-1.0, 1.0)
    }
}

/// Computes the average similarity of unrelated texts from the model's vectors of
/// [`BASELINE_SENTENCES`].
pub fn baseline_similarity(unlike: &[QuantizedVector]) -> f32 {
    let pairs = unlike.iter().enumerate().flat_map(|(n, a)| {
        let others = unlike.get(n + 1..).unwrap_or_default();
        others.iter().map(|b| a.similarity(b))
    });
    let (sum, count) = pairs.fold((0.0, 0.0), |(sum, count), x| (sum + x, count + 1.0));
    // A higher baseline means that the model distinguishes nothing; rescaling would amplify noise.
    f32::clamp(sum / f32::max(count, 1.0), 0.0, 0.95)
}

/// A query vector widened to 16 bits for fast comparison with many stored vectors.
pub struct QuantizedQueryVector {
    scale: f32,
    numbers: Box<[i16]>,
}

impl QuantizedQueryVector {
    /// Widens a vector.
    pub fn new(vector: &QuantizedVector) -> Self {
        Self {
            scale: vector.scale,
            numbers: vector.numbers.iter().map(|&number| i16::from(number)).collect(),
        }
    }

    /// Computes the cosine with a vector given as scale and components; 0 if the numbers of
    /// dimensions differ.
    pub fn similarity(&self, scale: f32, numbers: &[i8]) -> f32 {
        if numbers.len() != self.numbers.len() {
            return 0.0;
        }
        // Products of 16-bit integers added in pairs are a single instruction on common CPUs.
        let products = numbers.iter().zip(&self.numbers);
        let sum: i32 = products.map(|(&a, &b)| i32::from(a) * i32::from(b)).sum();
        sum as f32 * scale * self.scale
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wide(floats: &[f32]) -> QuantizedVector {
        QuantizedVector::from_floats(floats).unwrap()
    }

    #[test]
    fn cosines_are_normalized() {
        let check = |a: &[f32], b: &[f32], expected: f32| {
            let found = wide(a).similarity(&wide(b));
            assert!((found - expected).abs() < 0.01, "{a:?} {b:?}: {found}");
        };
        check(&[1.0, 0.0], &[5.0, 0.0], 1.0);
        check(&[3.0, 4.0], &[4.0, -3.0], 0.0);
        check(&[1.0; 19], &[-2.0; 19], -1.0);
        check(&[1.0, 2.0, 2.0], &[2.0, 1.0, 2.0], 8.0 / 9.0);
        check(&[1.0; 3], &[1.0; 4], 0.0);
        for nothing in [&[][..], &[0.0, 0.0], &[f32::NAN, 1.0], &[f32::INFINITY]] {
            assert_eq!(QuantizedVector::from_floats(nothing), None, "{nothing:?}");
        }
    }

    #[test]
    fn unrelated_texts_rescale_to_zero() {
        // A model whose cosines are all between 0.8 and 1.
        let narrow = |x: f32, y: f32| wide(&[4.0, x, y]);
        let unlike = [narrow(1.0, 1.0), narrow(1.0, -1.0), narrow(-1.0, 1.0), narrow(-1.0, -1.0)];
        let zero = baseline_similarity(&unlike);
        assert!((zero - 0.85).abs() < 0.02, "{zero}");
        let [asked, other, ..] = unlike;
        let meant = QueryEmbedding {
            static_vector: StaticEmbeddingModel::bundled().embed("x"),
            model: Some(ModelQueryEmbedding { vector: asked.clone(), baseline: zero }),
        };
        assert!(meant.similarity(&Embedding::Model(other)).abs() < 0.3);
        assert!(meant.similarity(&Embedding::Model(asked)) > 0.98);
        // Vectors of different models are not comparable.
        let table = QueryEmbedding::from_static(StaticEmbeddingModel::bundled().embed("x"));
        assert_eq!(table.similarity(&Embedding::Model(wide(&[1.0, 2.0]))), 0.0);
    }

    #[test]
    fn the_static_model_has_a_baseline_near_zero() {
        let vectors = BASELINE_SENTENCES.map(|text| StaticEmbeddingModel::bundled().embed(text));
        let wide = vectors.map(|v| wide(&v.numbers.map(|n| f32::from(n) * v.scale)));
        let zero = baseline_similarity(&wide);
        // About 0, so that both models share one scale.
        assert!(zero < 0.1, "{zero}");
    }

    proptest! {
        #[test]
        fn dot_products_handle_any_length(pairs in prop::collection::vec(any::<(i8, i8)>(), 0..70)) {
            let (a, b): (Vec<i8>, Vec<i8>) = pairs.iter().copied().unzip();
            let expected: i32 = pairs.iter().map(|&(a, b)| i32::from(a) * i32::from(b)).sum();
            let probe = QuantizedQueryVector::new(&QuantizedVector { scale: 0.5, numbers: a.into() });
            prop_assert_eq!(probe.similarity(2.0, &b), expected as f32);
        }
    }
}
