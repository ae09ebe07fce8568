//! Meanings by whichever model they were made: the table in the program, or a model that the
//! person chose. Each is compared only with its own kind.

use super::vector::StaticVector;

/// Sentences that have nothing to do with each other. What a model takes them to have in common
/// is what it takes any two texts to have in common.
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

/// The vector of a model that the person chose: of any length, in eight-bit numbers.
#[derive(Clone, PartialEq, Debug)]
pub struct QuantizedVector {
    /// What one step of a number is worth.
    pub scale: f32,
    /// The numbers.
    pub numbers: Box<[i8]>,
}

/// What a passage means.
#[derive(Clone, PartialEq, Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all are of the large kind")]
pub enum Embedding {
    /// By the table in the program.
    Table(StaticVector),
    /// By the model that was chosen.
    Chosen(QuantizedVector),
}

/// What a question means, in the forms in which passages can be compared with it.
#[derive(Clone, PartialEq, Debug)]
pub struct QueryEmbedding {
    /// By the table in the program.
    pub table: StaticVector,
    /// By the model that was chosen, if it counts.
    pub chosen: Option<ModelQueryEmbedding>,
}

/// What a question means to the model that was chosen.
#[derive(Clone, PartialEq, Debug)]
pub struct ModelQueryEmbedding {
    /// Its vector.
    pub vector: QuantizedVector,
    /// How alike the model finds texts that have nothing in common.
    pub zero: f32,
}

impl QuantizedVector {
    /// Takes a model's numbers, of whatever length as a vector. `None` if they point nowhere, or
    /// are no numbers.
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

    /// The cosine; 0 for vectors of different lengths, which no model makes.
    pub fn similarity(&self, other: &Self) -> f32 {
        QuantizedQueryVector::new(self).similarity(other.scale, &other.numbers)
    }
}

impl QueryEmbedding {
    /// What the table says alone.
    pub fn by_table(table: StaticVector) -> Self {
        Self { table, chosen: None }
    }

    /// How alike a question and a passage are: 1 for the same, about 0 for unlike ones, whichever
    /// model was asked.
    pub fn similarity(&self, passage: &Embedding) -> f32 {
        match (passage, &self.chosen) {
            (Embedding::Table(passage), _) => self.table.similarity(passage),
            (Embedding::Chosen(passage), Some(asked)) => {
                asked.on_scale(asked.vector.similarity(passage))
            }
            (Embedding::Chosen(_), None) => 0.0,
        }
    }
}

impl ModelQueryEmbedding {
    /// A cosine on the scale on which unlike texts have 0: models spread theirs differently.
    pub fn on_scale(&self, cosine: f32) -> f32 {
        ((cosine - self.zero) / (1.0 - self.zero)).clamp(-1.0, 1.0)
    }
}

/// How alike a model finds texts that have nothing in common, from its vectors of [`BASELINE_SENTENCES`].
pub fn baseline_similarity(unlike: &[QuantizedVector]) -> f32 {
    let pairs = unlike.iter().enumerate().flat_map(|(n, a)| {
        let others = unlike.get(n + 1..).unwrap_or_default();
        others.iter().map(|b| a.similarity(b))
    });
    let (sum, count) = pairs.fold((0.0, 0.0), |(sum, count), x| (sum + x, count + 1.0));
    // Beyond that a model tells nothing apart, and to stretch what it says would be noise.
    f32::clamp(sum / f32::max(count, 1.0), 0.0, 0.95)
}

/// A vector that is compared with very many kept ones, in the form in which that is quickest.
pub struct QuantizedQueryVector {
    scale: f32,
    numbers: Box<[i16]>,
}

impl QuantizedQueryVector {
    /// The probe for a vector.
    pub fn new(vector: &QuantizedVector) -> Self {
        Self {
            scale: vector.scale,
            numbers: vector.numbers.iter().map(|&number| i16::from(number)).collect(),
        }
    }

    /// The cosine with a vector in parts; 0 for one of another length, which no model makes.
    pub fn similarity(&self, scale: f32, numbers: &[i8]) -> f32 {
        if numbers.len() != self.numbers.len() {
            return 0.0;
        }
        // Sixteen bits by sixteen, added in pairs: one instruction on every machine.
        let products = numbers.iter().zip(&self.numbers);
        let sum: i32 = products.map(|(&a, &b)| i32::from(a) * i32::from(b)).sum();
        sum as f32 * scale * self.scale
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::embed::StaticEmbeddingModel;

    fn wide(floats: &[f32]) -> QuantizedVector {
        QuantizedVector::from_floats(floats).unwrap()
    }

    #[test]
    fn cosines_do_not_depend_on_length() {
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
    fn unlike_texts_have_nothing_in_common_by_any_model() {
        // A model whose cosines all lie between 0.8 and 1.
        let narrow = |x: f32, y: f32| wide(&[4.0, x, y]);
        let unlike = [narrow(1.0, 1.0), narrow(1.0, -1.0), narrow(-1.0, 1.0), narrow(-1.0, -1.0)];
        let zero = baseline_similarity(&unlike);
        assert!((zero - 0.85).abs() < 0.02, "{zero}");
        let [asked, other, ..] = unlike;
        let meant = QueryEmbedding {
            table: StaticEmbeddingModel::embedded().embed("x"),
            chosen: Some(ModelQueryEmbedding { vector: asked.clone(), zero }),
        };
        assert!(meant.similarity(&Embedding::Chosen(other)).abs() < 0.3);
        assert!(meant.similarity(&Embedding::Chosen(asked)) > 0.98);
        // Vectors of one model say nothing to another.
        let table = QueryEmbedding::by_table(StaticEmbeddingModel::embedded().embed("x"));
        assert_eq!(table.similarity(&Embedding::Chosen(wide(&[1.0, 2.0]))), 0.0);
    }

    #[test]
    fn the_table_takes_unlike_sentences_for_unlike() {
        let vectors = BASELINE_SENTENCES.map(|text| StaticEmbeddingModel::embedded().embed(text));
        let wide = vectors.map(|v| wide(&v.numbers.map(|n| f32::from(n) * v.scale)));
        let zero = baseline_similarity(&wide);
        // About 0, so that both models are on one scale.
        assert!(zero < 0.1, "{zero}");
    }

    proptest! {
        #[test]
        fn products_are_summed_whatever_the_length(pairs in prop::collection::vec(any::<(i8, i8)>(), 0..70)) {
            let (a, b): (Vec<i8>, Vec<i8>) = pairs.iter().copied().unzip();
            let expected: i32 = pairs.iter().map(|&(a, b)| i32::from(a) * i32::from(b)).sum();
            let probe = QuantizedQueryVector::new(&QuantizedVector { scale: 0.5, numbers: a.into() });
            prop_assert_eq!(probe.similarity(2.0, &b), expected as f32);
        }
    }
}
