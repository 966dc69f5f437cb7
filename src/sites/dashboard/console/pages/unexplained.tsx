import { decimal, formatMoney, hundredths } from '../../format/money';
import type { ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { sent } from '../../graph/sent';
import { Two } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { Facts } from '../../parts/facts';
import { Choice } from '../../parts/chips';
import { FilterBar } from '../../parts/filter-bar';
import { useFilters } from '../../parts/filters';
import { TextField } from '../../parts/form';
import { List } from '../../parts/list';
import { Money } from '../../parts/money';
import { Page } from '../../parts/page';
import { Status } from '../../parts/status';
import type { Column } from '../../parts/table';
import { Time } from '../../parts/time';
import { Action } from '../action';
import { graphql } from '../graphql';
import { ObjectOf, tenantFact } from '../object-of';
import { AccountLink, modes, nameOf, pageOf, placeColumn } from '../parts';
import { PlaceFilters } from '../place-filters';
import { useMayAct } from '../session';
import { WinOrLose } from './dispute-actions';

const UnexplainedQuery = graphql(`
  query Unexplained($status: UnexplainedStatus, $mode: Mode, $tenantId: ID, $after: String) {
    unexplained(status: $status, mode: $mode, tenantId: $tenantId, first: 25, after: $after) {
      nodes {
        id created livemode tenantId transactionId depositId amount covered currency reason status reference note
        account { id livemode nickname businessDetails { legalName } }
        root { id livemode nickname businessDetails { legalName } }
        decision resolution resolvedBy resolvedAt
      }
      next
    }
  }
`);

const ResolveMutation = graphql(`
  mutation ResolveUnexplained($input: ResolveUnexplainedInput!) {
    resolveUnexplained(input: $input) { unexplained { id status } }
  }
`);

type Unexplained = ResultOf<typeof UnexplainedQuery>['unexplained']['nodes'][number];

const statuses = ['OPEN', 'RESOLVED'] as const;

/** Money in no balance: what an acquirer took, or took back, and no object of an account explains. */
export function UnexplainedMoney() {
  const { params, one } = useFilters();
  const mayAct = useMayAct();
  const all = params.get('status') === 'ALL';
  const result = useLive(
    UnexplainedQuery,
    sent({
      status: all ? undefined : (one('status', statuses) ?? 'OPEN'),
      mode: one('mode', modes),
      tenantId: params.get('tenant'),
      after: params.get('after'),
    }),
  );
  return (
    <Page
      title="Unexplained"
      subtitle={
        <p className="hint">
          Money that an acquirer or a bank took, or took back, and that is in no balance. It is cleared with them.
        </p>
      }
    >
      <FilterBar>
        <Choice label="Status" name="status" values={['RESOLVED', 'ALL']} names={{ ALL: 'All' }} none="Open" />
        <PlaceFilters />
      </FilterBar>
      <List
        label="Unexplained"
        result={result}
        page={pageOf(result.data?.unexplained)}
        columns={[
          {
            head: 'Reason',
            cell: ({ reason, account }) => (
              <Two hint={account && <AccountLink {...account}>{nameOf(account)}</AccountLink>}>
                {reasonWords[reason]}
              </Two>
            ),
          },
          placeColumn,
          { head: 'Booked', cell: ({ created }) => <Time at={created} /> },
          { head: 'Amount', cell: (each) => <Amount of={each} />, end: true, plain: true },
          { head: 'What became of it', cell: (each) => <Resolution of={each} /> },
          ...(mayAct ? [decision(result.ask)] : []),
        ]}
        empty={
          <Empty title={params.has('status') ? 'Nothing matches' : 'All money is explained'}>
            <p>What an acquirer takes beyond an attempt to pay, or takes back beyond a payment, comes here.</p>
          </Empty>
        }
      />
    </Page>
  );
}

/** Why money is unexplained, in words. */
const reasonWords: Record<Unexplained['reason'], string> = {
  BEYOND_ATTEMPT: 'More than was asked for',
  BEYOND_DEPOSIT: 'More taken back than was left',
  DUPLICATE: 'Paid twice, and not sent back',
  OTHER_CURRENCY: 'Another currency',
  RECORDED: 'Taken back, and in no balance',
};

/** What is left of the amount, where a part was taken from the account after all. */
const leftOf = ({ amount, covered }: Unexplained) => decimal(hundredths(amount) + hundredths(covered));

const isCovered = ({ covered }: Unexplained) => hundredths(covered) !== 0n;

function Amount({ of }: { of: Unexplained }) {
  const { amount, currency } = of;
  return (
    <span className="two-lines">
      <Money amount={amount} currency={currency} />
      {isCovered(of) && <span className="hint">{formatMoney({ amount: leftOf(of), currency })} left</span>}
    </span>
  );
}

function Resolution({ of: { status, decision, resolution, resolvedBy, resolvedAt } }: { of: Unexplained }) {
  if (resolvedAt === null)
    return (
      <span className="two-lines">
        <Status value={status} />
        {decision && <span className="hint">The dispute is lost: the payer keeps the money.</span>}
      </span>
    );
  return (
    <span className="two-lines">
      {resolution}
      <span className="hint">
        {resolvedBy} · <Time at={resolvedAt} />
      </span>
    </span>
  );
}

const decision = (onDone: () => void): Column<Unexplained> => ({
  head: 'Decision',
  end: true,
  cell: (each) => (
    <span className="row-actions">
      {each.reason === 'RECORDED' && each.decision === null && <Decision of={each} onDone={onDone} />}
      {each.status === 'OPEN' && <Resolve of={each} onDone={onDone} />}
    </span>
  ),
});

interface ActionOf {
  of: Unexplained;
  onDone: () => void;
}

/** Records how the dispute was decided that took the money back. */
function Decision({ of, onDone }: ActionOf) {
  return (
    <WinOrLose
      id={of.id}
      what={`${formatMoney(of)} ${of.currency}`}
      onDone={onDone}
      facts={<UnexplainedFacts of={of} />}
      win="The bank or the acquirer has given the money back. What was taken from the account since comes back to it at
          once, and nobody is owed the rest."
      lose={<p className="hint">It moves nothing: the payer keeps the money. There is no way back.</p>}
    />
  );
}

function Resolve({ of, onDone }: ActionOf) {
  const { id, currency } = of;
  const what = `${formatMoney(of)} ${currency}`;
  return (
    <Action
      name="Resolve"
      about={what}
      small
      title="Resolve unexplained money"
      submit="Record it"
      mutation={ResolveMutation}
      input={{ id }}
      done={`${what}: recorded.`}
      onDone={onDone}
    >
      <UnexplainedFacts of={of} />
      <TextField
        name="resolution"
        label="What became of it"
        maxLength={1_000}
        hint="Such as that the acquirer has refunded the payer. It is recorded once."
        required
      />
      <p className="hint">It moves nothing: what is owed to an account is a notice of a bank or an adjustment.</p>
    </Action>
  );
}

function UnexplainedFacts({ of }: { of: Unexplained }) {
  const { amount, covered, currency, reason, reference, note, transactionId, depositId } = of;
  // The account is that of the payment, where there is one.
  const payee = depositId === null ? of.account : null;
  return (
    <Facts
      facts={[
        ['Amount', <strong className="amount-line">{<Money amount={amount} currency={currency} />}</strong>],
        ['Taken from the account since', isCovered(of) && <Money amount={covered} currency={currency} />],
        ['Left', isCovered(of) && <Money amount={leftOf(of)} currency={currency} />],
        ['Reason', reasonWords[reason]],
        ["The bank's reference", reference],
        ['Note', note],
        tenantFact(of.root),
        ['Attempt', transactionId && <ObjectOf {...of} id={transactionId} account={payee} />],
        ['Payment', depositId && <ObjectOf {...of} id={depositId} />],
      ]}
    />
  );
}
