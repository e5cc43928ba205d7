// jsonld.js and api-doc-parser against a sandbox: linked_data.mjs ADDRESS KEY
import assert from "node:assert/strict";
import { parseOpenApi3Documentation } from "@api-platform/api-doc-parser";
import jsonld from "jsonld";

const [address, key] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${key}`, Accept: "application/ld+json" };
const documentLoader = async (documentUrl) => {
  const response = await fetch(documentUrl, { headers });
  assert.equal(response.status, 200, documentUrl);
  return { contextUrl: null, documentUrl, document: await response.json() };
};

const { document } = await documentLoader(`${address}/documents?itemsPerPage=5`);
const [list] = await jsonld.expand(document, { base: `${address}/documents`, documentLoader });
assert.equal(list["@id"], `${address}/documents`);
const members = list[`${address}/docs#member`];
assert.equal(members.length, 5);
assert.ok(members.every((one) => one["@id"].startsWith(`${address}/documents/`)));
console.log("jsonld.js: a list is expanded, each document has its address");

const { api } = await parseOpenApi3Documentation(`${address}/openapi.json`);
const names = api.resources.map((one) => one.name).sort();
assert.deepEqual(names, ["audios", "contacts", "documents", "notes", "organizations", "patients", "users", "webhooks"]);
console.log("api-doc-parser: all eight resources are found in the OpenAPI description");
