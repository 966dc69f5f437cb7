import { CircleCheck } from 'lucide-react';
import { Link } from 'wouter';
import { currenciesOf, type Money as Amount, sum } from '../../format/money';
import { formatAge } from '../../format/time';
import { counted } from '../../format/words';
import type { ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { Money } from '../../parts/money';
import { Card, Page } from '../../parts/page';
import { Problem } from '../../parts/problem';
import { Lines } from '../../parts/skeleton';
import { Status } from '../../parts/status';
import { Table } from '../../parts/table';
import { Time } from '../../parts/time';
import { graphql } from '../graphql';
import { OfTenant } from '../parts';
import { countOf, oldestOf, type Queue, queuesOf, ReturningQuery, WaitingQuery } from './queues';
import { Health } from './health';

const ControlQuery = graphql(`
  query Control {
    ledgerChecks(first: 1) {
      nodes {
        id tenantId livemode status began violationCount
        root { id nickname businessDetails { legalName } }
      }
    }
    violated: ledgerChecks(status: VIOLATED, first: 1) { nodes { id began } }
    gateways { id alive }
  }
`);

/** The start page: the queues of the console with the age of the oldest in each, and how the service is. */
export function Home() {
  const waiting = useLive(WaitingQuery, {}, { seconds: 30 });
  const returning = useLive(ReturningQuery, {}, { seconds: 30 });
  const error = waiting.error ?? returning.error;
  const isKnown = waiting.data !== undefined && returning.data !== undefined;
  const ask = () => {
    waiting.ask();
    returning.ask();
  };
  return (
    <Page title="Home" subtitle={<p className="hint">What waits for an operator, in all tenants.</p>}>
      {!isKnown && (error ? <Problem error={error} onRetry={ask} /> : <Lines count={8} />)}
      {isKnown && (
        <Queues
          queues={queuesOf({ ...waiting.data, ...returning.data })}
          underWay={waiting.data?.payouts.nodes ?? []}
        />
      )}
      {(isKnown || error) && (
        <div className="pair">
          <Control />
          <Health />
        </div>
      )}
    </Page>
  );
}

/** The queues in which something waits, the oldest first, and the names of the others. */
function Queues({ queues, underWay }: { queues: readonly Queue[]; underWay: readonly Amount[] }) {
  const full = queues
    .flatMap((queue) => {
      const oldest = oldestOf(queue);
      return oldest === undefined ? [] : [{ ...queue, id: queue.path, oldest }];
    })
    .toSorted((one, other) => Date.parse(one.oldest) - Date.parse(other.oldest));
  const empty = queues.filter(({ times }) => times?.length === 0);
  return (
    <Card title="Queues">
      {full.length > 0 && (
        <Table
          label="Queues"
          rows={full}
          href={({ path }) => path}
          columns={[
            {
              head: 'Queue',
              cell: (queue) => (
                <span className="two-lines">
                  <strong>{queue.name}</strong>
                  <span className="hint">{inWords(queue)}</span>
                </span>
              ),
            },
            {
              head: 'Amount',
              cell: ({ path }) => path === '/payouts' && <Sums amounts={underWay} />,
              plain: true,
            },
            { head: 'Oldest', cell: ({ oldest }) => <span title={oldest}>{formatAge(oldest)}</span>, end: true },
          ]}
        />
      )}
      {empty.length > 0 && (
        <p className="nothing-waits hint">
          <CircleCheck aria-hidden />
          <span>
            Nothing waits in{' '}
            {empty.map(({ path, name }, i) => (
              <span key={path}>
                {i > 0 && ', '}
                <Link href={path}>{name}</Link>
              </span>
            ))}
            .
          </span>
        </p>
      )}
    </Card>
  );
}

/** How many wait, with what they are: `3 live refunds to send`. */
const inWords = (queue: Queue) => `${countOf(queue)} ${queue.what[queue.times?.length === 1 ? 0 : 1]}`;

/** The sums of amounts by their currencies. */
function Sums({ amounts }: { amounts: readonly Amount[] }) {
  return (
    <span className="two-lines">
      {currenciesOf(amounts).map((currency) => (
        <Money
          key={currency}
          currency={currency}
          amount={sum(amounts.filter((each) => each.currency === currency).map(({ amount }) => amount))}
        />
      ))}
    </span>
  );
}

/** The last check of a ledger, the last one that was violated, and the gateways that run. */
function Control() {
  const { data, error, ask } = useLive(ControlQuery, {}, { seconds: 30 });
  return (
    <Card title="Control" action={<Link href="/ledger">Ledger</Link>}>
      {!data && (error ? <Problem error={error} onRetry={ask} /> : <Lines count={3} />)}
      {data && <ControlLines data={data} />}
    </Card>
  );
}

function ControlLines({ data }: { data: ResultOf<typeof ControlQuery> }) {
  const [check] = data.ledgerChecks.nodes;
  const [violated] = data.violated.nodes;
  const alive = data.gateways.filter((each) => each.alive).length;
  return (
    <ul className="control">
      <li>
        {check ? (
          <>
            <span>
              Last check of a ledger, <Time at={check.began} /> <OfTenant {...check} />
            </span>
            <Status value={check.status} />
          </>
        ) : (
          <span className="hint">No ledger was checked yet. A gateway checks each that has postings every day.</span>
        )}
      </li>
      <li>
        <Link href="/ledger?status=VIOLATED">
          {violated ? <>The last violated check was {formatAge(violated.began)}</> : 'No check was violated'}
        </Link>
        <Status value={violated ? 'VIOLATED' : 'OK'} />
      </li>
      <li>
        <Link href="/work">
          {counted(alive, 'gateway')} {alive === 1 ? 'runs' : 'run'}
        </Link>
        <Status value={alive > 0 ? 'ALIVE' : 'GONE'} />
      </li>
    </ul>
  );
}
