//! What every adapter that names letters in a folder must also keep: the content, name and time of their sidecars.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::confirm::{NamedPlace, confirm, filed};
use super::{Spool, assert_delivered, reason};
use crate::config::Evidence;
use crate::destinations::{Item, Outcome, SidecarConfig};
use crate::formats::sidecar::{Charset, Form};
use crate::formats::template::{Template, TemplateKind, TextFormat};

const NAME: &str = "letters/{{ patient.firstName }} {{ document.audio }}.pdf";
const PDF: &[u8] = b"%PDF-1.7 letter";

fn sidecar(name: &str, content: &str) -> SidecarConfig {
    let compile = |kind, source: &str| Arc::new(Template::compile(kind, source).unwrap());
    SidecarConfig::new(
        compile(TemplateKind::Text(TextFormat::Plain), content),
        compile(TemplateKind::SidecarName, name),
    )
}

/// The files there, by name without their folder.
fn there(place: &impl NamedPlace) -> BTreeMap<String, Vec<u8>> {
    let name = |path: String| path.rsplit_once('/').map_or(path.clone(), |(_, name)| name.to_owned());
    place.objects().into_iter().map(|(path, content)| (name(path), content)).collect()
}

/// Only the sidecars, as text.
fn told(place: &impl NamedPlace) -> Vec<(String, String)> {
    let sidecars = there(place).into_iter().filter(|(name, _)| !name.ends_with(".pdf"));
    sidecars.map(|(name, content)| (name, String::from_utf8(content).unwrap())).collect()
}

fn owned(names: &[(&str, &str)]) -> Vec<(String, String)> {
    names.iter().map(|(name, content)| ((*name).to_owned(), (*content).to_owned())).collect()
}

fn assert_in_the_way(outcome: &Outcome) {
    assert!(matches!(outcome, Outcome::Transient { .. }) && reason(outcome).contains("{{ number3 }}"), "{outcome:?}");
}

/// The item after an interrupted attempt.
fn again(item: Item) -> Item {
    Item { tried: true, ..item }
}

pub(in crate::destinations) async fn a_sidecar_is_written_as_the_practice_software_reads_it(
    mut place: impl NamedPlace,
) {
    let form = Form { charset: Charset::Cp850, crlf: true, ..Form::default() };
    let content = sidecar("{{ file_stem }}.txt", "{{ patient.firstName }}\n{{ visible_file }}\n");
    let visible_path = Some(r"\\SRV\in\".to_owned());
    place.configure(NAME, Some(SidecarConfig { form, visible_path, ..content }), confirm(Evidence::Taken, None));
    let spool = Spool::new();
    // The second attempt compares it with the existing file.
    for _ in 0..2 {
        assert_delivered(&place.adapter().deliver(&again(spool.item(1, PDF))).await);
        assert_eq!(there(&place).len(), 2);
        let text = b"Zo\x82\r\n\\\\SRV\\in\\letters\\Zo\x82 1.pdf\r\n";
        assert_eq!(there(&place)["Zoé 1.txt"], text);
    }
}

pub(in crate::destinations) async fn counted_names_are_the_first_that_are_free(mut place: impl NamedPlace) {
    place.configure(NAME, Some(sidecar("PVS1DOCS.{{ number3 }}", "{{ file_name }}")), confirm(Evidence::Taken, None));
    place.write("letters/PVS1DOCS.001", Some(b"another's"));
    place.write("letters/PVS1DOCS.003", Some(b"another's"));
    let (adapter, spool) = (place.adapter(), Spool::new());
    let letters = [filed(&*adapter, &spool, 1, b"one").await, filed(&*adapter, &spool, 2, b"two").await];
    let names = letters.map(|letter| letter.filed.sidecar.unwrap());
    assert_eq!(names, ["PVS1DOCS.002", "PVS1DOCS.004"]);
    let four = [
        ("PVS1DOCS.001", "another's"),
        ("PVS1DOCS.002", "Zoé 1.pdf"),
        ("PVS1DOCS.003", "another's"),
        ("PVS1DOCS.004", "Zoé 2.pdf"),
    ];
    assert_eq!(told(&place), owned(&four));
    // If a process put a sidecar there and died before the PDF had its name, no second sidecar is put there.
    place.write("letters/PVS1DOCS.005", Some("Zoé 3.pdf".as_bytes()));
    place.write("letters/PVS1DOCS.001", None);
    assert_delivered(&adapter.deliver(&again(spool.item(3, b"three"))).await);
    assert_eq!(told(&place).len(), 4);
    // A number whose sidecar was taken is used again.
    assert_delivered(&adapter.deliver(&spool.item(4, b"four")).await);
    assert_eq!(told(&place)[0], ("PVS1DOCS.001".to_owned(), "Zoé 4.pdf".to_owned()));
    assert_eq!(told(&place).len(), 5);
}

pub(in crate::destinations) async fn a_sidecar_that_comes_last_waits_for_its_name_and_so_does_the_pdf(
    mut place: impl NamedPlace,
) {
    let last = SidecarConfig { is_last: true, ..sidecar("import.ini", "{{ file_name }}") };
    place.configure(NAME, Some(last), confirm(Evidence::Taken, None));
    place.write("letters/import.ini", Some(b"another's"));
    let (adapter, spool) = (place.adapter(), Spool::new());
    assert_in_the_way(&adapter.deliver(&spool.item(1, b"one")).await);
    assert_eq!(there(&place).len(), 1, "no letter without its sidecar");
    place.write("letters/import.ini", None);
    let one = filed(&*adapter, &spool, 1, b"one").await;
    assert_eq!(one.filed.sidecar.as_deref(), Some("import.ini"));
    assert_eq!(told(&place), owned(&[("import.ini", "Zoé 1.pdf")]));
    assert_in_the_way(&adapter.deliver(&spool.item(2, b"two")).await);
    assert_eq!(there(&place).keys().collect::<Vec<_>>(), ["Zoé 1.pdf", "import.ini"]);
}

pub(in crate::destinations) async fn no_letter_comes_before_a_counted_sidecar_that_has_no_name(
    mut place: impl NamedPlace,
) {
    let last = SidecarConfig { is_last: true, ..sidecar("{{ number3 }}.ini", "{{ file_name }}") };
    place.configure(NAME, Some(last), confirm(Evidence::Taken, None));
    for number in 1..1000 {
        place.write(&format!("letters/{number:03}.ini"), Some(b"another's"));
    }
    let (adapter, spool) = (place.adapter(), Spool::new());
    assert_in_the_way(&adapter.deliver(&spool.item(1, b"one")).await);
    assert_eq!(there(&place).len(), 999, "no letter without its sidecar");
    place.write("letters/500.ini", None);
    assert_eq!(filed(&*adapter, &spool, 1, b"one").await.filed.sidecar.as_deref(), Some("500.ini"));
}

/// The suite for destinations in which letters have sidecars; `$place` makes a fresh one.
macro_rules! keeps_the_sidecar_contract {
    ($place:expr) => {
        $crate::destinations::contract::sidecar::keeps_the_sidecar_contract! { $place;
            a_sidecar_is_written_as_the_practice_software_reads_it
            counted_names_are_the_first_that_are_free
            a_sidecar_that_comes_last_waits_for_its_name_and_so_does_the_pdf
            no_letter_comes_before_a_counted_sidecar_that_has_no_name
        }
    };
    ($place:expr; $($test:ident)*) => {
        mod sidecar_contract {
            use super::*;
            $(
                #[tokio::test]
                async fn $test() {
                    $crate::destinations::contract::sidecar::$test($place).await;
                }
            )*
        }
    };
}
pub(in crate::destinations) use keeps_the_sidecar_contract;
