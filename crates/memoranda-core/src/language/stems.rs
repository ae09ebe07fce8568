//! Stems of folded words: the endings of inflection are removed, and of derivation where it keeps
//! the subject (`Installation`, `installieren`). Hand-written rules without a dictionary.

/// Removes the first ending that leaves a stem of at least `least` letters.
fn strip(word: &mut String, endings: &[&str], least: usize) -> bool {
    for ending in endings {
        let rest = word.strip_suffix(ending).map(str::len);
        if let Some(length) = rest.filter(|&length| letters(word.get(..length)) >= least) {
            word.truncate(length);
            return true;
        }
    }
    false
}

fn letters(text: Option<&str>) -> usize {
    text.map_or(0, |text| text.chars().count())
}

/// Makes a doubled final consonant single: `innen` without its ending is `inn`.
fn single_end(word: &mut String) {
    let mut last = word.chars().rev();
    if let (Some(a), Some(b)) = (last.next(), last.next())
        && a == b
        && !matches!(a, 'a' | 'e' | 'i' | 'o' | 'u')
        && word.chars().count() > 3
    {
        word.pop();
    }
}

/// Returns the stem of a German word.
pub(super) fn german(word: &str) -> String {
    let mut stem = word.replace('ß', "ss");
    // Longer endings come first. A final `s` or `n` is an ending after some letters only.
    if !strip(&mut stem, &["innen", "ern", "en", "em", "er", "es", "e"], 3) {
        let mut last = stem.chars().rev();
        let is_ending = match (last.next(), last.next()) {
            (Some('n'), Some(before)) => matches!(before, 'l' | 'r'),
            (Some('s'), Some(before)) => "bdfghklmnrt".contains(before),
            _ => false,
        };
        if is_ending {
            strip(&mut stem, &["n", "s"], 3);
        }
    }
    if strip(&mut stem, &["isierung", "ierung", "ierend", "iert", "ier", "ation"], 4) {
        single_end(&mut stem);
        return stem;
    }
    strip(&mut stem, &["ung", "lich", "heit", "keit", "est", "end", "er", "en", "st", "t"], 4);
    single_end(&mut stem);
    stem
}

/// Returns the stem of a French word.
pub(super) fn french(word: &str) -> String {
    let mut stem = word.replace('œ', "oe");
    let is_plural_of_al = stem.ends_with("aux") && !stem.ends_with("eaux");
    if is_plural_of_al && letters(Some(&stem)) > 4 {
        stem.truncate(stem.len() - 2);
        stem.push('l');
    }
    strip(&mut stem, &["s", "x"], 3);
    let derived = ["issement", "atrice", "ateur", "ation", "ement", "ution", "age", "able", "eur"];
    if !strip(&mut stem, &derived, 4) {
        let verbs = [
            "eraient", "issant", "aient", "erait", "eront", "issez", "ante", "ent", "ant", "ait",
            "era", "ez", "er", "ee", "ir", "a", "e", "i",
        ];
        strip(&mut stem, &verbs, 4);
        strip(&mut stem, &["e"], 3);
    }
    single_end(&mut stem);
    stem
}

/// Returns the stem of a Spanish word.
pub(super) fn spanish(word: &str) -> String {
    let mut stem = word.to_owned();
    let derived = [
        "amientos", "amiento", "imiento", "aciones", "adores", "adoras", "uciones", "amente",
        "acion", "adora", "ador", "mente", "ucion",
    ];
    if strip(&mut stem, &derived, 4) {
        return stem;
    }
    let verbs = [
        "iesen", "ieron", "iendo", "aremos", "eremos", "iremos", "abamos", "arian", "erian",
        "irian", "ando", "aron", "aban", "amos", "emos", "imos", "ados", "adas", "idos", "idas",
        "aria", "eria", "iria", "aran", "eran", "iran", "ado", "ada", "ido", "ida", "aba", "ara",
        "era", "ira", "ian", "ar", "er", "ir", "an", "en", "ia", "io",
    ];
    if strip(&mut stem, &verbs, 4) {
        return stem;
    }
    if strip(&mut stem, &["ces"], 2) {
        // `luz` and `luces`.
        stem.push('z');
        return stem;
    }
    strip(&mut stem, &["es", "os", "as", "s", "o", "a", "e"], 3);
    stem
}

/// Returns the stem of a Russian word.
pub(super) fn russian(word: &str) -> String {
    let mut stem = word.replace('ё', "е");
    strip(&mut stem, &["ся", "сь"], 4);
    // Folding may have taken the breve off `й`.
    let adjectives = [
        "ейшими",
        "ейшего",
        "ейшая",
        "ейший",
        "ующими",
        "ующего",
        "ующая",
        "ующие",
        "ующий",
        "ющими",
        "ющий",
        "ющая",
        "ющие",
        "вший",
        "вшая",
        "вшие",
        "ими",
        "ыми",
        "его",
        "ого",
        "ему",
        "ому",
        "ее",
        "ие",
        "ые",
        "ое",
        "ей",
        "ий",
        "ый",
        "ой",
        "еи",
        "ии",
        "ыи",
        "ои",
        "ем",
        "им",
        "ым",
        "ом",
        "их",
        "ых",
        "ую",
        "юю",
        "ая",
        "яя",
        "ою",
        "ею",
    ];
    let verbs = [
        "ировать",
        "овать",
        "евать",
        "ивать",
        "ывать",
        "ируется",
        "ируют",
        "ирует",
        "ировал",
        "ировала",
        "уйте",
        "уите",
        "ейте",
        "ует",
        "уют",
        "ите",
        "ила",
        "ыла",
        "ена",
        "ено",
        "ены",
        "ать",
        "ять",
        "еть",
        "ить",
        "ыть",
        "ешь",
        "ишь",
        "ало",
        "али",
        "ала",
        "яла",
        "яли",
        "ели",
        "ела",
        "или",
        "ило",
        "ает",
        "яет",
        "ают",
        "яют",
        "ил",
        "ал",
        "ел",
        "ен",
        "ет",
        "ют",
        "ят",
        "ит",
        "ут",
        "ат",
        "ай",
        "ть",
        "ли",
        "ла",
        "ло",
        "но",
        "на",
        "ны",
    ];
    let nouns = [
        "иями",
        "ениями",
        "ениях",
        "ением",
        "ения",
        "ению",
        "ение",
        "ении",
        "ями",
        "ами",
        "ией",
        "иям",
        "ием",
        "иях",
        "ев",
        "ов",
        "ье",
        "еи",
        "ии",
        "ей",
        "ой",
        "ий",
        "ям",
        "ем",
        "ам",
        "ом",
        "ах",
        "ях",
        "ию",
        "ью",
        "ия",
        "ья",
        "а",
        "е",
        "и",
        "й",
        "о",
        "у",
        "ы",
        "ь",
        "ю",
        "я",
    ];
    let is_longest = |stem: &String, endings: &[&str]| {
        let fits = endings.iter().filter(|ending| stem.ends_with(**ending));
        let fits = fits.filter(|ending| letters(Some(stem)) >= letters(Some(ending)) + 3);
        fits.map(|ending| letters(Some(ending))).max().unwrap_or(0)
    };
    let lengths = [&adjectives[..], &verbs, &nouns].map(|endings| is_longest(&stem, endings));
    if let Some(most) = lengths.iter().max().filter(|most| **most > 0) {
        let end = stem.char_indices().rev().nth(most - 1).map(|(at, _)| at);
        stem.truncate(end.unwrap_or(stem.len()));
    }
    strip(&mut stem, &["ениа", "ени", "ость", "ост", "ыва", "ива", "ова", "ирова", "к"], 4);
    strip(&mut stem, &["и", "ь", "а", "я"], 3);
    single_end(&mut stem);
    stem
}

#[cfg(test)]
mod tests {
    use super::super::Language;
    use crate::tokenize::fold;

    fn check(language: Language, forms: &[&str]) {
        let stems: Vec<_> = forms.iter().map(|form| language.stem(&fold(form))).collect();
        assert!(stems.iter().all(|stem| *stem == stems[0]), "{forms:?}: {stems:?}");
    }

    fn check_apart(language: Language, a: &str, b: &str) {
        assert_ne!(language.stem(&fold(a)), language.stem(&fold(b)), "{a} {b}");
    }

    #[test]
    fn german_forms_have_one_stem() {
        for forms in [
            &["Haus", "Hauses", "Häuser", "Häusern"][..],
            &["Einstellung", "Einstellungen", "einstellen"],
            &["installieren", "installiert", "Installation", "Installationen", "Installierung"],
            &["Straße", "Straßen", "Strasse"],
            &["Freund", "Freunde", "Freunden", "Freundes"],
            &["Lehrer", "Lehrern", "Lehrers"],
            &["Schlüssel", "Schlüsseln", "Schlüssels"],
            &["wichtig", "wichtige", "wichtigen", "wichtiger"],
            &["Katze", "Katzen"],
        ] {
            check(Language::German, forms);
        }
        check_apart(Language::German, "Haus", "Hase");
        check_apart(Language::German, "Karte", "Kasten");
    }

    #[test]
    fn french_forms_have_one_stem() {
        for forms in [
            &["maison", "maisons"][..],
            &["installer", "installe", "installé", "installées", "installation", "installez"],
            &["cheval", "chevaux"],
            &["bateau", "bateaux"],
            &["vert", "verte", "verts", "vertes"],
            &["configurer", "configuration", "configurations", "configuré"],
            &["ancien", "ancienne", "anciens", "anciennes"],
        ] {
            check(Language::French, forms);
        }
        check_apart(Language::French, "maison", "main");
    }

    #[test]
    fn spanish_forms_have_one_stem() {
        for forms in [
            &["casa", "casas"][..],
            &["instalar", "instala", "instalado", "instalación", "instalaciones", "instalando"],
            &["luz", "luces"],
            &["amigo", "amiga", "amigos", "amigas"],
            &["reunión", "reuniones"],
            &["rápido", "rápida", "rápidamente"],
        ] {
            check(Language::Spanish, forms);
        }
        check_apart(Language::Spanish, "casa", "caso mismo");
    }

    #[test]
    fn russian_forms_have_one_stem() {
        for forms in [
            &["книга", "книги", "книгу", "книгой", "книгам", "книг"][..],
            &["настройка", "настройки", "настройку", "настройках"],
            &["новый", "новая", "новое", "новые", "новыми", "нового"],
            &["ключ", "ключи", "ключей", "ключами"],
            &["сервер", "сервера", "серверу", "серверов"],
            &["установить", "установил", "установила"],
            &["программа", "программы", "программу", "программ"],
        ] {
            check(Language::Russian, forms);
        }
        check_apart(Language::Russian, "книга", "кино");
    }
}
