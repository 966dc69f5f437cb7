import { decimal, formatMoney, hundredths } from './money.js';
import { capitalized, eventWords, words } from './words.js';

/** An object of /v1, as an event has it. */
type Version = Readonly<Record<string, unknown>>;
/** Whom an invoice bills, which its object of /v1 does not say. */
type Customer = { id: string; name: string } | null;

/**
 * What an event says in words: of an update, what has changed since the event before it of the same object. Without
 * that one, or without a change that objects of /v1 or `customers` show, it says only that there was an update.
 */
export function changeWords(
  type: string,
  object: unknown,
  before?: unknown,
  customers: { now: Customer; past: Customer } = { now: null, past: null },
): string {
  const told = eventWords(type, object);
  if (!type.endsWith('.updated') || before === undefined) return told;
  const [now, past] = [object as Version, before as Version];
  const said = [
    ...(type === 'receivable.updated' ? moneyWords(now, past) : []),
    ...customerWords(customers.now, customers.past),
    ...memberWords(now, past),
  ];
  return said.length === 0 ? told : capitalized(said.join('; '));
}

/** From whom and to whom an invoice has gone. */
function customerWords(now: Customer, past: Customer): string[] {
  if (now?.id === past?.id) return [];
  return [['customer changed', past && `from ${past.name}`, now && `to ${now.name}`].filter(Boolean).join(' ')];
}

/** What payments and payouts have changed of an invoice. */
function moneyWords(now: Version, past: Version): string[] {
  const grown = (member: string) => hundredths(String(now[member])) - hundredths(String(past[member]));
  const currency = String(now.currency);
  const text = (value: bigint) =>
    `${formatMoney({ amount: decimal(value < 0n ? -value : value), currency })} ${currency}`;
  const paidOut = grown('amount_settled_payouts');
  const paid = grown('amount_locked') + paidOut;
  return [
    ...(paid === 0n ? [] : [`${text(paid)} ${paid > 0n ? 'paid' : 'of what was paid is taken back'}`]),
    ...(paidOut === 0n ? [] : [`${text(paidOut)} ${paidOut > 0n ? 'paid out' : 'came back from a payout'}`]),
  ];
}

/** What follows from other members, or is said by the money. */
const silent = new Set([
  ...['amount_locked', 'amount_settled_payouts', 'amount_reconcilable', 'deposit_ids_amount_locked'],
  ...['purpose_code_description', 'status'],
]);

/** The members whose last word is not enough. */
const names: Readonly<Record<string, string>> = {
  amount_maximum_reconcilable: 'most to be paid here',
  effective_transaction: 'payment of the payer',
  system_message: 'note of the service',
};

const saidMax = 3;

/** Which members have changed: `Nickname and website changed`. */
function memberWords(now: Version, past: Version): string[] {
  const changed = [...new Set(changedIn(now, past))];
  if (changed.length === 0) return [];
  const said = changed.length > saidMax ? [...changed.slice(0, saidMax - 1), 'other details'] : changed;
  return [`${said.join(', ').replace(/, ([^,]+)$/, ' and $1')} changed`];
}

/** The names of the members that differ, the inner ones of objects. */
function changedIn(now: Version, past: Version): string[] {
  return [...new Set([...Object.keys(past), ...Object.keys(now)])]
    .filter((key) => !silent.has(key) && JSON.stringify(now[key]) !== JSON.stringify(past[key]))
    .flatMap((key) => {
      const [one, other] = [now[key], past[key]];
      if (key in names) return names[key]!;
      // The keys of metadata are the client's own.
      if (key !== 'metadata' && isObject(one) && isObject(other)) return changedIn(one, other);
      return words(key.toUpperCase()).replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
    });
}

const isObject = (value: unknown): value is Version =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
