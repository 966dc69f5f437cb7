import { balanceParts } from '../format/balance-parts';
import { useTimes } from '../format/time';
import { graphql, type ResultOf } from '../graph/graphql';
import { useLive } from '../graph/live';
import { nameOf, NameFragment } from '../session';
import { Two } from './cells';
import { movementColumns } from './movement-columns';
import { Card } from './page';
import { Answered, Part } from './part';
import { Table } from './table';

const LedgerQuery = graphql(
  `
    query Ledger($paymentId: ID!) {
      payment(id: $paymentId) {
        balanceTransactions(first: 50) {
          nodes {
            id created category
            amount: amountMoney { amount currency }
            balanceAfter: balanceAfterMoney { amount currency }
            account { ...Name }
          }
          pageInfo { hasNextPage }
        }
      }
    }
  `,
  [NameFragment],
);

type Entries = NonNullable<NonNullable<ResultOf<typeof LedgerQuery>['payment']>['balanceTransactions']>;

type Category = Entries['nodes'][number]['category'];

const fields: Readonly<Record<Category, keyof typeof balanceParts>> = {
  AVAILABLE: 'available',
  FEE_ADVANCE: 'feeAdvance',
  PAYOUT_PROCESSING: 'payoutProcessing',
  PENDING: 'pending',
  PROCESSING: 'processing',
};

/** What a payment or a payout has moved in the ledger, newest first: each part of a balance, and what it had then. */
export function Ledger({ paymentId }: { paymentId: string }) {
  const result = useLive(LedgerQuery, { paymentId });
  return (
    <Answered answer={result}>
      <Part value={result.data?.payment?.balanceTransactions} field="payment" title="Ledger">
        {(entries) => <LedgerCard entries={entries} />}
      </Part>
    </Answered>
  );
}

function LedgerCard({ entries: { nodes, pageInfo } }: { entries: Entries }) {
  const time = useTimes();
  return (
    <Card title="Ledger">
      {nodes.length === 0 && <p className="hint">No money has moved.</p>}
      {nodes.length > 0 && (
        <Table
          label="Ledger"
          rows={nodes}
          columns={[
            {
              head: 'Part of the balance',
              cell: (each) => <Two hint={nameOf(each.account)}>{balanceParts[fields[each.category]]}</Two>,
            },
            ...movementColumns(time),
          ]}
        />
      )}
      {pageInfo.hasNextPage && <p className="hint">These are the newest 50 entries.</p>}
    </Card>
  );
}
