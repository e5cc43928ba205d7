// jsonld.js and api-doc-parser against a sandbox: linked_data.mjs ADDRESS KEY
import assert from "node:assert/strict";
import { parseHydraDocumentation, parseOpenApi3Documentation } from "@api-platform/api-doc-parser";
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
const members = list["http://www.w3.org/ns/hydra/core#member"];
assert.equal(members.length, 5);
assert.ok(members.every((one) => one["@id"].startsWith(`${address}/documents/`)));
assert.ok(members.every((one) => one[`${address}/docs.jsonld#Document/user`][0]["@id"].startsWith(`${address}/users/`)));
console.log("jsonld.js: a list is expanded, each document and its user have their addresses");

const { api } = await parseOpenApi3Documentation(`${address}/openapi.json`);
const names = api.resources.map((one) => one.name).sort();
assert.deepEqual(names, ["audios", "contacts", "documents", "notes", "organizations", "patients", "users", "webhooks"]);
const hydra = await parseHydraDocumentation(`${address}/`);
assert.deepEqual(
  hydra.api.resources.map((one) => one.name).sort(),
  ["audios", "contacts", "documents", "notes", "organizations", "patients", "webhooks"],
);
const patients = hydra.api.resources.find((one) => one.name === "patients");
assert.ok(patients.writableFields.some((one) => one.name === "dateOfBirth"));
console.log("api-doc-parser: from the entrypoint alone, Hydra leads to all seven lists");
console.log("api-doc-parser: all eight resources are found in the OpenAPI description");
