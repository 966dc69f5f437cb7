import fs from 'node:fs';
import { validateXML } from 'xmllint-wasm';
/** The day of an entry without another one. */
export const today = new Date().toISOString().slice(0, 10);

/** A transfer of an entry in a file that a test makes. */
interface Transfer {
  reference?: string | undefined;
  endToEndId?: string | undefined;
  payee?: string | undefined;
  amount?: string | undefined;
  currency?: string | undefined;
  direction?: 'CRDT' | 'DBIT' | undefined;
  payer?: string | undefined;
  text?: string | undefined;
  returnReason?: string | undefined;
}

/** An entry of a statement. */
export interface Entry extends Transfer {
  day?: string | undefined;
  status?: string | undefined;
  isReversal?: boolean | undefined;
  transfers?: Transfer[] | undefined;
  /** How many transfers the bank says that it has. */
  batch?: number | undefined;
}

/** A statement of an account. */
export interface Statement {
  account: string;
  currency?: string;
  opening?: string;
  closing?: string;
  day?: string;
  entries: Entry[];
  /** What the bank says of the entries together, such as `TtlNtries`, as a count and a sum. */
  totals?: Record<string, { count?: string; sum?: string }> | undefined;
}

const tag = (name: string, content: string | undefined, attribute = '') =>
  content === undefined || content === '' ? '' : `<${name}${attribute}>${content}</${name}>`;
const escaped = (text: string | undefined) => text?.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const accountId = (account: string | undefined) =>
  account === undefined
    ? ''
    : tag('Id', /^[A-Z]{2}\d{2}/.test(account) ? tag('IBAN', account) : tag('Othr', tag('Id', account)));
const money = (amount: string | undefined, currency: string) => tag('Amt', amount, ` Ccy="${currency}"`);

/** A message of a bank. Versions before 4 have amounts of transfers elsewhere, and those from 8 on the parties. */
export function camt(statements: Statement[], { message = '053' as '053' | '054', version = '08' } = {}): string {
  const [root, statement] = message === '053' ? ['BkToCstmrStmt', 'Stmt'] : ['BkToCstmrDbtCdtNtfctn', 'Ntfctn'];
  const modern = Number(version) >= 8;
  const detail = (of: Transfer, currency: string) => {
    const amount = of.amount && money(of.amount, of.currency ?? currency);
    const payer = of.payer && tag('Nm', escaped(of.payer));
    return tag(
      'TxDtls',
      tag('Refs', tag('AcctSvcrRef', of.reference) + tag('EndToEndId', of.endToEndId)) +
        (Number(version) >= 4 ? (amount ?? '') + tag('CdtDbtInd', of.direction) : '') +
        (Number(version) < 4 && amount ? tag('AmtDtls', tag('TxAmt', amount)) : '') +
        tag('RltdPties', tag('Dbtr', modern ? tag('Pty', payer) : payer) + tag('CdtrAcct', accountId(of.payee))) +
        tag('RmtInf', tag('Ustrd', escaped(of.text))) +
        tag('RtrInf', tag('Rsn', tag('Cd', of.returnReason))),
    );
  };
  const entry = (of: Entry, currency: string) => {
    const { transfers, day = today, status = 'BOOK', direction = 'CRDT', amount = '10.00' } = of;
    const details = transfers ?? [{ ...of, amount: undefined, reference: undefined }];
    return tag(
      'Ntry',
      money(amount, of.currency ?? currency) +
        tag('CdtDbtInd', direction) +
        (of.isReversal ? tag('RvslInd', 'true') : '') +
        tag('Sts', modern ? tag('Cd', status) : status) +
        tag('BookgDt', tag('Dt', day)) +
        tag('AcctSvcrRef', of.reference) +
        tag('BkTxCd', tag('Prtry', tag('Cd', 'NTRF'))) +
        tag(
          'NtryDtls',
          tag('Btch', of.batch === undefined ? undefined : tag('NbOfTxs', String(of.batch))) +
            details.map((each) => detail(each, of.currency ?? currency)).join(''),
        ),
    );
  };
  const balance = (code: string, amount: string | undefined, day: string, currency: string) =>
    amount === undefined
      ? ''
      : tag(
          'Bal',
          tag('Tp', tag('CdOrPrtry', tag('Cd', code))) +
            money(amount.replace('-', ''), currency) +
            tag('CdtDbtInd', amount.startsWith('-') ? 'DBIT' : 'CRDT') +
            tag('Dt', tag('Dt', day)),
        );
  const body = statements.map(({ account, currency = 'USD', opening, closing, day = today, entries, totals = {} }, i) =>
    tag(
      statement!,
      tag('Id', `S${i + 1}`) +
        tag('Acct', accountId(account) + tag('Ccy', currency)) +
        balance('OPBD', opening, day, currency) +
        balance('CLBD', closing, day, currency) +
        tag(
          'TxsSummry',
          Object.entries(totals)
            .map(([name, { count, sum }]) => tag(name, tag('NbOfNtries', count) + tag('Sum', sum)))
            .join(''),
        ) +
        entries.map((each) => `\n${entry(each, currency)}`).join(''),
    ),
  );
  const namespace = `urn:iso:std:iso:20022:tech:xsd:camt.${message}.001.${version}`;
  const header = tag('GrpHdr', tag('MsgId', 'M1') + tag('CreDtTm', '2026-01-31T06:00:00Z'));
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="${namespace}">` +
    `${tag(root!, header + body.join('\n'))}</Document>\n`
  );
}

/** The bytes of a text, in pieces of a few bytes where a test wants each boundary. */
export async function* bytesOf(text: string | Uint8Array, size = 65_536): AsyncGenerator<Uint8Array, void, void> {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** What the schema of a message of ISO 20022 has against a file: nothing, or lines that say where and why. */
export async function schemaFaults(message: `pain.${string}` | `camt.${string}`, text: string): Promise<string[]> {
  const file = new URL(`../fixtures/iso20022/${message.slice(0, 4)}/${message}.xsd`, import.meta.url);
  const schema = { fileName: `${message}.xsd`, contents: fs.readFileSync(file, 'utf8') };
  const xml = { fileName: 'message.xml', contents: text };
  const { errors } = await validateXML({ xml, schema, maxMemoryPages: 4_096 });
  return errors.map((each) => each.message);
}
