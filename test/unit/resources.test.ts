import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { getTableColumns, getTableName } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { everyone } from '../../src/auth/permissions.js';
import { guard } from '../../src/operation/guard.js';
import { buildGraph } from '../../src/api/graphql/server.js';
import { extension, type Resource, resources } from '../../src/resources/define.js';
import { fields, link, many, one, value } from '../../src/resources/edges.js';
import { byBalance } from '../../src/resources/account/by-balance.js';
import { account } from '../../src/resources/account/table.js';
import { checkoutNow } from '../../src/resources/checkout/now.js';
import { balance } from '../../src/resources/ledger/table.js';
import { events, operations } from '../../src/resources/registry.js';
import { hashOrNull, noun } from '../../src/resources/shape.js';
import { tablesOf } from '../../src/resources/tables.js';
import { PageArgs } from '../../src/types/pagination.js';
import { functionFiles } from '../../src/db/schema/schema-version.js';

const read = { access: 'read', callers: everyone } as const;
const write = { access: 'write', callers: everyone } as const;
const depositNode = resources.find(({ object }) => object === 'deposit')!.node!;

describe('the program does not start', () => {
  it.each<[string, Omit<Resource, 'object'>, string]>([
    ['an operation twice', { operations: { deposits: read } }, 'the operation deposits is declared twice'],
    [
      'a route twice',
      { operations: { copies: { ...read, v1: () => ({}), routes: [extension.list('/v1/deposits')] } } },
      'the route GET /v1/deposits is declared twice',
    ],
    ['a prefix of ids twice', { node: depositNode }, 'the prefix deposit is declared twice'],
    ['an object twice', { stored: { deposit: {} as never } }, 'the object deposit is declared twice'],
    ['a size of a list twice', { sizes: { 'Deposit.receivables': 5 } }, 'the size of a list Deposit.receivables is'],
    [
      'a type of events twice',
      { events: { 'deposit.completed': 'Again.' } },
      'the event deposit.completed is declared twice',
    ],
    ['a field twice', { fields: [fields(account, { owner: link(account, 'ownerId') })] }, 'the field Account.owner is'],
    [
      'an event type without a declared object',
      { events: { 'copy.made': 'Made.' } },
      'the event type copy.made begins with no declared object',
    ],
    [
      'a write whose responses no table stores',
      { operations: { copy: write } },
      'the operation copy writes, and no table stores',
    ],
    [
      'a route whose response has no shape',
      { operations: { copies: { ...read, routes: [extension.list('/v1/copies')] } } },
      'the operation copies has a route, and no shape formats its response for /v1',
    ],
    [
      'a key of a response without a rule',
      {
        operations: { copies: { ...read, v1: () => ({ of: { id: 'copy' } }), routes: [extension.list('/v1/copies')] } },
      },
      'of.id says no rule',
    ],
    [
      'a noun that is no value of the key `object`',
      { operations: { copies: { ...read, v1: () => ({ id: noun('copy') }), routes: [extension.list('/v1/copies')] } } },
      'the key `object` alone is a noun',
    ],
    [
      'a hash of a response without keys',
      {
        operations: {
          copies: {
            ...read,
            v1: (row: { hash: object | null }) => ({ hash: hashOrNull(row.hash) }),
            routes: [extension.list('/v1/copies')],
          },
        },
      },
      'hash is a hash, and says no keys',
    ],
    [
      'a read of an object without a node',
      { operations: { copy: { ...read, reads: one('One.') } } },
      'the operation copy reads copy, which declares no',
    ],
    [
      'a page of objects without a node',
      { operations: { copies: { ...read, reads: many(PageArgs, 'All.') } } },
      'the operation copies reads copy, which declares no node',
    ],
    [
      'an edge to a table that belongs to no node',
      { fields: [fields(account, { copy: link(balance as never, 'ownerId') })] },
      'an edge refers to the table balance, which belongs to no node',
    ],
    [
      'a field without a type',
      {
        fields: [
          fields(account, {
            copy: value(
              () => undefined as never,
              () => null,
            ),
          }),
        ],
      },
      'the field Account.copy has no type',
    ],
  ])('with %s', (_, more, message) => {
    expect(() => tablesOf([...resources, { object: 'copy', ...more }])).toThrow(message);
  });

  it('with a root field that is not declared as an operation', () => {
    const some = new Map([...operations].filter(([name]) => name !== 'deposits'));
    expect(() => guard(buildGraph(), some)).toThrow('the root field deposits is not declared as an operation');
  });

  it('with an operation that has no root field', () => {
    const more = new Map([...operations, ['copies', { ...operations.get('deposits')!, name: 'copies' }]]);
    expect(() => guard(buildGraph(), more)).toThrow(
      'the operation copies is declared, but the schema has no root field of this name',
    );
  });
});

/** The files of a resource, in the order in which they are read. */
const ordered = ['table', 'type', 'inputs', 'rules', 'listing', 'resolver', 'resource', 'v1'];

/** The other files, by the concern that gives them their names. */
const furtherFiles: Record<string, readonly string[]> = {
  'the descriptions that the type and the inputs have in common': [
    'account-setting/texts',
    'account/texts',
    'address/texts',
  ],
  'an order by another table': ['account/by-balance'],
  'what may belong together': ['deposit/receivable-matches', 'deposit/reconciliation'],
  'sums of the ledger, each with its own types and one statement': [
    'balance/acting-accounts',
    'balance/balance-chart',
    'balance/chart',
    'balance/counted-deposits',
    'balance/deposit-chart',
    'balance/funds',
    'balance/history',
    'balance/last-entry',
    'balance/range',
    'balance/statement',
    'balance/statement-sql',
    'balance/sums',
    'balance/top-users',
    'balance/totals',
    'balance/zoned-totals',
    'ledger/completed',
    'receivable/ageing',
    'receivable/ageing-by-customer',
    'receivable/owed',
    'receivable/totals',
  ],
  'pages of a list that is computed': ['allocation/pages'],
  'the address and the terms of the payment page, which settings determine': ['checkout/link', 'checkout/terms'],
  'the kinds of what needs attention, and their reads': ['attention/blocked', 'attention/kinds', 'attention/waiting'],
  'what depends on the time by the test clock': ['checkout/now', 'clock/now', 'clock/time-zone', 'payout/arrival'],
  'when and why money is paid out, or did not arrive': ['payout/address-problem', 'payout/plan'],
  'the types of events and the positions in a stream of them': [
    'event/allocations',
    'event/catalogue',
    'event/position',
    'event/stream',
    'event/type-patterns',
  ],
  'the bytes of a file, and the objects that use it': ['file/content', 'file/image-size', 'file/reference'],
  'the ways to pay, which three resources have in common': ['payment/method'],
  'what payments are of, which six resources are': ['refund/payment-source'],
  'what is stored encrypted': ['person/encryption', 'webhook-endpoint/encryption'],
  'a table of codes that is in the graph': ['receivable/purpose-codes'],
  'to which URL an endpoint delivers, and by whose rights it reads': [
    'webhook-endpoint/reader',
    'webhook-endpoint/url',
  ],
};

describe('the folder of a resource', () => {
  const files = fs
    .readdirSync('src/resources', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.includes('/'))
    .map((name) => ({ name: name.slice(0, -3), text: fs.readFileSync(`src/resources/${name}`, 'utf8') }));
  const inFile = (name: string) => name.split('/')[1]!;
  const others = files.filter(({ name }) => !ordered.includes(inFile(name)));

  it('has the files in the order of the guide, and others only for a concern of their own', () => {
    const where = 'a further file has a concern, which furtherFiles of this test names';
    expect(others.map(({ name }) => name).toSorted(), where).toEqual(Object.values(furtherFiles).flat().toSorted());
  });

  it('has no file of rules, and none of another concern, with fewer than 20 lines', () => {
    const short = files.filter(({ name, text }) => text.split('\n').length <= 20 && inFile(name) !== 'table');
    const bound = ordered.filter((name) => name !== 'rules');
    const where = 'move it into the file that uses it, such as a rule into inputs.ts';
    expect(
      short.filter(({ name }) => !bound.includes(inFile(name))).map(({ name }) => name),
      where,
    ).toEqual([]);
  });

  it.each([
    ['types of input', /^@InputType\(/m, 'inputs'],
    ['resolvers', /^@Resolver\(/m, 'resolver'],
    ['listings', /^(export )?const \w+(: Listing\b| = listingOf\()/m, 'listing'],
  ])('has its %s in one file', (_, pattern, file) => {
    const found = files.filter(({ text }) => pattern.test(text)).map(({ name }) => name);
    expect(found.length).toBeGreaterThan(10);
    expect(found.filter((name) => inFile(name) !== file)).toEqual([]);
  });

  it('exports nothing but resolvers from its resolver', () => {
    const exported = files
      .filter(({ name }) => inFile(name) === 'resolver')
      .flatMap(({ name, text }) =>
        [...text.matchAll(/^export (?!class \w+Resolver\b).*/gm)].map(([line]) => [name, line]),
      );
    expect(exported).toEqual([]);
  });
});

/** The views that have the columns of a table and further ones, with the files of their definitions. */
const views: [view: PgTable, file: string][] = [
  [byBalance.view!.table, 'drizzle/functions/ledger/balance-rank.sql'],
  [checkoutNow, 'drizzle/functions/checkout/checkout.sql'],
];

describe('a view that lists read in place of a table', () => {
  it.each(views)('has a column for each of the table', (view, file) => {
    const name = getTableName(view);
    const text = fs.readFileSync(file, 'utf8').split(`create view ${name} as\n`)[1]!.split(';')[0]!;
    const missing = Object.values(getTableColumns(view))
      .map((column) => column.name)
      .filter((column) => !new RegExp(`\\b${column},?\n`).test(text));
    expect(missing, `write these in the view ${name}, in ${file}`).toEqual([]);
  });
});

/** The types of events that calls of emit_event contain, and the nouns to which they append a status. */
function emitted(): { types: Set<string>; nouns: Set<string> } {
  const [types, nouns] = [new Set<string>(), new Set<string>()];
  for (const file of functionFiles()) {
    const text = fs.readFileSync(`drizzle/${file}`, 'utf8');
    for (const [call] of text.matchAll(/emit_(?:root_|webhook_)?event(?:_at)?\([^;]*;/g)) {
      for (const [, type] of call.matchAll(/'(\w+\.\w+)'/g)) types.add(type!);
      for (const [, noun] of call.matchAll(/'(\w+)\.' \|\|/g)) nouns.add(noun!);
    }
  }
  return { types, nouns };
}

describe('the event types', () => {
  it('that SQL emits are declared', () => {
    const { types } = emitted();
    expect(types.size).toBeGreaterThan(30);
    expect([...types].filter((type) => !events.has(type))).toEqual([]);
  });

  it('that are declared are emitted by SQL, as constants or with the status of the object', () => {
    const { types, nouns } = emitted();
    const byStatus = [...events.keys()].filter((type) => !types.has(type));
    expect(byStatus.filter((type) => !nouns.has(type.split('.')[0]!))).toEqual([]);
    expect([...new Set(byStatus.map((type) => type.split('.')[0]))].toSorted()).toEqual([...nouns].toSorted());
  });

  it('with the status of the object end with a status that its table allows', () => {
    const { types } = emitted();
    const migrations = fs.readdirSync('drizzle').filter((file) => file.endsWith('.sql'));
    const sql = migrations.map((file) => fs.readFileSync(`drizzle/${file}`, 'utf8')).join('\n');
    for (const type of [...events.keys()].filter((each) => !types.has(each))) {
      const [noun, status] = type.split('.') as [string, string];
      const allowed = new RegExp(`"${noun}_status" CHECK \\(.*'${status}'`);
      expect({ type, allowed: allowed.test(sql) }).toEqual({ type, allowed: true });
    }
  });
});
