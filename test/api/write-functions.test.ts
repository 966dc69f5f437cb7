import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  type Declared,
  declarationsIn,
  definedFunctions,
  isRetired,
  isWriting,
  writeFunctions,
  writeFunctionsText,
} from '../../src/db/write/print-write-functions.js';
import { account } from '../../src/resources/account/table.js';
import { deposit } from '../../src/resources/deposit/table.js';
import { changing } from './changes.js';
import { useWorld } from '../support/world.js';
import { functionFiles } from '../../src/db/schema/schema-version.js';
import { createRoot } from '../../src/operator/account/accounts.js';

const world = useWorld({ worker: false });

/** Every plpgsql function of the project in the catalogue, with its source. */
const catalogue = () => world.sql<{ name: string; source: string; parameters: string[] | null }[]>`
  select p.proname as name, p.prosrc as source, p.proargnames as parameters
  from pg_proc p
  where p.pronamespace = 'public'::regnamespace and p.proname not like 'tg\_%'
  order by 1`;

/** The keys that a body reads of a variable: `v_args ->> 'key'`, `v_args -> 'key'` and `v_args ? 'key'`. */
const readOf = (body: string, variable: string) =>
  [...body.matchAll(new RegExp(String.raw`\b${variable} (?:->>?|\?) '(\w+)'`, 'g'))].map((match) => match[1]!);

/** The functions to which a body passes its arguments unchanged. */
const handedOnTo = (body: string, variable: string) =>
  [...body.matchAll(new RegExp(String.raw`\b(\w+)\([^;]*?\b${variable}\s*\)`, 'g'))].map((match) => match[1]!);

/** The functions that a body calls. */
const calledIn = (body: string) => [...body.matchAll(/\b(\w+)\(/g)].map((match) => match[1]!);

/** The functions that one calls, and those that these call. */
function functionsBelow(name: string, sources: ReadonlyMap<string, string>): Set<string> {
  const found = new Set<string>();
  const add = (of: string) => {
    for (const each of calledIn(sources.get(of) ?? ''))
      if (sources.has(each) && !found.has(each)) {
        found.add(each);
        add(each);
      }
  };
  add(name);
  return found;
}

/**
 * The variables and the aliases that have the object of an argument, or one after the other the members of its list.
 */
const holdersOf = (body: string, key: string) => [
  ...[...body.matchAll(new RegExp(String.raw`\b(\w+) jsonb := [^;]*-> '${key}'[^;]*;`, 'g'))].map((match) => match[1]!),
  ...[
    ...body.matchAll(
      new RegExp(String.raw`\bfor (\w+) in select \* from jsonb_array_elements\(\w+ -> '${key}'\)`, 'g'),
    ),
  ].map((match) => match[1]!),
  ...[
    ...body.matchAll(
      new RegExp(String.raw`jsonb_array_elements\(\w+ -> '${key}'\)(?: with ordinality \w+ \()? ?(\w+)`, 'g'),
    ),
  ].map((match) => match[1]!),
];

const sourceOf = async () => new Map((await catalogue()).map(({ name, source }) => [name, source]));

describe('the declarations of the write functions', () => {
  it('are the source of write-functions.ts, which `npm run schema` writes', () => {
    expect(fs.readFileSync('src/db/write/write-functions.ts', 'utf8')).toBe(writeFunctionsText());
  });

  it('are those of the functions in the catalogue', async () => {
    const sources = await sourceOf();
    const defined = definedFunctions();
    expect([...sources.keys()]).toEqual([...new Set(defined.map(({ name }) => name))].sort());
    for (const { name, body } of defined) expect([name, sources.get(name)?.trim()]).toEqual([name, body.trim()]);
  });

  it('come first in each function that takes arguments, which reads no argument before', async () => {
    for (const { name, source, parameters } of await catalogue()) {
      if (!isWriting(parameters) || isRetired(source)) continue;
      expect([name, source]).toEqual([
        name,
        expect.stringMatching(/^\s*declare\s+v_args jsonb := check_args\(\s*p_args,/),
      ]);
      expect([name, source.match(/p_args/g)?.length]).toEqual([name, 1]);
    }
    expect(writeFunctions().length).toBeGreaterThan(35);
  });

  it('contain every key that a body reads, and no other', async () => {
    const sources = await sourceOf();
    const faults: string[] = [];
    for (const [name, source] of sources) {
      for (const { variable, args } of declarationsIn(source)) {
        const read = new Set(readOf(source, variable));
        // An account is created from the arguments of two functions; a key that one of them lacks is null there.
        for (const other of handedOnTo(source, variable))
          for (const key of ['p_args', 'v_args'].flatMap((given) => readOf(sources.get(other) ?? '', given)))
            if (args.some((arg) => arg.key === key)) read.add(key);
        const declared = new Set(args.map(({ key }) => key));
        const retired = new Set(args.filter((arg: Declared) => arg.retired).map(({ key }) => key));
        for (const key of read) if (!declared.has(key)) faults.push(`${name} reads ${key} undeclared`);
        for (const key of declared)
          if (!read.has(key) && !retired.has(key)) faults.push(`${name} does not read ${key}`);
      }
    }
    // The members of an object are read of a variable that has the object, or of the rows that its list becomes.
    for (const [name, source] of sources)
      for (const { key, members = [] } of declarationsIn(source).flatMap(({ args }) => args)) {
        const readers = [name, ...functionsBelow(name, sources)].map((other) => sources.get(other)).join('\n');
        for (const member of members)
          if (!new RegExp(`->>? '${member.key}'`).test(readers))
            faults.push(`${name} does not read ${key}.${member.key}`);
        for (const variable of members.length > 0 ? holdersOf(source, key) : [])
          for (const read of readOf(source, variable))
            if (!members.some((member) => member.key === read)) faults.push(`${name} reads ${key}.${read} undeclared`);
      }
    const made = ['create_account', 'create_root'].flatMap((name) => declarationsIn(sources.get(name)!)[0]!.args);
    const keys = readOf(sources.get('insert_account')!, 'p_args');
    for (const key of keys)
      if (!made.some((arg) => arg.key === key)) faults.push(`insert_account reads ${key} undeclared`);
    expect(faults).toEqual([]);
  });

  it('contain every key of the write envelope that any function reads', async () => {
    const sources = await sourceOf();
    const [envelope] = declarationsIn(sources.get('store_idempotent_response')!);
    const declared = envelope!.args.map(({ key }) => key);
    const read = [...sources.values()].flatMap((source) => [
      ...readOf(source, 'p_envelope'),
      ...readOf(source, 'v_envelope'),
    ]);
    const cut = [...sources.values()].flatMap((source) =>
      [...source.matchAll(/p_envelope - '(\w+)'/g)].map((m) => m[1]!),
    );
    expect([...read, ...cut].filter((key) => !declared.includes(key))).toEqual([]);
  });

  it('belong to functions that TypeScript or other functions call', () => {
    const called = definedFunctions()
      .map(({ body }) => body)
      .join('\n');
    const sources = (fs.readdirSync('src', { recursive: true, encoding: 'utf8' }) as string[])
      .filter((file) => file.endsWith('.ts') && !file.endsWith('write-functions.ts'))
      .map((file) => fs.readFileSync(`src/${file}`, 'utf8'))
      .join('\n');
    const names = writeFunctions().map(({ name }) => name);
    expect(names.filter((name) => !sources.includes(`'${name}'`) && !called.includes(`${name}(`))).toEqual([]);
  });
});

/** The functions that update an object without changing it, with the reason. */
const unchanging: Record<string, string> = {
  claim_payouts: 'no account sees the order of a payout',
  claim_webhook_deliveries: 'a claim is of the worker',
  credit_checkout: 'its own payment, which it has just inserted, gets its checkout',
  pay_out: 'which payout took the money of a failed one is told by that payout',
  queue_deliveries: 'when the worker sends next',
  redeliver_webhooks: 'when the worker sends next',
  rehash_api_key: 'the digest is under another pepper',
  release_payouts: 'no account sees the order of a payout',
  seal_tax_cards: 'the same number is encrypted',
  seal_webhook_secrets: 'the same secret is encrypted',
  test_webhook_endpoint: 'when the worker sends next',
  touch_api_key: 'a statistic of the requests',
};

describe('an update of an object', () => {
  it('records when it was, in every function', async () => {
    const updates = [...(await sourceOf())].flatMap(([name, source]) =>
      [...source.matchAll(/\bupdate (\w+)\b[^;]*?;/g)].flatMap(([statement, table]) =>
        changing.includes(table!) && !/\bupdated_at =/.test(statement) ? [name] : [],
      ),
    );
    expect([...new Set(updates)].toSorted()).toEqual(Object.keys(unchanging).toSorted());
  });
});

describe('a write whose arguments differ from the declared ones', () => {
  const move = (args: object, name = 'move_payout') =>
    world.sql.unsafe(`select * from ${name}('nobody', false, '{}', $1::text::jsonb)`, [JSON.stringify(args)]);

  it.each([
    [{ id: 'payout_1', too: 'completed' }, 'move_payout: "to" is missing, "too" is not declared'],
    [{ id: 'payout_1' }, 'move_payout: "to" is missing'],
    [{ id: 1, to: 'completed' }, 'move_payout: "id" is of type number instead of string'],
    [{ id: 'payout_1', to: null }, 'move_payout: "to" is of type null instead of string'],
  ])('is refused as an error of the program: %j', async (args, message) => {
    await expect(move(args)).rejects.toMatchObject({ code: '22023', message });
  });

  it('may lack an optional key, and have null where a declaration allows it', async () => {
    const setting = { accountId: 'account_1', hold: true };
    await expect(move(setting, 'set_service_hold')).rejects.toMatchObject({ code: 'TG404' });
    const receivable = { id: 'receivable_1', description: null };
    await expect(move(receivable, 'void_receivable')).rejects.toMatchObject({
      message: 'void_receivable: "description" is not declared',
    });
    // The arguments are valid; the receivable does not exist.
    await expect(move(receivable, 'update_receivable')).rejects.toMatchObject({ code: '23502' });
  });

  it('is refused when its envelope has a key that no function reads', async () => {
    const { row } = await createRoot(world.operator, root).then(({ account: row }) => ({ row }));
    const hold = JSON.stringify({ accountId: row.id, hold: true });
    const write = (envelope: object) =>
      world.sql.unsafe(`select * from set_service_hold($1, false, $2::text::jsonb, $3::text::jsonb)`, [
        row.tenantId,
        JSON.stringify(envelope),
        hold,
      ]);
    await expect(write({ key: 'k', acount: 'operator', operation: 'hold', request: {} })).rejects.toMatchObject({
      message: 'store_idempotent_response: "acount" is not declared',
    });
    const right = { account: 'operator', key: 'k', operation: 'hold', request: {}, requestId: 'req_1' };
    expect(await write(right)).toHaveLength(1);
  });

  it('does not compile', () => {
    const { database } = world;
    const calls = [
      // @ts-expect-error: a misspelt key
      () => database.write('move_payout', 't', false, null, { id: 'payout_1', too: 'completed' }, deposit),
      // @ts-expect-error: an additional key
      () => database.write('set_service_hold', 't', false, null, { accountId: 'a', hold: true, by: 'me' }, account),
      // @ts-expect-error: the rows are deposits
      () => database.write('move_deposit', 't', false, null, { id: 'd', from: [], to: 'completed' }, account),
      // @ts-expect-error: no such function
      () => database.write('move_deposits', 't', false, null, { id: 'd', from: [], to: 'completed' }, deposit),
      () => database.write('move_deposit', 't', false, null, { id: 'd', from: [], to: 'completed' }, deposit),
    ];
    expect(calls).toHaveLength(5);
  });
});

const root = { type: 'user', edition: 1, businessDetails: { legalName: 'Acme' } } as const;

/** Arguments that fit a declaration, where it can be any value of the type. */
const samples: Record<string, unknown> = {
  ...{ text: 'x', bigint: '1', int: 1, boolean: true, object: {}, 'text[]': [], 'object[]': [] },
};

const fittingOf = (args: Declared[]): Record<string, unknown> =>
  Object.fromEntries(
    args.map(({ key, type, members }) => {
      const inner = members && fittingOf(members);
      return [key, inner ? (type === 'object' ? inner : [inner]) : samples[type]];
    }),
  );

describe.each(writeFunctions())('$name', ({ name, args, parameters }) => {
  const fitting = fittingOf(args);
  const call = (given: object) =>
    world.database
      .call(name, ['nobody', false, '{}', JSON.stringify(given), ...parameters.slice(4).map(() => '')])
      .catch((error: Error) => error.message);

  it('refuses an argument that it does not declare, one that is missing, and one of another type', async () => {
    expect(await call({ ...fitting, other: 1 })).toBe(`${name}: "other" is not declared`);
    for (const { key, type, optional, nullable, members } of args) {
      const inner = members && { ...fittingOf(members), other: 1 };
      const place = type === 'object' ? key : `${key}[0]`;
      if (inner)
        expect(await call({ ...fitting, [key]: type === 'object' ? inner : [inner] })).toBe(
          `${name}: "${place}.other" is not declared`,
        );
      const { [key]: _, ...rest } = fitting;
      if (!optional) expect(await call(rest)).toBe(`${name}: "${key}" is missing`);
      if (!nullable) expect(await call({ ...fitting, [key]: null })).toMatch(`${name}: "${key}" is of type null`);
      const wrong = type === 'int' ? 'x' : 1;
      expect(await call({ ...fitting, [key]: wrong })).toMatch(`${name}: "${key}" is of type ${typeof wrong} instead`);
    }
  });
});

/** The functions with direct tests, by the file of the tests: each group of tests there begins with `of('name'`. */
const tested = fs.readdirSync('test/functions').flatMap((file) => {
  const text = fs.readFileSync(`test/functions/${file}`, 'utf8');
  return [...text.matchAll(/^ *of\('(\w+)'/gm)].map(([, name]) => name!);
});

// The groups themselves fail when they do not call their function, or leave out a domain error of its body.
it('has direct tests of every function of the catalogue', async () => {
  const names = (await catalogue()).map(({ name }) => name);
  expect(names.length).toBeGreaterThan(140);
  expect(names.filter((name) => !tested.includes(name))).toEqual([]);
  expect(tested.filter((name) => !names.includes(name))).toEqual([]);
  expect(tested.length).toBe(new Set(tested).size);
});

it('names each function of more than 60 lines with its reason in the first comment of its file', () => {
  const faults: string[] = [];
  for (const file of functionFiles()) {
    const text = fs.readFileSync(`drizzle/${file}`, 'utf8');
    const head = /^(?:--.*\n)*/.exec(text)![0].replaceAll(/\n--/g, '');
    const [, listed = ''] = /Longer than 60 lines: (.*)\.\n/.exec(head) ?? [];
    const named = [...listed.matchAll(/(\w+) \([^)]+\)(?:; |$)/g)].map(([, name]) => name!);
    const long = [...text.matchAll(/^create or replace function (\w+)\([\s\S]*?^\$\$;/gm)]
      .filter(([definition]) => definition.split('\n').length > 60)
      .map(([, name]) => name!);
    if (named.join() !== long.join()) faults.push(`${file} has ${long.join(', ')}, and names ${named.join(', ')}`);
  }
  expect(faults).toEqual([]);
});
