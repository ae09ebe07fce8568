//! What a text is about, as a vector: texts that say alike in other words lie close together.
//!
//! The model is a table with one vector for each word piece, compiled into the program. A text is
//! the mean of its pieces, of length one. That is a look-up and an addition for each word, so
//! that it needs no download, no runtime and next to no time.

mod embedding;
mod table;
mod vector;
mod word_piece;

pub use embedding::{
    BASELINE_SENTENCES, Embedding, ModelQueryEmbedding, QuantizedQueryVector, QuantizedVector,
    QueryEmbedding, baseline_similarity,
};
pub use vector::{STATIC_VECTOR_BYTES, STATIC_VECTOR_DIMS, StaticQueryVector, StaticVector};

use table::EmbeddingTable;
use word_piece::{PieceKind, WordPieceVocabulary};

/// Names the model in caches: vectors of different models cannot be compared.
pub const MODEL_ID: &str = "static-minilm-256-i8-2";

/// A longer text says nothing more about what it is about.
const MAX_BYTES: usize = 16 << 10;

/// No word says less or more than this, however odd it is.
const LEAST_WEIGHT: f32 = 0.3;
const MOST_WEIGHT: f32 = 2.0;

static TABLE: &[u8] = include_bytes!("../../model/table.bin");
static VOCABULARY: &str = include_str!("../../model/vocab.txt");

/// The embedding model, ready to use.
pub struct StaticEmbeddingModel {
    vocabulary: WordPieceVocabulary<'static>,
    table: EmbeddingTable<'static>,
}

impl StaticEmbeddingModel {
    /// The model that is part of the program. It is made ready at the first call, in about a
    /// millisecond, and then kept.
    pub fn embedded() -> &'static Self {
        static MODEL: std::sync::OnceLock<StaticEmbeddingModel> = std::sync::OnceLock::new();
        MODEL.get_or_init(|| Self {
            vocabulary: WordPieceVocabulary::new(VOCABULARY),
            table: EmbeddingTable::read(TABLE),
        })
    }

    /// The vector of a text; nothing but zeros if it holds no word.
    pub fn embed(&self, text: &str) -> StaticVector {
        StaticVector::from_floats(&unit(self.sum(text)))
    }

    /// How much a word says about what a text is about: about 1 for most, half for filler, half
    /// as much again for a thing with a name. It is how far the word draws a mean.
    pub fn weight(&self, word: &str) -> f32 {
        let length = length(&self.sum(word));
        if length > 0.0 { length.clamp(LEAST_WEIGHT, MOST_WEIGHT) } else { 1.0 }
    }

    /// Whether the model has a word of the text. What it can only spell means nothing to it.
    pub fn knows_a_word(&self, text: &str) -> bool {
        let (mut known, mut whole) = (false, false);
        self.vocabulary.pieces(text, |piece| {
            let goes_on = self.vocabulary.goes_on(piece);
            known |= whole && !goes_on;
            whole = !goes_on && self.vocabulary.kind(piece) == PieceKind::Word;
        });
        known || whole
    }

    /// Whether this is a word that people write, rather than one made up of others or of signs.
    pub fn is_word(&self, word: &str) -> bool {
        self.vocabulary.has(word)
    }

    /// The sum of what is known. Letters of scripts that the table can only spell would draw all
    /// texts in such a script to one place; and signs mean nothing without a word.
    fn sum(&self, text: &str) -> [f32; STATIC_VECTOR_DIMS] {
        let mut sum = [0.0; STATIC_VECTOR_DIMS];
        let mut has_word = false;
        self.vocabulary.pieces(beginning(text), |piece| {
            let kind = self.vocabulary.kind(piece);
            has_word |= kind == PieceKind::Word;
            if kind != PieceKind::Spelling {
                self.table.add(piece, &mut sum);
            }
        });
        if has_word { sum } else { [0.0; STATIC_VECTOR_DIMS] }
    }
}

fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or_default()
}

/// A sum as a direction.
fn unit(mut sum: [f32; STATIC_VECTOR_DIMS]) -> [f32; STATIC_VECTOR_DIMS] {
    let length = length(&sum);
    if length > 1e-9 {
        sum.iter_mut().for_each(|x| *x /= length);
    }
    sum
}

fn length(numbers: &[f32; STATIC_VECTOR_DIMS]) -> f32 {
    numbers.iter().map(|x| x * x).sum::<f32>().sqrt()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The numbers of a JSON list, or the text of a JSON string, after a key.
    fn golden() -> Vec<serde_json::Value> {
        let lines = include_str!("../../model/golden.jsonl").lines();
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn golden_texts_give_golden_pieces_and_vectors() {
        let model = StaticEmbeddingModel::embedded();
        let golden = golden();
        assert!(golden.len() >= 10);
        for case in golden {
            let text = case["text"].as_str().unwrap();
            let mut pieces = Vec::new();
            model.vocabulary.pieces(text, |piece| pieces.push(piece as u64));
            let expected: Vec<_> =
                case["ids"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap()).collect();
            assert_eq!(pieces, expected, "{text:?}");
            // The table's makers count every piece.
            let mut all = [0.0; STATIC_VECTOR_DIMS];
            model.vocabulary.pieces(text, |piece| model.table.add(piece, &mut all));
            let floats = unit(all);
            for (found, expected) in floats.iter().zip(case["embedding"].as_array().unwrap()) {
                let expected = expected.as_f64().unwrap() as f32;
                assert!((found - expected).abs() < 2e-5, "{text:?}: {found} {expected}");
            }
        }
    }

    #[test]
    fn like_texts_lie_closer_than_unlike_ones() {
        let near = |a: &str, b: &str| {
            StaticEmbeddingModel::embedded()
                .embed(a)
                .similarity(&StaticEmbeddingModel::embedded().embed(b))
        };
        let asked = "how do I put the app on the server";
        assert!(near(asked, "deployment of the application") > near(asked, "a recipe for soup"));
        assert!((near(asked, asked) - 1.0).abs() < 0.02);
        assert_eq!(near("", "anything"), 0.0);
    }

    #[test]
    fn what_can_only_be_spelt_is_no_word() {
        let known = |text: &str| StaticEmbeddingModel::embedded().knows_a_word(text);
        for text in ["the", "zzzqqq the", "the zzzqqq", "東京 hotel", "C++", "42"] {
            assert!(known(text), "{text}");
        }
        for text in ["", "zzzqqq", "xkcdqq zzzqqq", "東京", "豆豆的疫苗?", "это я", "カメラ。"]
        {
            assert!(!known(text), "{text}");
        }
    }

    #[test]
    fn what_can_only_be_spelt_does_not_draw_a_text_anywhere() {
        let embed = |text: &str| StaticEmbeddingModel::embedded().embed(text);
        for text in ["猫叫豆豆,对鸡肉过敏。", "新幹線の切符", "это я, и ты", "서울", "...", "🎉"]
        {
            assert!(embed(text).is_zero(), "{text}");
        }
        for (mixed, known) in [("用 Postgres 做备份", "Postgres"), ("party 🎉", "party")] {
            assert_eq!(embed(mixed), embed(known), "{mixed}");
        }
    }

    #[test]
    fn words_that_name_things_weigh_more_than_filler() {
        let weight = |word: &str| StaticEmbeddingModel::embedded().weight(word);
        for (filler, thing) in
            [("many", "museum"), ("last", "necklace"), ("first", "guitar"), ("the", "Ann")]
        {
            assert!(weight(filler) + 0.1 < weight(thing), "{filler} {thing}");
        }
        assert_eq!((weight(""), weight("the")), (1.0, LEAST_WEIGHT));
        assert!((LEAST_WEIGHT..=MOST_WEIGHT).contains(&weight("東京ß\u{301}")));
    }

    proptest! {
        #[test]
        fn any_text_has_a_vector(text in "\\PC{0,60}|[a-zé語'\\- \0\u{301}]{0,60}") {
            let vector = StaticEmbeddingModel::embedded().embed(&text);
            let own = vector.similarity(&vector);
            prop_assert!(own == 0.0 || (own - 1.0).abs() < 0.05, "{}", own);
            prop_assert_eq!(StaticVector::read(&vector.bytes()), Some(vector));
        }
    }
}
