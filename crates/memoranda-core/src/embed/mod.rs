//! Embeddings: texts with similar meaning have similar vectors.
//!
//! The built-in model is a table with one vector per word piece, compiled into the program, and a
//! second one with the vectors of further whole words. The vector of a text is the normalized mean
//! of its pieces. One lookup and one addition per piece need no download, no runtime and hardly any
//! time.

mod embedding;
mod table;
mod vector;
mod word_piece;

pub use embedding::{
    BASELINE_SENTENCES, Embedding, ModelQueryEmbedding, QuantizedQueryVector, QuantizedVector,
    QueryEmbedding, baseline_similarity,
};
pub use vector::{STATIC_VECTOR_BYTES, STATIC_VECTOR_DIMS, StaticQueryVector, StaticVector};

use std::cell::RefCell;

use table::EmbeddingTable;
use word_piece::{PieceCache, PieceKind, WordPieceVocabulary};

/// Identifies the built-in model in caches; vectors of different models are not comparable.
pub const MODEL_ID: &str = "static-minilm-256-i8-words-3";

/// Maximum number of bytes of a text that are embedded.
const MAX_BYTES: usize = 16 << 10;

/// Bounds of the weight of a single word.
const MIN_WORD_WEIGHT: f32 = 0.3;
const MAX_WORD_WEIGHT: f32 = 2.0;

/// Questions about nothing in particular: what their vectors have in common is the form of a question.
const PLAIN_QUESTIONS: [&str; 20] = [
    "What is the name of my new neighbour?",
    "How many times did we go out last month?",
    "When does the shop on our street open?",
    "Which of the two phones did you buy?",
    "Where did I put the keys yesterday?",
    "Who told her about the job?",
    "How long does it take to get there?",
    "What do they want to do on the weekend?",
    "Why was the meeting cancelled?",
    "How much did he pay for the chair?",
    "Can you tell me how to use this tool?",
    "What should I know before I start?",
    "Is there anything that we still need?",
    "Which version are they using now?",
    "How do I change the settings of the program?",
    "Do you remember what I said about the plan?",
    "What happened to the old one?",
    "When will the work be done?",
    "Who is the person in charge of it?",
    "What is the difference between the first and the second?",
];

static TABLE: &[u8] = include_bytes!("../../model/table.bin");
static VOCABULARY: &str = include_str!("../../model/vocab.txt");
static WORD_TABLE: &[u8] = include_bytes!("../../model/words.bin");
static WORDS: &str = include_str!("../../model/words.txt");

/// The built-in static embedding model.
pub struct StaticEmbeddingModel {
    vocabulary: WordPieceVocabulary<'static>,
    table: EmbeddingTable<'static>,
    /// Rows of the words that follow the pieces of the table.
    words: EmbeddingTable<'static>,
}

impl StaticEmbeddingModel {
    /// Returns the built-in model. The first call builds its tables in about a millisecond.
    pub fn bundled() -> &'static Self {
        static MODEL: std::sync::OnceLock<StaticEmbeddingModel> = std::sync::OnceLock::new();
        MODEL.get_or_init(|| Self {
            vocabulary: WordPieceVocabulary::new(VOCABULARY.lines().chain(WORDS.lines())),
            table: EmbeddingTable::read(TABLE),
            words: EmbeddingTable::read(WORD_TABLE),
        })
    }

    /// Embeds a text; the zero vector if the text contains no known word.
    pub fn embed(&self, text: &str) -> StaticVector {
        StaticVector::from_floats(&normalize(self.sum(text)))
    }

    /// Returns the vector of a question without the direction that questions have in common. Short
    /// statements are near to any question in that direction.
    pub fn without_question_form(&self, question: &StaticVector) -> StaticVector {
        static FORM: std::sync::OnceLock<[f32; STATIC_VECTOR_DIMS]> = std::sync::OnceLock::new();
        let form = FORM.get_or_init(|| {
            let mut sum = [0.0; STATIC_VECTOR_DIMS];
            for vector in PLAIN_QUESTIONS.map(|text| normalize(self.sum(text))) {
                sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += x);
            }
            normalize(sum)
        });
        let mut rest = question.numbers.map(|number| f32::from(number) * question.scale);
        let shared: f32 = rest.iter().zip(form).map(|(x, form)| x * form).sum();
        rest.iter_mut().zip(form).for_each(|(x, form)| *x -= shared * form);
        StaticVector::from_floats(&normalize(rest))
    }

    /// Returns the weight of a word: about 1 for most words, 0.5 for stop words, 1.5 for names of
    /// things. It is the norm of the word's vector.
    pub fn weight(&self, word: &str) -> f32 {
        let length = length(&self.sum(word));
        if length > 0.0 { length.clamp(MIN_WORD_WEIGHT, MAX_WORD_WEIGHT) } else { 1.0 }
    }

    /// Returns true if the text contains a word of the vocabulary. A word that is only spelled by
    /// pieces does not count.
    pub fn has_known_word(&self, text: &str) -> bool {
        let (mut known, mut whole) = (false, false);
        self.pieces(text, |piece| {
            let goes_on = self.vocabulary.is_continuation(piece);
            known |= whole && !goes_on;
            whole = !goes_on && self.vocabulary.kind(piece) == PieceKind::Word;
        });
        known || whole
    }

    /// Returns true if the word is a single entry of the vocabulary.
    pub fn is_known_word(&self, word: &str) -> bool {
        self.vocabulary.contains_word(word)
    }

    /// Calls `piece` with each piece of a text.
    fn pieces(&self, text: &str, piece: impl FnMut(usize)) {
        // There is one model, so the pieces of a word are the same in every call.
        thread_local! {
            static CACHE: RefCell<PieceCache> = const { RefCell::new(PieceCache::new()) };
        }
        CACHE.with_borrow_mut(|cache| self.vocabulary.pieces(text, cache, piece));
    }

    /// Sums the vectors of the known pieces. Pieces of unknown scripts are left out, because they
    /// would map all texts of a script to one point. Punctuation counts only next to a word.
    fn sum(&self, text: &str) -> [f32; STATIC_VECTOR_DIMS] {
        let mut sum = [0.0; STATIC_VECTOR_DIMS];
        let mut has_word = false;
        self.pieces(truncated(text), |piece| {
            let kind = self.vocabulary.kind(piece);
            has_word |= kind == PieceKind::Word;
            if kind != PieceKind::Spelling {
                self.add(piece, &mut sum);
            }
        });
        if has_word { sum } else { [0.0; STATIC_VECTOR_DIMS] }
    }

    /// Adds the vector of a piece to a sum.
    fn add(&self, piece: usize, sum: &mut [f32; STATIC_VECTOR_DIMS]) {
        match piece.checked_sub(self.table.len()) {
            None => self.table.add(piece, sum),
            Some(word) => self.words.add(word, sum),
        }
    }
}

fn truncated(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or_default()
}

/// Normalizes a vector to length 1.
fn normalize(mut sum: [f32; STATIC_VECTOR_DIMS]) -> [f32; STATIC_VECTOR_DIMS] {
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

    /// Reads the reference vectors.
    fn golden() -> Vec<serde_json::Value> {
        let lines = include_str!("../../model/golden.jsonl").lines();
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn golden_texts_give_golden_pieces_and_vectors() {
        // The reference is without the further words.
        let model = StaticEmbeddingModel {
            vocabulary: WordPieceVocabulary::new(VOCABULARY.lines()),
            table: EmbeddingTable::read(TABLE),
            words: EmbeddingTable::read(&[]),
        };
        let golden = golden();
        assert!(golden.len() >= 10);
        for case in golden {
            let text = case["text"].as_str().unwrap();
            let mut pieces = Vec::new();
            model.pieces(text, |piece| pieces.push(piece as u64));
            let expected: Vec<_> =
                case["ids"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap()).collect();
            assert_eq!(pieces, expected, "{text:?}");
            // The reference vectors include every piece.
            let mut all = [0.0; STATIC_VECTOR_DIMS];
            model.pieces(text, |piece| model.add(piece, &mut all));
            let floats = normalize(all);
            for (found, expected) in floats.iter().zip(case["embedding"].as_array().unwrap()) {
                let expected = expected.as_f64().unwrap() as f32;
                assert!((found - expected).abs() < 2e-5, "{text:?}: {found} {expected}");
            }
        }
    }

    #[test]
    fn similar_texts_have_similar_vectors() {
        let near = |a: &str, b: &str| {
            StaticEmbeddingModel::bundled()
                .embed(a)
                .similarity(&StaticEmbeddingModel::bundled().embed(b))
        };
        let asked = "how do I put the app on the server";
        assert!(near(asked, "deployment of the application") > near(asked, "a recipe for soup"));
        assert!((near(asked, asked) - 1.0).abs() < 0.02);
        assert_eq!(near("", "anything"), 0.0);
    }

    #[test]
    fn every_word_has_a_row_of_its_own() {
        let model = StaticEmbeddingModel::bundled();
        assert_eq!(VOCABULARY.lines().count(), model.table.len());
        assert_eq!(WORDS.lines().count(), model.words.len());
        for word in WORDS.lines() {
            let mut found = Vec::new();
            model.pieces(word, |piece| found.push(piece));
            assert!(
                matches!(found[..], [piece] if piece >= model.table.len()),
                "{word}: {found:?}"
            );
            assert!(length(&model.sum(word)) > 0.1, "{word}");
        }
    }

    #[test]
    fn the_form_of_a_question_is_removed() {
        let model = StaticEmbeddingModel::bundled();
        let fact = model.embed("She goes swimming every Thursday before work");
        let [near, far] = ["what sport does she do", "how many times did I call you"].map(|text| {
            let question = model.embed(text);
            let subject = model.without_question_form(&question);
            assert!((subject.similarity(&subject) - 1.0).abs() < 0.02, "{text}");
            (question.similarity(&fact), subject.similarity(&fact))
        });
        assert!(near.1 - far.1 > near.0 - far.0, "{near:?} {far:?}");
        let nothing = model.embed("");
        assert!(model.without_question_form(&nothing).is_zero());
    }

    #[test]
    fn spelled_pieces_are_not_words() {
        let known = |text: &str| StaticEmbeddingModel::bundled().has_known_word(text);
        for text in ["the", "zzzqqq the", "the zzzqqq", "東京 hotel", "C++", "42"] {
            assert!(known(text), "{text}");
        }
        for text in ["", "zzzqqq", "xkcdqq zzzqqq", "東京", "豆豆的疫苗?", "это я", "カメラ。"]
        {
            assert!(!known(text), "{text}");
        }
    }

    #[test]
    fn unknown_scripts_do_not_affect_the_vector() {
        let embed = |text: &str| StaticEmbeddingModel::bundled().embed(text);
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
        let weight = |word: &str| StaticEmbeddingModel::bundled().weight(word);
        for (filler, thing) in
            [("many", "museum"), ("last", "necklace"), ("first", "guitar"), ("the", "Ann")]
        {
            assert!(weight(filler) + 0.1 < weight(thing), "{filler} {thing}");
        }
        assert_eq!((weight(""), weight("the")), (1.0, MIN_WORD_WEIGHT));
        assert!((MIN_WORD_WEIGHT..=MAX_WORD_WEIGHT).contains(&weight("東京ß\u{301}")));
    }

    proptest! {
        #[test]
        fn any_text_has_a_vector(text in "\\PC{0,60}|[a-zé語'\\- \0\u{301}]{0,60}") {
            let vector = StaticEmbeddingModel::bundled().embed(&text);
            let own = vector.similarity(&vector);
            prop_assert!(own == 0.0 || (own - 1.0).abs() < 0.05, "{}", own);
            prop_assert_eq!(StaticVector::read(&vector.bytes()), Some(vector));
        }
    }
}
