//! Languages other than English: recognition by function words and letters, function words that a
//! query does not search for, and stems.
//!
//! The index keeps English stems of all words. A query in another language is searched by every form
//! of its words that the index contains, so no text needs to be assigned a language.

mod function_words;
mod stems;

use crate::query::is_filler;
use crate::tokenize::{fold, tokenize};

/// A language whose words are compared by their stems.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// German.
    German,
    /// French.
    French,
    /// Spanish.
    Spanish,
    /// Russian.
    Russian,
}

/// Number of signs of a language that a query must show.
const MIN_SIGNS: usize = 2;

impl Language {
    /// All languages.
    pub const ALL: [Self; 4] = [Self::German, Self::French, Self::Spanish, Self::Russian];

    /// Returns the language of a query if its words show it. A query of one or two words often does
    /// not.
    ///
    /// ```
    /// use memoranda_core::language::Language;
    ///
    /// assert_eq!(Language::of_query("Wo ist der Schlüssel?"), Some(Language::German));
    /// assert_eq!(Language::of_query("where is the key"), None);
    /// ```
    pub fn of_query(text: &str) -> Option<Self> {
        if text.chars().any(is_cyrillic) {
            return Some(Self::Russian);
        }
        let words: Vec<String> = tokenize(text).map(|word| fold(word.text).into_owned()).collect();
        let english = words.iter().filter(|word| is_filler(word)).count();
        let signs = |language: Self| {
            let markers = language.markers();
            let found = words.iter().filter(|word| markers.binary_search(&word.as_str()).is_ok());
            found.count() + usize::from(text.chars().any(|c| language.letters().contains(&c)))
        };
        let best = Self::ALL.map(|language| (signs(language), language));
        let (most, language) = best.into_iter().max_by_key(|(signs, _)| *signs)?;
        let is_only = best.iter().filter(|(signs, _)| *signs == most).count() == 1;
        (is_only && most >= MIN_SIGNS && most > english).then_some(language)
    }

    /// Returns two common words by which texts of the language are recognized in an index; English
    /// texts do not contain them.
    pub fn index_words(self) -> [&'static str; 2] {
        match self {
            Self::German => ["und", "nicht"],
            Self::French => ["avec", "sont"],
            Self::Spanish => ["para", "pero"],
            Self::Russian => ["и", "не"],
        }
    }

    /// Returns true if a folded word is a function word, which does not name the subject.
    pub fn is_function_word(self, word: &str) -> bool {
        self.markers().binary_search(&word).is_ok() || self.ambiguous().contains(&word)
    }

    /// Returns the stem of a folded word. Forms of one word have equal stems; a stem need not be a
    /// word.
    pub fn stem(self, word: &str) -> String {
        match self {
            Self::German => stems::german(word),
            Self::French => stems::french(word),
            Self::Spanish => stems::spanish(word),
            Self::Russian => stems::russian(word),
        }
    }

    /// Returns true if a word is written in the script of the language.
    pub fn can_write(self, word: &str) -> bool {
        let is_written = match self {
            Self::Russian => is_cyrillic,
            Self::German | Self::French | Self::Spanish => is_latin,
        };
        word.chars().all(is_written)
    }

    /// Returns function words that no English query contains, sorted.
    fn markers(self) -> &'static [&'static str] {
        match self {
            Self::German => function_words::GERMAN,
            Self::French => function_words::FRENCH,
            Self::Spanish => function_words::SPANISH,
            Self::Russian => function_words::RUSSIAN,
        }
    }

    /// Returns function words that are also English words or names.
    fn ambiguous(self) -> &'static [&'static str] {
        match self {
            Self::German => function_words::GERMAN_AMBIGUOUS,
            Self::French => function_words::FRENCH_AMBIGUOUS,
            Self::Spanish => function_words::SPANISH_AMBIGUOUS,
            Self::Russian => &[],
        }
    }

    /// Returns letters that texts of the language contain, and few of the other languages.
    fn letters(self) -> &'static [char] {
        match self {
            Self::German => &['ä', 'ö', 'ü', 'ß', 'Ä', 'Ö', 'Ü'],
            Self::French => {
                &['à', 'â', 'ç', 'é', 'è', 'ê', 'ë', 'î', 'ï', 'ô', 'ù', 'û', 'œ', 'À', 'Ç']
            }
            Self::Spanish => &['¿', '¡', 'ñ', 'á', 'é', 'í', 'ó', 'ú', 'Á', 'Ó', 'Ñ'],
            Self::Russian => &[],
        }
    }
}

fn is_cyrillic(c: char) -> bool {
    matches!(c, '\u{400}'..='\u{4ff}')
}

fn is_latin(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '\u{c0}'..='\u{17f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn queries_show_their_language() {
        let check = |text: &str, expected: Option<Language>| {
            assert_eq!(Language::of_query(text), expected, "{text}");
        };
        check("Welche Einstellungen hat der Drucker im Büro?", Some(Language::German));
        check("wann und wie oft wird gesichert", Some(Language::German));
        check("Où sont les clés de la maison ?", Some(Language::French));
        check("quelle est la date de la réunion", Some(Language::French));
        check("¿Dónde están las llaves de la casa?", Some(Language::Spanish));
        check("cuando es la reunion con los clientes", Some(Language::Spanish));
        check("ключи от дома", Some(Language::Russian));
        for english in [
            "where are the keys",
            "die hard",
            "what was the war about",
            "La Crosse trip",
            "El Paso de facto",
            "Zürich hotel",
            "São Paulo café",
            "the café in Málaga",
            "des moines",
            "",
            "pour over coffee",
            "me and my son",
        ] {
            check(english, None);
        }
    }

    #[test]
    fn lists_are_sorted_and_folded() {
        for language in Language::ALL {
            assert!(language.markers().is_sorted(), "{language:?}");
            for word in language.markers().iter().chain(language.ambiguous()) {
                assert_eq!(fold(word), **word, "{language:?}");
            }
            for word in language.index_words() {
                assert_eq!(crate::porter::porter_stem(word), word, "{language:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn stems_of_any_word_are_not_empty(word in "[a-zß]{1,12}|[а-я]{1,12}|\\PC{1,8}") {
            for language in Language::ALL {
                prop_assert!(!language.stem(&word).is_empty());
            }
        }
    }
}
