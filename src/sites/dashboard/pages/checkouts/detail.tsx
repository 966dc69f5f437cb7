import { ExternalLink, Mail, Share2 as ShareIcon } from 'lucide-react';
import { formatMoney } from '../../format/money';
import { useTimes } from '../../format/time';
import { words } from '../../format/words';
import { graphql, type ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import type { RowOf } from '../../graph/pages';
import { useWrite } from '../../graph/write';
import { statusColumn } from '../../parts/cells';
import { Copy, Facts } from '../../parts/facts';
import { Loaded } from '../../parts/loaded';
import { Money } from '../../parts/money';
import { ObjectLink } from '../../parts/object-link';
import { Card, DetailPage } from '../../parts/page';
import { Part } from '../../parts/part';
import { Problem } from '../../parts/problem';
import { Table } from '../../parts/table';
import { TestTools } from '../../parts/test-tools';
import { Timeline } from '../../parts/timeline';
import { Qr } from '../../parts/qr';
import { nameOf, useMayWrite, NameFragment } from '../../session';
import { toolsOf } from './tools';

const CheckoutQuery = graphql(
  `
    query Checkout($id: ID!) {
      checkout(id: $id) {
        id created expiresAt openedAt lastTriedAt amount grossAmount currency status url methods
        fromAccount { ...Name }
        toAccount { type ...Name owner { id } }
        deposit { id }
        receivables { id invoice { referenceNumber } }
        transactions(first: 10) { nodes { id created method status reasonCode } }
      }
    }
  `,
  [NameFragment],
);

const CancelMutation = graphql(`
  mutation CancelCheckout($id: ID!) {
    cancelCheckout(input: {id: $id}) { checkout { id status } }
  }
`);

type CheckoutDetail = NonNullable<ResultOf<typeof CheckoutQuery>['checkout']>;

/** One checkout: the link that the customer gets, and how far the payment has come. */
export function Checkout({ params }: { params: { id: string } }) {
  // The viewer may be waiting for the payment, so the state is asked for more often.
  const result = useLive(CheckoutQuery, { id: params.id }, { seconds: 3 });
  return (
    <Loaded result={result} of={({ checkout }) => checkout}>
      {(checkout) => <CheckoutPage checkout={checkout} />}
    </Loaded>
  );
}

function CheckoutPage({ checkout }: { checkout: CheckoutDetail }) {
  const mayWrite = useMayWrite();
  const { write, pending, failure } = useWrite(CancelMutation);
  const { id, status } = checkout;
  const open = status === 'INITIALIZED';
  return (
    <DetailPage
      title={`Checkout for ${nameOf(checkout.fromAccount)}`}
      back={{ href: '/checkouts', name: 'Checkouts' }}
      money={checkout}
      status={status}
      actions={
        open &&
        mayWrite && (
          <button type="button" className="button danger" disabled={pending} onClick={() => void write({ id })}>
            Cancel checkout
          </button>
        )
      }
      notes={failure && <Problem error={failure} />}
      side={
        <>
          <About checkout={checkout} />
          <TestTools id={id} {...toolsOf(status)} />
        </>
      }
    >
      {open && <Share checkout={checkout} />}
      <Card title="Attempts">
        <Part value={checkout.transactions} field="checkout.transactions">
          {({ nodes }) => <Attempts attempts={nodes} openedAt={checkout.openedAt} />}
        </Part>
      </Card>
      <Timeline objectId={id} account={checkout.toAccount} />
    </DetailPage>
  );
}

function Share({ checkout }: { checkout: CheckoutDetail }) {
  const { url } = checkout;
  return (
    <Card title="Payment page">
      <div className="share">
        <Qr text={url} label="QR code of the payment page" />
        <div>
          <p className="hint">Send this link to the customer, or let them scan the code.</p>
          <Copy text={url} label="the link" />
          <p className="row-actions">
            <ShareLinks checkout={checkout} />
            <a href={url} target="_blank" rel="noreferrer" className="button">
              <ExternalLink aria-hidden /> Open the page
            </a>
          </p>
        </div>
      </div>
    </Card>
  );
}

/** Sends the link by what the device has for that; a browser without it gets links to WhatsApp and to a mail. */
function ShareLinks({ checkout: { amount, currency, url, toAccount, receivables } }: { checkout: CheckoutDetail }) {
  const invoices = receivables.map(({ invoice }) => invoice.referenceNumber).join(', ');
  const title = `Payment to ${nameOf(toAccount)}`;
  const text = `Please pay ${formatMoney({ amount, currency })} to ${nameOf(toAccount)} for ${invoices}:`;
  if ('share' in navigator) {
    return (
      <button
        type="button"
        className="button primary"
        // It fails when the viewer closes the device's own dialog.
        onClick={() => void navigator.share({ title, text, url }).catch(() => {})}
      >
        <ShareIcon aria-hidden /> Share
      </button>
    );
  }
  const words = encodeURIComponent(`${text} ${url}`);
  return (
    <>
      <a href={`https://wa.me/?text=${words}`} target="_blank" rel="noreferrer" className="button">
        WhatsApp
      </a>
      <a href={`mailto:?subject=${encodeURIComponent(title)}&body=${words}`} className="button">
        <Mail aria-hidden /> Mail
      </a>
    </>
  );
}

interface AttemptsProps {
  attempts: readonly RowOf<CheckoutDetail['transactions']>[];
  openedAt: string | null;
}

function Attempts({ attempts, openedAt }: AttemptsProps) {
  const time = useTimes();
  if (attempts.length === 0)
    return (
      <p className="hint">
        {openedAt === null
          ? 'The customer has not opened the page yet.'
          : `The customer has opened the page, last on ${time(openedAt)}, and has not tried to pay yet.`}
      </p>
    );
  return (
    <Table
      label="Attempts"
      rows={attempts}
      columns={[
        { head: 'Method', cell: ({ method }) => words(method) },
        { head: 'Tried', cell: ({ created }) => time(created), line: true },
        { head: 'Reason', cell: ({ reasonCode }) => reasonCode && words(reasonCode) },
        statusColumn(true),
      ]}
    />
  );
}

function About({ checkout }: { checkout: CheckoutDetail }) {
  const time = useTimes();
  const { fromAccount, toAccount, receivables, grossAmount, amount, currency, methods, deposit } = checkout;
  const { openedAt, lastTriedAt } = checkout;
  return (
    <Card title="Details">
      <Facts
        facts={[
          ['Customer', <ObjectLink id={fromAccount.id}>{nameOf(fromAccount)}</ObjectLink>],
          ['Paid to', <ObjectLink id={toAccount.id}>{nameOf(toAccount)}</ObjectLink>],
          [
            'Invoices',
            receivables.map(({ id, invoice }) => (
              <div key={id}>
                <ObjectLink id={id}>{invoice.referenceNumber}</ObjectLink>
              </div>
            )),
          ],
          ['Customer pays', grossAmount !== amount && <Money amount={grossAmount} currency={currency} />],
          ['Methods', methods.map(words).join(', ')],
          ['Payment', deposit && <ObjectLink id={deposit.id}>Show the payment</ObjectLink>],
          ['Opened', openedAt && <time dateTime={openedAt}>{time(openedAt)}</time>],
          ['Last tried', lastTriedAt && <time dateTime={lastTriedAt}>{time(lastTriedAt)}</time>],
          ['Expires', <time dateTime={checkout.expiresAt}>{time(checkout.expiresAt)}</time>],
          ['Created', <time dateTime={checkout.created}>{time(checkout.created)}</time>],
          ['ID', <Copy text={checkout.id} label="the id" />],
        ]}
      />
    </Card>
  );
}
