//! The OpenAPI 3.1 document, made from the tables that requests are checked against.

mod example;
mod operation;
mod parameter;
mod schema;

use serde_json::{Map, Value, json};

use super::endpoints::ENDPOINTS;
use super::version::Version;
use crate::scope::Scopes;
use schema::Schemas;

/// The server to describe.
pub(crate) struct Served {
    /// The requested version label.
    pub label: String,
    pub api: String,
    /// The address of the authorization page.
    pub authorize: String,
    pub token: String,
    /// The version of requests that name none.
    pub usual: Version,
}

/// The description of one version, for this server.
pub(crate) fn openapi(version: Version, served: &Served) -> Value {
    let mut schemas = Schemas::new(version);
    let mut paths: Map<String, Value> = Map::new();
    for endpoint in ENDPOINTS {
        if endpoint.since.is_some_and(|since| since > version) {
            continue;
        }
        let operation = operation::operation(endpoint, version, served.usual, &mut schemas);
        let path = paths.entry(endpoint.path).or_insert_with(|| json!({}));
        if let Some(path) = path.as_object_mut() {
            path.insert(endpoint.method.to_ascii_lowercase(), operation);
        }
    }
    paths.insert("/oauth2/token".into(), json!({ "post": operation::token() }));
    let scopes: Map<String, Value> =
        Scopes::all().iter().map(|scope| (scope.to_owned(), json!(in_words(scope)))).collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Dental Practice Integration API, as the sandbox serves it",
            "version": served.label,
            "description": "A local implementation for developing and testing integrations. Where the service's own \
                description leaves something open, the sandbox's README says what was chosen and why. Nothing in it is \
                about a real person.",
        },
        "servers": [{ "url": served.api }],
        "security": [{ "bearerAuth": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas.finish(),
            "securitySchemes": {
                "bearerAuth": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API key, or an access token of the token endpoint.",
                },
                "oauthAuthCode": {
                    "type": "oauth2",
                    "flows": {
                        "authorizationCode": {
                            "authorizationUrl": served.authorize,
                            "tokenUrl": served.token,
                            "refreshUrl": served.token,
                            "scopes": scopes,
                        },
                    },
                },
            },
        },
    })
}

fn in_words(scope: &str) -> String {
    match scope.split_once(':') {
        Some(("read", of)) => format!("Read {}", of.replace('_', " ")),
        Some(("write", of)) => format!("Create, change and delete {}", of.replace('_', " ")),
        Some(("capture", of)) => format!("Capture {of}"),
        _ if scope == "profile" => "User account information".to_owned(),
        _ => "Practice information".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(version: Version) -> Value {
        let served = Served {
            label: version.label().into(),
            api: "http://a".into(),
            authorize: "http://a/b".into(),
            token: "http://a/c".into(),
            usual: Version::V1_1,
        };
        openapi(version, &served)
    }

    #[test]
    fn what_only_the_service_sets_is_read_only() {
        let document = document(Version::V1_1);
        for (schema, member) in [("NewWebhook", "secret"), ("Patient", "user"), ("Patient", "uuid")] {
            let member = format!("/components/schemas/{schema}/properties/{member}/readOnly");
            assert_eq!(document.pointer(&member), Some(&json!(true)), "{member}");
        }
        assert_eq!(document.pointer("/components/schemas/Patient/properties/firstName/readOnly"), None);
    }

    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(target)) = members.get("$ref") {
                    found.push(target.clone());
                }
                members.values().for_each(|value| references(value, found));
            }
            Value::Array(elements) => elements.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn every_reference_leads_somewhere() {
        for version in [Version::V1_0, Version::V1_1] {
            let document = document(version);
            let mut found = Vec::new();
            references(&document, &mut found);
            assert!(found.len() > 100);
            for target in found {
                assert!(document.pointer(target.trim_start_matches('#')).is_some(), "{target}");
            }
        }
    }

    #[test]
    fn the_versions_differ_as_the_versioning_table_says() {
        let (old, new) = (document(Version::V1_0), document(Version::V1_1));
        assert!(old["paths"].get("/notes").is_none());
        assert!(new["paths"].get("/notes").is_some());
        let members = |document: &Value, schema: &str, member: &str| {
            document["components"]["schemas"][schema]["properties"].get(member).is_some()
        };
        for (schema, member, in_old, in_new) in [
            ("Audio", "summary", true, false),
            ("Audio", "meeting", false, true),
            ("Document", "documentIntegrations", false, true),
            ("DocumentItem", "genericContactSpecialty", false, true),
        ] {
            assert_eq!((members(&old, schema, member), members(&new, schema, member)), (in_old, in_new), "{member}");
        }
        let steps = |document: &Value| {
            document["components"]["schemas"]["Audio"]["properties"]["audioWorkflowStepV3"]["enum"]
                .as_array()
                .unwrap()
                .len()
        };
        assert_eq!((steps(&old), steps(&new)), (4, 6));
    }

    /// Every `content` of a response, by its place.
    fn contents(document: &Value) -> Vec<(String, Value)> {
        let mut found = Vec::new();
        for (path, operations) in document["paths"].as_object().unwrap() {
            for (method, operation) in operations.as_object().unwrap() {
                for (status, response) in operation["responses"].as_object().unwrap() {
                    for (media, content) in response["content"].as_object().into_iter().flatten() {
                        found.push((format!("{method} {path} {status} {media}"), content.clone()));
                    }
                }
            }
        }
        found
    }

    #[test]
    fn every_response_with_a_body_has_an_example() {
        for version in [Version::V1_0, Version::V1_1] {
            let contents = contents(&document(version));
            assert!(contents.len() > 100);
            for (place, content) in contents {
                assert!(content.get("example").is_some_and(|example| !example.is_null()), "{place}");
            }
        }
    }
}
