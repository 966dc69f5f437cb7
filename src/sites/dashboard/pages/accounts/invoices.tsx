import { hundredths } from '../../format/money';
import { formatDay } from '../../format/time';
import { graphql, type ResultOf } from '../../graph/graphql';
import { statusColumn, Two } from '../../parts/cells';
import { Money } from '../../parts/money';
import { Card } from '../../parts/page';
import { Table } from '../../parts/table';

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

/** What a customer owes, and the open ones of the invoices that bill it. */
export function Invoices({ owes, page: { nodes, pageInfo } }: InvoicesProps) {
  const open = nodes.filter(
    ({ status, amountReconcilable }) => status === 'OPEN' && hundredths(amountReconcilable) > 0n,
  );
  if (nodes.length === 0) return null;
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
      {pageInfo.hasNextPage && <p className="hint">Of the 100 newest invoices these are open:</p>}
      {open.length > 0 && (
        <Table
          label="Open invoices"
          rows={open}
          href={({ id }) => `/receivables/${id}`}
          columns={[
            {
              head: 'Invoice',
              cell: ({ invoice }) => <Two hint={`due ${formatDay(invoice.dueDate)}`}>{invoice.referenceNumber}</Two>,
            },
            statusColumn(),
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
