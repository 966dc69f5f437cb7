import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { readable } from '../../src/operator/commands/output.js';
import { onOneLine, visible } from '../../src/operator/commands/visible.js';
import { ConsoleSeed } from '../browser/console-fixture.js';
import { trigger } from '../../src/operator/commands/trigger/trigger.js';
import { camt } from '../support/bank-files.js';
import { settingsOf, useChildren } from '../support/child.js';
import { givenIn, type Speaker, useWorld } from '../support/world.js';

// Each command starts Node, which takes long on a busy machine.

const world = useWorld();
const given = givenIn(world);
const children = useChildren();
let user: Speaker;
let environment: Record<string, string>;

const tidegate = (...args: string[]) => children.quickCommand(environment, ...args);

beforeAll(async () => {
  environment = await settingsOf(world);
  user = await given.directUser(1);
  await trigger({
    gateway: world.origin,
    credential: { authorization: `Bearer ${user.key}` },
    type: 'payout.completed',
    say: () => {},
  });
});

const commands = 'src/operator/commands';
/** All that a terminal would obey: C0 but newlines, C1, and what changes directions or lines. */
const obeyed = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
const withoutNewlines = (text: string) => text.replaceAll('\n', '');

describe('a text that a terminal would obey', () => {
  it('is shown with escapes, and newlines and tabs stay except within a line', () => {
    const text =
      'a\u0000\u0007\b\r\u001b[2J\u007f\u0085\u009b1A\u061c\u200e\u200f\u2028\u202a\u202e\u2066\u2069 é नमस्ते 👩‍🚀';
    const shown =
      'a\\u0000\\u0007\\u0008\\u000d\\u001b[2J\\u007f\\u0085\\u009b1A\\u061c\\u200e\\u200f\\u2028\\u202a\\u202e' +
      '\\u2066\\u2069 é नमस्ते 👩‍🚀';
    expect([visible(text), onOneLine(text)]).toEqual([shown, shown]);
    expect([visible('a\n\tb'), onOneLine('a\n\tb')]).toEqual(['a\n\tb', 'a\\u000a\\u0009b']);
    expect(JSON.parse(visible(JSON.stringify({ text })))).toEqual({ text });
  });

  it('of a tenant is shown so by tables, single objects and JSON', async () => {
    const nickname = 'x\u001b]0;pwned\u0007\u001b[2J\u009b31m\u202egnp\nsecond line';
    const body = { nickname, business_details: { legal_name: nickname } };
    const made = await (await given.platform(1)).post('/v1/accounts/connected', body);
    expect(made.status).toBe(200);

    const named = [made.body.id, '--mode=test'];
    const [list, show, json] = await Promise.all([
      tidegate('account', 'list', '--status=draft', '--mode=test'),
      tidegate('account', 'show', ...named),
      tidegate('account', 'show', ...named, '--json'),
    ]);

    for (const { out, errors } of [list, show, json]) {
      expect(errors).toBe('');
      expect(withoutNewlines(out)).not.toMatch(obeyed);
    }
    const shown = 'x\\u001b]0;pwned\\u0007\\u001b[2J\\u009b31m\\u202egnp\\u000asecond line';
    for (const { out } of [list, show]) expect(out).toContain(shown);
    expect(JSON.parse(json.out).account.nickname).toBe(nickname);
  });

  it('in an error is shown so', async () => {
    const { code, out, errors } = await tidegate('account', 'show', 'account_\u001b[2J\u202e');
    expect([code, out]).toEqual([1, '']);
    expect(withoutNewlines(errors)).not.toMatch(obeyed);
    const unknown = await tidegate('bogus\u001b[2J\u009b');
    expect(unknown.errors).toBe("unknown command 'bogus\\u001b[2J\\u009b'\n");
  });

  it('has one way out of a command', () => {
    const names = fs
      .readdirSync(commands, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'));
    const files = [...names.map((name) => `${commands}/${name}`), 'src/cli.ts'];
    const writing = files.filter((file) => /std(out|err)\.write|console\./.test(fs.readFileSync(file, 'utf8')));
    expect(writing).toEqual([`${commands}/terminal.ts`]);
  });
});

/** A time in ISO 8601, as a pattern. */
const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z`;

describe('a readable table', () => {
  it('of payouts has the columns that matter, with names, modes as words and times in ISO 8601', async () => {
    const { out } = await tidegate('payout', 'list', '--status=completed', '--mode=test');
    const [head, first] = out.split('\n');
    expect(head).toMatch(/^ID +MODE  ACCOUNT ID +ACCOUNT NAME +AMOUNT +STATUS +CREATED +EXPECTED ARRIVAL$/);
    const [id] = /payout_\w+/.exec(first!)!;
    expect(first).toMatch(new RegExp(`^${id}  test  ${user.id}  \\S.*  completed  ${time}  ${time}$`));

    const [show, json] = await Promise.all([tidegate('payout', 'show', id), tidegate('payout', 'show', id, '--json')]);
    expect(show.out).toMatch(/^mode +test$/m);
    expect(show.out).toMatch(new RegExp(`^created +${time}$`, 'm'));
    expect(JSON.parse(json.out)).toMatchObject({ livemode: false, created: expect.any(Number) });
  });

  it('of what operators did leaves out what only JSON needs', async () => {
    await tidegate('payout', 'hold', 'account_none');
    const { out } = await tidegate('operator', 'actions');
    const [head] = out.split('\n');
    expect(head).toMatch(/^NUMBER  CREATED +OPERATOR +OPERATION +OBJECT +ACCOUNT NAME +MODE  OUTCOME +CODE$/);
  });

  it('of attempts to pay names whose they are, and of accounts in a status has the newest first', async () => {
    const { checkoutId } = await new ConsoleSeed(world, '').undecided();
    const drafts: string[] = [];
    for (const nickname of ['Older draft', 'Newer draft']) {
      const made = await (await given.platform(1)).post('/v1/accounts/connected', { nickname });
      drafts.unshift(made.body.id as string);
    }
    const [pending, listed, help] = await Promise.all([
      tidegate('transaction', 'pending'),
      tidegate('account', 'list', '--status=draft', '--mode=test', '--json'),
      tidegate('operator', 'actions', '--help'),
    ]);
    const [head, ...rows] = pending.out.split('\n');
    expect(head).toMatch(/ACCOUNT NAME$/);
    expect(rows.find((row) => row.includes(checkoutId))).toMatch(/Malabar Spice Traders LLP$/);
    const { accounts } = JSON.parse(listed.out) as { accounts: { account: { id: string } }[] };
    const ids = accounts.map(({ account }) => account.id).filter((id) => drafts.includes(id));
    expect(ids).toEqual(drafts);
    expect(help.out.replaceAll(/\s+/g, ' ')).toContain(
      'The number of an action is that of its first entry in the audit log',
    );
  });

  describe('on a terminal', () => {
    const now = 1_800_000_000;
    const payouts = [
      {
        id: 'payout_1',
        livemode: true,
        amount: '10.00',
        currency: 'EUR',
        account_id: 'account_1',
        status: 'failed',
        created: now - 4 * 86_400,
      },
      {
        id: 'payout_2',
        livemode: true,
        amount: '7.00',
        currency: 'USD',
        account_id: 'account_2',
        status: 'completed',
        created: now + 7_200,
      },
    ];
    const names = [
      { id: 'account_1', name: 'A name that is much longer than a column', city: 'München', note: '東京'.repeat(20) },
      { id: 'account_with_a_long_id', name: 'Short', city: 'Pune', note: '' },
    ];
    const text = (width: number, list: object, colour = false) => readable(list, { width, colour, now });

    it('has ages for times, and whole ids and figures or none', () => {
      expect(text(100, { list: payouts })).toBe(
        'ID        MODE  AMOUNT     ACCOUNT ID  STATUS     CREATED\n' +
          'payout_1  live  10.00 EUR  account_1   failed     4 d\n' +
          'payout_2  live  7.00 USD   account_2   completed  in 2 h\n',
      );
      const lines = (width: number) => text(width, { list: payouts }).split('\n').slice(1, 2);
      expect(lines(56)).toEqual(['payout_1  live  10.00 EUR  failed     4 d']);
      expect(lines(36)).toEqual(['payout_1  live  10.00 EUR  failed']);
      expect(lines(20)).toEqual(['payout_1  live']);
      expect(lines(5)).toEqual(['payout_1']);
    });

    it.each([60, 80, 100])('of %i columns has rows that fit, whose first column is whole', (width) => {
      const shown = text(width, { names }).trimEnd().split('\n');
      expect(shown).toHaveLength(3);
      expect(shown[2]).toMatch(/^account_with_a_long_id /);
      for (const line of shown) {
        // A character of Chinese takes two columns.
        const wide = [...line].filter((each) => /\p{Script=Han}/u.test(each)).length;
        expect(line.length + wide).toBeLessThanOrEqual(width);
      }
      expect(shown[1]).toContain('…');
    });

    it('has colours for what is well, what waits and what is wrong, where it shows them', () => {
      const coloured = text(100, { list: payouts }, true);
      expect(coloured).toContain('\u001b[31mfailed\u001b[39m');
      expect(coloured).toContain('\u001b[32mcompleted\u001b[39m');
      expect(stripVTControlCharacters(coloured)).toBe(text(100, { list: payouts }));
    });
  });
});

describe('a command whose output is a terminal', () => {
  /** Runs a command whose standard output says that it is a terminal of 100 columns; returns what it prints. */
  const shownOn = (colours: boolean, ...args: string[]) =>
    new Promise<string>((resolve) => {
      const terminal = `{ isTTY: true, columns: 100, hasColors: () => ${colours} }`;
      const before = `data:text/javascript,Object.assign(process.stdout, ${encodeURIComponent(terminal)})`;
      const env = { ...process.env, ...environment };
      const child = spawn(process.execPath, ['--import', before, 'dist/cli.js', ...args], { env });
      let out = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
      child.on('close', () => resolve(out));
    });
  const list = ['payout', 'list', '--status=completed', '--mode=test'];

  it('has rows that fit, with ages and with colours where it shows them', async () => {
    const [plain, coloured] = await Promise.all([shownOn(false, ...list), shownOn(true, ...list)]);
    const rows = plain.trimEnd().split('\n');
    expect(rows[0]).toMatch(/^ID +MODE +ACCOUNT NAME +AMOUNT +STATUS +CREATED/);
    expect(Math.max(...rows.map(({ length }) => length))).toBeLessThanOrEqual(100);
    expect([plain.includes('\u001b'), coloured.includes('\u001b[32mcompleted\u001b[39m')]).toEqual([false, true]);
    expect(stripVTControlCharacters(coloured)).toBe(plain);
  });

  it('has whole rows with exact times and no colours with --wide, and JSON with --json', async () => {
    const [wide, json, elsewhere] = await Promise.all([
      shownOn(true, ...list, '--wide'),
      shownOn(true, ...list, '--json'),
      tidegate(...list),
    ]);
    expect(wide).toBe(elsewhere.out);
    expect(wide).toMatch(new RegExp(`  completed  ${time}`));
    expect(JSON.parse(json).payouts[0].status).toBe('completed');
  });
});

describe('a command that takes long, on a terminal', () => {
  /** Runs a command whose standard error says that it is a terminal; returns what it prints there. */
  const said = (settings: Record<string, string>, ...args: string[]) =>
    new Promise<string>((resolve) => {
      const before = 'data:text/javascript,Object.assign(process.stderr, { isTTY: true })';
      const env = { ...process.env, ...settings };
      const child = spawn(process.execPath, ['--import', before, 'dist/cli.js', ...args], { env });
      let errors = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
      child.on('close', () => resolve(errors));
    });

  /** Expects of what a command has said that a step is told in one line, which is written anew up to 100 %. */
  const expectLine = (text: string, step: string) => {
    const line = text.split('\n').find((each) => each.includes(step)) ?? text;
    expect(stripVTControlCharacters(line)).toMatch(new RegExp(`^(\\r${step}: \\d+ %)+$`));
    const percents = [...line.matchAll(/(\d+) %/g)].map(([, percent]) => Number(percent));
    expect([percents, percents.at(-1)]).toEqual([percents.toSorted((one, other) => one - other), 100]);
  };

  it('says how far it is in one line: a backup, and its restore', async () => {
    const folder = `${children.folder()}/backup`;
    expectLine(await said(environment, 'backup', folder), 'Copying the tables');
    const restored = await said(await children.database(), 'restore', folder);
    for (const step of ['Restoring the tables', 'Migrating the database']) expectLine(restored, step);
  });

  it('says how far it is in one line: the import of a file of a bank', async () => {
    const file = `${children.folder()}/bank.xml`;
    const entries = [{ reference: 'TTY-1', amount: '5.00', payee: '000999888777' }];
    fs.writeFileSync(file, camt([{ account: 'POOL', entries }]));
    const text = await said(environment, 'bank', 'import', file, '--allow-unknown');
    for (const step of ['Reading the file', 'Storing its lines', 'Booking the lines']) expectLine(text, step);
  });

  it('says how far it is in one line: a migration', async () => {
    expectLine(await said(await children.database(), 'migrate'), 'Migrating the database');
  });
});

it('--version prints the version of the program', async () => {
  const { version } = JSON.parse(fs.readFileSync('package.json', 'utf8')) as { version: string };
  expect(await tidegate('--version')).toEqual({ code: 0, out: `${version}\n`, errors: '' });
});

describe('a command whose reader has ended', () => {
  /** Runs a command whose standard output nothing reads; returns its exit code with what it says. */
  const unread = (...args: string[]) =>
    new Promise<string>((resolve) => {
      const script = '{ "$0" dist/cli.js "$@"; echo "code $?" >&2; } | true';
      const env = { ...process.env, ...environment, TIDEGATE_KEY: user.key };
      const child = spawn('sh', ['-c', script, process.execPath, ...args], { env });
      let errors = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
      child.on('close', () => resolve(errors));
    });

  it.each([
    ['a list of the program', ['trigger', '--list']],
    ['a list of the database', ['account', 'list', '--mode=test']],
    ['JSON', ['payout', 'list', '--json']],
    ['the help', ['--help']],
  ])('ends without a word: %s', async (_, args) => {
    expect(await unread(...args)).toBe('code 0\n');
  });

  it('ends without a word: a stream of events', async () => {
    expect(await unread('events', 'tail', '--after=0', '--gateway', world.origin)).toBe('code 0\n');
  });
});

describe('a DATA_DIR without data', () => {
  it.each([[['demo']], [['account', 'list', '--json']], [['backup', '/tmp/tidegate-none']], [['cluster', 'status']]])(
    'is refused by %j, which makes no folder',
    async (args) => {
      const folder = `${children.folder()}/typo`;
      expect(await children.quickCommand({ DATA_DIR: folder }, ...args)).toEqual({
        ...{ code: 2, out: '' },
        errors:
          `DATA_DIR: there is no data of a gateway in ${folder}. Set DATA_DIR to the folder of the gateway, ` +
          'or start a gateway first.\n',
      });
      expect(fs.existsSync(folder)).toBe(false);
    },
  );
});
