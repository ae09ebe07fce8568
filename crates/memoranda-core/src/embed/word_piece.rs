//! Cutting a text into the word pieces of the model, as BERT's uncased tokenizer does.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// What stands for a word that cannot be cut into known pieces.
const UNKNOWN: usize = 100;
/// A longer word is not cut at all.
const MAX_WORD_CHARS: usize = 100;
/// Twice as many places as pieces, so that looking one up takes one or two tries.
const PLACES: usize = 1 << 16;
const EMPTY: u16 = u16::MAX;

/// The known pieces, found by their text. Pieces that go on a word begin with `##`.
pub(super) struct Vocabulary<'t> {
    pieces: Vec<&'t [u8]>,
    places: Vec<u16>,
}

impl<'t> Vocabulary<'t> {
    /// Reads one piece a line; the number of a piece is that of its line.
    pub(super) fn new(text: &'t str) -> Self {
        let pieces: Vec<_> = text.lines().map(str::as_bytes).take(usize::from(EMPTY)).collect();
        let mut places = vec![EMPTY; PLACES];
        for (number, piece) in pieces.iter().enumerate() {
            let mut place = hash(b"", piece);
            while places.get(place).is_some_and(|&held| held != EMPTY) {
                place = (place + 1) % PLACES;
            }
            if let Some(free) = places.get_mut(place) {
                *free = number as u16;
            }
        }
        Self { pieces, places }
    }

    fn find(&self, prefix: &[u8], rest: &[u8]) -> Option<usize> {
        let mut place = hash(prefix, rest);
        loop {
            let number = *self.places.get(place).filter(|&&number| number != EMPTY)?;
            let piece = self.pieces.get(usize::from(number))?;
            if piece.strip_prefix(prefix) == Some(rest) {
                return Some(usize::from(number));
            }
            place = (place + 1) % PLACES;
        }
    }

    /// Whether a word is one piece, in whatever case.
    pub(super) fn has(&self, word: &str) -> bool {
        self.find(b"", word.to_lowercase().as_bytes()).is_some()
    }

    /// Names the pieces of a text in order.
    pub(super) fn pieces(&self, text: &str, mut piece: impl FnMut(usize)) {
        let mut word = String::new();
        let mut take = |word: &mut String| {
            if !word.is_empty() {
                self.cut(word, &mut piece);
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

    /// Cuts a word: the longest known beginning, then the longest known continuation, and so on.
    fn cut(&self, word: &str, piece: &mut impl FnMut(usize)) {
        let bytes = word.as_bytes();
        if let Some(whole) = self.find(b"", bytes) {
            return piece(whole);
        }
        if word.chars().nth(MAX_WORD_CHARS).is_some() {
            return piece(UNKNOWN);
        }
        let mut found = [0usize; MAX_WORD_CHARS];
        let (mut count, mut start) = (0, 0);
        while start < bytes.len() {
            let prefix: &[u8] = if start == 0 { b"" } else { b"##" };
            let ends = (start + 1..=bytes.len()).rev().filter(|&end| word.is_char_boundary(end));
            let longest = ends
                .filter_map(|end| Some((end, self.find(prefix, bytes.get(start..end)?)?)))
                .next();
            let (Some((end, number)), Some(slot)) = (longest, found.get_mut(count)) else {
                return piece(UNKNOWN);
            };
            (*slot, count, start) = (number, count + 1, end);
        }
        found.iter().take(count).for_each(|&number| piece(number));
    }
}

/// FNV-1a, folded to a place.
fn hash(prefix: &[u8], rest: &[u8]) -> usize {
    let hash = prefix
        .iter()
        .chain(rest)
        .fold(0x811c_9dc5_u32, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    (hash ^ (hash >> 16)) as usize % PLACES
}

fn is_control(c: char) -> bool {
    let is_blank = matches!(c, '\t' | '\n' | '\r');
    !is_blank && (c == '\0' || c == '\u{fffd}' || c.is_control() || is_format(c))
}

/// Characters that only steer how others are shown.
fn is_format(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
        | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e000}'..='\u{f8ff}' | '\u{e0001}'..='\u{e007f}')
}

/// Marks without a width of their own. Those that have one are part of how a word is written.
fn is_mark(c: char) -> bool {
    is_combining_mark(c) && !is_spacing_mark(c)
}

fn is_spacing_mark(c: char) -> bool {
    // The vowel signs of the Indian scripts that stand beside their letter.
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
