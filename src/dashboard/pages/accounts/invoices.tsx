import { currenciesOf, formatDay, hundredths, sum } from '../../format';
import { graphql, type ResultOf } from '../../graph';
import { Card, Money, statusColumn, Table, Two } from '../../parts';

export const InvoiceFragment = graphql(`
  fragment BilledInvoice on Receivable {
    id currency status amountReconcilable
    invoice { referenceNumber dueDate }
  }
`);

type Invoice = ResultOf<typeof InvoiceFragment>;

interface InvoicesProps {
  page: { nodes: readonly Invoice[]; pageInfo: { hasNextPage: boolean } };
}

/** What a customer owes: the invoices that bill it, and what is open of them. */
export function Invoices({ page: { nodes, pageInfo } }: InvoicesProps) {
  const open = nodes.filter(
    ({ status, amountReconcilable }) => status === 'OPEN' && hundredths(amountReconcilable) > 0n,
  );
  if (nodes.length === 0) return null;
  return (
    <Card
      title="Owes"
      action={
        <span className="count">
          {/* The graph gives no sum by customer, and a sum of some invoices would be wrong. */}
          {pageInfo.hasNextPage && 'of the 100 newest invoices'}
        </span>
      }
    >
      <p className="waiting-sums">
        {open.length === 0 && <span className="hint">Nothing is open.</span>}
        {currenciesOf(open).map((currency) => (
          <Money
            key={currency}
            currency={currency}
            amount={sum(open.filter((each) => each.currency === currency).map((each) => each.amountReconcilable))}
          />
        ))}
      </p>
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
