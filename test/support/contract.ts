import fs from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { contractOf } from '../../src/api/rest/contract/document.js';
import type postgres from 'postgres';
import type { Audience } from '../../src/api/rest/contract/audience.js';
import type { CatalogueEntry, Example, Examples } from '../../src/api/rest/contract/examples.js';
import { fromRow } from '../../src/db/read/row-mapper.js';
import { event } from '../../src/resources/event/table.js';
import { eventV1 } from '../../src/resources/event/v1.js';
import { eventsText } from '../../src/server/build/print-schema.js';
import { buildGraph } from '../../src/api/graphql/server.js';

type Json = any;

/** An answer of /v1, and the request that it answers. */
export interface Exchange {
  method: string;
  /** The path with its query. */
  path: string;
  request?: unknown;
  status: number;
  headers: Headers;
  body: Json;
}

/** An operation of the contract with the pattern of its path. */
interface Found {
  id: string;
  pattern: RegExp;
  method: string;
  responses: Record<string, Json>;
}

/** The contract without examples, as every worker compares answers with it. */
const none: Examples = {
  operations: {},
  headers: {},
  errors: {},
  events: {},
  only: {},
  others: { operations: {}, events: {} },
};
const schema = buildGraph();
export const contract: Json = contractOf(schema, none);

/** The contract of an audience without examples. */
export const contractFor = (audience: Audience): Json => contractOf(schema, none, audience);

/** A part of a contract, and what its `$ref` names if it is a reference. */
const resolvedIn = (document: Json, { $ref, ...own }: Json): Json =>
  $ref === undefined
    ? own
    : $ref
        .slice(2)
        .split('/')
        .reduce((at: Json, step: string) => at[step], document);

/** A part of the contract of everyone, and what its `$ref` names if it is a reference. */
export const resolved = (part: Json): Json => resolvedIn(contract, part);

/** The codes of answers to paths and methods that no operation has. The key and the address are judged before. */
const withoutOperation = new Set([
  ...['route_missing', 'method_not_allowed', 'authentication_required', 'api_key_invalid', 'https_required'],
  ...['rate_limit_exceeded', 'service_unavailable', 'service_fault', 'permission_denied', 'resource_missing'],
  ...['body_invalid', 'parameter_invalid', 'headers_too_large', 'request_timeout'],
]);

/** The operations of a contract. A path without parameters comes before one with parameters that has the same form. */
function operationsOf(document: Json): Found[] {
  const operations: Found[] = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, { operationId, responses }]) => ({
      id: operationId,
      pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      method: method.toUpperCase(),
      responses: Object.fromEntries(
        Object.entries<Json>(responses).map(([status, response]) => [status, resolvedIn(document, response)]),
      ),
    })),
  );
  return operations.sort((a, b) => Number(a.pattern.source.includes('[')) - Number(b.pattern.source.includes('[')));
}

/** The comparison of answers with a contract. */
export class Comparison {
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  readonly #operations: Found[];
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: Json) {
    this.#ajv.addSchema(document, 'contract');
    this.#operations = operationsOf(document);
  }

  /** What in a value contradicts a schema; an empty text if nothing does. A schema is compiled once, under its name. */
  violationsOf(name: string, schema: Json, value: unknown): string {
    const valid =
      this.#validators.get(name) ??
      this.#ajv.compile(schema.$ref ? { $ref: `contract${schema.$ref}` } : (schema as object));
    this.#validators.set(name, valid);
    return valid(value) ? '' : this.#ajv.errorsText(valid.errors, { separator: '; ' });
  }

  /** The operation that a request is for. */
  operationOf({ method, path }: Pick<Exchange, 'method' | 'path'>): Found | undefined {
    const [plain = ''] = path.split('?');
    return this.#operations.find((each) => each.method === method && each.pattern.test(plain));
  }

  /** Whether an operation may answer a response. */
  fits(id: string, response: unknown): boolean {
    const schema = this.#operations.find((each) => each.id === id)?.responses['200']?.content?.['application/json']
      ?.schema;
    return schema === undefined || this.violationsOf(`${id} 200`, schema, response) === '';
  }

  /** What in an answer contradicts the contract; empty if nothing does. */
  contradictions({ method, path, status, headers, body }: Exchange): string[] {
    const found = this.operationOf({ method, path });
    if (!headers.has('request-id')) return ['there is no Request-Id'];
    const isError = status >= 400;
    const wrong = isError && this.violationsOf('Error', { $ref: '#/components/schemas/Error' }, body);
    if (wrong) return [`the error object: ${wrong}`];
    const codes: string[] = isError ? body.errors.map(({ code }: Json) => code) : [];
    if (!found) {
      const known = isError && codes.every((code) => withoutOperation.has(code));
      return known ? [] : [`the contract has no such operation: ${status} ${codes.join(' ')}`];
    }
    const response = found.responses[status];
    if (!response) return [`${found.id} documents no status ${status}: ${codes.join(' ')}`];
    if (isError) {
      if (body.http_status_code !== status) return [`http_status_code is ${body.http_status_code}, not ${status}`];
      const others = codes.filter((code) => !response['x-codes'].includes(code));
      return others.map((code) => `${found.id} documents no code ${code} for ${status}`);
    }
    if (status === 304) return [];
    const type = (headers.get('content-type') ?? '').split(';')[0]!;
    const content = response.content[type];
    if (!content) return [`${found.id} documents no content of type ${type}`];
    if (type !== 'application/json') return [];
    const violations = this.violationsOf(`${found.id} ${status}`, content.schema, body);
    return violations ? [`${found.id}: ${violations}`] : [];
  }
}

const everyones = new Comparison(contract);

/** What in an answer contradicts the contract of everyone; empty if nothing does. */
export function contradictions(exchange: Exchange): string[] {
  const found = everyones.contradictions(exchange);
  const operation = exchange.status < 400 && exchange.headers.has('request-id') && everyones.operationOf(exchange);
  if (operation && operation.responses[exchange.status]) record(operation.id, exchange);
  return found;
}

/** Throws an error for an answer of /v1 that contradicts the contract. */
export function compareWithContract(exchange: Exchange): void {
  if (!exchange.path.startsWith('/v1')) return;
  if (exchange.status >= 400) recordError(exchange);
  const found = contradictions(exchange);
  if (found.length > 0)
    throw new Error(`${exchange.method} ${exchange.path} contradicts the contract: ${found.join('; ')}`);
}

/** What in an object contradicts the schema of its kind; an empty text if nothing does. */
export const violationsOf = (kind: string, object: unknown): string =>
  everyones.violationsOf(kind, { $ref: `#/components/schemas/${kind}` }, object);

/**
 * The examples of the contract, which a run with RECORD_EXAMPLES=1 takes from its answers where there is none that fits
 * the contract, and with RECORD_EXAMPLES=all anew.
 */
const examplesFile = new URL('../../schema/examples.json', import.meta.url);
const eventsFile = new URL('../../schema/events.json', import.meta.url);
const recording = process.env.RECORD_EXAMPLES !== undefined;
const renewing = process.env.RECORD_EXAMPLES === 'all';
const nothing = () => ({ operations: {} as Examples['operations'], events: {} as Record<string, unknown> });
const recorded: Examples = { ...nothing(), headers: {}, errors: {}, only: {}, others: nothing() };
/** The best of those that fit the contract of an edition, by the edition. */
const recordedOf = { 1: nothing(), 2: nothing() };

/** An answer says more than another one if it has more in it, up to a length that is still good to read. */
const weight = (response: unknown): number => Math.min(JSON.stringify(response ?? null).length, 2_500);

function record(id: string, { path, request, headers, body }: Exchange): void {
  if (!recording) return;
  const response = body?.object === 'list' ? { ...body, data: body.data.slice(0, 1) } : body;
  const example = { path, ...(request !== undefined && { request }), response };
  const isBetter = (before: Example | undefined) => !before || weight(before.response) < weight(response);
  for (const edition of [1, 2] as const)
    if (isBetter(recordedOf[edition].operations[id]) && fitOf(edition).operation(id, example))
      recordedOf[edition].operations[id] = example;
  if (!isBetter(recorded.operations[id])) return;
  recorded.operations[id] = example;
  for (const [name, value] of headers) recorded.headers[name] ??= value;
}

function recordError({ headers, body }: Exchange): void {
  if (!recording || body?.object !== 'error') return;
  const { code } = body.errors[0];
  recorded.errors[code] ??= { ...body, errors: body.errors.slice(0, 2) };
  // The contract has an example of the header Link of errors; the recorded one is that of a checkout.
  for (const [name, value] of headers) if (name !== 'link') recorded.headers[name] ??= value;
}

/** Takes an event of each type from a database of a test as an example of the catalogue. */
export async function recordEvents(sql: postgres.Sql): Promise<void> {
  if (!recording) return;
  await sql`
    select number_events(tenant_id, livemode, 100000)
    from (select distinct tenant_id, livemode from event where number is null) t`;
  const rows = await sql<Record<string, unknown>[]>`
    select * from event where number is not null
    order by type, length(data::text) > 2500, length(data::text) desc, id limit 20000`;
  for (const row of rows) {
    const [type, found] = [String(row.type), eventV1(fromRow(event, row))];
    recorded.events[type] ??= found;
    for (const edition of [1, 2] as const)
      if (!recordedOf[edition].events[type] && fitOf(edition).event(found)) recordedOf[edition].events[type] = found;
  }
}

/** Examples with names that a reader of the documentation expects, instead of those that tests make to be unique. */
const readable = (text: string): string =>
  text
    .replaceAll(/("nickname": )"nick \d+ [0-9a-f]{8}"/g, '$1"Acme Retail"')
    .replaceAll(/("reference_number": )"[^"]*nick \d+ [0-9a-f]{8}"/g, '$1"INV-1042"');

const fits = new Map<1 | 2, ReturnType<typeof makeFit>>();
const fitOf = (edition: 1 | 2) => {
  const known = fits.get(edition) ?? makeFit(edition);
  fits.set(edition, known);
  return known;
};

/** Whether examples fit the contract of an edition. What it does not have fits. */
function makeFit(edition: 1 | 2) {
  const rights = { kind: 'platform', livemode: false, permission: 'full', session: undefined } as const;
  const own = contractFor({ edition, ...rights });
  const validate = new Ajv2020({ strict: false, validateFormats: false }).addSchema(own, 'contract');
  const isValid = (schema: Json, value: unknown): boolean =>
    !schema ||
    value === undefined ||
    value === null ||
    validate.validate(schema.$ref ? { $ref: `contract${schema.$ref}` } : schema, value);
  const methods = Object.values<Json>(own.paths).flatMap((each) => Object.values<Json>(each));
  const operations = new Map<string, Json>(methods.map((each) => [each.operationId, each]));
  const json = 'application/json';
  return {
    operation(id: string, { request, response }: Example): boolean {
      const found = operations.get(id);
      return (
        !found ||
        (isValid(found.requestBody?.content[json]?.schema, request) &&
          isValid(found.responses[200].content[json]?.schema, response))
      );
    },
    event: (value: unknown): boolean => isValid({ $ref: '#/components/schemas/Event' }, value),
    types: Object.keys(own.webhooks),
  };
}

/**
 * The edition of each example that does not fit the contract of both: of the operations by their ids, and of the events
 * by their types.
 */
export function editionsOfExamples({ operations, events }: Pick<Examples, 'operations' | 'events'>): Examples['only'] {
  const [first, second] = ([1, 2] as const).map((edition) => {
    const fit = fitOf(edition);
    const misfits = Object.entries(operations).filter(([id, example]) => !fit.operation(id, example));
    return new Set([...misfits.map(([id]) => id), ...fit.types.filter((type) => !fit.event(events[type]))]);
  }) as [Set<string>, Set<string>];
  const names = [...new Set([...first, ...second])].sort();
  return Object.fromEntries(names.map((name) => [name, first.has(name) ? 2 : 1]));
}

/** The earlier examples and the new ones, which replace those that do not fit the contract, or all. */
function merged<T>(before: Record<string, T>, now: Record<string, T>, fits: (name: string, value: T) => boolean) {
  if (renewing) return { ...before, ...now };
  const fitting = Object.entries(before).filter(([name, value]) => !(name in now) || fits(name, value));
  return { ...now, ...Object.fromEntries(fitting) };
}

/** Adds what was recorded to the examples. */
export function saveExamples(): void {
  if (!recording) return;
  const before = JSON.parse(fs.readFileSync(examplesFile, 'utf8')) as Examples;
  const sorted = (of: object) => Object.fromEntries(Object.entries(of).sort(([a], [b]) => (a < b ? -1 : 1)));
  const all: Omit<Examples, 'events'> = {
    only: {},
    others: nothing(),
    operations: sorted(
      merged(before.operations, recorded.operations, (id, { response }) => everyones.fits(id, response)),
    ) as Examples['operations'],
    headers: sorted(merged(before.headers, recorded.headers, () => true)),
    errors: sorted(merged(before.errors, recorded.errors, () => true)),
  };
  const catalogue = JSON.parse(fs.readFileSync(eventsFile, 'utf8')) as CatalogueEntry[];
  const earlier = Object.fromEntries(catalogue.map(({ type, example }) => [type, example]));
  const events = merged(earlier, recorded.events, (_, event) => violationsOf('Event', event) === '');
  all.only = editionsOfExamples({ ...all, events });
  for (const [name, edition] of Object.entries(all.only))
    for (const kind of ['operations', 'events'] as const) {
      const other = edition === 1 ? 2 : 1;
      const earlierOnes = [before.others[kind][name], before[kind as 'operations']?.[name]];
      const newest = recordedOf[other][kind][name];
      const known = renewing ? [newest, ...earlierOnes] : [...earlierOnes, newest];
      const found = known.find(
        (each) =>
          each && (kind === 'events' ? fitOf(other).event(each) : fitOf(other).operation(name, each as Example)),
      );
      if (found) all.others[kind][name] = found as Example;
    }
  fs.writeFileSync(examplesFile, readable(`${JSON.stringify(all, null, 1)}\n`));
  fs.writeFileSync(eventsFile, readable(eventsText(events)));
}
