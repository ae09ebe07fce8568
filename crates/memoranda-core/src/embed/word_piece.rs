//! WordPiece tokenizer, compatible with BERT's uncased tokenizer. Hand-written because the
//! `tokenizers` crate would multiply the size of the default build.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::word_cache::WordCache;

/// Index of the piece for unknown words.
pub(super) const UNKNOWN: usize = 100;
/// Maximum number of characters of a word; longer words are unknown.
const MAX_WORD_CHARS: usize = 100;
/// Number of hash slots: more than twice the number of pieces, so that a lookup takes one or two
/// probes.
const HASH_SLOTS: usize = 1 << 17;
const EMPTY: u16 = u16::MAX;
/// First character after the Latin letters; the vocabulary has words in Latin script only.
const AFTER_LATIN: char = '\u{250}';

/// Word pieces in a hash table. Continuation pieces begin with `##`.
pub(super) struct WordPieceVocabulary<'t> {
    pieces: Vec<&'t [u8]>,
    places: Vec<HashSlot>,
    /// Length of the longest piece in bytes.
    longest: usize,
}

/// The pieces of frequent words, for one thread.
pub(super) type PieceCache = WordCache<Option<CachedPieces>>;

/// The pieces of a word that has few of them.
#[derive(Clone, Copy, Default)]
pub(super) struct CachedPieces {
    numbers: [u16; 5],
    count: u8,
}

impl CachedPieces {
    /// Adds a piece; `None` if there is no room for it.
    fn with(mut self, number: usize) -> Option<Self> {
        *self.numbers.get_mut(usize::from(self.count))? = u16::try_from(number).ok()?;
        self.count += 1;
        Some(self)
    }

    fn numbers(self) -> impl Iterator<Item = usize> {
        self.numbers.into_iter().take(usize::from(self.count)).map(usize::from)
    }
}

/// Kind of a word piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PieceKind {
    /// A word or a part of a word.
    Word,
    /// Punctuation and symbols.
    Sign,
    /// A letter of a script without words in the vocabulary, or an unknown piece.
    Spelling,
}

/// A hash slot. The mark holds further hash bits, so that texts are rarely compared without a
/// match.
#[derive(Clone, Copy)]
struct HashSlot {
    number: u16,
    mark: u16,
}

impl<'t> WordPieceVocabulary<'t> {
    /// Builds a vocabulary; the place of a piece is its index.
    pub(super) fn new(pieces: impl Iterator<Item = &'t str>) -> Self {
        let pieces: Vec<_> = pieces.map(str::as_bytes).take(usize::from(EMPTY)).collect();
        let mut places = vec![HashSlot { number: EMPTY, mark: 0 }; HASH_SLOTS];
        for (number, piece) in pieces.iter().enumerate() {
            let hash = piece.iter().fold(BEGIN, |hash, &byte| hash_byte(hash, byte));
            let (mut place, mark) = slot_of(hash);
            while places.get(place).is_some_and(|held| held.number != EMPTY) {
                place = (place + 1) % HASH_SLOTS;
            }
            if let Some(free) = places.get_mut(place) {
                *free = HashSlot { number: number as u16, mark };
            }
        }
        let longest = pieces.iter().map(|piece| piece.len()).max().unwrap_or(0);
        Self { pieces, places, longest }
    }

    /// Looks up a piece by its text and hash.
    fn find(&self, prefix: &[u8], rest: &[u8], hash: u32) -> Option<usize> {
        let (mut place, mark) = slot_of(hash);
        loop {
            let held = self.places.get(place).filter(|held| held.number != EMPTY)?;
            let piece = self.pieces.get(usize::from(held.number))?;
            if held.mark == mark && piece.strip_prefix(prefix) == Some(rest) {
                return Some(usize::from(held.number));
            }
            place = (place + 1) % HASH_SLOTS;
        }
    }

    /// Finds the longest piece at the beginning of a text, and its length. One pass hashes all
    /// lengths.
    fn longest(&self, prefix: &[u8], text: &str) -> Option<(usize, usize)> {
        let bytes = text.as_bytes();
        let mut hashes = [0; MAX_WORD_CHARS];
        let mut hash = prefix.iter().fold(BEGIN, |hash, &byte| hash_byte(hash, byte));
        for (slot, &byte) in hashes.iter_mut().zip(bytes).take(self.longest) {
            hash = hash_byte(hash, byte);
            *slot = hash;
        }
        let most = bytes.len().min(self.longest).min(hashes.len());
        let mut ends = (1..=most).rev().filter(|&end| text.is_char_boundary(end));
        ends.find_map(|end| {
            let number = self.find(prefix, bytes.get(..end)?, *hashes.get(end - 1)?)?;
            Some((number, end))
        })
    }

    /// Returns true if a piece continues a word.
    pub(super) fn is_continuation(&self, piece: usize) -> bool {
        self.pieces.get(piece).is_some_and(|piece| piece.starts_with(b"##"))
    }

    /// Returns the kind of a piece.
    pub(super) fn kind(&self, piece: usize) -> PieceKind {
        let text = self.pieces.get(piece).copied().unwrap_or_default();
        let bare = text.strip_prefix(b"##").unwrap_or(text);
        if piece == UNKNOWN {
            PieceKind::Spelling
        } else if bare.is_ascii() {
            let is_word = bare.iter().any(u8::is_ascii_alphanumeric);
            if is_word { PieceKind::Word } else { PieceKind::Sign }
        } else {
            let mut letters = str::from_utf8(bare).unwrap_or_default().chars();
            if letters.clone().any(|c| c.is_alphabetic() && c >= AFTER_LATIN) {
                PieceKind::Spelling
            } else if letters.any(char::is_alphanumeric) {
                PieceKind::Word
            } else {
                PieceKind::Sign
            }
        }
    }

    /// Returns true if a word is a single piece, ignoring case.
    pub(super) fn contains_word(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        self.longest(b"", &word).is_some_and(|(_, length)| length == word.len())
    }

    /// Calls `piece` with the index of each piece of a text in order. The cache belongs to this
    /// vocabulary.
    pub(super) fn pieces(&self, text: &str, cache: &mut PieceCache, mut piece: impl FnMut(usize)) {
        let mut word = String::new();
        let mut take = |word: &mut String| {
            if !word.is_empty() {
                self.split_cached_word(word, cache, &mut piece);
                word.clear();
            }
        };
        let mut each = |c: char| {
            if c.is_whitespace() {
                take(&mut word);
            } else if is_punctuation(c) || is_cjk(c) {
                take(&mut word);
                word.push(c);
                take(&mut word);
            } else {
                word.push(c);
            }
        };
        if text.is_ascii() {
            let kept = text.bytes().filter(|&byte| !is_control(char::from(byte)));
            kept.for_each(|byte| each(char::from(byte.to_ascii_lowercase())));
        } else {
            let kept = text.chars().filter(|&c| !is_control(c));
            let bare = kept.nfd().filter(|&c| !is_mark(c));
            bare.flat_map(char::to_lowercase).for_each(each);
        }
        take(&mut word);
    }

    /// Splits a word, or reads its pieces from the cache. Words of many pieces are not in it.
    fn split_cached_word(&self, word: &str, cache: &mut PieceCache, piece: &mut impl FnMut(usize)) {
        let known = cache.get_or_compute(word, || {
            let mut known = Some(CachedPieces::default());
            self.split_word(word, &mut |number| {
                known = known.and_then(|pieces| pieces.with(number));
            });
            known
        });
        match known {
            Some(known) => known.numbers().for_each(piece),
            None => self.split_word(word, piece),
        }
    }

    /// Splits a word greedily: the longest known beginning, then the longest known continuations.
    fn split_word(&self, word: &str, piece: &mut impl FnMut(usize)) {
        let is_long = word.len() > MAX_WORD_CHARS && word.chars().nth(MAX_WORD_CHARS).is_some();
        if is_long {
            return piece(UNKNOWN);
        }
        let mut found = [0usize; MAX_WORD_CHARS];
        let (mut count, mut start) = (0, 0);
        while let Some(rest) = word.get(start..).filter(|rest| !rest.is_empty()) {
            let prefix: &[u8] = if start == 0 { b"" } else { b"##" };
            let (Some((number, length)), Some(slot)) =
                (self.longest(prefix, rest), found.get_mut(count))
            else {
                return piece(UNKNOWN);
            };
            (*slot, count, start) = (number, count + 1, start + length);
        }
        found.iter().take(count).for_each(|&number| piece(number));
    }
}

/// Offset basis of FNV-1a.
const BEGIN: u32 = 0x811c_9dc5;

fn hash_byte(hash: u32, byte: u8) -> u32 {
    (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
}

/// Returns the first slot of a hash, and its mark.
fn slot_of(hash: u32) -> (usize, u16) {
    ((hash ^ (hash >> 16)) as usize % HASH_SLOTS, (hash >> 16) as u16)
}

fn is_control(c: char) -> bool {
    let is_blank = matches!(c, '\t' | '\n' | '\r');
    !is_blank && (c == '\0' || c == '\u{fffd}' || c.is_control() || is_format(c))
}

/// Returns true for invisible format characters.
fn is_format(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
        | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e000}'..='\u{f8ff}' | '\u{e0001}'..='\u{e007f}')
}

/// Returns true for combining marks without width. Spacing marks are part of a word's spelling.
fn is_mark(c: char) -> bool {
    is_combining_mark(c) && !is_spacing_mark(c)
}

fn is_spacing_mark(c: char) -> bool {
    // Vowel signs of Indic scripts that stand next to their letter.
    matches!(c, '\u{903}' | '\u{93b}' | '\u{93e}'..='\u{940}' | '\u{949}'..='\u{94c}'
        | '\u{94e}'..='\u{94f}' | '\u{982}'..='\u{983}' | '\u{9be}'..='\u{9c0}'
        | '\u{9c7}'..='\u{9cc}' | '\u{9d7}' | '\u{a03}' | '\u{a3e}'..='\u{a40}' | '\u{a83}'
        | '\u{abe}'..='\u{ac0}' | '\u{ac9}'..='\u{acc}' | '\u{b02}'..='\u{b03}' | '\u{b3e}'
        | '\u{b40}' | '\u{b47}'..='\u{b4c}' | '\u{bbe}'..='\u{bbf}' | '\u{bc1}'..='\u{bc2}'
        | '\u{bc6}'..='\u{bcc}' | '\u{c01}'..='\u{c03}' | '\u{c41}'..='\u{c44}'
        | '\u{c82}'..='\u{c83}' | '\u{cbe}' | '\u{cc0}'..='\u{cc4}' | '\u{cc7}'..='\u{ccb}'
        | '\u{d02}'..='\u{d03}' | '\u{d3e}'..='\u{d40}' | '\u{d46}'..='\u{d4c}')
}

fn is_cjk(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2ceaf}' | '\u{f900}'..='\u{faff}' | '\u{2f800}'..='\u{2fa1f}')
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(c, '\u{a1}' | '\u{a7}' | '\u{ab}' | '\u{b6}'..='\u{b7}' | '\u{bb}' | '\u{bf}'
            | '\u{37e}' | '\u{387}' | '\u{55a}'..='\u{55f}' | '\u{589}'..='\u{58a}'
            | '\u{5be}' | '\u{5c0}' | '\u{5c3}' | '\u{5c6}' | '\u{5f3}'..='\u{5f4}'
            | '\u{60c}'..='\u{60d}' | '\u{61b}' | '\u{61e}'..='\u{61f}' | '\u{66a}'..='\u{66d}'
            | '\u{6d4}' | '\u{964}'..='\u{965}' | '\u{970}' | '\u{e4f}' | '\u{e5a}'..='\u{e5b}'
            | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{2043}' | '\u{2045}'..='\u{2051}'
            | '\u{2053}'..='\u{205e}' | '\u{207d}'..='\u{207e}' | '\u{208d}'..='\u{208e}'
            | '\u{2308}'..='\u{230b}' | '\u{2329}'..='\u{232a}' | '\u{2768}'..='\u{2775}'
            | '\u{27e6}'..='\u{27ef}' | '\u{2983}'..='\u{2998}' | '\u{29d8}'..='\u{29db}'
            | '\u{29fc}'..='\u{29fd}' | '\u{2e00}'..='\u{2e2e}' | '\u{2e30}'..='\u{2e4f}'
            | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}'
            | '\u{3030}' | '\u{303d}' | '\u{30a0}' | '\u{30fb}' | '\u{fe10}'..='\u{fe19}'
            | '\u{fe30}'..='\u{fe52}' | '\u{fe54}'..='\u{fe61}' | '\u{fe63}' | '\u{fe68}'
            | '\u{fe6a}'..='\u{fe6b}' | '\u{ff01}'..='\u{ff03}' | '\u{ff05}'..='\u{ff0a}'
            | '\u{ff0c}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff1b}' | '\u{ff1f}'..='\u{ff20}'
            | '\u{ff3b}'..='\u{ff3d}' | '\u{ff3f}' | '\u{ff5b}' | '\u{ff5d}'
            | '\u{ff5f}'..='\u{ff65}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn words_split_at_the_longest_known_pieces(
            known in prop::collection::vec("(##)?[abé]{1,4}", 1..30),
            word in "[abé]{1,12}|a{99,104}",
        ) {
            let text = known.join("\n");
            let mut found = Vec::new();
            WordPieceVocabulary::new(text.lines()).split_word(&word, &mut |number| found.push(number));
            let mut expected = Vec::new();
            let mut rest = word.as_str();
            while !rest.is_empty() {
                let prefix = if rest.len() == word.len() { "" } else { "##" };
                let ends = (1..=rest.len()).rev().filter(|&end| rest.is_char_boundary(end));
                let piece = |end| known.iter().position(|k| *k == format!("{prefix}{}", &rest[..end]));
                match ends.filter_map(|end| Some((end, piece(end)?))).next() {
                    Some((end, number)) if word.chars().count() <= MAX_WORD_CHARS => {
                        expected.push(number);
                        rest = &rest[end..];
                    }
                    _ => {
                        expected = vec![UNKNOWN];
                        break;
                    }
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}
