import { decimal, formatMoney, hundredths, type Most } from '../../format/money';
import { useTimes } from '../../format/time';
import { graphql } from '../../graph/graphql';
import type { RowOf } from '../../graph/pages';
import { ActionButton } from '../../parts/action';
import { amountColumn, statusColumn } from '../../parts/cells';
import { AmountField, TextField } from '../../parts/form';
import { Card } from '../../parts/page';
import { Table } from '../../parts/table';
import { type Tool, ToolButton, useMayTest } from '../../parts/test-tools';
import type { PaymentDetail } from './query';

const RefundMutation = graphql(`
  mutation RefundPayment($input: CreateRefundInput!) {
    createRefund(input: $input) { refund { id status deposit { id pendingRest } } }
  }
`);
const succeed = graphql(`
  mutation SucceedTestRefund($input: SucceedTestRefundInput!) {
    succeedTestRefund(input: $input) { refund { id status } }
  }
`);
const fail = graphql(`
  mutation FailTestRefund($input: FailTestRefundInput!) {
    failTestRefund(input: $input) { refund { id status } }
  }
`);

/** What the sandbox bank can do with a refund on its way. */
const tools: Tool[] = [
  { name: 'Succeed', mutation: succeed },
  { name: 'Fail', mutation: fail, input: 'FailTestRefundInput' },
];

type Refunded = PaymentDetail['refunds'];

/** How much is left of a payment: without disputes, and without refunds where they count. */
export function mostOf({ amount, currency, disputed }: PaymentDetail, refunds?: Refunded): Most | undefined {
  if (refunds === null || refunds?.pageInfo.hasNextPage) return undefined;
  const refunded = refunds?.nodes.filter(({ status }) => status !== 'FAILED') ?? [];
  const left = refunded.reduce(
    (rest, each) => rest - hundredths(each.amount),
    hundredths(amount) - hundredths(disputed),
  );
  if (left <= 0n) return undefined;
  const most = decimal(left);
  return { amount: most, words: `At most ${formatMoney({ amount: most, currency })} is left of the payment.` };
}

/** Gives money of a payment back to its payer. */
export function RefundButton({ payment }: { payment: PaymentDetail }) {
  return (
    <ActionButton
      name="Refund"
      mutation={RefundMutation}
      read={(values: { amount?: string; reason?: string }) => ({ ...values, depositId: payment.id })}
    >
      <p className="hint">
        The money goes back to the payer. What is not reconciled goes first, then available money. A refund on its way
        cannot be stopped.
      </p>
      <div className="fields">
        <AmountField
          name="amount"
          label="Amount"
          currency={payment.currency}
          hint="Without one, all that disputes and other refunds have left."
          most={mostOf(payment, payment.refunds)}
        />
        <TextField name="reason" label="Reason" hint="For your own records." />
      </div>
    </ActionButton>
  );
}

type Row = RowOf<Refunded>;

/** Why money was given back, and why it did not arrive. */
function Reason({ reason, failureReason }: Row) {
  if (!failureReason) return reason;
  return (
    <span className="two-lines">
      {reason && <span>{reason}</span>}
      <span>Failed: {failureReason}</span>
    </span>
  );
}

/** The refunds of a payment. In test mode each on its way has the tools of the sandbox. */
export function Refunds({ refunds }: { refunds: readonly Row[] }) {
  const time = useTimes();
  const mayTest = useMayTest();
  if (refunds.length === 0) return null;
  const endOf = (at: string | null) => (at === null ? null : time(at));
  const toolsOf = ({ id, status }: Row) =>
    mayTest && status === 'PENDING'
      ? tools.map((tool) => <ToolButton key={tool.name} id={id} tool={tool} about="refund" />)
      : null;
  return (
    <Card title="Refunds">
      <Table
        label="Refunds"
        rows={refunds}
        columns={[
          { head: 'Created', cell: ({ created }) => time(created), line: true },
          { head: 'Ended', cell: ({ completedAt, failedAt }) => endOf(completedAt ?? failedAt) },
          { head: 'Reason', cell: (refund) => <Reason {...refund} /> },
          { head: 'Test tools', cell: toolsOf },
          statusColumn(),
          amountColumn(),
        ]}
      />
    </Card>
  );
}
