import type { ReactNode } from 'react';
import type { Invoice, Payment, User } from './queries';

interface FrameProps {
  title: string;
  users: readonly User[];
  /** The user for which the page acts; undefined for the platform. */
  user: string | undefined;
  onActFor: (user: string | undefined) => void;
  children: ReactNode;
}

/** What both pages show around the payments. */
export function Frame({ title, users, user, onActFor, children }: FrameProps) {
  return (
    <>
      <header>
        <div>
          <h1>Payments</h1>
          <p>{title}</p>
        </div>
        <label>
          Act for
          <select value={user ?? ''} onChange={(event) => onActFor(event.target.value || undefined)}>
            <option value="">The platform</option>
            {users.map(({ id, nickname }) => (
              <option key={id} value={id}>
                {nickname ?? id}
              </option>
            ))}
          </select>
        </label>
      </header>
      <main>{children}</main>
    </>
  );
}

interface PaymentsProps {
  /** Undefined until they are read. */
  payments: readonly Payment[] | undefined;
  hasMore: boolean;
  onAll: () => void;
  onReconcile: (payment: Payment, invoice: Invoice) => void;
  problem: string | undefined;
  /** What the last event says. */
  news: string | undefined;
}

export function Payments({ payments, hasMore, onAll, onReconcile, problem, news }: PaymentsProps) {
  return (
    <>
      {problem && <p role="alert">{problem}</p>}
      <p role="status">{news ?? 'Waiting for events.'}</p>
      {!payments && !problem && <p>Reading payments.</p>}
      {payments && (
        <table>
          <thead>
            <tr>
              {['Created', 'From', 'To', 'Status'].map((name) => (
                <th key={name}>{name}</th>
              ))}
              <th className="amount">Amount</th>
              <th className="amount">Not reconciled</th>
              <th />
            </tr>
          </thead>
          <tbody>
            {payments.map((payment) => (
              <Row key={payment.id} payment={payment} onReconcile={onReconcile} />
            ))}
          </tbody>
        </table>
      )}
      {payments?.length === 0 && <p>No payments yet.</p>}
      {hasMore && (
        <button type="button" onClick={onAll}>
          Show all
        </button>
      )}
    </>
  );
}

function Row({ payment, onReconcile }: { payment: Payment; onReconcile: PaymentsProps['onReconcile'] }) {
  const { id, created, fromAccount, toAccount, status, amount, currency, pendingRest } = payment;
  const invoice = invoiceFor(payment);
  return (
    <tr data-id={id}>
      <td>{new Date(created).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })}</td>
      <td data-name="From">{fromAccount?.nickname ?? 'Unknown'}</td>
      <td data-name="To">{toAccount?.nickname ?? 'Unknown'}</td>
      <td>
        <span className={`status ${status.toLowerCase()}`}>{status.toLowerCase()}</span>
      </td>
      <td className="amount" data-name="Amount">
        {amount} {currency}
      </td>
      <td className="amount rest" data-name="Not reconciled">
        {pendingRest} {currency}
      </td>
      <td>
        {invoice && (
          <button type="button" onClick={() => onReconcile(payment, invoice)}>
            Reconcile with {invoice.invoice.referenceNumber}
          </button>
        )}
      </td>
    </tr>
  );
}

/** The amount in the smallest unit: decimals are never numbers with a point here, which would round. */
const units = (amount: string) => BigInt(amount.replace('.', ''));

/** The newest open invoice of the payer that takes all that is not reconciled of a payment. */
function invoiceFor({ status, currency, pendingRest, fromAccount }: Payment): Invoice | undefined {
  if (status !== 'COMPLETED' || units(pendingRest) <= 0n) return undefined;
  return fromAccount?.billedReceivables?.nodes.find(
    (invoice) => invoice.currency === currency && units(invoice.amountReconcilable) >= units(pendingRest),
  );
}

/** The payment as it will be once all of it is reconciled: what the pages show before the answer arrives. */
export const reconciled = (payment: Payment): Payment => ({
  ...payment,
  pendingRest: payment.pendingRest.replace(/\d/g, '0').replace(/^0+(?=0)/, ''),
});

export const newsOf = (type: string, { amount, currency }: Payment) =>
  `${type.replace('deposit.', 'Payment ')}: ${amount} ${currency}`;
