import { useEffect, useState } from 'react';
import { type CombinedError, useClient } from 'urql';
import { Link } from 'wouter';
import { countryName, placeOf } from '../../format/countries';
import { decimal, hundredths } from '../../format/money';
import { formatDay, useTimes } from '../../format/time';
import { graphql, type ResultOf } from '../../graph/graphql';
import { pagesOf, type RowOf } from '../../graph/pages';
import { PayerFragment, payerOf } from '../../graph/payer';
import { Empty } from '../../parts/empty';
import { Letterhead } from '../../parts/letterhead';
import { Money } from '../../parts/money';
import { ObjectLink } from '../../parts/object-link';
import { Card } from '../../parts/page';
import { Problem } from '../../parts/problem';
import { Lines } from '../../parts/skeleton';
import { nameOf } from '../../session';
import { type Adjustment, adjustmentsOf } from './adjustments';
import { bankOf } from './list';
import type { PayoutDetail } from './query';

const SettlementsQuery = graphql(
  `
    query Settlements($id: ID!, $first: Int!, $after: ID) {
      payout(id: $id) {
        id
        allocations(first: $first, after: $after) {
          nodes {
            amount currency
            deposit {
              id created ...Payer
              bankDetails { payer { country } }
              fromAccount { businessDetails { physicalAddress { country } } }
            }
            receivable {
              id purposeCode purposeCodeDescription
              invoice { amount creationDate referenceNumber }
            }
          }
          pageInfo { hasNextPage endCursor }
        }
      }
    }
  `,
  [PayerFragment],
);

type Settlement = RowOf<NonNullable<ResultOf<typeof SettlementsQuery>['payout']>['allocations']>;

export interface Settlements {
  rows: readonly Settlement[];
  /** Whether all have arrived: a statement lists every invoice. */
  complete: boolean;
  /** The adjustments in what the payout has beyond its invoices, or less; absent where they are not known. */
  adjustments?: readonly Adjustment[] | null;
  error?: CombinedError;
}

/** What a payout settles, page by page. */
export function useSettlements(payout: PayoutDetail): Settlements {
  const client = useClient();
  const { id } = payout;
  const [settlements, setSettlements] = useState<Settlements>({ rows: [], complete: false });
  useEffect(() => {
    let open = true;
    const load = async () => {
      const none = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } };
      let rows: readonly Settlement[] = [];
      for await (const page of pagesOf(client, SettlementsQuery, { id }, ({ payout }) => payout?.allocations ?? none)) {
        if (!open) return;
        rows = [...rows, ...page.nodes];
        setSettlements({ rows, complete: false });
      }
      const known = rows.length > 0 && restOf(rows, payout) !== 0n ? await adjustmentsOf(client, payout) : null;
      if (open) setSettlements({ rows, complete: true, adjustments: known });
    };
    setSettlements({ rows: [], complete: false });
    load().catch((error: CombinedError) => open && setSettlements({ rows: [], complete: false, error }));
    return () => {
      open = false;
    };
  }, [client, id]);
  return settlements;
}

/**
 * The invoices that a payout settles. On paper it is a statement for the bank, with what a remittance certificate
 * (FIRA) or an eBRC needs: who paid, for which invoice and purpose, how much, and when.
 */
export function Statement({ payout, settlements }: { payout: PayoutDetail; settlements: Settlements }) {
  const { rows, complete, adjustments = null, error } = settlements;
  return (
    <Card title="Settled invoices" className="statement">
      <Head payout={payout} />
      {error && <Problem error={error} />}
      {rows.length === 0 && !complete && !error && <Lines count={4} />}
      {rows.length === 0 && complete && <NoInvoice payout={payout} />}
      {rows.length > 0 && <Invoices {...{ rows, payout, adjustments }} rest={complete ? restOf(rows, payout) : 0n} />}
    </Card>
  );
}

/** Why a payout settles no invoice: those of one that did not arrive wait, or went out with a later one. */
function NoInvoice({ payout: { status, retriedBy } }: { payout: PayoutDetail }) {
  if (!['FAILED', 'RETURNED'].includes(status))
    return (
      <Empty title="No invoice">
        <p>Its money was not reconciled with receivables.</p>
      </Empty>
    );
  return (
    <Empty title="No invoice was settled">
      {retriedBy ? (
        <p>
          The invoices are those of <ObjectLink id={retriedBy.id}>the payout that took the money</ObjectLink>.
        </p>
      ) : (
        <p>
          <Link href="/receivables?status=LOCKED">Matched invoices</Link> stay matched, and are settled when their money
          has arrived.
        </p>
      )}
    </Empty>
  );
}

/** What a payout has beyond its invoices, or less: adjustments, and money that was taken back meanwhile. */
function restOf(rows: readonly Settlement[], { sourceAmount, sourceCurrency }: PayoutDetail): bigint {
  if (rows.some(({ currency }) => currency !== sourceCurrency)) return 0n;
  return rows.reduce((rest, { amount }) => rest - hundredths(amount), hundredths(sourceAmount));
}

/** What a payout has beyond its invoices, or less, by what it is. */
function othersOf(rest: bigint, adjustments: readonly Adjustment[] | null) {
  if (!adjustments) return [{ id: 'all', name: 'Adjustments and money taken back', reason: '', amount: decimal(rest) }];
  const taken = adjustments.reduce((left, { amount }) => left - hundredths(amount), rest);
  const name = taken < 0n ? 'Money taken back' : 'Money given back';
  return [
    ...adjustments.map((each) => ({ ...each, name: 'Adjustment' })),
    ...(taken === 0n ? [] : [{ id: 'taken', name, reason: '', amount: decimal(taken) }]),
  ];
}

interface InvoicesProps {
  rows: readonly Settlement[];
  payout: PayoutDetail;
  adjustments: readonly Adjustment[] | null;
  rest: bigint;
}

function Invoices({ rows, payout, adjustments, rest }: InvoicesProps) {
  const others = rest === 0n ? [] : othersOf(rest, adjustments);
  return (
    <div className="table-frame">
      <table className="table" aria-label="Settled invoices">
        <thead>
          <tr>
            <th scope="col">Invoice</th>
            <th scope="col" className="only-wide">
              Paid by
            </th>
            <th scope="col" className="only-wider">
              Purpose
            </th>
            <th scope="col" className="end">
              Amount
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <Invoice key={i} {...row} />
          ))}
          {others.map(({ id, name, reason, amount }) => (
            <tr key={id}>
              <td>
                <span className="two-lines">
                  {name}
                  {reason && <span className="hint">{reason}</span>}
                </span>
              </td>
              <td className="only-wide" />
              <td className="only-wider" />
              <td className="end">
                <Money amount={amount} currency={payout.sourceCurrency} />
              </td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Payout</th>
            <td className="only-wide" />
            <td className="only-wider" />
            <td className="end">
              <strong>
                <Money amount={payout.sourceAmount} currency={payout.sourceCurrency} />
              </strong>
            </td>
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

function Invoice({ amount, currency, deposit, receivable }: Settlement) {
  const time = useTimes();
  return (
    <tr>
      <td>
        <span className="two-lines">
          {receivable && <ObjectLink id={receivable.id}>{receivable.invoice.referenceNumber}</ObjectLink>}
          {receivable && <span className="hint line">{formatDay(receivable.invoice.creationDate)}</span>}
          <span className="hint only-narrow">{deposit && legalPayerOf(deposit)}</span>
        </span>
      </td>
      <td className="only-wide">
        <span className="two-lines">
          {deposit && <ObjectLink id={deposit.id}>{legalPayerOf(deposit)}</ObjectLink>}
          {deposit && (
            <span className="hint">
              {[time(deposit.created, 'date'), countryOf(deposit), deposit.bankDetails?.reference]
                .filter(Boolean)
                .join(' · ')}
            </span>
          )}
        </span>
      </td>
      <td className="only-wider" title={receivable?.purposeCodeDescription ?? undefined}>
        {receivable?.purposeCode} <span className="only-print">{receivable?.purposeCodeDescription}</span>
      </td>
      <td className="end">
        <Money amount={amount} currency={currency} />
      </td>
    </tr>
  );
}

/** Who made a payment, as a bank knows them. */
const legalPayerOf = (deposit: NonNullable<Settlement['deposit']>): string =>
  deposit.fromAccount?.businessDetails.legalName ?? payerOf(deposit);

/** The country of a payer, by its account or by its bank. */
function countryOf({ fromAccount, bankDetails }: NonNullable<Settlement['deposit']>): string | undefined {
  const code = fromAccount?.businessDetails.physicalAddress?.country ?? bankDetails?.payer?.country;
  return code ? countryName(code) : undefined;
}

/** What the browser prints of a payout, which is a statement only once the payout has arrived. */
const titles: Record<PayoutDetail['status'], string> = {
  PROCESSING: 'Provisional statement',
  COMPLETED: 'Statement of inward remittance',
  FAILED: 'Payout that failed',
  RETURNED: 'Payout that was returned',
};
const doubts: Partial<Record<PayoutDetail['status'], string>> = {
  PROCESSING: 'The bank has not confirmed this payout yet.',
  FAILED: 'This payout has failed: its money did not arrive.',
  RETURNED: 'The bank has sent this payout back.',
};

/** The head of the printed statement: who was paid, how much, at which rate, and into which bank account. */
function Head({ payout }: { payout: PayoutDetail }) {
  const time = useTimes();
  const { account, address, currency, sourceCurrency } = payout;
  const doubt = doubts[payout.status];
  const { legalName, ids, physicalAddress: at } = account.businessDetails;
  const facts: [string, string | null | undefined][] = [
    ['Beneficiary', legalName ?? nameOf(account)],
    ['Address', at && placeOf(at)],
    ['Business ID', ids?.business],
    ['Tax ID', ids?.tax],
    ['GST ID', ids?.taxGst],
    ['Trade ID (IEC)', ids?.taxTrade],
    ['Account holder', address.name],
    ['Paid to', bankOf(address)],
    ['Date', time(payout.created, 'full')],
    ['Exchange rate', sourceCurrency === currency ? null : `1 ${sourceCurrency} = ${payout.rate} ${currency}`],
    ['Reference', payout.id],
    ['Payment', payout.paymentId],
    ["Bank's reference", payout.bankReference],
  ];
  return (
    <Letterhead title={titles[payout.status]} facts={facts}>
      {doubt && (
        <p>
          <strong>Not valid as a proof of remittance.</strong> {doubt}
        </p>
      )}
      <p className="amount-line">
        <Money amount={payout.amount} currency={currency} />
      </p>
    </Letterhead>
  );
}
