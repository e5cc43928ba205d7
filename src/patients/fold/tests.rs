use super::*;

fn are_one(a: &str, b: &str) -> bool {
    let (a, b) = (Folded::new(a), Folded::new(b));
    let are = a.is(&b);
    assert_eq!(are, b.is(&a), "equality is symmetric");
    assert!(!are || a.letters() == b.letters(), "equal names share their letters");
    are
}

#[test]
fn names_are_one_that_differ_in_what_does_not_count() {
    for (what, names) in [
        ("letter case", ["Dupont", "DUPONT"]),
        ("accents", ["Lefèvre", "Lefevre"]),
        ("accents of capitals", ["ÉLOÏSE", "Eloise"]),
        ("combining accents", ["Lefe\u{300}vre", "Lefèvre"]),
        ("a cedilla", ["François", "Francois"]),
        ("a caron", ["Škvorecký", "Skvorecky"]),
        ("an acute on a consonant", ["Kieślowski", "Kieslowski"]),
        ("several marks on one letter", ["Nguyễn", "Nguyen"]),
        ("a tilde", ["Muñoz", "Munoz"]),
        ("a ring", ["Åberg", "Aberg"]),
        ("a hyphen", ["Jean-Paul", "Jean Paul"]),
        ("a hyphen or nothing", ["Jean-Paul", "Jeanpaul"]),
        ("a hyphen that does not break", ["Jean\u{2011}Paul", "Jean-Paul"]),
        ("a dash", ["Martin – Durand", "Martin-Durand"]),
        ("a soft hyphen", ["Schmidt\u{ad}bauer", "Schmidtbauer"]),
        ("an apostrophe", ["O'Brien", "OBrien"]),
        ("a typographic apostrophe", ["O’Brien", "O'Brien"]),
        ("the letter apostrophe", ["Oʼbrien", "O'Brien"]),
        ("an accent for an apostrophe", ["D´Angelo", "D'Angelo"]),
        ("a grave for an apostrophe", ["D`Angelo", "dangelo"]),
        ("full stops", ["St. John", "St John"]),
        ("spaces", ["van der Berg", "Vanderberg"]),
        ("spaces in a row", ["van  der   Berg", "van der Berg"]),
        ("a space that does not break", ["van\u{a0}der\u{a0}Berg", "van der Berg"]),
        ("a narrow space", ["van\u{202f}der Berg", "van der Berg"]),
        ("a space without width", ["van\u{200b}der Berg", "van der Berg"]),
        ("ß and ss", ["Weiß", "Weiss"]),
        ("ß and SS", ["Weiß", "WEISS"]),
        ("a capital ß", ["WEIẞ", "Weiss"]),
        ("æ and ae", ["Kjær", "Kjaer"]),
        ("œ and oe", ["Lebœuf", "Leboeuf"]),
        ("ø and o", ["Sørensen", "Sorensen"]),
        ("ł and l", ["Wałęsa", "Walesa"]),
        ("an umlaut and its letter", ["Müller", "Muller"]),
        ("an umlaut and two letters", ["Müller", "Mueller"]),
        ("a combining umlaut", ["Mu\u{308}ller", "Mueller"]),
        ("a capital umlaut", ["MÜLLER", "mueller"]),
        ("ä", ["Jäger", "Jaeger"]),
        ("ö", ["Goethe", "Göthe"]),
        ("two umlauts in one spelling", ["Müller-Öztürk", "Mueller-Oeztuerk"]),
        ("two umlauts in the other", ["Müller-Öztürk", "Muller-Ozturk"]),
        ("two umlauts in two spellings", ["Müller-Öztürk", "Mueller-Ozturk"]),
        ("an umlaut here and there", ["Mueller-Öztürk", "Müller-Oeztürk"]),
        ("e before and behind an umlaut", ["Neuhäuser", "Neuhaeuser"]),
        ("letters of full width", ["Ｍｕｅｌｌｅｒ", "Mueller"]),
        ("a ligature", ["ﬁscher", "Fischer"]),
        ("a dotted capital i", ["İsmail", "Ismail"]),
        ("Cyrillic letter case", ["Иванов", "ИВАНОВ"]),
        ("Cyrillic in two forms", ["Андрей", "Андрей"]),
        ("Greek final sigma", ["Παππας", "ΠΑΠΠΑΣ"]),
    ] {
        let [a, b] = names;
        assert!(are_one(a, b), "{what}: {a}, {b}");
    }
}

#[test]
fn nothing_else_makes_two_names_one() {
    for (what, names) in [
        ("two spellings of what may be no umlaut", ["Mueller", "Muller"]),
        ("both of two umlauts of which one is spelled", ["Mueller-Oeztuerk", "Muller-Ozturk"]),
        ("a part of a double name", ["Müller-Schmidt", "Müller"]),
        ("the halves of a double name turned round", ["Müller-Schmidt", "Schmidt-Müller"]),
        ("a missing particle", ["von Berg", "Berg"]),
        ("a missing suffix", ["Müller jun.", "Müller"]),
        ("a title", ["Dr. Müller", "Müller"]),
        ("an initial", ["J.", "Jean"]),
        ("a second first name", ["Jean Paul", "Jean"]),
        ("a letter more", ["Dupont", "Duponts"]),
        ("another letter", ["Dupont", "Dupond"]),
        ("two letters changed over", ["Meier", "Meire"]),
        ("one sound", ["Meyer", "Meier"]),
        ("a nickname", ["Alexander", "Alex"]),
        ("the Turkish ı", ["Yıldız", "Yildiz"]),
        ("đ", ["Đorđe", "Dorde"]),
        ("å and aa", ["Åberg", "Aaberg"]),
        ("ø and oe", ["Sørensen", "Soerensen"]),
        ("one s of ß", ["Weiß", "Weis"]),
        ("a joiner without width", ["Mül\u{200d}ler", "Müller"]),
        ("a digit", ["Müller 2", "Müller"]),
        ("a digit that is raised", ["Duran²", "Duran2"]),
        ("a digit that is lowered", ["Duran₂", "Duran2"]),
        ("two digits that are raised", ["Duran²", "Duran³"]),
        ("a digit in a circle", ["Duran②", "Duran2"]),
        ("a digit of full width", ["Duran２", "Duran2"]),
        ("a numeral that is one sign", ["Duran Ⅱ", "Duran II"]),
        ("brackets", ["Müller (Schmidt)", "Müller Schmidt"]),
        ("another script", ["Иванов", "Ivanov"]),
        ("letters of another script that look the same", ["Ива\u{301}нов", "Иванов"]),
        ("й and и", ["Андрей", "Андреи"]),
        ("a mark that makes another sound", ["かとう", "がとう"]),
        ("something and nothing", ["Müller", ""]),
    ] {
        let [a, b] = names;
        assert!(!are_one(a, b), "{what}: {a}, {b}");
    }
}

#[test]
fn of_a_name_without_letters_nothing_is_left() {
    for name in ["", " ", "\u{a0}", "-", "'", ". .", "\u{feff}"] {
        assert!(Folded::new(name).is_empty(), "{name:?}");
    }
    assert_eq!(Folded::new("Müller-Lüdenscheidt").as_str(), "müllerlüdenscheidt");
    assert_eq!(format!("{:?}", Folded::new("Müller")), "Folded(…)");
}
