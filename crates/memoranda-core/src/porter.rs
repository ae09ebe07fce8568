//! Porter's stemming algorithm (1980) exactly as SQLite FTS5 implements it. Hand-written because
//! stems must equal those of the index; `rust-stemmers` implements Snowball, which differs.

/// Maximum length in bytes of a word that FTS5 stems.
const MAX_STEMMED_BYTES: usize = 64;

/// Returns the stem of a folded word. Words with other characters than `a` to `z` follow the same
/// rules, as in FTS5.
pub fn porter_stem(word: &str) -> String {
    let mut stem = StemBuffer { word: word.as_bytes().to_vec() };
    if word.len() > 2 && word.len() < MAX_STEMMED_BYTES {
        stem.plural();
        stem.past();
        stem.final_y();
        stem.replace_first(DOUBLE_SUFFIXES, 0);
        stem.replace_first(SUFFIXES, 0);
        stem.last_suffix();
        stem.final_e();
    }
    // Only whole ASCII suffixes were removed or added.
    String::from_utf8(stem.word).unwrap_or_else(|_| word.to_owned())
}

const DOUBLE_SUFFIXES: &[(&str, &str)] = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("logi", "log"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
];

const SUFFIXES: &[(&str, &str)] = &[
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

const LAST_SUFFIXES: &[&str] = &[
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous",
    "ive", "ize", "al", "er", "ic", "ou",
];

struct StemBuffer {
    word: Vec<u8>,
}

impl StemBuffer {
    fn ends(&self, suffix: &str) -> Option<usize> {
        self.word.ends_with(suffix.as_bytes()).then(|| self.word.len() - suffix.len())
    }

    fn set_end(&mut self, length: usize, suffix: &str) {
        self.word.truncate(length);
        self.word.extend_from_slice(suffix.as_bytes());
    }

    fn is_vowel(&self, at: usize) -> bool {
        match self.word.get(at) {
            Some(b'a' | b'e' | b'i' | b'o' | b'u') => true,
            Some(b'y') => at > 0 && !self.is_vowel(at - 1),
            _ => false,
        }
    }

    fn has_vowel(&self, length: usize) -> bool {
        (0..length).any(|at| self.is_vowel(at))
    }

    /// Computes Porter's measure: the number of vowel-consonant sequences.
    fn measure(&self, length: usize) -> usize {
        (1..length).filter(|&at| self.is_vowel(at - 1) && !self.is_vowel(at)).count()
    }

    /// Returns true if the stem ends consonant-vowel-consonant, as in `hop`.
    fn ends_short(&self, length: usize) -> bool {
        let Some(at) = length.checked_sub(3) else { return false };
        !self.is_vowel(at)
            && self.is_vowel(at + 1)
            && !self.is_vowel(at + 2)
            && !matches!(self.word.get(at + 2), Some(b'w' | b'x' | b'y'))
    }

    fn ends_double(&self) -> bool {
        let mut last = self.word.iter().rev();
        match (last.next(), last.next()) {
            (Some(a), Some(b)) => a == b && !self.is_vowel(self.word.len() - 1),
            _ => false,
        }
    }

    fn plural(&mut self) {
        if let Some(rest) = self.ends("sses").or_else(|| self.ends("ies")) {
            let keep = if self.word.ends_with(b"sses") { 2 } else { 1 };
            self.word.truncate(rest + keep);
        } else if self.ends("ss").is_none()
            && let Some(rest) = self.ends("s")
        {
            self.word.truncate(rest);
        }
    }

    fn past(&mut self) {
        if let Some(rest) = self.ends("eed") {
            if self.measure(rest) > 0 {
                self.word.truncate(rest + 2);
            }
            return;
        }
        let Some(rest) = self.ends("ed").or_else(|| self.ends("ing")) else { return };
        if !self.has_vowel(rest) {
            return;
        }
        self.word.truncate(rest);
        if ["at", "bl", "iz"].iter().any(|end| self.ends(end).is_some()) {
            self.word.push(b'e');
        } else if self.ends_double() && !matches!(self.word.last(), Some(b'l' | b's' | b'z')) {
            self.word.pop();
        } else if self.measure(self.word.len()) == 1 && self.ends_short(self.word.len()) {
            self.word.push(b'e');
        }
    }

    fn final_y(&mut self) {
        if let Some(rest) = self.ends("y")
            && self.has_vowel(rest)
        {
            self.set_end(rest, "i");
        }
    }

    /// Replaces the first matching suffix if the measure of the rest exceeds `least`.
    fn replace_first(&mut self, suffixes: &[(&str, &str)], least: usize) {
        let found = suffixes.iter().find_map(|&(from, to)| Some((self.ends(from)?, to)));
        if let Some((rest, to)) = found
            && self.measure(rest) > least
        {
            self.set_end(rest, to);
        }
    }

    fn last_suffix(&mut self) {
        let ion = self.ends("ion");
        let rest = match LAST_SUFFIXES.iter().find_map(|suffix| self.ends(suffix)) {
            Some(rest) => rest,
            None => match ion.filter(|&rest| {
                matches!(rest.checked_sub(1).and_then(|at| self.word.get(at)), Some(b's' | b't'))
            }) {
                Some(rest) => rest,
                None => return,
            },
        };
        if self.measure(rest) > 1 {
            self.word.truncate(rest);
        }
    }

    fn final_e(&mut self) {
        if let Some(rest) = self.ends("e") {
            let measure = self.measure(rest);
            if measure > 1 || (measure == 1 && !self.ends_short(rest)) {
                self.word.truncate(rest);
            }
        }
        if self.word.ends_with(b"ll") && self.measure(self.word.len() - 1) > 1 {
            self.word.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_have_porters_stems() {
        for (word, stem) in [
            ("caresses", "caress"),
            ("ponies", "poni"),
            ("cats", "cat"),
            ("feed", "feed"),
            ("agreed", "agre"),
            ("plastered", "plaster"),
            ("motoring", "motor"),
            ("sing", "sing"),
            ("conflated", "conflat"),
            ("hopping", "hop"),
            ("filing", "file"),
            ("happy", "happi"),
            ("relational", "relat"),
            ("rational", "ration"),
            ("vietnamization", "vietnam"),
            ("hopefulness", "hope"),
            ("formalize", "formal"),
            ("electrical", "electr"),
            ("adjustment", "adjust"),
            ("adoption", "adopt"),
            ("probate", "probat"),
            ("rate", "rate"),
            ("controll", "control"),
            ("roll", "roll"),
            ("is", "is"),
            ("café", "café"),
        ] {
            assert_eq!(porter_stem(word), stem, "{word}");
        }
    }

    proptest! {
        #[test]
        fn any_word_has_a_stem(word in "\\PC{0,30}|[a-z]{1,30}") {
            prop_assert!(porter_stem(&word).len() <= word.len() + 1);
        }
    }
}
