import { useMemo, useState } from 'react';
import type { Sheet } from '../../format/sheet';
import { Empty } from '../../parts/empty';
import { Page } from '../../parts/page';
import { Problem } from '../../parts/problem';
import { useMayWrite, useSession } from '../../session';
import { CheckCard } from './check-card';
import { ColumnsCard } from './columns-card';
import { type Customers, customerFault, useCustomers } from './customers';
import { Earlier } from './earlier';
import { FileCard } from './file-card';
import { guesses, type ImportKind, kinds } from './members';
import { Preview } from './preview';
import { fileOf, type ImportRows, importRows, isRead, type Mapping, missing, orderOf } from './rows';

/** Loads invoices from a sheet. */
export const ImportReceivables = () => <ImportPage kind="RECEIVABLES" />;

/** Loads customers from a sheet. */
export const ImportCustomers = () => <ImportPage kind="PARTNERS" />;

const hints = {
  RECEIVABLES:
    'Saved as CSV by a spreadsheet, with the names of its columns in the first line, such as Invoice number, ' +
    'Customer, Amount, Currency, Invoice date and Due date. At most 10,000 rows and 5 MB.',
  PARTNERS:
    'Saved as CSV by a spreadsheet, with the names of its columns in the first line, such as Name, E-mail, Street, ' +
    'City, Postal code and Country. At most 10,000 rows and 5 MB.',
};

function ImportPage({ kind }: { kind: ImportKind }) {
  const { title, list } = kinds[kind];
  const mayWrite = useMayWrite();
  // Another sheet, also of the same name, begins anew.
  const [chosen, setChosen] = useState<{ sheet: Sheet; times: number }>();
  if (!mayWrite) {
    return (
      <Page title={title} back={list}>
        <Empty title="You may only read here">
          <p>Sign in with a key that may write.</p>
        </Empty>
      </Page>
    );
  }
  return (
    <Page title={title} back={list}>
      <FileCard
        hint={hints[kind]}
        onSheet={(sheet) => setChosen((before) => (sheet ? { sheet, times: (before?.times ?? 0) + 1 } : undefined))}
      />
      {chosen && <Chosen key={chosen.times} kind={kind} sheet={chosen.sheet} />}
      <Earlier kind={kind} />
    </Page>
  );
}

/** A sheet that was chosen: its columns, its first rows, and what the gateway says of all. */
function Chosen({ kind, sheet }: { kind: ImportKind; sheet: Sheet }) {
  const [mapping, setMapping] = useState<Mapping>(() => ({
    columns: guesses(kind, sheet.names),
    constants: {},
    dayOrder: undefined,
  }));
  const named = mapping.columns.indexOf('customer_id');
  const { customers, error } = useCustomers(named >= 0);
  const { edition } = useSession().viewer;
  const rows = useMemo(
    () => importRows(kind, sheet, mapping, customers, edition),
    [kind, sheet, mapping, customers, edition],
  );
  return (
    <>
      <ColumnsCard {...{ kind, sheet, mapping }} onChange={setMapping} />
      <Preview {...{ kind, rows, customers }} />
      {error && <Problem error={error} />}
      <CheckCard
        // What was checked with other columns says nothing of these.
        key={JSON.stringify(mapping)}
        kind={kind}
        count={rows.from.length}
        file={() => fileOf(rows)}
        lacking={lackingOf(kind, sheet, mapping) ?? (named >= 0 && !customers ? 'Reading your customers …' : undefined)}
        rowName={(row) => String(rows.from[row - 1]?.line ?? row)}
        faultOf={(row, column) => faultOf(kind, rows, customers, row, column)}
      />
    </>
  );
}

/** What still has to be chosen; undefined where all is. */
function lackingOf(kind: ImportKind, sheet: Sheet, mapping: Mapping): string | undefined {
  const lacking = missing(kind, mapping).map(({ label }) => label);
  if (orderOf(kind, sheet, mapping) === null && !mapping.dayOrder) lacking.push('how days are written');
  return lacking.length > 0 ? `Choose first: ${lacking.join(', ')}.` : undefined;
}

/** What is wrong with a cell that is read here, in the words of the sheet; undefined where the gateway says it. */
function faultOf(
  kind: ImportKind,
  { columns, rows, from, cellsFrom }: ImportRows,
  customers: Customers | undefined,
  row: number,
  column: string | null,
): string | undefined {
  const at = columns.indexOf(column ?? '');
  const given = from[row - 1]?.cells[cellsFrom[at] ?? -1];
  const read = rows[row - 1]?.[at];
  if (!given || !read) return undefined;
  const member = kinds[kind].members.find((each) => each.column === column);
  if (member?.kind === 'customer') return customers && customerFault(given, customers);
  if (member?.kind === 'amount' && !isRead.amount(read)) return `“${given}” cannot be read as an amount.`;
  if (member?.kind === 'day' && !isRead.day(read)) return `“${given}” cannot be read as a day, such as 2026-12-31.`;
  return undefined;
}
