import { formatMoney } from '../../format/money';
import { words } from '../../format/words';
import type { ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { amountColumn, statusColumn } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { Facts } from '../../parts/facts';
import { useFilters } from '../../parts/filters';
import { AmountField, SelectField, TextField } from '../../parts/form';
import { List } from '../../parts/list';
import { Money } from '../../parts/money';
import { Page } from '../../parts/page';
import type { Column } from '../../parts/table';
import { Time } from '../../parts/time';
import { Action } from '../action';
import { AttemptInput } from '../found-input';
import { graphql } from '../graphql';
import { AccountLink, nameOf, pageOf, placeColumn } from '../parts';
import { useMayAct } from '../session';

const AttemptsQuery = graphql(`
  query Attempts($after: String) {
    pendingTransactions(first: 25, after: $after) {
      nodes {
        id created livemode tenantId checkoutId amount currency status paymentMethod expiresAt nextPollAt
        account { id nickname businessDetails { legalName } }
        root { id nickname businessDetails { legalName } }
      }
      next
    }
  }
`);

const DecideMutation = graphql(`
  mutation DecideTransaction($input: DecideTransactionInput!) {
    decideTransaction(input: $input) { transaction { id status } }
  }
`);

type Attempt = ResultOf<typeof AttemptsQuery>['pendingTransactions']['nodes'][number];

/** The live attempts to pay of which an acquirer has not said how they ended. */
export function Attempts() {
  const { params } = useFilters();
  const mayAct = useMayAct();
  const result = useLive(AttemptsQuery, { after: params.get('after') });
  return (
    <Page
      title="Attempts"
      subtitle={
        <p className="hint">
          Live attempts to pay whose time is over and of which the acquirer has not said how they ended. It is asked for
          30 days; after that you record what it says.
        </p>
      }
      actions={<Decide onDone={result.ask} />}
    >
      <List
        label="Attempts"
        result={result}
        page={pageOf(result.data?.pendingTransactions)}
        columns={[
          {
            head: 'Attempt',
            cell: ({ id, livemode, paymentMethod, account }) => (
              <span className="two-lines" title={id}>
                {account && (
                  <AccountLink id={account.id} livemode={livemode}>
                    {nameOf(account)}
                  </AccountLink>
                )}
                <span className="hint">{words(paymentMethod)}</span>
              </span>
            ),
          },
          placeColumn,
          { head: 'Begun', cell: ({ created }) => <Time at={created} /> },
          { head: 'Asked next', cell: ({ nextPollAt }) => (nextPollAt ? <Time at={nextPollAt} /> : 'No longer asked') },
          statusColumn(),
          amountColumn(),
          ...(mayAct ? [decision(result.ask)] : []),
        ]}
        empty={
          <Empty title="Every attempt is decided">
            <p>An attempt is here from when its time is over until the acquirer or you have said how it ended.</p>
          </Empty>
        }
      />
    </Page>
  );
}

const decision = (onDone: () => void): Column<Attempt> => ({
  head: 'Decision',
  end: true,
  cell: (attempt) => <Decide attempt={attempt} onDone={onDone} />,
});

/** Records what the acquirer says of an attempt; without one, of the attempt that the operator names. */
function Decide({ attempt, onDone }: { attempt?: Attempt; onDone: () => void }) {
  const what = attempt ? `the attempt of ${formatMoney(attempt)} ${attempt.currency}` : 'an attempt';
  return (
    <Action
      name={attempt ? 'Decide' : 'Decide an attempt'}
      {...(attempt && { about: `${formatMoney(attempt)} ${attempt.currency}`, small: true })}
      title={`Decide ${what}`}
      submit="Record it"
      reason="For the audit log, such as where the acquirer says so."
      mutation={DecideMutation}
      input={attempt ? { id: attempt.id } : {}}
      done={`What the acquirer says of ${what} is recorded.`}
      onDone={onDone}
    >
      {attempt ? (
        <AttemptFacts attempt={attempt} />
      ) : (
        <AttemptInput
          name="id"
          label="Attempt"
          hint="Its id, also of one about which the acquirer is not asked any more."
          required
        />
      )}
      <SelectField
        name="outcome"
        label="The acquirer says"
        none="Choose …"
        required
        options={[
          { value: 'FAILED', name: 'The payer has not been charged' },
          { value: 'SUCCEEDED', name: 'The payer has been charged' },
        ]}
      />
      <div className="fields two">
        <AmountField
          name="amount"
          label="What it took"
          placeholder={attempt?.amount ?? '0.00'}
          hint="Where it is not the amount of the attempt."
        />
        <TextField name="currency" label="Currency" placeholder={attempt?.currency ?? 'INR'} maxLength={3} />
      </div>
      <p className="hint">
        Live mode: real money. A success credits the account up to the checkout, and what is beyond it is unexplained.
        There is no way back.
      </p>
    </Action>
  );
}

function AttemptFacts({ attempt }: { attempt: Attempt }) {
  const { id, amount, currency, checkoutId, created, paymentMethod, account } = attempt;
  return (
    <Facts
      facts={[
        ['Amount', <strong className="amount-line">{<Money amount={amount} currency={currency} />}</strong>],
        ['Account', account && nameOf(account)],
        ['Method', words(paymentMethod)],
        ['Begun', <Time at={created} />],
        ['Checkout', <code>{checkoutId}</code>],
        ['Attempt', <code>{id}</code>],
      ]}
    />
  );
}
