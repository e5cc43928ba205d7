//! JSON-LD with the Hydra vocabulary, as API Platform publishes it: the meaning of an answer's members, and a
//! description of the whole API. With it, a client that knows only the entrypoint finds every resource.

use serde_json::{Map, Value, json};

use super::endpoints::{Answer, ENDPOINTS, Endpoint};
use super::field::{Field, Kind, Record};
use super::version::Version;

const HYDRA: &str = "http://www.w3.org/ns/hydra/core#";

/// The relation by which every answer links to [`documentation`].
pub(crate) const API_DOCUMENTATION: &str = "http://www.w3.org/ns/hydra/core#apiDocumentation";

/// The terms of a collection, which the family writes without prefix.
const OF_COLLECTIONS: &[&str] = &["Collection", "PartialCollectionView", "totalItems", "member", "view"];
const OF_VIEWS: &[&str] = &["first", "last", "previous", "next"];
const OF_ERRORS: &[&str] = &["title", "detail", "status", "instance", "type", "description"];
const OF_VIOLATIONS: &[&str] = &["violations", "propertyPath", "message"];

/// The JSON-LD context of a resource, of the entrypoint or of an error: the meaning of its members' names.
pub(crate) fn context(resource: &str, version: Version, api: &str) -> Option<Value> {
    let mut terms = Map::new();
    match resource {
        "Entrypoint" => {
            for (name, _) in collections(version) {
                let meaning = json!({ "@id": format!("Entrypoint/{name}"), "@type": "@id" });
                terms.insert(name, meaning);
            }
        }
        "Error" | "ConstraintViolation" => {
            let more = if resource == "Error" { &[][..] } else { OF_VIOLATIONS };
            for name in OF_ERRORS.iter().chain(more) {
                terms.insert((*name).to_owned(), json!(format!("{resource}/{name}")));
            }
        }
        _ => {
            for field in fields(resource, version) {
                let meaning = format!("{resource}/{}", field.name);
                let meaning = match field.leads_to() {
                    Some(_) => json!({ "@id": meaning, "@type": "@id" }),
                    None => json!(meaning),
                };
                terms.insert(field.name.to_owned(), meaning);
            }
        }
    }
    if terms.is_empty() {
        return None;
    }
    let mut all = base(api);
    for name in OF_COLLECTIONS {
        all.insert((*name).to_owned(), json!(format!("hydra:{name}")));
    }
    for name in OF_VIEWS {
        all.insert((*name).to_owned(), json!({ "@id": format!("hydra:{name}"), "@type": "@id" }));
    }
    all.extend(terms);
    Some(json!({ "@context": all }))
}

/// `GET /` for a client that follows links: the address of every collection.
pub(crate) fn entrypoint(version: Version) -> Value {
    let mut shown = Map::new();
    shown.insert("@context".into(), json!("/contexts/Entrypoint"));
    shown.insert("@id".into(), json!("/"));
    shown.insert("@type".into(), json!("Entrypoint"));
    let told =
        "The sandbox of the dental practice API. For people: /docs. For programs: /openapi.json and /docs.jsonld.";
    shown.insert("hydra:description".into(), json!(told));
    shown.extend(collections(version).map(|(name, list)| (name, json!(list.path))));
    Value::Object(shown)
}

/// `GET /docs.jsonld`: every resource with its members and operations.
pub(crate) fn documentation(version: Version, api: &str) -> Value {
    let mut classes: Vec<Value> = resources(version).into_iter().map(|record| class(record, version)).collect();
    classes.push(entrypoint_class(version));
    let mut terms = base(api);
    for (prefix, meaning) in [
        ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
        ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
        ("xmls", "http://www.w3.org/2001/XMLSchema#"),
        ("owl", "http://www.w3.org/2002/07/owl#"),
        ("schema", "https://schema.org/"),
    ] {
        terms.insert(prefix.to_owned(), json!(meaning));
    }
    for (name, meaning) in
        [("domain", "rdfs:domain"), ("range", "rdfs:range"), ("expects", "hydra:expects"), ("returns", "hydra:returns")]
    {
        terms.insert(name.to_owned(), json!({ "@id": meaning, "@type": "@id" }));
    }
    json!({
        "@context": terms,
        "@id": "/docs.jsonld",
        "@type": "hydra:ApiDocumentation",
        "hydra:title": "Dental Practice Integration API, as the sandbox serves it",
        "hydra:entrypoint": { "@id": "/" },
        "hydra:supportedClass": classes,
    })
}

/// What names without a prefix are relative to, and the only prefix of every context.
fn base(api: &str) -> Map<String, Value> {
    let mut terms = Map::new();
    terms.insert("@vocab".into(), json!(format!("{api}/docs.jsonld#")));
    terms.insert("hydra".into(), json!(HYDRA));
    terms
}

/// The lists of a version, by the name of their items.
fn collections(version: Version) -> impl Iterator<Item = (String, &'static Endpoint)> {
    ENDPOINTS.iter().filter(move |endpoint| endpoint.is_in(version)).filter_map(|endpoint| match endpoint.answer {
        Answer::List(record) => Some((record.resource.to_lowercase(), endpoint)),
        _ => None,
    })
}

/// Each resource, in its fullest shape.
fn resources(version: Version) -> Vec<&'static Record> {
    let mut found: Vec<&'static Record> = Vec::new();
    for record in ENDPOINTS.iter().filter(|one| one.is_in(version)).filter_map(|one| one.answer.record()) {
        match found.iter_mut().find(|known| known.resource == record.resource) {
            Some(known) if known.fields(version).count() < record.fields(version).count() => *known = record,
            Some(_) => {}
            None => found.push(record),
        }
    }
    found
}

/// The members of all shapes of a resource, each once.
fn fields(resource: &str, version: Version) -> Vec<&'static Field> {
    let mut found: Vec<&'static Field> = Vec::new();
    let records = ENDPOINTS.iter().filter_map(|endpoint| endpoint.answer.record());
    for field in records.filter(|record| record.resource == resource).flat_map(|record| record.fields(version)) {
        // Of two shapes, the identifier says how to read a text. An object needs no such help.
        match found.iter_mut().find(|known| known.name == field.name) {
            Some(known) if known.leads_to().is_none() => *known = field,
            Some(_) => {}
            None => found.push(field),
        }
    }
    found
}

fn class(record: &Record, version: Version) -> Value {
    let resource = record.resource;
    let written = ENDPOINTS.iter().filter(|one| one.is_in(version)).filter_map(|one| one.body);
    let written: Vec<&Field> =
        written.filter(|body| body.resource == resource).flat_map(|body| body.fields(version)).collect();
    let mut properties: Vec<Value> = record
        .fields(version)
        .map(|field| property(resource, field, true, written.iter().any(|other| other.name == field.name)))
        .collect();
    let unseen = written.iter().filter(|field| record.fields(version).all(|shown| shown.name != field.name));
    properties.extend(unseen.map(|field| property(resource, field, false, true)));
    let operations: Vec<Value> = ENDPOINTS
        .iter()
        .filter(|one| one.is_in(version) && one.path.ends_with("/{uuid}"))
        .filter(|one| {
            record.home.is_some_and(|home| one.path.strip_prefix('/').is_some_and(|path| path.starts_with(home)))
        })
        .map(|one| operation(one, resource))
        .collect();
    json!({
        "@id": format!("#{resource}"),
        "@type": "hydra:Class",
        "hydra:title": resource,
        "hydra:supportedProperty": properties,
        "hydra:supportedOperation": operations,
    })
}

fn property(resource: &str, field: &Field, readable: bool, writeable: bool) -> Value {
    let range = match (field.leads_to(), field.kind) {
        (_, Kind::Record(of)) => format!("#{}", of.resource),
        (Some("patients"), _) => "#Patient".to_owned(),
        (Some("users"), _) => "#User".to_owned(),
        (Some(_), _) => "#Audio".to_owned(),
        (None, Kind::DateTime) => "xmls:dateTime".to_owned(),
        (None, Kind::Integer) => "xmls:integer".to_owned(),
        (None, Kind::Number) => "xmls:decimal".to_owned(),
        (None, Kind::Boolean) => "xmls:boolean".to_owned(),
        (None, _) => "xmls:string".to_owned(),
    };
    json!({
        "@type": "hydra:SupportedProperty",
        "hydra:property": {
            "@id": format!("#{resource}/{}", field.name),
            "@type": if field.leads_to().is_some() { "hydra:Link" } else { "rdf:Property" },
            "hydra:title": field.name,
            "domain": format!("#{resource}"),
            "range": range,
        },
        "hydra:title": field.name,
        "hydra:required": writeable && field.required,
        "hydra:readable": readable,
        "hydra:writeable": writeable,
    })
}

fn operation(endpoint: &Endpoint, resource: &str) -> Value {
    let action = match endpoint.method {
        "GET" => "schema:FindAction",
        "POST" => "schema:CreateAction",
        "DELETE" => "schema:DeleteAction",
        _ => "schema:ReplaceAction",
    };
    let mut shown = json!({
        "@type": ["hydra:Operation", action],
        "hydra:method": endpoint.method,
        "hydra:title": endpoint.summary,
        "returns": match endpoint.answer {
            Answer::List(_) => "hydra:Collection".to_owned(),
            Answer::Nothing => "owl:Nothing".to_owned(),
            _ => format!("#{resource}"),
        },
    });
    if let (Some(_), Some(members)) = (endpoint.body, shown.as_object_mut()) {
        members.insert("expects".into(), json!(format!("#{resource}")));
    }
    shown
}

/// The entrypoint links to each collection and says whose collection it is.
fn entrypoint_class(version: Version) -> Value {
    let properties: Vec<Value> = collections(version)
        .filter_map(|(name, list)| {
            let resource = list.answer.record()?.resource;
            let operations: Vec<Value> = ENDPOINTS
                .iter()
                .filter(|one| one.path == list.path && one.is_in(version))
                .map(|one| operation(one, resource))
                .collect();
            Some(json!({
                "@type": "hydra:SupportedProperty",
                "hydra:property": {
                    "@id": format!("#Entrypoint/{name}"),
                    "@type": "hydra:Link",
                    "hydra:title": name,
                    "domain": "#Entrypoint",
                    "range": [
                        { "@id": "hydra:Collection" },
                        { "owl:equivalentClass": {
                            "owl:onProperty": { "@id": "hydra:member" },
                            "owl:allValuesFrom": { "@id": format!("#{resource}") },
                        } },
                    ],
                    "hydra:supportedOperation": operations,
                },
                "hydra:title": name,
                "hydra:readable": true,
                "hydra:writeable": false,
            }))
        })
        .collect();
    json!({
        "@id": "#Entrypoint",
        "@type": "hydra:Class",
        "hydra:title": "Entrypoint",
        "hydra:supportedProperty": properties,
        "hydra:supportedOperation": {
            "@type": "hydra:Operation",
            "hydra:method": "GET",
            "hydra:title": "The entrypoint.",
            "returns": "#Entrypoint",
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_names_the_members_of_all_shapes_of_a_resource() {
        let context = context("Document", Version::V1_1, "http://a").unwrap();
        assert!(context["@context"].get("documentIntegrations").is_some());
        assert_eq!(context["@context"]["user"]["@type"], "@id");
        assert!(super::context("Tooth", Version::V1_1, "http://a").is_none());
    }

    #[test]
    fn the_entrypoint_leads_to_every_list_of_its_version() {
        let paths = |version| entrypoint(version).as_object().unwrap().len() - 4;
        assert_eq!((paths(Version::V1_0), paths(Version::V1_1)), (6, 7));
    }
}
