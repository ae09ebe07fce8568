//! One generated note: frontmatter, prose under headings, facts, relations, links.

use std::fmt::Write as _;

use super::random::SplitMix64;
use super::{length, words};

const SEED: u64 = 0x6d65_6d6f_7261_6e64;

const AREAS: &[&str] =
    &["projects", "people", "places", "reading", "recipes", "meetings", "ideas", "journal"];
const CATEGORIES: &[&str] =
    &["fact", "decision", "preference", "dependency", "question", "tip", "requirement"];
const RELATIONS: &[&str] = &["relates_to", "depends_on", "part_of", "inspired_by", "contradicts"];
const TYPES: &[&str] = &["note", "note", "note", "person", "project", "decision"];
const HEADINGS: &[&str] =
    &["Background", "What was said", "Details", "Next steps", "Why it matters", "Open points"];

/// A generated note.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SampleNote {
    /// Path relative to the project's folder, with `/` as separator.
    pub path: String,
    /// Title, used in links to the note.
    pub title: String,
    /// Content of the file.
    pub text: String,
    /// A word that only this note contains.
    pub rare_word: String,
}

/// Generates note `number`.
pub fn note(number: usize) -> SampleNote {
    let mut random = SplitMix64::new(SEED ^ (number as u64).wrapping_mul(0x2545_f491_4f6c_dd1d));
    let title = title(number);
    let mut writer = NoteWriter { random: &mut random, text: String::new(), number };
    writer.front_matter(&title);
    writer.body(&title);
    let text = writer.text;
    SampleNote { path: path(number), title, text, rare_word: words::rare_word(number) }
}

/// Returns the title of a note, derived from its number, so that others can link to it.
fn title(number: usize) -> String {
    let mut random = SplitMix64::new(SEED.rotate_left(17) ^ number as u64);
    let first = words::word(words::draw_rank(&mut random));
    let second = words::word(random.index(words::VOCABULARY));
    format!("{} {second} {number}", capitalised(&first))
}

/// Returns the path of a note, in one of about 130 folders for a vault of any size.
fn path(number: usize) -> String {
    let mut random = SplitMix64::new(SEED.rotate_left(31) ^ number as u64);
    let area = random.pick(AREAS);
    let folder = words::word(random.index(16));
    let name = title(number).to_lowercase().replace(' ', "-");
    format!("{area}/{folder}/{name}.md")
}

struct NoteWriter<'a> {
    random: &'a mut SplitMix64,
    text: String,
    number: usize,
}

impl NoteWriter<'_> {
    fn front_matter(&mut self, title: &str) {
        let kind = *self.random.pick(TYPES);
        let tags: Vec<_> = (0..self.random.between(1, 4)).map(|_| self.tag()).collect();
        let tags = tags.join(", ");
        let _ = write!(self.text, "---\ntitle: {title}\ntype: {kind}\ntags: [{tags}]\n---\n\n");
    }

    fn body(&mut self, title: &str) {
        let mut left = length::draw_word_count(self.random);
        let _ = write!(self.text, "# {title}\n\n");
        let mut heading = self.random.index(HEADINGS.len());
        let mut paragraphs = 0;
        while left > 30 {
            let words = (self.random.between(25, 70) as usize).min(left - 20);
            self.paragraph(words);
            left -= words;
            paragraphs += 1;
            if paragraphs % 3 == 0 && left > 60 {
                let _ = write!(self.text, "## {}\n\n", HEADINGS[heading % HEADINGS.len()]);
                heading += 1;
            }
        }
        self.observations(left);
        self.relations();
    }

    /// Writes sentences, some of them with a link.
    fn paragraph(&mut self, words: usize) {
        let mut in_sentence = 0;
        for n in 0..words {
            let word = self.word();
            if in_sentence == 0 {
                self.text.push_str(&capitalised(&word));
            } else {
                self.text.push_str(&word);
            }
            in_sentence += 1;
            if n + 1 == words {
                break;
            }
            if in_sentence >= 6 && self.random.below(8) == 0 {
                self.text.push('.');
                in_sentence = 0;
            } else if self.random.below(60) == 0 {
                let target = self.target();
                let _ = write!(self.text, " [[{target}]]");
            }
            self.text.push(if n % 14 == 13 { '\n' } else { ' ' });
        }
        self.text.push_str(".\n\n");
    }

    fn observations(&mut self, words: usize) {
        self.text.push_str("## Observations\n\n");
        let rare_word = words::rare_word(self.number);
        let facts = self.random.between(1, 4);
        let rare_fact = self.random.below(facts);
        for fact in 0..facts {
            let category = *self.random.pick(CATEGORIES);
            let _ = write!(self.text, "- [{category}]");
            for _ in 0..(words / facts as usize).max(4) {
                let word = self.word();
                let _ = write!(self.text, " {word}");
            }
            if fact == rare_fact {
                let _ = write!(self.text, " {rare_word}");
            }
            if self.random.below(2) == 0 {
                let tag = self.tag();
                let _ = write!(self.text, " #{tag}");
            }
            if self.random.below(5) == 0 {
                let context = self.word();
                let _ = write!(self.text, " ({context})");
            }
            self.text.push('\n');
        }
    }

    fn relations(&mut self) {
        let count = self.random.below(4);
        if count == 0 {
            return;
        }
        self.text.push_str("\n## Relations\n\n");
        for _ in 0..count {
            let relation = *self.random.pick(RELATIONS);
            let target = self.target();
            let _ = writeln!(self.text, "- {relation} [[{target}]]");
        }
    }

    /// Returns a link target: an earlier note, so that a smaller vault is the start of a larger one
    /// and old notes have many links, or sometimes a note that does not exist yet.
    fn target(&mut self) -> String {
        if self.number == 0 || self.random.below(20) == 0 {
            return format!("{} unwritten", capitalised(&self.word()));
        }
        let end = self.random.between(1, self.number as u64);
        title(self.random.below(end) as usize)
    }

    fn word(&mut self) -> String {
        words::word(words::draw_rank(self.random))
    }

    fn tag(&mut self) -> String {
        words::word(600 + self.random.index(150))
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_depends_only_on_its_number() {
        assert_eq!(note(42), note(42));
        assert_ne!(note(42).text, note(43).text);
    }

    #[test]
    fn bytes_never_change() {
        // If this fails, older measurements are no longer comparable: note it in the changelog.
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for byte in (0..500).flat_map(|number| note(number).text.into_bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        assert_eq!(hash, 13_135_989_267_744_913_565);
    }

    #[test]
    fn a_rare_word_is_in_one_note() {
        let notes: Vec<_> = (0..200).map(note).collect();
        for note in &notes {
            let holders = notes.iter().filter(|other| other.text.contains(&note.rare_word));
            assert_eq!(holders.count(), 1, "{}", note.rare_word);
        }
    }

    #[test]
    fn has_every_part_of_the_grammar() {
        let all: String = (0..50).map(|number| note(number).text).collect();
        for part in
            ["---\ntitle: ", "\ntags: [", "\n# ", "\n## ", "\n- [", " #", "\n- relates_to [["]
        {
            assert!(all.contains(part), "{part:?}");
        }
    }
}
