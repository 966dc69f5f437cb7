import { Link } from 'wouter';
import { formatMoney } from '../../format/money';
import { words } from '../../format/words';
import type { ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { sent } from '../../graph/sent';
import { amountColumn } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { Facts } from '../../parts/facts';
import { FilterBar } from '../../parts/filter-bar';
import { useFilters } from '../../parts/filters';
import { AmountField, SelectField, TextField } from '../../parts/form';
import { List } from '../../parts/list';
import { Money } from '../../parts/money';
import { Page } from '../../parts/page';
import { Status } from '../../parts/status';
import type { Column } from '../../parts/table';
import { TextFilter } from '../../parts/text-filter';
import { Time } from '../../parts/time';
import { Tabs } from '../../parts/tabs';
import { Action } from '../action';
import { AccountInput, AddressInput } from '../found-input';
import { graphql } from '../graphql';
import { AccountLink, nameOf, pageOf, paymentAddress, placeColumn } from '../parts';
import { useMayAct } from '../session';

const Notice = graphql(`
  fragment Notice on BankNotice {
    tenantId livemode created accountId addressId amount currency reference event
    root { id nickname businessDetails { legalName } }
    deposit { id status }
    account { id nickname businessDetails { legalName } }
  }
`);

const WaitingQuery = graphql(
  `
  query WaitingBankNotices {
    waitingBankNotices { ...Notice }
  }
`,
  [Notice],
);

const DuplicatesQuery = graphql(
  `
  query DuplicateBankNotices {
    duplicateBankNotices { ...Notice }
  }
`,
  [Notice],
);

const NoticesQuery = graphql(
  `
  query BankNotices($reference: String, $after: String) {
    bankNotices(reference: $reference, first: 25, after: $after) { nodes { ...Notice } next }
  }
`,
  [Notice],
);

const RecordMutation = graphql(`
  mutation RecordBankNotice($input: RecordBankNoticeInput!) {
    recordBankNotice(input: $input) {
      notice { reference event deposit { id status } }
    }
  }
`);

const WithdrawMutation = graphql(`
  mutation WithdrawBankNotice($input: WithdrawBankNoticeInput!) {
    withdrawBankNotice(input: $input) { notice { reference } }
  }
`);

const kinds = [
  ['waiting', 'Unmatched reversals'],
  ['duplicates', 'Duplicates'],
  ['all', 'All notices'],
] as const;

/** What an empty list says. */
const empty: Record<string, [title: string, hint: string]> = {
  waiting: ['No reversal waits', 'A reversal that arrives before its deposit waits here.'],
  duplicates: [
    'No transfer was credited twice',
    'References that differed in spaces around them alone were credited once each. Such notices are listed here.',
  ],
  reference: ['No notice has this reference', 'It is compared as a whole, as you typed it or in capitals.'],
  all: ['No bank has reported anything', 'What a bank reports about a transfer is recorded here.'],
};

/**
 * What banks report: recording it, the reversals whose deposits are not known yet, transfers that were credited more
 * than once, and all notices.
 */
export function Bank() {
  const mayAct = useMayAct();
  const { params, set } = useFilters();
  const shown = params.get('show') ?? 'waiting';
  const all = shown === 'all';
  const waiting = useLive(WaitingQuery, {}, { pause: shown !== 'waiting' });
  const duplicates = useLive(DuplicatesQuery, {}, { pause: shown !== 'duplicates' });
  const reference = params.get('reference');
  const notices = useLive(NoticesQuery, sent({ reference, after: params.get('after') }), { pause: !all });
  const result = all ? notices : shown === 'duplicates' ? duplicates : waiting;
  const whole = shown === 'duplicates' ? duplicates.data?.duplicateBankNotices : waiting.data?.waitingBankNotices;
  const page = pageOf(all ? notices.data?.bankNotices : whole && { nodes: whole, next: null });
  const action = shown === 'duplicates' ? takingBack(result.ask) : withdrawal(result.ask);
  const [title, hint] = empty[reference ? 'reference' : shown] ?? empty.waiting!;
  const rows = page?.nodes.map((row) => ({ ...row, id: `${row.addressId} ${row.reference} ${row.event}` }));
  return (
    <Page
      title="Bank notices"
      subtitle={<p className="hint">What banks report about transfers. A reversal may come before its deposit.</p>}
      actions={<Record onDone={result.ask} />}
    >
      <FilterBar>
        <Tabs
          kinds={kinds}
          chosen={shown as 'waiting'}
          onChoose={(show) => set({ show: show === 'waiting' ? null : show, reference: null })}
        />
        {all && <TextFilter label="Reference" name="reference" placeholder="UTR123456789" />}
      </FilterBar>
      <List
        label="Bank notices"
        result={result}
        page={page && rows && { nodes: rows, pageInfo: page.pageInfo }}
        columns={[...columns, ...(all ? [outcome] : mayAct ? [action] : [])]}
        empty={
          <Empty title={title}>
            <p>{hint}</p>
          </Empty>
        }
      />
    </Page>
  );
}

type Row = ResultOf<typeof Notice> & { id: string };

const columns: Column<Row>[] = [
  {
    head: 'Reference',
    cell: ({ reference, event, accountId, livemode, tenantId, deposit, account }) => (
      <span className="two-lines">
        {deposit ? <Link href={paymentAddress(deposit.id, tenantId)}>{reference}</Link> : <strong>{reference}</strong>}
        <span className="hint">
          {words(event)} ·{' '}
          {deposit && account ? (
            nameOf(account)
          ) : (
            <AccountLink id={accountId} livemode={livemode}>
              {account ? nameOf(account) : 'account'}
            </AccountLink>
          )}
        </span>
      </span>
    ),
  },
  placeColumn as Column<Row>,
  { head: 'Recorded', cell: ({ created }) => <Time at={created} /> },
  amountColumn(),
];

const outcome: Column<Row> = {
  head: 'Deposit',
  cell: ({ deposit }) => <Status value={deposit?.status ?? 'WAITING'} />,
  end: true,
};

/** The column that withdraws a reversal. */
const withdrawal = (onDone: () => void): Column<Row> => ({
  head: 'Action',
  end: true,
  cell: ({ reference, addressId, amount, currency }) => (
    <Action
      name="Withdraw"
      about={reference}
      small
      kind="danger"
      title="Withdraw the reversal"
      submit="Withdraw"
      mutation={WithdrawMutation}
      input={{ addressId, reference }}
      done={`The reversal ${reference} is withdrawn.`}
      onDone={onDone}
    >
      <p>
        The reversal <strong>{reference}</strong> of {formatMoney({ amount, currency })} {currency} does not wait for
        its deposit any more.
      </p>
    </Action>
  ),
});

/** The column that takes back the money of a duplicate, under its reference as it is stored. */
const takingBack = (onDone: () => void): Column<Row> => ({
  head: 'Action',
  end: true,
  cell: ({ reference, addressId, amount, currency, created, account, deposit }) => (
    <Action
      name="Take back"
      about={reference}
      small
      kind="danger"
      title="Take back a duplicate"
      submit="Take it back"
      mutation={RecordMutation}
      input={{ reference, event: 'REVERSED', addressId, amount, currency }}
      done={`The deposit of ${reference.trim()} is reversed.`}
      onDone={onDone}
    >
      <Facts
        facts={[
          ['Amount', <Money amount={amount} currency={currency} />],
          ['Account', account && nameOf(account)],
          ['Reference', <q>{reference}</q>],
          ['Recorded', <Time at={created} />],
          ['Deposit', deposit && <code>{deposit.id}</code>],
        ]}
      />
      <p className="hint">
        Live mode: real money. The deposit is reversed, as if the bank had taken the money back. Keep one deposit of
        each transfer.
      </p>
    </Action>
  ),
});

function Record({ onDone }: { onDone: () => void }) {
  return (
    <Action
      name="Record a notice"
      kind="primary"
      title="Record a bank notice"
      submit="Record it"
      mutation={RecordMutation}
      input={{}}
      // A box that is not checked is absent from the form.
      read={(values) => ({ ...values, allowCurrency: values.allowCurrency === 'on' })}
      done="The notice is recorded."
      onDone={onDone}
    >
      <p className="hint">Live mode: real money. The same notice again changes nothing.</p>
      <SelectField
        name="event"
        label="What happened"
        options={[
          { value: 'RECEIVED', name: 'The money arrived' },
          { value: 'REVERSED', name: 'The money was taken back' },
          { value: 'RECALLED', name: 'A part of the money was taken back' },
        ]}
      />
      <TextField name="reference" label="The bank's reference" maxLength={255} required />
      <TextField
        name="originalReference"
        label="Recalled transfer"
        maxLength={255}
        hint="The reference of what arrived, if a part of it was taken back."
      />
      <AddressInput name="addressId" label="Receiving address" required />
      <div className="fields two">
        <AmountField name="amount" label="Amount" required />
        <TextField name="currency" label="Currency" placeholder="USD" maxLength={3} required />
      </div>
      <label className="check">
        <input type="checkbox" name="allowCurrency" /> In another currency than the address
      </label>
      <TextField name="statementDescriptor" label="Narration" />
      <AccountInput name="fromAccountId" label="Partner that paid" hint="If it is known: its name or its id." />
      <div className="fields two">
        <TextField name="payer.name" label="Payer's name" maxLength={140} hint="As the bank says it." />
        <TextField name="payer.country" label="Payer's country" placeholder="US" maxLength={2} />
      </div>
      <TextField name="text" label="Remittance text" maxLength={140} />
    </Action>
  );
}
