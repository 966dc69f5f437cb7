import { hundredths } from '../../format/money';
import { daysLate, stateOf } from '../../format/receivables';
import { formatDay } from '../../format/time';
import { counted } from '../../format/words';
import { graphql, type ResultOf } from '../../graph/graphql';
import { stateColumn, Two } from '../../parts/cells';
import { Money } from '../../parts/money';
import { Card } from '../../parts/page';
import { Table } from '../../parts/table';
import { useSession } from '../../session';

export const InvoiceFragment = graphql(`
  fragment BilledInvoice on Receivable {
    id currency status amountReconcilable
    invoice { referenceNumber dueDate }
  }
`);

type Invoice = ResultOf<typeof InvoiceFragment>;

interface InvoicesProps {
  /** The sums of all open invoices; no currencies where they are too many to be added, and null where refused. */
  owes: { currencies: readonly { total: { amount: string; currency: string } }[] | null } | null;
  page: { nodes: readonly Invoice[]; pageInfo: { hasNextPage: boolean } };
}

/** What a customer owes, and the open invoices that bill it, what has been due the longest first. */
export function Invoices({ owes, page: { nodes, pageInfo } }: InvoicesProps) {
  const { now } = useSession().viewer;
  const open = nodes.filter(({ amountReconcilable }) => hundredths(amountReconcilable) > 0n);
  if (open.length === 0 && !owes?.currencies?.length) return null;
  return (
    <Card title="Owes">
      <p className="waiting-sums">
        {owes === null && <span className="hint">What is open is not known.</span>}
        {owes?.currencies?.length === 0 && <span className="hint">Nothing is open.</span>}
        {owes?.currencies === null && <span className="hint">More than 10,000 invoices are open.</span>}
        {owes?.currencies?.map(({ total }) => (
          <Money key={total.currency} {...total} />
        ))}
      </p>
      {pageInfo.hasNextPage && <p className="hint">The 100 open invoices that are due first:</p>}
      {open.length > 0 && (
        <Table
          label="Open invoices"
          rows={open}
          href={({ id }) => `/receivables/${id}`}
          columns={[
            {
              head: 'Invoice',
              cell: (each) => <Two hint={dueWords(each, now)}>{each.invoice.referenceNumber}</Two>,
            },
            stateColumn<Invoice>((each) => stateOf(each, now)),
            {
              head: 'Open',
              cell: ({ amountReconcilable: amount, currency }) => <Money amount={amount} currency={currency} />,
              end: true,
            },
          ]}
        />
      )}
    </Card>
  );
}

/** When an invoice is due, and for how long it has been. */
function dueWords(invoice: Invoice, now: string): string {
  const due = `due ${formatDay(invoice.invoice.dueDate)}`;
  return stateOf(invoice, now) === 'OVERDUE' ? `${due} · ${counted(daysLate(invoice, now), 'day')} late` : due;
}
