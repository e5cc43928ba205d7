//! Tables of answers, both ways, and what holds for every one.

use proptest::prelude::*;

use super::*;

#[test]
fn an_answer_that_says_that_it_failed_is_told_from_every_other() {
    for (body, expected) in [
        (r#"{"success": false}"#, Some(None)),
        (r#"{"success": "false", "message": "no"}"#, Some(None)),
        (r#"{"success": 0}"#, Some(None)),
        (r#"{"ok": false}"#, Some(None)),
        (r#"{"Error": {"text": "no"}}"#, Some(None)),
        (r#"{"error": "database is locked"}"#, Some(None)),
        (r#"{"errors": ["x"]}"#, Some(None)),
        ("\u{feff} {\"status\": \"Error\"}\n", Some(None)),
        (r#"{"result": "failed"}"#, Some(None)),
        (r#"[{"success": false}]"#, Some(None)),
        ("ERROR\r\n", Some(None)),
        (r#""failure""#, Some(None)),
        (r#"{"error": {"code": 503}}"#, Some(Some(503))),
        (r#"{"errors": [{"status": "422"}]}"#, Some(Some(422))),
        (r#"{"error": {"code": "E_1"}}"#, Some(None)),
        (r#"{"status": 404, "title": "Not Found"}"#, Some(Some(404))),
        (r#"{"success": false, "statusCode": 401}"#, Some(Some(401))),
        (r#"{"error": null, "errors": [], "success": true}"#, None),
        (r#"{"error": "", "errors": {}, "ok": 1}"#, None),
        (r#"{"error": false, "errors": 0, "status": "ok"}"#, None),
        (r#"{"success": null, "id": 500}"#, None),
        (r#"{"status": 200, "error": "0"}"#, None),
        (r#"{"message": "no error", "name": "failure.pdf"}"#, None),
        (r#"[{"status": "failed"}, {"status": "ok"}]"#, None),
        ("{}", None),
        ("[]", None),
        ("OK", None),
        ("", None),
        ("null", None),
        ("<error/>", None),
        (r#"{"success": fal"#, None),
        // What it says may stand deeper, in another style, or in another form.
        (r#"{"result": {"success": false}}"#, Some(None)),
        (r#"{"data": {"upload": {"isSuccess": false, "fileName": "a.pdf"}}}"#, Some(None)),
        (r#"{"is_success": "no"}"#, Some(None)),
        (r#"{"hasErrors": true}"#, Some(None)),
        (r#"{"results": [{"ok": false}, {"ok": false}]}"#, Some(None)),
        (r#"{"code": 422, "message": "no"}"#, Some(Some(422))),
        (r#"{"response": {"httpStatus": "503"}}"#, Some(Some(503))),
        (r#"{"error": {"code": 0, "message": "the disk is full"}}"#, Some(None)),
        (r#""ERROR: the disk is full""#, Some(None)),
        ("ERROR: the disk is full", Some(None)),
        ("Failed to store the document", Some(None)),
        ("stored: no\r\nerror=17\r\n", Some(None)),
        ("success=false&message=no", Some(None)),
        ("<?xml version=\"1.0\"?><r><success>false</success></r>", Some(None)),
        ("<Error><Code>SlowDown</Code></Error>", Some(None)),
        ("<s:Envelope><s:Body><s:Fault><faultcode>s:Server</faultcode></s:Fault></s:Body></s:Envelope>", Some(None)),
        ("<response><status>error</status></response>", Some(None)),
        ("<response status=\"failed\"/>", Some(None)),
        ("<r><error><![CDATA[the disk is full]]></error></r>", Some(None)),
        // And what stands where an error would stand may be none.
        (r#"{"error": {"code": 0, "message": ""}}"#, None),
        (r#"{"error": {"code": 200, "message": "OK", "time": "10:00"}}"#, None),
        (r#"{"errors": [null], "failed": 0, "errorMessage": "No error."}"#, None),
        (r#"{"error": "none"}"#, None),
        (r#"{"error": "OK", "errorCode": "0000"}"#, None),
        (r#"{"document": {"status": "failed", "code": 422}}"#, None),
        (r#"{"results": [{"ok": false}, {"ok": true}]}"#, None),
        ("OK: 0 errors", None),
        ("error=0\nid=500", None),
        ("No errors: all is well", None),
        ("<r><error></error><errors><count>0</count></errors><success>true</success></r>", None),
        ("<html><h1>error</h1></html>", None),
    ] {
        assert_eq!(failed(body.as_bytes()).map(|failed| failed.status), expected, "{body}");
        // The same in UTF-16.
        for mark in ["", "\u{feff}"].into_iter().filter(|_| body.len() > 1 && !body.starts_with('\u{feff}')) {
            let units = || mark.encode_utf16().chain(body.encode_utf16());
            let (le, be): (Vec<u8>, Vec<u8>) =
                (units().flat_map(u16::to_le_bytes).collect(), units().flat_map(u16::to_be_bytes).collect());
            assert_eq!(
                [failed(&le), failed(&be)].map(|found| found.map(|failed| failed.status)),
                [expected; 2],
                "{body}"
            );
        }
    }
}

#[test]
fn json_that_ends_too_early_was_cut() {
    let whole = r#" {"id": 5, "name": "a", "list": [1, {"b": null}]}"#;
    for end in 2..whole.len() {
        assert!(is_cut(&whole.as_bytes()[..end]), "{end}");
    }
    for whole in [whole, "", "OK", "{'id': 5}", "[]", "\u{feff}{}", "{} {"] {
        assert!(!is_cut(whole.as_bytes()), "{whole}");
    }
}

const NO: Says = Says::No(None);

/// Answers with a status of success: what is no failure, what is one, and what a person decides.
#[test]
fn an_answer_that_contradicts_its_status_is_no_success() {
    for (body, expected) in [
        // What engines, servers and scripts say of a failure.
        (r#"{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"invalid"}]}"#, NO),
        (r#"{"resourceType":"OperationOutcome","issue":[{"severity":"warning"},{"severity":"fatal"}]}"#, NO),
        (r#"<OperationOutcome><issue><severity value="error"/></issue></OperationOutcome>"#, NO),
        (r#"{"status":"rejected","reason":"unknown patient"}"#, NO),
        (r#"{"status":"ERROR: patient unknown"}"#, NO),
        (r#"{"result":"Failed: patient 4711 unknown"}"#, NO),
        (r#"{"result":"refused"}"#, NO),
        (r#"{"status":"NOT_FOUND"}"#, NO),
        (r#"{"status":"not stored"}"#, NO),
        (r#"{"status":"500 Internal Server Error"}"#, NO),
        (r#"{"status":false}"#, NO),
        (r#"{"status":-1}"#, NO),
        (r#"{"state":"FAILED"}"#, NO),
        (r#"{"type":"error","message":"x"}"#, NO),
        (r#"{"returnCode":-1,"message":"patient unknown"}"#, NO),
        (r#"{"code":"ERR_PATIENT"}"#, NO),
        (r#"{"accepted":false}"#, NO),
        (r#"{"stored":false}"#, NO),
        (r#"{"saved":0,"skipped":1}"#, NO),
        (r#"{"erfolg":false,"fehler":"Patient unbekannt"}"#, NO),
        (r#"{"status":"abgelehnt"}"#, NO),
        (r#"{"statut":"refusé"}"#, NO),
        (r#"{"Résultat":"échec"}"#, NO),
        (r#"{"d":{"UploadResult":false}}"#, NO),
        (
            "<s:Envelope><s:Body><UploadResponse><UploadResult>false</UploadResult></UploadResponse></s:Body></s:Envelope>",
            NO,
        ),
        ("<r><code>-1</code><message>patient unknown</message></r>", NO),
        ("false", NO),
        ("False", NO),
        ("-1", NO),
        ("Fehler: Patient unbekannt", NO),
        ("Fehler beim Speichern", NO),
        ("Fehler, nicht gespeichert", NO),
        ("Erreur : disque plein", NO),
        ("Échec de l'import", NO),
        ("Rejected", NO),
        ("{\"type\":\"start\"}\n{\"success\":false,\"error\":\"x\"}\n", NO),
        ("Warning: fopen(/data): failed to open stream in up.php on line 3\n{\"success\":false}", NO),
        ("<br />\n<b>Fatal error</b>:  Uncaught PDOException in <b>up.php</b> on line <b>12</b>", NO),
        (r#"cb({"success":false});"#, NO),
        ("{'success': False}", NO),
        (r#"{"success":true,"status":"rejected"}"#, NO),
        ("MSH|^~\\&|A|B|||||ACK|1|P|2.5\rMSA|AE|1|patient unknown\r", NO),
        // What may be a failure, or may be none.
        ("\"PATIENT_NOT_FOUND\"", Says::Doubt),
        ("Patient nicht gefunden", Says::Doubt),
        ("Patient inconnu", Says::Doubt),
        (r#"{"message":"Patient not found"}"#, Says::Doubt),
        (r#"{"status":"unknown_patient"}"#, Says::Doubt),
        (r#"{"errorCount":1}"#, Says::Doubt),
        (r#"{"validationErrors":["patient"]}"#, Says::Doubt),
        (r#"{"accepted":[],"rejected":[{"file":"x"}]}"#, Says::Doubt),
        (r#"{"resultCode":1,"message":"patient unknown"}"#, Says::Doubt),
        (r#"{"rc":"7"}"#, Says::Doubt),
        (r#"{"status":"PATIENT_NOT_FOUND","documentId":null}"#, Says::Doubt),
        (r#"{"valid":false,"messages":["no patient"]}"#, Says::Doubt),
        (r#"{"message":"Fehler beim Speichern"}"#, Says::Doubt),
        ("<answer><document><stored>false</stored></document></answer>", Says::Doubt),
        ("0", Says::Doubt),
        (r#"{"success":null}"#, Says::Doubt),
        (r#"{"data":{"isSuccess":null},"error":null}"#, Says::Doubt),
        (r#"{"ok":null,"id":5}"#, Says::Doubt),
        (r#"{"stored":null}"#, Says::Doubt),
        (r#"{"success":null,"error":"x"}"#, NO),
        ("Upload failed", Says::Doubt),
        ("Import fehlgeschlagen", Says::Doubt),
        ("Le document a été refusé", Says::Doubt),
        ("Das Dokument konnte nicht gespeichert werden", Says::Doubt),
        ("<br />\n<b>Warning</b>: fwrite(): No space left in <b>up.php</b> on line <b>3</b>\n{\"id\":5}", Says::Doubt),
        // What only looks like one.
        (r#"{"rejected":[],"errorCount":0,"warnings":["old driver"]}"#, Says::Nothing),
        (r#"{"created":false,"updated":true,"error_count":0.0}"#, Says::Nothing),
        (r#"{"imported":0,"duplicates":1}"#, Says::Nothing),
        (r#"{"id":77,"matched":false,"state":"queued"}"#, Says::Yes),
        (r#"{"id":5,"ocrErrors":2,"ocrStatus":"unknown"}"#, Says::Nothing),
        ("File uploaded. No virus found.", Says::Nothing),
        ("Datei hochgeladen. Keine Viren gefunden.", Says::Nothing),
        ("Dokument hochgeladen, Absender unbekannt", Says::Nothing),
        ("unknown field ignored: foo", Says::Nothing),
        (r#"{"imported":true,"numErrors":"0"}"#, Says::Nothing),
        ("MSH|^~\\&|A|B|||||ACK|1|P|2.5\rMSA|AA|1\r", Says::Nothing),
        (r#"{"error":null}"#, Says::Nothing),
        (r#"{"errors":[]}"#, Says::Nothing),
        (r#"{"code":0}"#, Says::Nothing),
        (r#"{"resultCode":0}"#, Says::Nothing),
        (r#"{"resultCode":"0000"}"#, Says::Nothing),
        (r#"{"returnCode":200}"#, Says::Nothing),
        (r#"{"status":1}"#, Says::Nothing),
        (r#"{"status":"no errors"}"#, Says::Nothing),
        (r#"{"status":"ok"}"#, Says::Yes),
        (r#"{"status":"Accepted, 0 failed"}"#, Says::Yes),
        (r#"{"stored":true,"message":"Fehler Anna"}"#, Says::Yes),
        (r#"{"resultCode":1,"success":true}"#, Says::Yes),
        (r#"{"documentId":17,"resultCode":1}"#, Says::Yes),
        (r#"{"fehler":"keine"}"#, Says::Nothing),
        (r#"{"id":5,"patient":{"lastName":"Fehler","firstName":"Error"}}"#, Says::Nothing),
        (r#"{"id":5,"lastName":"Fehler","firstName":"Ko"}"#, Says::Nothing),
        (r#"{"id":5,"state":"BW","type":"letter_of_refusal"}"#, Says::Nothing),
        (r#"{"id":5,"document":{"valid":false,"stored":false,"status":"rejected"}}"#, Says::Nothing),
        (r#"{"id":5,"description":"Failed root canal, refused by the patient"}"#, Says::Nothing),
        (r#"{"resourceType":"OperationOutcome","issue":[{"severity":"information"}]}"#, Says::Nothing),
        (r#"{"resourceType":"DocumentReference","status":"current"}"#, Says::Nothing),
        // The answer of a function that returns nothing: the status is all that it says.
        ("null", Says::Nothing),
        (r#"{"result":null}"#, Says::Nothing),
        (r#"{"success":null,"documentId":17}"#, Says::Yes),
        (r#"{"id":5,"document":{"success":null}}"#, Says::Nothing),
        ("true", Says::Nothing),
        ("17", Says::Nothing),
        ("Fehler Anna, gespeichert", Says::Nothing),
        ("Fehler: keine", Says::Nothing),
        ("Erreur : aucune", Says::Nothing),
        ("Ko Min-jun: stored", Says::Nothing),
        ("failure.pdf stored", Says::Nothing),
        ("Stored 1 letter about an error of the lab", Says::Nothing),
        ("1 document, 0 failed", Says::Nothing),
        ("Keine Fehler", Says::Nothing),
        ("Notice: Undefined index in up.php on line 3\n{\"id\":5}", Says::Nothing),
        ("Warning: old driver in up.php on line 3\n{\"success\":true}", Says::Yes),
        ("<UploadResult>true</UploadResult>", Says::Nothing),
        ("<patient><lastName>Fehler</lastName></patient>", Says::Nothing),
    ] {
        let said = said(body.as_bytes());
        match expected {
            // That something says yes, and that nothing says no, is the same for the letter.
            Says::Nothing | Says::Yes => assert!(matches!(said, Says::Nothing | Says::Yes), "{body}: {said:?}"),
            expected => assert_eq!(said, expected, "{body}"),
        }
    }
    let latin = b"R\xe9sultat = \xe9chec";
    assert_eq!(said(latin), NO, "in the code page of Western Europe");
}

proptest! {
    /// Whatever a service repeats of the document: names, titles, file names.
    #[test]
    fn no_value_of_a_document_makes_a_failure_of_a_success_and_none_hides_one(
        values in prop::collection::vec(
            "(Fehler|Error|failed|refusé|Ko|rejected|not|abgelehnt|0|-1|[a-zA-Zéü :=<{]{0,12})( [a-z]{1,8})?", 6
        ),
        wrapper in prop::sample::select(&WRAPPERS[..]),
        yes in prop::sample::select(&["stored", "success", "accepted"][..]),
    ) {
        let names = ["lastName", "firstName", "title", "fileName", "description", "town"];
        let names = names.iter().map(|name| (*name).to_owned());
        let mut echo: Map<String, Value> = names.zip(values.into_iter().map(Value::from)).collect();
        echo.insert(yes.to_owned(), true.into());
        let taken = Value::from(echo.clone()).to_string();
        prop_assert_eq!(said(taken.as_bytes()), Says::Yes, "{}", taken);
        echo.insert(yes.to_owned(), false.into());
        let refused = serde_json::json!({ wrapper: echo }).to_string();
        prop_assert_eq!(said(refused.as_bytes()), NO, "{}", refused);
    }

    #[test]
    fn whatever_comes_is_judged(body in prop::collection::vec(any::<u8>(), 0..300), text in "\\PC{0,200}") {
        let _ = (said(&body), said(text.as_bytes()));
    }
}

#[test]
fn what_is_shown_of_a_document_says_whether_it_is_there_yet() {
    for (shown, expected) in [
        (r#"{"status": "pending"}"#, true),
        (r#"{"data": {"importStatus": "In progress"}}"#, true),
        (r#"{"state": "queued", "id": 7}"#, true),
        (r#"{"zustand": "in Bearbeitung"}"#, true),
        (r#"{"statut": "en attente"}"#, true),
        (r#"{"status": "not imported yet"}"#, true),
        (r#"{"found": false}"#, true),
        (r#"{"exists": 0}"#, true),
        (r#"{"message": "Document not found"}"#, true),
        (r#""pending""#, true),
        ("not found", true),
        ("Warteschlange: pending", true),
        (r#"[{"status": "pending"}]"#, true),
        (r#"{"errorCount": 1}"#, true),
        (r#"{"document": {"status": "pending"}}"#, true),
        (r#"{"items": [{"status": "pending"}]}"#, true),
        (r#"[{"status": "pending"}, {"status": "filed"}]"#, true),
        (r#"{"status": {"code": "pending"}}"#, true),
        (r#"{"imported": false}"#, true),
        (r#"{"isReady": "no"}"#, true),
        (r#"{"pending": true}"#, true),
        (r#"{"status": "not processed"}"#, true),
        (r#""wird verarbeitet""#, true),
        (r#"{"importState": "offen"}"#, true),
        ("noch nicht verarbeitet", true),
        ("Traitement en cours", true),
        ("Import en attente", true),
        ("[]", true),
        ("null", true),
        (r#"{"total": 0, "items": []}"#, true),
        (r#"{"document": null}"#, true),
        ("<letter><id>7</id><status>pending</status></letter>", true),
        ("<letter id=\"7\" found=\"false\"/>", true),
        ("<x:letter state='in progress'></x:letter>", true),
        ("key: abc\nstatus: pending", true),
        (r#"{"status": "filed"}"#, false),
        (r#"{"status": "imported, OCR pending"}"#, false),
        (r#"{"status": "imported", "queue": "letters"}"#, false),
        (r#"{"found": true, "id": 7, "pages": 0, "note": null, "tags": []}"#, false),
        (r#"{"id": 7, "title": "Pending treatment", "patient": "Wait"}"#, false),
        (r#"[{"status": "imported"}]"#, false),
        (r#"{"document": {"id": 7, "comments": {"total": 0, "items": []}}}"#, false),
        ("<letter found=\"true\" title=\"not open\"><status>filed</status></letter>", false),
        ("{}", false),
        ("", false),
        ("OK", false),
    ] {
        assert_eq!(says_not_yet(shown.as_bytes()), expected, "{shown}");
    }
}
