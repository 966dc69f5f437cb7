import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Funds } from '../edges.js';
import { type BalanceRow, balance, booked } from '../ledger/table.js';

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

/** The funds of an account by compartment; without a row, zero in the currency of its edition. */
export function fundsOf({ kind }: { kind: string }, rows: readonly Amounts[], currency: string) {
  const shown = rows.length > 0 ? rows : [{ currency, ...ofEach(() => 0n) }];
  return ofEach((name) => {
    const { kind: only = kind }: Funds['compartments'][string] = compartments[name];
    return kind === only ? shown.map((row) => ({ amount: row[name], currency: row.currency })) : [];
  });
}
