import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Edition } from '../../editions/edition.js';
import type { Funds } from '../edges.js';
import { type BalanceRow, balance, booked } from '../ledger/table.js';
import type { FundsInCurrency } from './type.js';

/** The compartments of a balance, each with its column. Only a platform has funds in advance for fees. */
const compartments = {
  available: { column: balance.available },
  pending: { column: balance.pending },
  processing: { column: balance.processing },
  payoutProcessing: { column: balance.payoutProcessing },
  feeAdvance: { column: balance.feeAdvance, kind: 'platform' },
} satisfies Funds['compartments'];
/** The name of a compartment in the graph. */
export type CompartmentField = keyof typeof compartments;
const names = Object.keys(compartments) as CompartmentField[];

/** Where the funds of an account are. Its resolver and the query compiler read them from here. Spec: Balance. */
export const funds = {
  table: balance,
  account: balance.accountId,
  currency: balance.currency,
  where: booked,
  compartments,
} satisfies Funds;

/** A value for each compartment. */
export const ofEach = <V>(value: (compartment: CompartmentField, column: PgColumn) => V): Record<CompartmentField, V> =>
  Object.fromEntries(names.map((name) => [name, value(name, compartments[name].column)])) as Record<
    CompartmentField,
    V
  >;

/** The amounts of one currency, in minor units. */
export type Amounts = Pick<BalanceRow, 'currency' | CompartmentField>;

/** The amounts of one currency as money, with their sum. */
export function inTotal(row: Amounts): FundsInCurrency {
  const { currency } = row;
  const funds = ofEach((compartment) => ({ amount: row[compartment], currency }));
  const amount = Object.values(funds).reduce((sum, each) => sum + each.amount, 0n);
  return { total: { amount, currency }, ...funds };
}

/**
 * Rows by currency, with one of zeros for the currency that each balance of the edition shows; without a row, zero in
 * the currency of the edition.
 */
export function withShown<R extends { currency: string }>(
  rows: readonly R[],
  { currency, balanceCurrency }: Pick<Edition, 'currency' | 'balanceCurrency'>,
  zero: (currency: string) => R,
): readonly R[] {
  const shown = rows.length === 0 ? currency : balanceCurrency;
  if (shown === null || rows.some((row) => row.currency === shown)) return rows;
  return [...rows, zero(shown)].toSorted((a, b) => (a.currency < b.currency ? -1 : 1));
}

/** The funds of an account by compartment, in the currencies that its edition shows. */
export function fundsOf({ kind }: { kind: string }, rows: readonly Amounts[], edition: Edition) {
  const shown = withShown(rows, edition, (currency) => ({ currency, ...ofEach(() => 0n) }));
  return ofEach((name) => {
    const { kind: only = kind }: Funds['compartments'][string] = compartments[name];
    return kind === only ? shown.map((row) => ({ amount: row[name], currency: row.currency })) : [];
  });
}
