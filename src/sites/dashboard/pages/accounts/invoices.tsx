import { Check, Copy, Printer } from 'lucide-react';
import { Link } from 'wouter';
import { useTimeZone } from '../../format/preferences';
import { daysLate, stateOf } from '../../format/receivables';
import { formatDay } from '../../format/time';
import { counted } from '../../format/words';
import { graphql, type ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { failureOf } from '../../graph/write';
import { Two } from '../../parts/cells';
import { Export } from '../../parts/export';
import { useCopied } from '../../parts/facts';
import { Money } from '../../parts/money';
import { Card } from '../../parts/page';
import { Answered, Part } from '../../parts/part';
import { Pending, Problem } from '../../parts/problem';
import { Status } from '../../parts/status';
import { Table } from '../../parts/table';
import { nameOf, useSession } from '../../session';
import { AgeBars, type Ages, AgesFragment } from '../receivables/ageing';
import { payableAt } from './address-details';
import type { AccountDetail } from './query';
import { reminderOf } from './reminder';
import {
  InvoiceFragment,
  type Invoice,
  type Parties,
  SellerFragment,
  sellerName,
  StatementOfAccount,
  useWhole,
} from './statement';

/** What a customer owes: by age, and the first of its open invoices. */
const OwesQuery = graphql(
  `
    query CustomerOwes($id: ID!, $timeZone: String!) {
      account(id: $id) {
        id
        billedAgeing(timeZone: $timeZone) { ...Ages }
        billedReceivables(first: 100, filter: { status: [OPEN] }, orderBy: DUE_DATE_ASC) {
          nodes { ...BilledInvoice }
          pageInfo { hasNextPage endCursor }
        }
        owner { ...Seller }
      }
    }
  `,
  [AgesFragment, InvoiceFragment, SellerFragment],
);

type Owed = NonNullable<ResultOf<typeof OwesQuery>['account']>;

/** What a customer owes, what has been due the longest first, and the ways to tell it. */
export function Owes({ customer }: { customer: AccountDetail }) {
  const timeZone = useTimeZone();
  const result = useLive(OwesQuery, { id: customer.id, timeZone });
  const account = result.data?.account;
  if (!account)
    return (
      <Card title="Owes">
        <Pending result={result} lines={6} />
      </Card>
    );
  const { billedAgeing: ages, billedReceivables: page, owner } = account;
  if (ages?.currencies.length === 0 && page?.nodes.length === 0) return null;
  return (
    <Answered answer={result}>
      <Part value={ages} field="account.billedAgeing" title="Owes">
        {(known) => (
          <Part value={page} field="account.billedReceivables" title="Owes">
            {(invoices) => <OwesCard {...{ customer, owner }} ages={known} page={invoices} />}
          </Part>
        )}
      </Part>
    </Answered>
  );
}

/** The open invoices in the order of the card. */
const openOf = (accountId: string) => ({
  orderBy: 'DUE_DATE_ASC' as const,
  filter: { status: ['OPEN' as const], accountId },
});

interface OwesCardProps {
  customer: AccountDetail;
  owner: Owed['owner'];
  ages: Ages;
  page: NonNullable<Owed['billedReceivables']>;
}

function OwesCard({ customer, owner, ages, page }: OwesCardProps) {
  const whole = useWhole(customer.id, page);
  const { nodes: first } = page;
  const count = ages.currencies.reduce((all, each) => all + each.count, 0);
  const given = { customer, owner, addresses: payableAt(customer.addresses?.nodes, owner?.addresses?.nodes) };
  return (
    <>
      <Card title="Owes" action={<span className="hint">by days overdue</span>} className="owes">
        <AgeBars entries={ages.currencies} customerId={customer.id} />
        {first.length > 0 && <Invoices invoices={first} today={ages.asOf} />}
        <div className="actions">
          {count > first.length && (
            <Link href={`/receivables?customer=${customer.id}&sort=due&status=OPEN`} className="button">
              Show all {count.toLocaleString()}
            </Link>
          )}
          <button type="button" className="button" disabled={whole.pending} onClick={() => void whole.print()}>
            <Printer aria-hidden /> {whole.pending ? 'Reading the invoices …' : 'Print statement'}
          </button>
          <Reminder {...given} ages={ages} invoices={page.nodes} />
          <Export source={{ receivables: openOf(customer.id) }} />
        </div>
        {whole.error && <Problem error={failureOf(whole.error)} />}
      </Card>
      <StatementOfAccount {...given} today={ages.asOf} invoices={whole.invoices} complete={whole.complete} />
    </>
  );
}

interface ReminderProps extends Parties {
  ages: Ages;
  invoices: readonly Invoice[];
}

/** Copies a text that reminds the customer of what is overdue, to be sent by mail. */
function Reminder({ customer, owner, addresses, ages, invoices }: ReminderProps) {
  const { viewer } = useSession();
  const text = reminderOf({
    ...{ ages, invoices, addresses },
    customer: customer.businessDetails.legalName ?? nameOf(customer),
    seller: sellerName(owner ?? viewer.account),
    isTest: viewer.mode === 'TEST',
  });
  const { copied, copy } = useCopied(text ?? '');
  if (text === undefined) return null;
  return (
    <>
      <button type="button" className="button" onClick={() => void copy()}>
        {copied ? <Check aria-hidden /> : <Copy aria-hidden />} {copied ? 'Copied' : 'Copy reminder'}
      </button>
      <span className="unseen" role="status">
        {copied && 'The reminder is copied.'}
      </span>
    </>
  );
}

function Invoices({ invoices, today }: { invoices: readonly Invoice[]; today: string }) {
  return (
    <Table
      label="Open invoices"
      rows={invoices}
      href={({ id }) => `/receivables/${id}`}
      columns={[
        {
          head: 'Invoice',
          cell: ({ invoice }) => <Two hint={`due ${formatDay(invoice.dueDate)}`}>{invoice.referenceNumber}</Two>,
        },
        { head: 'Status', cell: (each) => <Late invoice={each} today={today} />, plain: true },
        {
          head: 'Open',
          cell: ({ amountReconcilable: amount, currency }) => <Money {...{ amount, currency }} />,
          end: true,
        },
      ]}
    />
  );
}

/** The status of an invoice, and for how long it is overdue. */
function Late({ invoice, today }: { invoice: Invoice; today: string }) {
  const state = stateOf(invoice, today);
  return <Status value={state} more={state === 'OVERDUE' && counted(daysLate(invoice, today), 'day')} />;
}
