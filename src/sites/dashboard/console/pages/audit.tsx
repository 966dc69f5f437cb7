import { words } from '../../format/words';
import type { ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { Empty } from '../../parts/empty';
import { Facts } from '../../parts/facts';
import { FilterBar } from '../../parts/filter-bar';
import { useFilters } from '../../parts/filters';
import { Pager } from '../../parts/pager';
import { Json } from '../../parts/json';
import { Card, Page } from '../../parts/page';
import { Problem } from '../../parts/problem';
import { Lines } from '../../parts/skeleton';
import { Status } from '../../parts/status';
import { TextFilter } from '../../parts/text-filter';
import { Time } from '../../parts/time';
import { graphql } from '../graphql';
import { Run, useOnDemand } from '../on-demand';
import { nounOf, ObjectOf, tenantFact } from '../object-of';
import { nameOf, OfTenant, pageOf } from '../parts';

const ActionsQuery = graphql(`
  query OperatorActions($operator: String, $operation: String, $objectId: ID, $after: String) {
    operatorActions(
      operator: $operator, operation: $operation, objectId: $objectId, first: 25, after: $after
    ) {
      nodes {
        number created operator operation objectId resultId tenantId mode requestId outcome code details
        hash
        account { id livemode nickname businessDetails { legalName } }
        root { id livemode nickname businessDetails { legalName } }
      }
      next
    }
  }
`);

const SealQuery = graphql(`
  query OperatorActionsSeal {
    operatorActionsSeal { entries lastHash firstBroken }
  }
`);

type Act = ResultOf<typeof ActionsQuery>['operatorActions']['nodes'][number];

/** The audit log: what operators have done and tried, by whom and on what, and whether the log is whole. */
export function Audit() {
  const { params } = useFilters();
  const { data, error, ask } = useLive(ActionsQuery, {
    operator: params.get('operator'),
    operation: params.get('operation'),
    objectId: params.get('object'),
    after: params.get('after'),
  });
  const page = pageOf(data?.operatorActions);
  return (
    <Page title="Audit log" subtitle={<p className="hint">What operators have done and tried, newest first.</p>}>
      <Seal />
      <FilterBar>
        <TextFilter label="Operator" name="operator" placeholder="Priya Nair" />
        <TextFilter label="Operation" name="operation" placeholder="settlePayout" />
        <TextFilter label="Object" name="object" placeholder="account_…" />
      </FilterBar>
      {!page && (error ? <Problem error={error} onRetry={ask} /> : <Lines count={8} />)}
      {page?.nodes.length === 0 && <Empty title="No action matches" />}
      {page && page.nodes.length > 0 && (
        <ul className="disclosures" aria-label="Actions">
          {page.nodes.map((act) => (
            <li key={act.number}>
              <details>
                <Summary act={act} />
                <Detail act={act} />
              </details>
            </li>
          ))}
        </ul>
      )}
      {page && <Pager pageInfo={page.pageInfo} />}
    </Page>
  );
}

/** A mutation or a command in words: `settlePayout` and `payout settle`. */
const operationWords = (operation: string) => words(operation.replaceAll(/[A-Z]/g, '_$&').replaceAll(' ', '_'));

/** What an action was on, in words: a payout and whose, an account by its name. */
const aboutWords = (id: string, account: Act['account']) =>
  [account?.id === id ? undefined : nounOf(id), account && nameOf(account)].filter(Boolean).join(' of ');

function Summary({ act }: { act: Act }) {
  const about = act.objectId ?? act.resultId;
  return (
    <summary>
      <span className="two-lines">
        <strong>{operationWords(act.operation)}</strong>
        <span className="hint">
          {act.operator}, <Time at={act.created} />
          {about && <span title={about}> · {aboutWords(about, act.account)}</span>}
        </span>
      </span>
      {act.tenantId && (
        <OfTenant livemode={act.mode === null ? null : act.mode === 'LIVE'} tenantId={act.tenantId} root={act.root} />
      )}
      <Status value={act.outcome} />
    </summary>
  );
}

function Detail({ act }: { act: Act }) {
  // The account is that of the object, where there is one.
  const made = act.objectId === null || act.resultId === act.account?.id ? act.account : null;
  return (
    <div className="check-detail">
      <Facts
        facts={[
          tenantFact(act.root),
          ['Object', act.objectId && <ObjectOf id={act.objectId} {...act} />],
          ['Made', act.resultId && <ObjectOf id={act.resultId} {...act} account={made} />],
          ['Error', act.code && <code>{act.code}</code>],
          ['Request', <code>{act.requestId}</code>],
          ['Entry', `${act.number}, ${act.hash.slice(0, 16)}…`],
        ]}
      />
      <Json value={act.details} label="the details" />
    </div>
  );
}

function Seal() {
  const { data, error, fetching, start } = useOnDemand(SealQuery);
  const seal = data?.operatorActionsSeal;
  return (
    <Card
      title="Hash chain"
      className="slim"
      action={<Run name="Verify the chain" fetching={fetching} start={start} />}
    >
      {error && <Problem error={error} />}
      {!seal && !error && <p className="hint">Each entry contains the hash of the one before.</p>}
      {seal && !fetching && (
        <>
          <p className={`outcome ${seal.firstBroken === null ? 'good' : 'bad'}`} role="status">
            {seal.firstBroken === null ? 'The log is whole' : `Entry ${seal.firstBroken} does not match`}
          </p>
          <p className="hint">
            {seal.entries === 1 ? '1 entry' : `${seal.entries.toLocaleString()} entries`}. The last hash is{' '}
            <code>{seal.lastHash}</code>
          </p>
        </>
      )}
    </Card>
  );
}
