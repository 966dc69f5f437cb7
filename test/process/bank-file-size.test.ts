import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { camt } from '../support/bank-files.js';
import { useChildren } from '../support/child.js';

/** As the issue of bank files has it, and more than any file may have. */
const hostileBytes = 200 * 1024 * 1024;
/**
 * How many MiB a process may need more at its peak than for a small file: less than the file has. What it keeps of
 * 100,000 transfers, to compare them with each other, is about 100, and anything else some 20.
 */
const growthMax = 180;

const OPERATOR_KEY = randomBytes(32).toString('hex');
const children = useChildren();
let environment: Record<string, string>;
let folder: string;
beforeAll(async () => {
  environment = { ...(await children.database({ migrated: true })), OPERATOR_KEY, TRUSTED_PROXY: '127.0.0.1' };
  folder = children.folder();
  const columns = ['--column', 'reference=UTR', 'day=Date', 'amount=Amount', 'text=Text', '--currency=USD'];
  const { errors } = await children.quickCommand(environment, 'bank', 'map', 'simple', ...columns, '--account=POOL');
  expect(errors).toBe('');
});

/** The most memory that a process has had so far, in MiB; undefined once it has ended. */
function peakOf(pid: number): number | undefined {
  try {
    return Number(/^VmHWM:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
  } catch {
    return undefined;
  }
}

/** A file: how it begins, what is repeated until it has its bytes, and what is said of it. */
interface Hostile {
  first: string;
  piece: string;
  said: RegExp;
  bytes?: number;
  encoding?: BufferEncoding;
  mapping?: string;
}

/** Imports a file: what the command says, and the memory and the time that it took. */
async function imported({ first, piece, bytes = hostileBytes, encoding, mapping }: Omit<Hostile, 'said'>) {
  const file = path.join(folder, 'bank');
  const open = fs.openSync(file, 'w');
  let written = fs.writeSync(open, Buffer.from(first, encoding));
  const pieces = Buffer.from(piece.repeat(Math.ceil(1_000_000 / piece.length)), encoding);
  while (written < bytes) written += fs.writeSync(open, pieces);
  fs.closeSync(open);
  const began = performance.now();
  const options = ['--dry-run', ...(mapping ? [`--mapping=${mapping}`] : [])];
  const child = children.startCommand(environment, 'bank', 'import', file, ...options);
  let peak = 0;
  for (; !child.over; await new Promise((resume) => setTimeout(resume, 10))) peak = peakOf(child.pid) ?? peak;
  fs.rmSync(file);
  const seconds = (performance.now() - began) / 1_000;
  return { code: await child.ended, said: child.errors.trim().split('\n').at(-1)!, peak, seconds };
}

const [beginning, entry] = camt([{ account: 'XX771', entries: [{ text: 'x'.repeat(100) }] }])
  .replace('</Stmt></BkToCstmrStmt></Document>', '')
  .trimEnd()
  .split(/\n(?=<Ntry>)/) as [string, string];
const comment = `<!-- ${'x'.repeat(5_000)} -->\n`;
const csv = { first: 'Date,UTR,Amount,Text\n', mapping: 'simple' };
const row = (text: string) => `2026-11-27,X1,3.00,${text}\n`;
const bomb = `<!DOCTYPE x [<!ENTITY a0 "${'lol'.repeat(100)}">${Array.from(
  { length: 30 },
  (_, i) => `<!ENTITY a${i + 1} "${`&a${i};`.repeat(10)}">`,
).join('')}]>`;
const large = /line \d+ ends behind 128 MB, the most that a file may have/;
const many = /line \d+ is beyond 100000 transfers, the most that a file may have/;
const quoted = /line \d+ has a row of more than 65536 characters, or a quote that does not end/;
const noUtf8 = /line \d+ is not text in UTF-8\./;
const mebibyte = 2 ** 20;

const files: [what: string, file: Hostile][] = [
  ['comments without end', { first: beginning, piece: comment, said: large }],
  ['entries without end', { first: beginning, piece: `\n${entry}`, said: many }],
  ['a text without end', { first: `${beginning}<Ntry><Nm>`, piece: 'x', said: /line 2 has a text that is longer/ }],
  ['a tag without end', { first: `${beginning}<`, piece: 'x', said: /line 2 is not well-formed XML: max buffer/ }],
  ['an entity bomb', { first: `<?xml version="1.0"?>${bomb}<x>`, piece: '&a30;', said: /line 1 has a document type/ }],
  ['100 MB that are cut', { first: beginning, piece: comment, bytes: 100 * mebibyte, said: /the file is cut\./ }],
  ['zeros behind its beginning', { first: beginning, piece: '\0', said: /line 2 has a text that is longer/ }],
  ['zeros alone', { first: '', piece: '\0', said: noUtf8 }],
  ['UTF-16', { first: beginning, piece: comment, encoding: 'utf16le', said: noUtf8 }],
  ['Latin 1', { first: beginning, piece: `${comment.repeat(9)}<!-- é -->`, encoding: 'latin1', said: noUtf8 }],
  ['rows without end', { ...csv, piece: row('x'), said: many }],
  ['large rows', { ...csv, piece: row('x'.repeat(5_000)), said: large }],
  ['a row without end', { ...csv, piece: 'x', said: quoted }],
  ['a quoted cell without end', { ...csv, first: `${csv.first}"`, piece: row('x'), said: quoted }],
  ['empty rows without end', { ...csv, piece: '\n', said: large }],
  [
    '100 MB of rows that are cut',
    { ...csv, piece: `\n${row('x'.repeat(5_000)).trim()}`, bytes: 100 * mebibyte, said: /the file may be cut/ },
  ],
  ['rows in UTF-16', { ...csv, piece: row('x'), encoding: 'utf16le', said: noUtf8 }],
  ['rows in Latin 1', { ...csv, piece: `${row('x')}${row('é')}`, encoding: 'latin1', said: noUtf8 }],
];

describe('tidegate bank import of a file of 200 MB', () => {
  let usual: number;
  beforeAll(async () => {
    const { code, peak } = await imported({ ...csv, piece: '\n', bytes: 0 });
    expect(code).toBe(0);
    usual = peak;
  });

  it.each(files)('says what is wrong, and needs no memory of its size: %s', async (what, { said, ...file }) => {
    const { code, peak, seconds, ...heard } = await imported(file);
    console.info(`bank file: ${what}: ${Math.round(peak - usual)} MiB more, ${seconds.toFixed(1)} s`);
    expect(heard.said).toMatch(said);
    expect(code).toBe(1);
    expect(peak - usual).toBeLessThan(growthMax);
  });
});

describe('the console', () => {
  it.each([
    ['with its length', true],
    ['without its length', false],
  ])('is refused an upload of 200 MB, and the gateway needs no memory of its size: %s', async (_, isSaid) => {
    const gateway = await children.gateway(environment);
    const headers = {
      ...{ authorization: `Bearer ${OPERATOR_KEY}`, 'x-forwarded-proto': 'https' },
      ...{ 'content-type': 'application/json', ...(isSaid && { 'content-length': String(hostileBytes) }) },
    };
    const upload = () =>
      new Promise<{ status: number; text: string; sent: number }>((resolve, reject) => {
        let sent = 0;
        const request = http.request(`${gateway.origin}/operator/graphql`, { method: 'POST', headers }, (answer) => {
          let text = '';
          answer.setEncoding('utf8').on('data', (piece) => (text += piece));
          answer.on('end', () => resolve({ status: answer.statusCode!, text, sent }));
        });
        request.on('error', (error) => reject(new Error(`after ${sent} bytes: ${error.message}`)));
        const piece = Buffer.alloc(65_536, 'A');
        const send = () => {
          while (sent < hostileBytes && !request.destroyed) {
            sent += piece.length;
            if (!request.write(piece)) return void request.once('drain', send);
          }
          request.end();
        };
        request.write('{"query":"', send);
      });
    const before = peakOf(gateway.pid)!;
    const { status, text, sent } = await upload();
    const grown = peakOf(gateway.pid)! - before;
    console.info(`upload: ${status}, ${sent} bytes sent, ${Math.round(grown)} MiB more`, text);
    expect([status, JSON.parse(text)]).toMatchObject([400, { errors: [{ extensions: { code: 'BODY_TOO_LARGE' } }] }]);
    expect(grown).toBeLessThan(growthMax);
    expect(await gateway.stop()).toBe(0);
  });
});
