import { useState } from 'react';
import { contentOf, save } from '../../graph/files';
import type { Failure } from '../../graph/write';
import { DialogButton } from '../../parts/dialog';
import { Facts } from '../../parts/facts';
import { Problem } from '../../parts/problem';
import { Action } from '../action';
import { graphql } from '../graphql';
import { operatorHeaders, useSession } from '../session';
import { approvedText } from './approved-text';
import { type Order, orderWords, type OwnAccount } from './order-query';
import { numberOf } from './own-accounts';

const ApproveMutation = graphql(`
  mutation ApprovePaymentOrder($input: ApprovePaymentOrderInput!) {
    approvePaymentOrder(input: $input) { order { id status } }
  }
`);

const RejectMutation = graphql(`
  mutation RejectPaymentOrder($input: RejectPaymentOrderInput!) {
    rejectPaymentOrder(input: $input) { order { id status } }
  }
`);

const SendMutation = graphql(`
  mutation SendPaymentOrder($input: SendPaymentOrderInput!) {
    sendPaymentOrder(input: $input) { order { id status } }
  }
`);

interface OrderProps {
  order: Order;
  /** The account that pays. */
  from: OwnAccount | undefined;
  onDone: () => void;
}

/** What the operator who is signed in can do with an order. */
export function OrderActions(props: OrderProps) {
  const { status } = props.order;
  if (status === 'REJECTED') return null;
  return (
    <span className="row-actions">
      {status === 'PROPOSED' && <Approve {...props} />}
      {(status === 'APPROVED' || status === 'SENT') && <Download {...props} />}
      {status === 'APPROVED' && <Send {...props} />}
      <Reject {...props} />
    </span>
  );
}

function Approve({ order, from, onDone }: OrderProps) {
  const { operator } = useSession();
  const { approvalsLeft } = order;
  const own = approvalsLeft === 1 && order.createdBy === operator.name;
  if (own || operator.name === 'OPERATOR_KEY')
    return <span className="hint">{own ? 'Waits for another operator' : 'Waits for a named operator'}</span>;
  return (
    <Action
      name="Approve"
      about={orderWords(order)}
      small
      title="Approve the payment order"
      submit="Approve it"
      mutation={ApproveMutation}
      input={{ id: order.id }}
      done={`The order of ${orderWords(order)} ${approvedText(approvalsLeft)}.`}
      onDone={onDone}
    >
      <OrderFacts order={order} from={from} />
      <p className="hint">
        Live mode: real money.{' '}
        {approvalsLeft > 1
          ? 'It is your proposal then, and has a file when another named operator approves it, too.'
          : 'Its file can be written then, and given to the bank.'}
      </p>
    </Action>
  );
}

function Send({ order, from, onDone }: OrderProps) {
  return (
    <Action
      name="Mark as sent"
      about={orderWords(order)}
      small
      title="Mark the order as sent"
      submit="It was sent"
      mutation={SendMutation}
      input={{ id: order.id }}
      done={`The order of ${orderWords(order)} is sent.`}
      onDone={onDone}
    >
      <OrderFacts order={order} from={from} />
      <p className="hint">The bank has the file. What its own files say then ends each payout.</p>
    </Action>
  );
}

function Reject({ order, from, onDone }: OrderProps) {
  const mayBeAtBank = order.status === 'APPROVED' || order.status === 'SENT';
  return (
    <Action
      name="Reject"
      about={orderWords(order)}
      small
      kind="danger"
      title="Reject the payment order"
      submit="Reject it"
      mutation={RejectMutation}
      input={{ id: order.id }}
      reason
      done={`The order of ${orderWords(order)} is rejected.`}
      onDone={onDone}
    >
      <OrderFacts order={order} from={from} />
      <p className={mayBeAtBank ? 'note' : 'hint'}>
        {mayBeAtBank
          ? 'The bank may have the file. Reject the order only if the bank has not carried it out: its payouts ' +
            'can be in other orders then. One who has proposed, approved, sent or read it cannot reject it.'
          : 'Its payouts can be in other orders then.'}
      </p>
    </Action>
  );
}

/** The file for the bank, in either format. The audit log has an entry for each time. */
function Download({ order, from }: OrderProps) {
  return (
    <DialogButton title="Write the file" label="File" className="button small">
      {(close) => <Formats order={order} from={from} close={close} />}
    </DialogButton>
  );
}

function Formats({ order, from, close }: Omit<OrderProps, 'onDone'> & { close: () => void }) {
  const [failure, setFailure] = useState<Failure>();
  const take = async (format: 'pain.001' | 'csv') => {
    const content = await contentOf(`/operator/payment-orders/${order.id}/${format}`, operatorHeaders);
    if ('messages' in content) return setFailure(content);
    save(content, `payouts-${order.valueDate}.${format === 'csv' ? 'csv' : 'xml'}`);
    close();
  };
  return (
    <div className="form">
      <OrderFacts order={order} from={from} />
      {failure && <Problem error={failure} />}
      <p className="hint">Give it to the bank once, and mark the order as sent then.</p>
      <div className="form-end">
        <button type="button" className="button" onClick={() => void take('csv')}>
          CSV
        </button>
        <button type="button" className="button primary" onClick={() => void take('pain.001')}>
          pain.001
        </button>
      </div>
    </div>
  );
}

function OrderFacts({ order, from }: Omit<OrderProps, 'onDone'>) {
  const { id, createdBy, decidedBy, sentBy } = order;
  return (
    <Facts
      facts={[
        ['Pays', <strong>{orderWords(order)}</strong>],
        ['From', from && `${from.holder}, ${numberOf(from)}`],
        ['Gathered by', createdBy],
        ['Approved by', decidedBy],
        ['Sent by', sentBy],
        ['Order', <code>{id}</code>],
      ]}
    />
  );
}
