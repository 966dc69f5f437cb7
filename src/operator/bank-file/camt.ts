import type { Direction, LineDetails, PartedEntry } from './table.js';
import {
  accountOf,
  amountOf,
  bankFileMax,
  BankFileFault,
  currencyIn,
  dayOf,
  type FileLine,
  type FilePart,
  referenceOf,
  returnReasonMax,
  signed,
  textOf,
} from './line.js';
import { bankDetailsMax } from '../money/bank-details.js';
import { countIn, EntryTotals } from './camt-totals.js';
import { type XmlPart, type XmlReader, XmlStream } from './xml.js';

/** The messages that are read, by the number of each, with the elements of a message and of a statement in it. */
const messages: Readonly<Record<string, { message: string; statement: string }>> = {
  '053': { message: 'BkToCstmrStmt', statement: 'Stmt' },
  '054': { message: 'BkToCstmrDbtCdtNtfctn', statement: 'Ntfctn' },
};
/** The versions of the messages that are read. */
const versions = { first: 2, last: 13 } as const;

/** A transfer of an entry, before the entry is complete. */
interface Detail {
  part: XmlPart;
  /** Its amount and direction where it says them. */
  amount: bigint | undefined;
  currency: string | undefined;
  direction: Direction | undefined;
}

/** What a line has of its entry. */
type EntryLine = Pick<
  FileLine,
  'account' | 'isReversal' | 'isUnclear' | 'day' | 'direction' | 'amount' | 'currency'
> & { reference: string | undefined; partOf?: PartedEntry | undefined };

const directions: Readonly<Record<string, Direction>> = { CRDT: 'credit', DBIT: 'debit' };

/**
 * Reads camt.053 (statements) and camt.054 (notifications) of ISO 20022, versions 2 to 13, by the local names of their
 * elements, entry by entry. Silent: all of it; the rules are those of the message guide.
 */
export class CamtReader implements XmlReader {
  readonly stream = new XmlStream(this);
  /** What was read and not taken yet. */
  #parts: FilePart[] = [];
  #paths = { statement: '', account: '', balance: '', entry: '', detail: '' };
  #format = '';
  #lines = 0;
  #statements = 0;
  #account: string | null = null;
  #currency: string | null = null;
  #day: string | null = null;
  #opening: bigint | null = null;
  #closing: bigint | null = null;
  #notBooked = 0;
  #beginsAt = 1;
  #details: Detail[] = [];
  #totals = new EntryTotals();

  /** The message and its version, such as `camt.053.001.08`. */
  get format(): string {
    return this.#format;
  }

  /** What was read since the last time. */
  take(): FilePart[] {
    const parts = this.#parts;
    this.#parts = [];
    return parts;
  }

  root(name: string, namespace: string, line: number): void {
    const [, message = '', version = ''] = /camt\.(\d{3})\.001\.(\d{2})$/.exec(namespace) ?? [];
    const found = messages[message];
    if (name !== 'Document' || !found || Number(version) < versions.first || Number(version) > versions.last)
      throw new BankFileFault(line, 'is no camt.053 or camt.054, version 001.02 to 001.13');
    this.#format = `camt.${message}.001.${version}`;
    const statement = `${found.message}/${found.statement}`;
    const entry = `${statement}/Ntry`;
    const detail = `${entry}/NtryDtls/TxDtls`;
    this.#paths = { statement, entry, detail, account: `${statement}/Acct`, balance: `${statement}/Bal` };
  }

  isPart(path: string): boolean {
    const { account, balance, entry, detail } = this.#paths;
    return path === account || path === balance || path === entry || path === detail || this.#isTotal(path);
  }

  #isTotal(path: string): boolean {
    const { statement } = this.#paths;
    return path.startsWith(`${statement}/`) && EntryTotals.has(path.slice(statement.length + 1));
  }

  opened(path: string, line: number): void {
    if (path !== this.#paths.statement) return;
    if (++this.#statements > bankFileMax.statements)
      throw new BankFileFault(line, `has more than ${bankFileMax.statements} statements`);
    this.#beginsAt = line;
    this.#account = this.#currency = this.#day = this.#opening = this.#closing = null;
    this.#notBooked = 0;
    this.#totals = new EntryTotals();
  }

  part(path: string, part: XmlPart): void {
    if (path === this.#paths.account) this.#readAccount(part);
    else if (path === this.#paths.balance) this.#readBalance(part);
    else if (path === this.#paths.detail) this.#addDetail(part);
    else if (path !== this.#paths.entry) this.#totals.say(part);
    else this.#readEntry(part);
  }

  closed(path: string): void {
    if (path !== this.#paths.statement) return;
    this.#totals.compare();
    this.#parts.push({
      ...{ kind: 'statement', number: this.#statements, line: this.#beginsAt, account: this.#account },
      ...{ currency: this.#currency, day: this.#day, opening: this.#opening, closing: this.#closing },
      notBooked: this.#notBooked,
    });
  }

  #readAccount(part: XmlPart): void {
    this.#account = accountOf(part.one('Id/IBAN') ?? part.one('Id/Othr/Id'), part.line);
    const currency = part.one('Ccy');
    if (currency !== undefined) this.#currency = currencyIn(currency, part.line);
  }

  /** Keeps the opening and the closing booked balance. The day of the closing one is that of the statement. */
  #readBalance(part: XmlPart): void {
    const code = part.one('Tp/CdOrPrtry/Cd') ?? '';
    if (!['OPBD', 'PRCD', 'CLBD'].includes(code)) return;
    const { amount, currency } = moneyIn(part, 'Amt')!;
    this.#currency ??= currency;
    if (currency !== this.#currency) throw new BankFileFault(part.line, 'has a balance in another currency');
    const value = signed({ direction: directionIn(part)!, amount });
    if (code === 'CLBD') {
      if (this.#closing !== null) throw new BankFileFault(part.line, 'has a second closing balance of its statement');
      this.#closing = value;
      this.#day = dayIn(part, 'Dt', part.line);
    } else this.#opening ??= value;
  }

  #addDetail(part: XmlPart): void {
    if (this.#details.length >= bankFileMax.details)
      throw new BankFileFault(part.line, `has more than ${bankFileMax.details} transfers in one entry`);
    // Since version 4 a transfer has an amount of its own; before, it is among the details of the amount.
    const money = moneyIn(part, 'Amt', false) ?? moneyIn(part, 'AmtDtls/TxAmt/Amt', false);
    this.#details.push({ part, ...money, direction: directionIn(part, false) } as Detail);
  }

  #readEntry(entry: XmlPart): void {
    const details = this.#details;
    this.#details = [];
    const status = entry.one('Sts/Cd') ?? entry.one('Sts') ?? entry.one('Sts/Prtry');
    if (status === undefined) throw new BankFileFault(entry.line, 'has an entry without a status');
    const { amount, currency } = moneyIn(entry, 'Amt')!;
    const direction = directionIn(entry)!;
    this.#totals.count({ direction, amount, isBooked: status === 'BOOK' });
    if (status !== 'BOOK') {
      this.#notBooked += Math.max(1, details.length);
      return;
    }
    const day = dayIn(entry, 'BookgDt', entry.line) ?? dayIn(entry, 'ValDt', entry.line);
    if (day === null) throw new BankFileFault(entry.line, 'has an entry without a day of booking');
    const isReversal = booleanIn(entry, 'RvslInd');
    const of = { account: this.#account, isReversal, day, currency, isUnclear: false };
    const whole = { ...of, direction, amount, reference: entry.one('AcctSvcrRef') };
    const [first, second] = details;
    // A batch of which the bank gives some transfers only, or none, is no transfer of one payer.
    if (announcedIn(entry) > Math.max(1, details.length))
      return this.#add(entry, undefined, { ...whole, isUnclear: true });
    // The one transfer of an entry arrived with the amount of the entry: its own may be that before the charges.
    if (!second && (first?.direction ?? direction) === direction) return this.#add(entry, first?.part, whole);
    const own = details.flatMap((detail) =>
      detail.amount === undefined || detail.currency !== currency
        ? []
        : { part: detail.part, direction: detail.direction ?? direction, amount: detail.amount },
    );
    const sum = own.reduce((before, each) => before + signed(each), 0n);
    // Only transfers that are the entry together are taken for it. Otherwise a person has to look.
    if (own.length < details.length || sum !== signed(whole))
      return this.#add(entry, undefined, { ...whole, isUnclear: true });
    const known = referenceOf(entry.line, whole.reference);
    const partOf = known === null ? undefined : { reference: known, amount: String(amount), direction };
    for (const { part, ...each } of own) this.#add(part, part, { ...of, ...each, reference: undefined, partOf });
  }

  #add({ line }: XmlPart, part: XmlPart | undefined, { reference, partOf, ...given }: EntryLine): void {
    if (given.amount === 0n) return;
    if (++this.#lines > bankFileMax.lines)
      throw new BankFileFault(line, `is beyond ${bankFileMax.lines} transfers, the most that a file may have`);
    // The reference of an entry stands first: a file without the details of its one transfer has no other.
    const refs = (name: string) => part?.one(`Refs/${name}`);
    const payee = part?.one('RltdPties/CdtrAcct/Id/IBAN') ?? part?.one('RltdPties/CdtrAcct/Id/Othr/Id');
    this.#parts.push({
      ...{ kind: 'line', number: this.#lines, line, statement: this.#statements, ...given },
      payee: accountOf(payee, line),
      reference: referenceOf(line, reference, refs('AcctSvcrRef'), refs('TxId'), refs('ClrSysRef'), refs('UETR')),
      details: { ...(part && detailsIn(part)), ...(partOf && { entry: partOf }) },
    });
  }
}

/** How many transfers the batches of an entry have, as the bank says. */
const announcedIn = (entry: XmlPart): number =>
  entry.all('NtryDtls/Btch/NbOfTxs').reduce((before, text) => before + (countIn(text) ?? 0), 0);

/** An amount with its currency. */
function moneyIn(part: XmlPart, path: string, needed = true): { amount: bigint; currency: string } | undefined {
  const [text, code] = [part.one(path), part.one(`${path}@Ccy`)];
  if (text === undefined && !needed) return undefined;
  if (text === undefined || code === undefined)
    throw new BankFileFault(part.line, `has a \`${part.name}\` without an amount and its currency`);
  const currency = currencyIn(code, part.line);
  return { amount: amountOf(text, currency, part.line), currency };
}

function directionIn(part: XmlPart, needed = true): Direction | undefined {
  const code = part.one('CdtDbtInd');
  const direction = directions[code ?? ''];
  if (direction === undefined && (needed || code !== undefined))
    throw new BankFileFault(part.line, 'has neither CRDT nor DBIT as its `CdtDbtInd`');
  return direction;
}

function booleanIn(part: XmlPart, path: string): boolean {
  const text = part.one(path) ?? 'false';
  if (!['true', 'false', '1', '0'].includes(text)) throw new BankFileFault(part.line, `has a wrong \`${path}\``);
  return text === 'true' || text === '1';
}

/** A day, from a date or from a time, whose day is that of the bank. */
function dayIn(part: XmlPart, path: string, line: number): string | null {
  const text = part.one(`${path}/Dt`) ?? part.one(`${path}/DtTm`);
  if (text === undefined) return null;
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})(?:[TZ+-]|$)/.exec(text) ?? [];
  if (day === undefined) throw new BankFileFault(line, `has a \`${path}\` that is no day`);
  return dayOf(year!, month!, day, line);
}

/** What a transfer says of the payer. Since version 8, a party is within `Pty`. */
function detailsIn(part: XmlPart): LineDetails {
  const party = (path: string) => part.all(`RltdPties/Dbtr/${path}`).concat(part.all(`RltdPties/Dbtr/Pty/${path}`));
  const [building, street] = [party('PstlAdr/BldgNb')[0], party('PstlAdr/StrtNm')[0]];
  const [code, town] = [party('PstlAdr/PstCd')[0], party('PstlAdr/TwnNm')[0]];
  const written = party('PstlAdr/AdrLine');
  const lines = written.length > 0 ? written : [joined(street, building), joined(code, town)];
  const { addressLine, addressLines, name } = bankDetailsMax;
  const country = party('PstlAdr/Ctry')[0];
  const values = {
    endToEndId: referenceOf(part.line, part.one('Refs/EndToEndId')) ?? undefined,
    payerName: textOf(party('Nm')[0], name),
    payerLines: lines.flatMap((line) => textOf(line, addressLine) ?? []).slice(0, addressLines),
    payerCountry: country !== undefined && /^[A-Z]{2}$/.test(country) ? country : undefined,
    returnReason: textOf(part.one('RtrInf/Rsn/Cd') ?? part.one('RtrInf/Rsn/Prtry'), returnReasonMax),
    text: textOf(
      part.all('RmtInf/Ustrd').concat(part.all('RmtInf/Strd/CdtrRefInf/Ref')).join(' '),
      bankDetailsMax.text,
    ),
  };
  const filled = Object.entries(values).filter(([, value]) => value !== undefined && value.length > 0);
  return Object.fromEntries(filled) as LineDetails;
}

const joined = (...texts: (string | undefined)[]): string => texts.filter((text) => text !== undefined).join(' ');
