import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { inputOf } from '../support/bodies.js';
import { type Reply, useWorld } from '../support/world.js';
import {
  type Asked,
  documents,
  hostileRequestsIn,
  json,
  jsonText,
  perRun,
  seed,
  spoiledDocuments,
  uploads,
} from './hostile-requests.js';

const world = useWorld({ worker: false });
const {
  speakers,
  ids,
  templates,
  spoiledPosts,
  wrongPosts,
  noBodies,
  spoiledGets,
  spoiledMutations,
  wrongMutations,
  spoiledQueries,
} = hostileRequestsIn(world);

type Json = any;

async function send(asked: Asked): Promise<Reply> {
  const { world: at, key } = speakers[asked.speaker];
  const response = await fetch(`${at.origin}${asked.path}`, {
    method: asked.method,
    headers: { authorization: `Bearer ${key}`, ...asked.headers },
    body: (asked.body as BodyInit | undefined) ?? null,
  });
  const text = await response.text();
  const typed = (response.headers.get('content-type') ?? '').includes('json');
  return {
    status: response.status,
    headers: response.headers,
    body: typed ? JSON.parse(text) : undefined,
    text,
    codes: [],
    fieldNames: [],
  };
}

/** A request in a form that a person can read and repeat. */
const description = ({ speaker, method, path, body }: Asked, { status, text }: Reply) => {
  const sent =
    body instanceof FormData
      ? JSON.stringify([...body.entries()].map(([name, value]) => [name, String(value)]))
      : String(body ?? '');
  return (
    `${speaker}: ${method} ${path.slice(0, 300)}\n${sent.slice(0, 1_500)}\nanswered ${status} ` +
    `${text.slice(0, 600)}`
  );
};

/** Checks that no response is an internal error, and that every error has the standard format and its code's status. */
function expectAnswer(asked: Asked, reply: Reply): 'done' | 'refused' {
  const what = description(asked, reply);
  expect(reply.status, what).toBeLessThan(500);
  expect(reply.headers.get('request-id') ?? '', what).toMatch(/^req_[0-9a-f]{24}$/);
  if (asked.path.startsWith('/graphql')) {
    for (const { message, extensions } of reply.body.errors ?? []) {
      expect(extensions.code, what).toMatch(/^[A-Z][A-Z_]+$/);
      expect(['SERVICE_FAULT', 'INTERNAL_SERVER_ERROR'], what).not.toContain(extensions.code);
      expect(extensions.httpStatus ?? 400, what).toBeLessThan(500);
      expect(extensions, what).not.toHaveProperty('stacktrace');
      expect(message, what).not.toMatch(/node_modules|\bat \/|PostgresError|select /i);
    }
    return reply.body.errors === undefined ? 'done' : 'refused';
  }
  if (reply.status === 200) return 'done';
  expect(Object.keys(reply.body), what).toEqual(['object', 'http_status_code', 'errors']);
  expect([reply.body.object, reply.body.http_status_code], what).toEqual(['error', reply.status]);
  expect(reply.body.errors.length, what).toBeGreaterThan(0);
  for (const item of reply.body.errors) {
    expect(Object.keys(item), what).toEqual(['code', 'message', 'metadata']);
    expect(item.code, what).toMatch(/^[a-z]+(_[a-z]+)+$/);
    expect(item.message, what).toMatch(/^\S.{3,200}$/);
    expect(item.message, what).not.toMatch(/node_modules|PostgresError|select |\$\d/i);
  }
  return 'refused';
}

/**
 * A hash of every row, by table and id, without the last use of a key and the allowance, which every request changes.
 */
async function store(): Promise<Map<string, { table: string; hash: string; row: Json }>> {
  const rows = new Map<string, { table: string; hash: string; row: Json }>();
  const tables =
    await world.sql`select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'allowance'`;
  for (const { name: table } of tables) {
    const listed = await world.sql`
      select md5((to_jsonb(t) - 'last_used_at')::text) as hash, to_jsonb(t) - 'content' as row
      from ${world.sql(table)} t`;
    for (const { hash, row } of listed)
      rows.set(`${table} ${row.tenant_id} ${row.livemode} ${row.id ?? hash}`, { table, hash, row });
  }
  return rows;
}
/** Tables of objects that clients see and change; all other tables follow from these. */
const objects = ['account', 'account_setting', 'address', 'api_key', 'deposit', 'file', 'person', 'receivable'];

/** Sends a batch, and compares the changes of the store with the accepted requests. */
async function held(batch: Asked[], may: 'be accepted' | 'be refused only'): Promise<void> {
  const before = await store();
  const accepted = new Set<string>();
  const asks = new Map<string, string>();
  const replies = await Promise.all(batch.map(send));
  for (const [i, asked] of batch.entries()) {
    const reply = replies[i]!;
    const outcome = expectAnswer(asked, reply);
    asks.set(reply.headers.get('request-id')!, description(asked, reply));
    if (may === 'be refused only') expect(outcome, description(asked, reply)).toBe('refused');
    if (outcome === 'done' && asked.method === 'POST') accepted.add(reply.headers.get('request-id')!);
  }
  const after = await store();
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (key) => before.get(key)?.hash !== after.get(key)?.hash,
  );
  if (accepted.size === 0) expect(changed).toEqual([]);
  const rows = changed.flatMap((key) => after.get(key) ?? []);
  const events = rows.filter(({ table }) => table === 'event').map(({ row }) => row);
  // Changes that the service makes by itself after an accepted request belong to no request.
  for (const { request_id: id, type } of events.filter((event) => event.request_id !== null))
    expect([...accepted], `${type} of ${asks.get(id)}`).toContain(id);
  // Every other change belongs to an event of an accepted request; a setting's change may belong to its account's
  // event. A change of a draft's persons increments the version of their account, and changes nothing else of the
  // account.
  const subjects = new Set(
    events.flatMap(({ object, object_id: id, data }) => (object === 'person' ? [id, data.account_id] : [id])),
  );
  for (const { table, row } of rows.filter((changed) => objects.includes(changed.table)))
    expect(subjects.has(row.id) || subjects.has(row.account_id), `${table}: ${JSON.stringify(row)}`).toBe(true);
  expect(rows.filter(({ table }) => table === 'idempotency').length).toBeLessThanOrEqual(accepted.size);
}

const batches = (requests: fc.Arbitrary<Asked>) => fc.array(requests, { minLength: perRun, maxLength: perRun });
const check = (requests: fc.Arbitrary<Asked>, count: number, may: Parameters<typeof held>[1]) =>
  fc.assert(
    fc.asyncProperty(batches(requests), (batch) => held(batch, may)),
    {
      seed,
      numRuns: Math.ceil(count / perRun),
      endOnFailure: true,
      // A single failed request is easier to read than a batch.
      reporter: ({ failed, counterexamplePath, errorInstance }) => {
        if (failed)
          throw new Error(`seed ${seed}, path ${counterexamplePath}: ${(errorInstance as Error).message}`, {
            cause: errorInstance,
          });
      },
    },
  );

describe('hostile input at /v1', () => {
  it('is refused and leaves no trace if a parameter is unknown', async () => {
    await check(wrongPosts, 300, 'be refused only');
  });

  it('is refused and leaves no trace if the body is not a JSON object', async () => {
    await check(noBodies, 150, 'be refused only');
  });

  it('is refused completely or executed completely, at any place in a body', async () => {
    await check(spoiledPosts, 450, 'be accepted');
  });

  it('is refused in the query of every list and on every object, or finds the named object', async () => {
    await check(spoiledGets, 300, 'be accepted');
  });

  // The last four of a text of surrogate pairs are whole characters, not halves.
  it('is stored unchanged where its last four are also shown, and refused where it must be a number', async () => {
    const number = `12345678${'😀'.repeat(3)}9`;
    const address = await speakers.platform.post('/v1/addresses', {
      ...templates.addresses(),
      bank_account: { number, domestic_credit: 'X' },
    });
    expect([address.status, address.codes, address.fieldNames]).toEqual([
      400,
      ['parameter_invalid'],
      ['address.bank_account.number'],
    ]);
    const person = await speakers.platform.post('/v1/persons', {
      ...templates.persons(),
      account_id: ids.account,
      identification: { tax_card_number: `A${'😀'.repeat(5)}` },
    });
    expect([person.status, person.body.identification?.tax_card_number]).toEqual([200, '••😀😀😀😀']);
  });

  it('is refused completely or stored completely in an upload', async () => {
    await check(uploads, 100, 'be accepted');
  });
});

/** The business details of a partner as literals of a GraphQL document. */
const acme =
  'businessDetails: { legalName: "N", email: "a@b.example", type: COMPANY, physicalAddress: { country: "IN" } }';

describe('hostile input at /graphql', () => {
  it('is refused and leaves no trace if a member of the input is unknown', async () => {
    await check(wrongMutations, 200, 'be refused only');
  });

  it('is refused completely or executed completely, at any place in the input of a mutation', async () => {
    await check(spoiledMutations, 300, 'be accepted');
  });

  it('is refused in the arguments of every query, or finds the named object', async () => {
    await check(spoiledQueries, 150, 'be accepted');
  });

  // If a client names an operation, no other one may run instead.
  it('runs no operation other than the named one', async () => {
    const input = `{ type: PARTNER, nickname: "never", ${acme} }`;
    const query = `mutation A { createAccount(input: ${input}) { account { id } } }`;
    // The order of the rows and the work of the service itself are not a part of the answer.
    const stored = async () =>
      [...(await store())].filter(([, { table }]) => objects.includes(table)).map(([key]) => key);
    const before = await stored();
    const reply = await speakers.user.post('/graphql', { query, operationName: 'B' });
    expect((await stored()).sort()).toEqual(before.sort());
    expect(before.length).toBeGreaterThan(0);
    expect([reply.status, reply.body.data]).toEqual([400, undefined]);
    expect(reply.body.errors).toHaveLength(1);
  });

  it('gets an error message also if it has more faults than the library counts', async () => {
    const query = 'mutation ($input: CreateAccountInput!) { createAccount(input: $input) { account { id } } }';
    const unknown = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`unknown${i}`, 'hush']));
    const reply = await speakers.user.graph(query, { input: { ...inputOf(templates.accounts()), ...unknown } });
    expect([reply.status, reply.body.errors.length]).toEqual([400, 60]);
    expect(new Set(reply.codes)).toEqual(new Set(['parameter_unknown']));
    expect(reply.text).not.toContain('hush');
  });

  // A client that gets an error assumes that nothing was done, and sends the request again.
  it('does not run a mutation whose response format the client does not accept', async () => {
    const input = `{ type: PARTNER, nickname: "unheard", ${acme} }`;
    const query = `mutation { createAccount(input: ${input}) { account { id } } }`;
    const before = await store();
    const reply = await speakers.user.post('/graphql', { query }, { accept: 'text/html' });
    const made = [...(await store()).keys()].filter((key) => !before.has(key));
    if (reply.body.errors === undefined) expect(made.length).toBeGreaterThan(0);
    else expect([made, reply.body.data ?? null]).toEqual([[], null]);
  });

  it.each(documents.map((body) => [JSON.stringify(body).slice(0, 120), body]))(
    'gets a response as a document: %s',
    async (_, body) => {
      await held(
        [{ speaker: 'user', method: 'POST', path: '/graphql', body: jsonText(body), headers: json }],
        'be accepted',
      );
    },
  );

  it('is refused or answered in any part of a request', async () => {
    await check(spoiledDocuments, 150, 'be accepted');
  });
});

// The last test, after the same process has handled all requests above.
describe('the gateway', () => {
  afterAll(() => {
    expect(({} as Json).polluted).toBeUndefined();
  });

  it('still runs in the same process and still authenticates its callers', async () => {
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain('polluted');
    expect((await fetch(`${world.origin}/healthz`)).status).toBe(200);
    expect((await fetch(`${world.origin}/readyz`)).status).toBe(200);
    expect([...(await world.sql`select rule, what from violations`)]).toEqual([]);
    for (const speaker of Object.values(speakers)) {
      const reply = await speaker.graph('{ viewer { account { id } } }');
      expect(reply.body.data.viewer.account.id).toBe(speaker.id);
    }
    expect((await speakers.user.post('/v1/accounts', templates.accounts())).status).toBe(200);
  });
});
