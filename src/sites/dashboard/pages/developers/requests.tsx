import { Fragment } from 'react';
import { useTimes } from '../../format/time';
import { graphql, type ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { sent } from '../../graph/sent';
import { Empty } from '../../parts/empty';
import { Copy } from '../../parts/facts';
import { Choice } from '../../parts/chips';
import { FilterBar } from '../../parts/filter-bar';
import { ClearFilters, useFilters } from '../../parts/filters';
import { List } from '../../parts/list';
import { Page } from '../../parts/page';
import { Status } from '../../parts/status';
import type { Column } from '../../parts/table';
import { TextFilter } from '../../parts/text-filter';
import { nameOf } from '../../session';

const LoggedFragment = graphql(`
  fragment Logged on RequestLog {
    id created api operation status outcome codes durationMilliseconds onBehalfOf
    onBehalfOfAccount { id nickname businessDetails { legalName } }
  }
`);

const RequestsQuery = graphql(
  `
    query Requests($after: ID, $api: [RequestApi!], $outcome: [RequestOutcome!], $operation: [String!]) {
      requestLogs(first: 25, after: $after, filter: { api: $api, outcome: $outcome, operation: $operation }) {
        nodes { ...Logged }
        pageInfo { hasNextPage endCursor }
      }
    }
  `,
  [LoggedFragment],
);

const RequestQuery = graphql(
  `
    query Request($id: ID!) {
      node(id: $id) { ... on RequestLog { ...Logged } }
    }
  `,
  [LoggedFragment],
);

type Logged = ResultOf<typeof LoggedFragment>;

const outcomes = ['SUCCEEDED', 'REFUSED', 'FAILED'] as const;
const apis = ['GRAPHQL', 'REST'] as const;

/** The requests of the last days, or the one with an id. */
export function Requests() {
  const { params, one } = useFilters();
  const [api, outcome] = [one('api', apis), one('outcome', outcomes)];
  const [id, operation] = [params.get('id'), params.get('operation')];
  const list = useLive(
    RequestsQuery,
    sent({
      after: params.get('after'),
      api: api && [api],
      outcome: outcome && [outcome],
      operation: operation ? [operation] : null,
    }),
    { seconds: 5, pause: id !== null, withoutEvents: true },
  );
  const single = useLive(RequestQuery, { id: id ?? '' }, { pause: id === null });
  const page = id === null ? list.data?.requestLogs : single.data && found(single.data);
  return (
    <Page
      title="Requests"
      subtitle={<p className="subtitle">Without their content, for some days. Reads of this dashboard are left out.</p>}
    >
      <FilterBar>
        {id === null && <Choice label="Outcome" name="outcome" values={outcomes} />}
        {id === null && <Choice label="API" name="api" values={apis} />}
        {id === null && (
          <TextFilter
            label="Operation"
            name="operation"
            placeholder="createDeposit"
            suggestions={[...new Set(page?.nodes.map((row) => row.operation))]}
          />
        )}
        <TextFilter label="Request ID" name="id" placeholder="req_…" />
      </FilterBar>
      <List
        label="Requests"
        result={id === null ? list : single}
        page={page}
        columns={useColumns()}
        empty={<NoRequests filtered={params.size > 0} />}
      />
    </Page>
  );
}

/** A path that breaks at its slashes where it does not fit into a line. */
const breakable = (path: string) =>
  path.match(/[^/]*\/|[^/]+/g)?.map((part, i) => (
    <Fragment key={i}>
      {part}
      <wbr />
    </Fragment>
  ));

/** The request as a list, which is empty where no request of the account has the id. */
function found({ node }: ResultOf<typeof RequestQuery>) {
  return { nodes: node && 'operation' in node ? [node] : [], pageInfo: { hasNextPage: false, endCursor: null } };
}

function useColumns(): Column<Logged>[] {
  const time = useTimes();
  return [
    {
      head: 'Operation',
      cell: ({ operation, api, codes, onBehalfOf, onBehalfOfAccount: user }) => (
        <span className="two-lines">
          <strong>{breakable(operation)}</strong>
          <span className="hint">{[api === 'REST' ? 'REST' : 'GraphQL', ...codes].join(' · ')}</span>
          {onBehalfOf && (
            <span className="hint" title={onBehalfOf}>
              on behalf of {user ? nameOf(user) : onBehalfOf}
            </span>
          )}
        </span>
      ),
    },
    {
      head: 'Answer',
      cell: ({ status, outcome }) => (
        <span className="answer">
          <Status value={outcome} /> <code>{status}</code>
        </span>
      ),
    },
    {
      head: 'Time',
      cell: ({ created }) => <time dateTime={created}>{time(created, 'seconds')}</time>,
      line: true,
    },
    { head: 'Request', cell: ({ id }) => <Copy text={id} label="the request id" /> },
    {
      head: 'Took',
      cell: ({ durationMilliseconds }) => <span className="money">{durationMilliseconds.toLocaleString()} ms</span>,
      end: true,
    },
  ];
}

function NoRequests({ filtered }: { filtered: boolean }) {
  return filtered ? (
    <Empty title="No request matches">
      <p>{`Choose other filters. A request appears here within some seconds of its answer.`}</p>
      <ClearFilters />
    </Empty>
  ) : (
    <Empty title="No requests yet">
      <p>Requests with the API keys of this account appear here as they are made.</p>
      <a className="button" href="/docs">
        Read how to make one
      </a>
    </Empty>
  );
}
