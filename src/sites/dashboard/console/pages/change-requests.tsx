import { nameOfPath } from '../../format/requirements';
import type { ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { sent } from '../../graph/sent';
import { statusColumn } from '../../parts/cells';
import { Changes } from '../../parts/changes';
import { Choice } from '../../parts/chips';
import { Empty } from '../../parts/empty';
import { FilterBar } from '../../parts/filter-bar';
import { useFilters } from '../../parts/filters';
import { TextField } from '../../parts/form';
import { List } from '../../parts/list';
import { Page } from '../../parts/page';
import type { Column } from '../../parts/table';
import { Time } from '../../parts/time';
import { Action } from '../action';
import { graphql } from '../graphql';
import { AccountLink, modes, pageOf, payeeOf, placeColumn } from '../parts';
import { PlaceFilters } from '../place-filters';
import { useMayAct } from '../session';

const ChangeRequestsQuery = graphql(`
  query ChangeRequests($status: ChangeRequestStatus, $mode: Mode, $tenantId: ID, $after: String) {
    changeRequests(status: $status, mode: $mode, tenantId: $tenantId, first: 25, after: $after) {
      nodes {
        id created livemode tenantId accountId status reason answer answeredAt
        changes { path from to }
        root { id nickname businessDetails { legalName } }
        account { id nickname businessDetails { legalName } }
      }
      next
    }
  }
`);

const AcceptMutation = graphql(`
  mutation AcceptChangeRequest($input: AcceptChangeRequestInput!) {
    acceptChangeRequest(input: $input) { changeRequest { id status } }
  }
`);

const DeclineMutation = graphql(`
  mutation DeclineChangeRequest($input: DeclineChangeRequestInput!) {
    declineChangeRequest(input: $input) { changeRequest { id status } }
  }
`);

type ChangeRequest = ResultOf<typeof ChangeRequestsQuery>['changeRequests']['nodes'][number];

const statuses = ['OPEN', 'ACCEPTED', 'DECLINED', 'WITHDRAWN'] as const;

/** What owners of all tenants ask to change of accounts that they cannot update. */
export function ChangeRequests() {
  const { params, one } = useFilters();
  const mayAct = useMayAct();
  const all = params.get('status') === 'ALL';
  const result = useLive(
    ChangeRequestsQuery,
    sent({
      status: all ? undefined : (one('status', statuses) ?? 'OPEN'),
      mode: one('mode', modes),
      tenantId: params.get('tenant'),
      after: params.get('after'),
    }),
  );
  return (
    <Page
      title="Changes"
      subtitle={
        <p className="hint">
          Details that an owner asks to change of an account that is no longer a draft. The account keeps the old ones
          meanwhile.
        </p>
      }
    >
      <FilterBar>
        <Choice
          label="Status"
          name="status"
          values={['ACCEPTED', 'DECLINED', 'WITHDRAWN', 'ALL']}
          names={{ ALL: 'All' }}
          none="Open"
        />
        <PlaceFilters />
      </FilterBar>
      <List
        label="Changes"
        result={result}
        page={pageOf(result.data?.changeRequests)}
        columns={[
          { head: 'Account', cell: (request) => <About request={request} /> },
          placeColumn,
          { head: 'Requested', cell: ({ created }) => <Time at={created} /> },
          { head: 'Change', cell: ({ changes }) => changes.map(({ path }) => nameOfPath(path)).join(', ') },
          statusColumn(),
          ...(mayAct ? [answerColumn(result.ask)] : []),
        ]}
        empty={
          <Empty title={params.has('status') ? 'No change matches' : 'No change is requested'}>
            <p>A request comes here when an owner asks to change an activated account.</p>
          </Empty>
        }
      />
    </Page>
  );
}

function About({ request }: { request: ChangeRequest }) {
  const { accountId, livemode, reason, answer } = request;
  return (
    <span className="two-lines">
      <AccountLink id={accountId} livemode={livemode}>
        {payeeOf(request)}
      </AccountLink>
      <span className="hint">{[reason, answer && `Answer: ${answer}`].filter(Boolean).join(' · ')}</span>
    </span>
  );
}

const answerColumn = (onDone: () => void): Column<ChangeRequest> => ({
  head: 'Answer',
  cell: (request) => <Answer request={request} onDone={onDone} />,
  end: true,
});

function Answer({ request, onDone }: { request: ChangeRequest; onDone: () => void }) {
  if (request.status !== 'OPEN') return null;
  const what = payeeOf(request);
  const common = { about: what, small: true, input: { id: request.id }, onDone };
  return (
    <span className="row-actions">
      <Action
        name="Accept"
        title="Accept the change"
        submit="Change the account"
        mutation={AcceptMutation}
        done={`Changed: ${what}.`}
        {...common}
      >
        <Changes changes={request.changes} />
        {request.reason && <p>{request.reason}</p>}
        <Told />
      </Action>
      <Action
        name="Decline"
        kind="danger"
        title="Decline the change"
        submit="Decline it"
        mutation={DeclineMutation}
        done={`Declined: ${what}.`}
        {...common}
      >
        <Changes changes={request.changes} />
        <Told />
      </Action>
    </span>
  );
}

const Told = () => <TextField name="answer" label="What the account is told" maxLength={500} />;
