import { useEffect, useState } from 'react';
import { type CombinedError, useClient } from 'urql';
import { placeOf } from '../../format/countries';
import { currenciesOf, hundredths, sum } from '../../format/money';
import { daysLate } from '../../format/receivables';
import { formatDay } from '../../format/time';
import { counted } from '../../format/words';
import { graphql, type ResultOf } from '../../graph/graphql';
import { type Connection, pagesOf } from '../../graph/pages';
import { Facts } from '../../parts/facts';
import { Letterhead } from '../../parts/letterhead';
import { Money } from '../../parts/money';
import { nameOf, NameFragment, useSession } from '../../session';
import { ageNames } from '../receivables/ageing';
import { type AddressDetails, AddressFragment, detailsOf } from './address-details';
import type { AccountDetail } from './query';

export const InvoiceFragment = graphql(`
  fragment BilledInvoice on Receivable {
    id currency status amountReconcilable
    invoice { amount referenceNumber creationDate dueDate }
  }
`);

export type Invoice = ResultOf<typeof InvoiceFragment>;

/** Whose invoices a customer owes, and where that account is paid. */
export const SellerFragment = graphql(
  `
    fragment Seller on Account {
      ...Name
      sender: businessDetails { physicalAddress { line1 line2 city state postalCode country } ids { taxGst } }
      addresses(first: 20) { nodes { ...AddressDetails } }
    }
  `,
  [NameFragment, AddressFragment],
);

/** Who owes whom, and where that is paid. */
export interface Parties {
  customer: AccountDetail;
  owner: ResultOf<typeof SellerFragment> | null;
  addresses: readonly AddressDetails[];
}

/** The name under which an account writes to its customers. */
export const sellerName = (account: ResultOf<typeof NameFragment>) =>
  account.businessDetails.legalName ?? nameOf(account);

const AllInvoicesQuery = graphql(
  `
    query OpenInvoices($id: ID!, $first: Int!, $after: ID) {
      account(id: $id) {
        id
        billedReceivables(first: $first, after: $after, filter: { status: [OPEN] }, orderBy: DUE_DATE_ASC) {
          nodes { ...BilledInvoice }
          pageInfo { hasNextPage endCursor }
        }
      }
    }
  `,
  [InvoiceFragment],
);

/** The open invoices of a customer: the first page of them, or all while they are printed. */
export function useWhole(id: string, page: Connection<Invoice>) {
  const client = useClient();
  const [all, setAll] = useState<readonly Invoice[]>();
  const [pending, setPending] = useState(false);
  const [error, setError] = useState<CombinedError>();
  const read = async () => {
    setError(undefined);
    setPending(true);
    const none = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } };
    let rows: readonly Invoice[] = [];
    try {
      for await (const { nodes } of pagesOf(
        client,
        AllInvoicesQuery,
        { id },
        ({ account }) => account?.billedReceivables ?? none,
      ))
        rows = [...rows, ...nodes];
      setAll(rows);
    } catch (caught) {
      setError(caught as CombinedError);
    } finally {
      setPending(false);
    }
  };
  useEffect(() => {
    if (!all) return;
    print();
    setAll(undefined);
  }, [all]);
  return {
    ...{ pending, error, print: read },
    invoices: all ?? page.nodes,
    complete: all !== undefined || !page.pageInfo.hasNextPage,
  };
}

interface StatementProps extends Parties {
  today: string;
  invoices: readonly Invoice[];
  /** Whether these are all open invoices. */
  complete: boolean;
}

/** The statement of account of a customer, on paper: its open invoices, how old they are, and where they are paid. */
export function StatementOfAccount({ customer, owner, addresses, today, invoices, complete }: StatementProps) {
  const { viewer } = useSession();
  const { legalName, physicalAddress: at } = customer.businessDetails;
  const { physicalAddress: from, ids } = owner?.sender ?? {};
  return (
    <section className="statement only-print" aria-label="Statement of account">
      <Letterhead
        title="Statement of account"
        facts={[
          ['Customer', legalName ?? nameOf(customer)],
          ['Address', at && placeOf(at)],
          ['From', sellerName(owner ?? viewer.account)],
          ['Address of sender', from && placeOf(from)],
          ['GST ID of sender', ids?.taxGst],
          ['Date', formatDay(today)],
        ]}
      />
      {!complete && <p>The {invoices.length} invoices that are due first; more are open.</p>}
      {currenciesOf(invoices).map((currency) => (
        <OpenInvoices
          key={currency}
          {...{ currency, today, complete }}
          invoices={invoices.filter((each) => each.currency === currency)}
        />
      ))}
      {addresses.map((address) => (
        <section key={address.id}>
          <h3>Please pay {address.currency} to</h3>
          <Facts facts={detailsOf(address).map(({ label, text }) => [label, text])} className="letterhead" />
        </section>
      ))}
      <p>Please give the invoice numbers as the reference of your payment.</p>
    </section>
  );
}

interface OpenInvoicesProps {
  currency: string;
  today: string;
  invoices: readonly Invoice[];
  complete: boolean;
}

/** The open invoices of a currency, with their sum and their ages. */
function OpenInvoices({ currency, today, invoices, complete }: OpenInvoicesProps) {
  return (
    <table className="table invoices" aria-label={`Open invoices in ${currency}`}>
      <thead>
        <tr>
          {['Invoice', 'Invoice date', 'Due', 'Overdue'].map((head) => (
            <th scope="col" key={head}>
              {head}
            </th>
          ))}
          {['Amount', 'Open'].map((head) => (
            <th scope="col" key={head} className="end">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {invoices.map((invoice) => (
          <OpenInvoice key={invoice.id} {...{ today, currency }} open={invoice} />
        ))}
      </tbody>
      <tfoot>
        {agesOf(invoices, today, complete).map(({ name, amount, strong }) => (
          <tr key={name}>
            <th scope="row" colSpan={5}>
              {name}
            </th>
            <td className="end">
              {strong ? (
                <strong>
                  <Money {...{ amount, currency }} />
                </strong>
              ) : (
                <Money {...{ amount, currency }} />
              )}
            </td>
          </tr>
        ))}
      </tfoot>
    </table>
  );
}

interface OpenInvoiceProps {
  open: Invoice;
  today: string;
  currency: string;
}

/** An invoice of the statement. On narrow paper its cells are below each other, each with its head. */
function OpenInvoice({ open, today, currency }: OpenInvoiceProps) {
  const { invoice, amountReconcilable } = open;
  const late = daysLate(open, today);
  return (
    <tr>
      <td>{invoice.referenceNumber}</td>
      <td className="line" data-head="Invoice date">
        {formatDay(invoice.creationDate)}
      </td>
      <td className="line" data-head="Due">
        {formatDay(invoice.dueDate)}
      </td>
      <td className="line" data-head="Overdue">
        {late > 0 && counted(late, 'day')}
      </td>
      <td className="end" data-head="Amount">
        <Money amount={invoice.amount} currency={currency} />
      </td>
      <td className="end" data-head="Open">
        <Money amount={amountReconcilable} currency={currency} />
      </td>
    </tr>
  );
}

/** The most days by which an invoice of an age is overdue, as the gateway counts them. */
const ages = { NOT_DUE: 0, DAYS_1_TO_30: 30, DAYS_31_TO_60: 60, DAYS_61_TO_90: 90, OVER_90_DAYS: Infinity } as const;

/** The sum of invoices, and of those of each age, from these invoices alone: a statement has one moment. */
function agesOf(invoices: readonly Invoice[], today: string, complete: boolean) {
  const kinds = Object.keys(ages) as (keyof typeof ages)[];
  const ageOf = (each: Invoice) => kinds.find((kind) => daysLate(each, today) <= ages[kind])!;
  const total = (some: readonly Invoice[]) => sum(some.map((each) => each.amountReconcilable));
  const parts = kinds.map((kind) => ({
    ...{ name: ageNames[kind], strong: false },
    amount: total(invoices.filter((each) => ageOf(each) === kind)),
  }));
  return [
    ...parts.filter(({ amount }) => hundredths(amount) !== 0n),
    { name: complete ? 'Open in total' : 'Sum of these', amount: total(invoices), strong: true },
  ];
}
