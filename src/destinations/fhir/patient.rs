//! The patient of a letter at a FHIR server.

use serde_json::Value;

use super::super::{Outcome, wording};
use super::FhirAdapter;
use super::answer::{self, id_of, matches};
use super::resource::Subject;
use crate::destinations::FhirPatient;
use crate::domain::document::Metadata;
use crate::domain::failure::Code;
use crate::formats::template::Context;
use crate::patients::Unmatched;

impl FhirAdapter {
    /// The patient of a letter there.
    pub(super) async fn subject(&self, metadata: &Metadata) -> Result<Subject, Outcome> {
        let id = wording::patient_id(self.name(), &self.config.patient_id, metadata)?;
        let FhirPatient::Search(template) = &self.config.patient else { return Ok(Subject::Contained(id)) };
        let context = Context::new(metadata).with_patient_id(&id);
        let query =
            template.render(&context).map_err(|error| wording::not_filled_in(self.name(), "patient", &error))?;
        let found = self.patient(&query).await?.map_err(Outcome::NeedsPerson)?;
        Ok(Subject::Reference(format!("Patient/{found}")))
    }

    /// The id of the only patient that a search finds. A server may ignore search parameters (FHIR R4, "Search":
    /// unknown parameters), and show one page of several. So only an active patient with the values that were asked for
    /// counts, and only if all matches were shown.
    pub(super) async fn patient(&self, query: &str) -> Result<Result<String, Unmatched>, Outcome> {
        let (path, query) = query.split_once('?').unwrap_or((query, ""));
        let mut url = self.at(path, &[]);
        // Some servers refuse an unencoded bar (RFC 3986 does not allow it in a query).
        url.set_query(Some(&query.replace('|', "%7C")));
        let asked: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        let bundle = match self.get(url).await? {
            Ok(bundle) => bundle,
            Err((status, wait)) => return Err(self.client.of_status(status, true, wait)),
        };
        let Some(found) = matches(&bundle, "Patient") else {
            let words = "it does not answer the search for the patient with a bundle: check `patient`";
            return Err(Outcome::transient(Code::word("not_understood"), self.client.named(words)));
        };
        let meant: Vec<&Value> = found.into_iter().filter(|patient| answer::is_asked_for(patient, &asked)).collect();
        match meant.as_slice() {
            _ if answer::has_more(&bundle) => Ok(Err(Unmatched::SeveralThere)),
            [] => Ok(Err(Unmatched::NotThere)),
            [one] => id_of(one).map(Ok).ok_or_else(|| {
                let words = "it does not tell the id of the patient that it finds";
                Outcome::transient(Code::word("not_understood"), self.client.named(words))
            }),
            _ => Ok(Err(Unmatched::SeveralThere)),
        }
    }
}
