import { formatAge } from '../../format/time';
import { counted, words } from '../../format/words';
import type { ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { Empty } from '../../parts/empty';
import { Facts } from '../../parts/facts';
import { useFilters } from '../../parts/filters';
import { Pager } from '../../parts/pager';
import { Card, Page } from '../../parts/page';
import { Problem } from '../../parts/problem';
import { Lines } from '../../parts/skeleton';
import { Status } from '../../parts/status';
import { Table } from '../../parts/table';
import { Time } from '../../parts/time';
import { Action } from '../action';
import { graphql } from '../graphql';
import { Health } from './health';
import { ObjectOf, tenantFact } from '../object-of';
import { OfTenant, pageOf } from '../parts';

const WorkQuery = graphql(`
  query Work($after: String) {
    gateways { id host process version startedAt seenAt alive }
    stuckWork(first: 25, after: $after) {
      nodes {
        tenantId livemode work jobId jobKind subjectId error since attempts nextAttemptAt
        account { id livemode nickname businessDetails { legalName } }
        root { id livemode nickname businessDetails { legalName } }
      }
      next
    }
  }
`);

const RetryMutation = graphql(`
  mutation RetryJob($input: RetryJobInput!) {
    retryJob(input: $input) { job { id due } }
  }
`);

/** The gateways that run, and the work that fails and is tried again. */
export function Work() {
  const { params } = useFilters();
  const { data, error, ask } = useLive(WorkQuery, { after: params.get('after') });
  const stuck = pageOf(data?.stuckWork);
  return (
    <Page title="Work" subtitle={<p className="hint">What fails is tried again by itself, later each time.</p>}>
      {!data && (error ? <Problem error={error} onRetry={ask} /> : <Lines count={8} />)}
      {(data ?? error) && <Health />}
      {data && <Gateways gateways={data.gateways} />}
      {stuck && <Stuck page={stuck} onDone={ask} />}
    </Page>
  );
}

type Answer = ResultOf<typeof WorkQuery>;
type StuckWork = Answer['stuckWork']['nodes'][number];

function Gateways({ gateways }: { gateways: Answer['gateways'] }) {
  return (
    <Card title="Gateways">
      {gateways.length === 0 && <p className="hint">No gateway was seen in the last day.</p>}
      <Table
        label="Gateways"
        rows={gateways}
        columns={[
          {
            head: 'Host',
            cell: ({ host, process }) => (
              <span className="two-lines">
                <strong>{host}</strong>
                <span className="hint">Process {process}</span>
              </span>
            ),
          },
          { head: 'Version', cell: ({ version }) => version },
          { head: 'Started', cell: ({ startedAt }) => <Time at={startedAt} /> },
          { head: 'Seen', cell: ({ seenAt }) => formatAge(seenAt) },
          { head: 'State', cell: ({ alive }) => <Status value={alive ? 'ALIVE' : 'GONE'} />, end: true },
        ]}
      />
    </Card>
  );
}

function Stuck({ page, onDone }: { page: NonNullable<ReturnType<typeof pageOf<StuckWork>>>; onDone: () => void }) {
  return (
    <Card title="Stuck work">
      {page.nodes.length === 0 ? (
        <Empty title="No work is stuck">
          <p>Every job succeeds, in every tenant.</p>
        </Empty>
      ) : (
        <ul className="disclosures" aria-label="Stuck work">
          {page.nodes.map((work) => (
            <li key={work.jobId ?? `${work.tenantId} ${work.livemode} ${work.work}`}>
              <Fault work={work} onDone={onDone} />
            </li>
          ))}
        </ul>
      )}
      <Pager pageInfo={page.pageInfo} />
    </Card>
  );
}

function Fault({ work, onDone }: { work: StuckWork; onDone: () => void }) {
  const name = words(work.jobKind ?? work.work);
  return (
    <details>
      <summary>
        <span className="two-lines">
          <strong>{name}</strong>
          <span className="hint">
            {counted(work.attempts, 'attempt')} since <Time at={work.since} />
          </span>
        </span>
        <OfTenant {...work} />
      </summary>
      <div className="check-detail">
        <pre className="fault">{work.error}</pre>
        <Facts
          facts={[
            ['Tried again', <Time at={work.nextAttemptAt} />],
            tenantFact(work.root),
            ['About', work.subjectId && <ObjectOf id={work.subjectId} {...work} />],
            ['Job', work.jobId && <code className="hint">{work.jobId}</code>],
          ]}
        />
        {work.jobId && (
          <div>
            <Action
              name="Try again now"
              about={name}
              small
              title="Try the job again now"
              submit="Try again"
              mutation={RetryMutation}
              input={{ id: work.jobId }}
              done="The job is due now."
              onDone={onDone}
            >
              <p>It runs with the next round of a gateway, instead of when it would be tried again.</p>
            </Action>
          </div>
        )}
      </div>
    </details>
  );
}
