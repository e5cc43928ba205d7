use super::*;
use jiff::civil::date;

#[test]
fn what_says_that_there_is_no_date_is_no_date() {
    let nothing = ["", " ", "0000-00-00", "00.00.0000", "00000000", "0", "0000-00-00 00:00:00", "NULL", "\\N", "-"];
    for text in nothing {
        assert_eq!(Written::read(text), Ok(Written::Nothing), "{text}");
        assert_eq!(in_format(text, "%d.%m.%Y"), Ok(None), "{text}");
    }
    for text in
        ["1899-12-30", "1900-01-01", "0001-01-01", "1899-12-30T00:00:00", "00.00.1980", "1980-00-00", "0.5.1980"]
    {
        assert_eq!(Written::read(text).and_then(|written| written.day(Order::DayFirst)), Ok(None), "{text}");
        assert_eq!(of_api(text), None, "{text}");
    }
    for text in ["30.12.1899", "01.01.1900", "30.12.1899 00:00:00", "00.00.1980"] {
        assert_eq!(in_format(text, "%d.%m.%Y"), Ok(None), "{text}");
    }
    let moments = ["1980-02-16T23:00:00Z", "1980-02-17T05:00:00.000Z", "1980-02-17T00:00:00.001Z", "1980-02-17 12:00"];
    for text in ["", "17/02/1980", "unknown", "80-02-17"].into_iter().chain(moments) {
        assert_eq!(of_api(text), None, "{text}");
    }
}

#[test]
fn a_date_is_read_in_every_usual_form() {
    let born = date(1980, 2, 17);
    for text in ["1980-02-17", "1980/02/17", "1980.2.17", "19800217", "1980-02-17 00:00:00", "1980-02-17T00:00:00.000Z"]
    {
        for order in [Order::DayFirst, Order::MonthFirst] {
            assert_eq!(Written::read(text).and_then(|written| written.day(order)), Ok(Some(born)), "{text}");
        }
    }
    for text in
        ["17.02.1980", "17/2/1980", "17-02-1980", "17. 02. 1980", "17.02.1980 00:00:00", "17021980", "17 02 1980"]
    {
        assert_eq!(Written::read(text).and_then(|written| written.day(Order::DayFirst)), Ok(Some(born)), "{text}");
    }
    for text in ["02/17/1980", "2/17/1980 12:00:00 AM", "02171980"] {
        assert_eq!(Written::read(text).and_then(|written| written.day(Order::MonthFirst)), Ok(Some(born)), "{text}");
    }
    for (text, format) in [
        ("17.02.1980", "%d.%m.%Y"),
        ("17.2.1980", "%d.%m.%Y"),
        ("17.02.1980 00:00:00", "%d.%m.%Y"),
        ("2/17/1980 12:00:00 AM", "%m/%d/%Y"),
        ("19800217", "%Y%m%d"),
        ("17021980", "%d%m%Y"),
        ("17-Feb-1980", "%d-%b-%Y"),
        ("1980-02-17", "%F"),
    ] {
        assert_eq!(in_format(text, format), Ok(Some(born)), "{text} as {format}");
    }
    let midnights = ["1980-02-17T00:00:00+00:00", "1980-02-17T00:00:00.000Z", "1980-02-17T00:00:00+02:00"];
    for text in ["1980-02-17", " 1980-02-17 ", "19800217"].into_iter().chain(midnights) {
        assert_eq!(of_api(text), Some(born), "{text}");
    }
}

#[test]
fn what_is_no_date_that_can_be_relied_on_is_refused_by_its_kind() {
    let read = |text| Written::read(text).and_then(|written| written.day(Order::DayFirst));
    for text in ["17.02.80", "1/2/80", "80-02-17", "170280"] {
        assert_eq!(read(text), Err(NoDate::TwoDigitYear), "{text}");
    }
    for text in ["29268", "29268.0", "1"] {
        assert_eq!(read(text), Err(NoDate::Serial), "{text}");
    }
    for text in
        ["31.02.1980", "1980-13-01", "1980-02-30", "17.02.198", "17-Feb-1980", "=TODAY()", "####", "n/a", "19801332"]
    {
        assert_eq!(read(text), Err(NoDate::Unknown), "{text}");
    }
    for (text, format, kind) in [
        ("17.02.80", "%d.%m.%Y", NoDate::TwoDigitYear),
        ("29268", "%d.%m.%Y", NoDate::Serial),
        ("02/17/1980", "%d/%m/%Y", NoDate::Unknown),
        ("17/02/1980", "%d.%m.%Y", NoDate::Unknown),
        ("31.02.1980", "%d.%m.%Y", NoDate::Unknown),
    ] {
        assert_eq!(in_format(text, format), Err(kind), "{text} as {format}");
    }
}
