//! Query and header parameters of the OpenAPI document.

use serde_json::{Value, json};

use super::super::version::Version;
use crate::store::{Collection, MOST_WORDS};

/// `A..B`. The server also takes date-times, which do not fit into a pattern.
const BETWEEN: &str =
    r"^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])\.\.[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])$";

/// `{uuid}`.
pub(super) fn uuid() -> Value {
    json!({ "name": "uuid", "in": "path", "required": true, "schema": { "type": "string" } })
}

/// The header that chooses the document's own version. Required if the server's usual version is another.
pub(super) fn version(version: Version, usual: Version) -> Value {
    let labels: &[&str] = match version {
        Version::V1_0 => &["1.0.0"],
        Version::V1_1 => &["1.1.0", "1.75.0"],
    };
    json!({
        "name": "Api-Version",
        "in": "header",
        "required": version != usual,
        "description": "The version of the interface. Each has its own description; 1.75.0 is answered as 1.1.0.",
        "schema": { "type": "string", "enum": labels },
    })
}

/// The parameters of a list.
pub(super) fn of_list(collection: &Collection, version: Version) -> Vec<Value> {
    let mut parameters = vec![
        query("page", "The page, from 1.", json!({ "type": "integer", "minimum": 1, "default": 1 })),
        query(
            "itemsPerPage",
            "How many items a page has.",
            json!({ "type": "integer", "minimum": 0, "maximum": 100, "default": 20 }),
        ),
    ];
    let direction = json!({ "type": "string", "enum": ["asc", "desc"] });
    for (name, _) in collection.orders {
        parameters.push(query(&format!("order[{name}]"), "The order of the list.", direction.clone()));
    }
    if !collection.texts.is_empty() {
        let meaning = format!(
            "Words that must all occur in the item's text, whatever their case and accents; at most {MOST_WORDS} of them."
        );
        parameters.push(query("search", &meaning, json!({ "type": "string" })));
    }
    if !collection.expands.is_empty() {
        let items = json!({ "type": "string", "enum": collection.expands });
        parameters.push(array("expand[]", "What is shown whole instead of as an identifier.", &items));
    }
    for flag in collection.flags {
        parameters.push(query(flag.name, "Keeps the items for which this is so.", json!({ "type": "boolean" })));
    }
    for exact in collection.exacts.iter().filter(|exact| exact.only.is_none_or(|only| only == version)) {
        let text = json!({ "type": "string" });
        let several = format!("{}[]", exact.name);
        parameters.push(query(exact.name, "Keeps the items that have exactly this value.", text.clone()));
        parameters.push(array(&several, "Keeps the items that have one of these values.", &text));
    }
    let date = json!({ "type": "string", "anyOf": [{ "format": "date" }, { "format": "date-time" }] });
    for (name, _) in collection.dates {
        let pattern = json!({ "type": "string", "pattern": BETWEEN });
        parameters.push(query(&format!("{name}[between]"), "From one date to another, both included.", pattern));
        for (comparison, meaning) in [
            ("gt", "Later than this."),
            ("gte", "Not before this."),
            ("lt", "Before this."),
            ("lte", "Not after this."),
        ] {
            parameters.push(query(&format!("{name}[{comparison}]"), meaning, date.clone()));
        }
    }
    parameters
}

#[expect(clippy::needless_pass_by_value, reason = "schemas are written where they are used")]
fn query(name: &str, description: &str, schema: Value) -> Value {
    json!({ "name": name, "in": "query", "description": description, "schema": schema })
}

fn array(name: &str, description: &str, items: &Value) -> Value {
    json!({
        "name": name,
        "in": "query",
        "description": description,
        "style": "form",
        "explode": true,
        "schema": { "type": "array", "items": items },
    })
}
