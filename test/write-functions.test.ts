import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  type Declared,
  declarationsIn,
  definedFunctions,
  writeFunctions,
  writeFunctionsText,
} from '../src/db/print-write-functions.js';
import { account } from '../src/resources/account/table.js';
import { deposit } from '../src/resources/deposit/table.js';
import { useWorld } from './world.js';

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

const sourceOf = async () => new Map((await catalogue()).map(({ name, source }) => [name, source]));

describe('the declarations of the write functions', () => {
  it('are the source of write-functions.ts, which `npm run schema` writes', () => {
    expect(fs.readFileSync('src/db/write-functions.ts', 'utf8')).toBe(writeFunctionsText());
  });

  it('are those of the functions in the catalogue', async () => {
    const sources = await sourceOf();
    const defined = definedFunctions();
    expect([...sources.keys()]).toEqual([...new Set(defined.map(({ name }) => name))].sort());
    for (const { name, body } of defined) expect([name, sources.get(name)?.trim()]).toEqual([name, body.trim()]);
  });

  it('come first in each function that takes arguments, which reads no argument before', async () => {
    for (const { name, source, parameters } of await catalogue()) {
      if (parameters?.join() !== 'p_tenant,p_live,p_call,p_args') continue;
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
        for (const other of handedOnTo(source, variable)) {
          const parameter = other === 'insert_account' ? 'p_args' : 'v_args';
          for (const key of readOf(sources.get(other) ?? '', parameter))
            if (args.some((arg) => arg.key === key)) read.add(key);
        }
        const declared = new Set(args.map(({ key }) => key));
        const retired = new Set(args.filter((arg: Declared) => arg.retired).map(({ key }) => key));
        for (const key of read) if (!declared.has(key)) faults.push(`${name} reads ${key} undeclared`);
        for (const key of declared)
          if (!read.has(key) && !retired.has(key)) faults.push(`${name} does not read ${key}`);
      }
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
    const read = [...sources.values()].flatMap((source) => [...readOf(source, 'p_call'), ...readOf(source, 'v_call')]);
    const cut = [...sources.values()].flatMap((source) => [...source.matchAll(/p_call - '(\w+)'/g)].map((m) => m[1]!));
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
    const { row } = await world.operator.createRoot(root).then(({ account: row }) => ({ row }));
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
    // Gateways of the previous version send whether the client chose the key.
    const before = { account: 'operator', key: 'k', sent: true, operation: 'hold', request: {}, requestId: 'req_1' };
    expect(await write(before)).toHaveLength(1);
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

/** The tests of each file of functions. Write functions are tested through both APIs, or through the operator. */
const testsOf: Record<string, string> = {
  'account-setting': 'account-setting bank',
  'account-status': 'activation operator sandbox',
  account: 'account connected-user operator',
  'address-issue': 'address sandbox operator',
  address: 'address',
  arguments: 'write-functions',
  bank: 'bank',
  'checkout-audit': 'checkout ledger',
  'checkout-credit': 'checkout hosted',
  checkout: 'checkout rules',
  clock: 'clock sandbox',
  'deposit-audit': 'ledger model',
  deposit: 'deposit rules',
  dispute: 'deposit payout model',
  event: 'event',
  'exchange-rate': 'payout money',
  file: 'file',
  job: 'job-runner rules',
  key: 'key secrets',
  'ledger-audit': 'ledger migration',
  ledger: 'ledger',
  'payout-audit': 'payout ledger',
  'payout-end': 'payout',
  'payout-schedule': 'payout account-setting',
  payment: 'deposit payout',
  payout: 'payout bank',
  person: 'person migration-writes',
  read: 'statements',
  receivable: 'receivable',
  reconciliation: 'deposit receivable model',
  rules: 'rules',
  seal: 'ledger',
  'status-poll': 'hosted hosted-safety',
  transaction: 'checkout hosted hosted-safety',
  violations: 'ledger cli',
  write: 'idempotency event metadata',
};

it('lists the tests of every file of functions', () => {
  const files = [...new Set(definedFunctions().map(({ file }) => file))];
  const views = fs.readdirSync('drizzle/functions').filter((file) => file.endsWith('.sql') && !files.includes(file));
  expect(Object.keys(testsOf).sort()).toEqual([...files, ...views].map((file) => file.replace('.sql', '')).sort());
  const missing = Object.values(testsOf)
    .flatMap((names) => names.split(' '))
    .filter((name) => !fs.existsSync(`test/${name}.test.ts`));
  expect(missing).toEqual([]);
});
