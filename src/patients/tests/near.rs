//! The rows that a person could be.

use super::*;

fn near(patient: &str, rows: &[&str]) -> Vec<(String, Vec<Difference>)> {
    let list = list(rows);
    list.near(&person(patient)).into_iter().map(|near| (near.row.number.to_owned(), near.differences)).collect()
}

#[test]
fn what_differs_is_named() {
    use Difference::*;
    for (patient, row, differences) in [
        ("Berg, Anna, 1980-02-17", "Berg;Hanna;1980-02-17", vec![FirstName]),
        ("Anna, Berg, 1980-02-17", "Berg;Anna;1980-02-17", vec![SwappedNames]),
        ("Anna, Berg, 1980-03-02", "Berg;Anna;1980-02-03", vec![SwappedNames, DayAndMonth]),
        ("Berg, Anna, 1980-03-02", "Berg;Anna;1980-02-03", vec![DayAndMonth]),
        ("Berg, Anna, 1980-02-18", "Berg;Anna;1980-02-17", vec![OneDigit]),
        ("Berg, Anna, 1980-02-17", "Berg;Anna;1951-12-30", vec![DateOfBirth]),
        ("Berg, Anna, 1980-02-17", "Berg;Anna;", vec![NoDateOfBirth]),
        ("Berg, Anna, ", "Berg;Anna;1980-02-17", vec![NoDateOfBirth]),
        ("Berg, Anna, 1980-02-17", "Berg-Thal;Anna;1980-02-17", vec![PartOfLastName]),
        ("Berg, Anna, 1980-02-17", "von Berg;Anna;1980-02-17", vec![PartOfLastName]),
        ("d'Angelo, Anna, 1980-02-17", "Angelo;Anna;1980-02-17", vec![PartOfLastName]),
        ("Berg, Anna, 1980-02-17", "Berg jun.;Anna;1980-02-17", vec![PartOfLastName]),
        ("Dr. Berg, Anna, 1980-02-17", "Berg;Anna;1980-02-17", vec![PartOfLastName]),
        ("Thal-Berg, Anna, 1980-02-17", "Berg-Thal;Anna;1980-02-17", vec![PartOfLastName]),
        ("Berg, J., 1980-02-17", "Berg;Jean;1980-02-17", vec![PartOfFirstName]),
        ("Berg, Jean, 1980-02-17", "Berg;Jean-Paul;1980-02-17", vec![PartOfFirstName]),
        ("Berg, Jean P., 1980-02-17", "Berg;Jean Paul;1980-02-17", vec![PartOfFirstName]),
        ("Berg, Anna, 1980-02-17", "Thal;Anna;1980-02-17", vec![LastName]),
        ("Dupond, Anna, 1980-02-17", "Dupont;Anna;1980-02-17", vec![LastName]),
        ("Mueller, Anna, 1980-02-17", "Muller;Anna;1980-02-17", vec![LastName]),
        ("Thal, Anna, 1980-02-18", "Berg;Anna;1980-02-17;Thal", vec![OneDigit]),
        ("Berg, Jean, 1980-02-18", "von Berg;Jean Paul;1980-02-17", vec![PartOfFirstName, PartOfLastName, OneDigit]),
        ("Berg, Anna, 1980-02-17", "Berg;Anna;1980-02-17", vec![]),
    ] {
        assert_eq!(near(patient, &[&format!("7;{row}")]), [("7".to_owned(), differences)], "{patient} and {row}");
    }
}

#[test]
fn strangers_are_not_shown() {
    for row in [
        "Thal;Peter;1980-02-17",
        "Berg;Peter;1951-12-30",
        "Thal;Anna;1951-12-30",
        "Thal;Peter;",
        ";;1980-02-17",
        "von Berg;Anna;1951-12-30",
    ] {
        assert_eq!(near("Berg, Anna, 1980-02-17", &[&format!("7;{row}")]), [], "{row}");
    }
    // Empty values are not alike.
    assert_eq!(near(", , ", &["7;;;"]), []);
}

#[test]
fn the_likeliest_come_first_and_ten_at_most() {
    let mut rows: Vec<String> = (0..30).map(|day| format!("{day};Berg;Anna;1951-12-{:02}", day + 1)).collect();
    rows.extend(["a;Berg;Hanna;1980-02-17", "b;Berg;Anna;1980-02-18", "c;Berg;Anna;1980-02-17"].map(str::to_owned));
    rows.push("c;Berg;Anna;1980-02-17".to_owned());
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let numbers: Vec<String> = near("Berg, Anna, 1980-02-17", &rows).into_iter().map(|(number, _)| number).collect();
    assert_eq!(numbers, ["c", "b", "0", "1", "2", "3", "4", "5", "6", "7"]);
}

#[test]
fn a_number_of_two_persons_is_shown_as_one() {
    let rows = ["7;Berg;Anna;1980-02-17", "7;Thal;Peter;1951-12-30"];
    assert_eq!(near("Berg, Anna, 1980-02-17", &rows), [("7".to_owned(), vec![Difference::SharedNumber])]);
}
