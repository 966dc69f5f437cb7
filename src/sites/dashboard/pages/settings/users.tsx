import { payoutDays } from '../../format/payout-days';
import { useTimes } from '../../format/time';
import { graphql, type ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import type { RowOf } from '../../graph/pages';
import { ActionButton } from '../../parts/action';
import { Empty } from '../../parts/empty';
import { Choice } from '../../parts/chips';
import { FilterBar } from '../../parts/filter-bar';
import { ClearFilters, useFilters } from '../../parts/filters';
import { List } from '../../parts/list';
import { ObjectLink } from '../../parts/object-link';
import { Status } from '../../parts/status';
import { nameOf, NameFragment, useMayWrite } from '../../session';
import { ChangeInterval, PayoutsFragment, UpdateMutation } from './interval';

const UsersQuery = graphql(
  `
    query PayoutsOfUsers($after: ID, $payouts: PayoutSettingsFilter) {
      connectedAccountSettings(first: 25, after: $after, filter: { payouts: $payouts }) {
        nodes {
          ...Payouts
          account { ...Name nextPayoutAt }
        }
        pageInfo { hasNextPage endCursor }
      }
    }
  `,
  [NameFragment, PayoutsFragment],
);

type Row = RowOf<ResultOf<typeof UsersQuery>['connectedAccountSettings']>;

const states = ['ENABLED', 'PLATFORM_HOLD', 'SERVICE_HOLD', 'ACCOUNT_NOT_ACTIVATED'] as const;
const stateNames = {
  PLATFORM_HOLD: 'Disabled by you',
  SERVICE_HOLD: 'Disabled by the service',
  ACCOUNT_NOT_ACTIVATED: 'Not activated',
};

/** The users of a platform with the days of their payouts, newest first. */
export function PayoutsOfUsers({ atOnce }: { atOnce: boolean }) {
  const { params, one } = useFilters();
  const time = useTimes();
  const mayWrite = useMayWrite();
  const state = one('payouts', states);
  const payouts = state && (state === 'ENABLED' ? { enabled: true } : { reasonCodeNotEnabled: [state] });
  const result = useLive(UsersQuery, { after: params.get('after'), ...(payouts && { payouts }) });
  return (
    <section className="below" aria-label="Payouts of your users">
      <h2>Payouts of your users</h2>
      {atOnce && (
        <p className="hint">
          Your users are paid out as soon as money is available. Their days count for what could not be paid then.
        </p>
      )}
      <FilterBar shown>
        <Choice label="Payouts" name="payouts" values={states} names={stateNames} />
      </FilterBar>
      <List
        label="Payouts of your users"
        result={result}
        page={result.data?.connectedAccountSettings}
        columns={[
          { head: 'User', cell: ({ account }: Row) => <ObjectLink id={account.id}>{nameOf(account)}</ObjectLink> },
          { head: 'Paid out', cell: ({ payouts: days }) => payoutDays(days) },
          {
            head: 'Next payout',
            cell: ({ account: { nextPayoutAt: at } }) => (at ? time(at) : <span className="hint none">–</span>),
            line: true,
          },
          { head: 'Payouts', cell: State },
          ...(mayWrite
            ? [{ head: 'Actions', cell: (row: Row) => <Actions row={row} atOnce={atOnce} />, end: true }]
            : []),
        ]}
        empty={
          <Empty title={state ? 'No user matches' : 'No users yet'}>
            <ClearFilters />
          </Empty>
        }
      />
    </section>
  );
}

function State({ payouts: { enabled, reasonCodeNotEnabled: reason } }: Row) {
  if (enabled === null) return <span className="hint">Paid to the platform</span>;
  return (
    <span className="two-lines">
      <Status value={enabled ? 'ENABLED' : 'DISABLED'} />
      {reason && <span className="hint">{stateNames[reason]}</span>}
    </span>
  );
}

/** What a platform can do with the payouts of a user. */
function Actions({ row, atOnce }: { row: Row; atOnce: boolean }) {
  const name = nameOf(row.account);
  const { enabled, reasonCodeNotEnabled: reason } = row.payouts;
  const hold = (enable: boolean) => () => ({ id: row.id, payouts: { enabled: enable } });
  if (enabled === null) return null;
  return (
    <span className="row-actions">
      <ChangeInterval setting={row} name={name} small atOnce={atOnce} />
      {enabled && (
        <ActionButton
          name="Disable"
          about={`the payouts of ${name}`}
          title={`Disable the payouts of ${name}?`}
          submit="Disable payouts"
          small
          danger
          withKey
          mutation={UpdateMutation}
          read={hold(false)}
        >
          <p className="hint">
            {name} is paid out nothing until you enable its payouts again. What it receives stays in its balance.
            Payouts that are under way arrive.
          </p>
        </ActionButton>
      )}
      {reason === 'PLATFORM_HOLD' && (
        <ActionButton
          name="Enable"
          about={`the payouts of ${name}`}
          title={`Enable the payouts of ${name}?`}
          submit="Enable payouts"
          small
          withKey
          mutation={UpdateMutation}
          read={hold(true)}
        >
          <p className="hint">What is available is paid out {atOnce ? 'at once' : payoutDays(row.payouts)}.</p>
        </ActionButton>
      )}
    </span>
  );
}
