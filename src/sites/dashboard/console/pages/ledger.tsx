import { counted } from '../../format/words';
import type { ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { sent } from '../../graph/sent';
import { Empty } from '../../parts/empty';
import { Choice } from '../../parts/chips';
import { FilterBar } from '../../parts/filter-bar';
import { useFilters } from '../../parts/filters';
import { Pager } from '../../parts/pager';
import { Card, Page } from '../../parts/page';
import { Problem } from '../../parts/problem';
import { Lines } from '../../parts/skeleton';
import { Status } from '../../parts/status';
import { Table } from '../../parts/table';
import { Time } from '../../parts/time';
import { graphql } from '../graphql';
import { Run, useOnDemand } from '../on-demand';
import { modes, OfTenant, pageOf, placeColumn } from '../parts';
import { PlaceFilters } from '../place-filters';

const ChecksQuery = graphql(`
  query LedgerChecks($status: LedgerCheckStatus, $mode: Mode, $tenantId: ID, $after: String) {
    ledgerChecks(status: $status, mode: $mode, tenantId: $tenantId, first: 25, after: $after) {
      nodes {
        id tenantId livemode status began ended violationCount
        root { id nickname businessDetails { legalName } }
        violations { rule what }
        brokenBlock error
      }
      next
    }
  }
`);

const AuditQuery = graphql(`
  query LedgerAudit {
    ledgerAudit { accounts postings violationCount violations { tenantId livemode rule what } }
  }
`);

const SealQuery = graphql(`
  query LedgerSeal {
    ledgerSeal { tenantId livemode blocks firstBroken }
  }
`);

type Check = ResultOf<typeof ChecksQuery>['ledgerChecks']['nodes'][number];

const statuses = ['RUNNING', 'PASSED', 'VIOLATED', 'FAILED'] as const;

/** The ledger: checks on demand over all tenants, and those that the gateways make by themselves. */
export function Ledger() {
  const { params, one } = useFilters();
  const result = useLive(
    ChecksQuery,
    sent({
      status: one('status', statuses),
      mode: one('mode', modes),
      tenantId: params.get('tenant'),
      after: params.get('after'),
    }),
  );
  const page = pageOf(result.data?.ledgerChecks);
  return (
    <Page title="Ledger" subtitle={<p className="hint">The gateways check each tenant and mode by themselves.</p>}>
      <div className="pair">
        <Invariants />
        <Seal />
      </div>
      <FilterBar>
        <Choice label="Outcome" name="status" values={statuses} />
        <PlaceFilters />
      </FilterBar>
      {!page && (result.error ? <Problem error={result.error} onRetry={result.ask} /> : <Lines count={8} />)}
      {page?.nodes.length === 0 && (
        <Empty title="No check matches">
          <p>A gateway checks each ledger that has postings every day.</p>
        </Empty>
      )}
      {page && page.nodes.length > 0 && (
        <ul className="disclosures" aria-label="Checks">
          {page.nodes.map((check) => (
            <li key={check.id}>
              <details>
                <CheckSummary check={check} />
                <CheckDetail check={check} />
              </details>
            </li>
          ))}
        </ul>
      )}
      {page && <Pager pageInfo={page.pageInfo} />}
    </Page>
  );
}

function CheckSummary({ check }: { check: Check }) {
  return (
    <summary>
      <span className="two-lines">
        <Time at={check.began} />
        {check.violationCount > 0 && <span className="hint">{counted(check.violationCount, 'violation')}</span>}
      </span>
      <OfTenant {...check} />
      <Status value={check.status} />
    </summary>
  );
}

function CheckDetail({ check }: { check: Check }) {
  const took = check.ended && Math.round((Date.parse(check.ended) - Date.parse(check.began)) / 1000);
  return (
    <div className="check-detail">
      <p>
        {check.ended === null
          ? 'It has not ended.'
          : `It took ${took ? counted(took, 'second') : 'less than a second'}.`}
      </p>
      {check.status === 'PASSED' && <p>All invariants hold, and all blocks of the seal match.</p>}
      {check.error && <p>{check.error}</p>}
      {check.brokenBlock !== null && <p>Block {check.brokenBlock} of the seal does not match its postings.</p>}
      <Violations violations={check.violations} />
    </div>
  );
}

function Violations({ violations }: { violations: readonly { rule: string; what: string }[] }) {
  if (violations.length === 0) return null;
  return (
    <ul className="violations" aria-label="Violations">
      {violations.map(({ rule, what }) => (
        <li key={`${rule} ${what}`}>
          <code>{rule}</code> <span>{what}</span>
        </li>
      ))}
    </ul>
  );
}

function Invariants() {
  const { data, error, fetching, start } = useOnDemand(AuditQuery);
  const audit = data?.ledgerAudit;
  return (
    <Card title="Invariants" action={<Run name="Check all ledgers" fetching={fetching} start={start} />}>
      {error && <Problem error={error} />}
      {!audit && !error && <p className="hint">Checks the balances of every account against its postings.</p>}
      {audit && !fetching && (
        <>
          <p className={`outcome ${audit.violationCount === 0 ? 'good' : 'bad'}`} role="status">
            {audit.violationCount === 0 ? 'All invariants hold' : counted(audit.violationCount, 'violation')}
          </p>
          <p className="hint">
            {counted(audit.accounts, 'account')}, {counted(audit.postings, 'posting')}
          </p>
          <Violations violations={audit.violations} />
        </>
      )}
    </Card>
  );
}

function Seal() {
  const { data, error, fetching, start } = useOnDemand(SealQuery);
  const chains = data?.ledgerSeal.map((chain) => ({ ...chain, id: `${chain.tenantId} ${chain.livemode}` }));
  const broken = chains?.filter(({ firstBroken }) => firstBroken !== null) ?? [];
  return (
    <Card title="Seal" action={<Run name="Verify the seal" fetching={fetching} start={start} />}>
      {error && <Problem error={error} />}
      {!chains && !error && <p className="hint">Computes the hash chain over all postings again.</p>}
      {chains && !fetching && (
        <>
          <p className={`outcome ${broken.length === 0 ? 'good' : 'bad'}`} role="status">
            {broken.length === 0 ? 'All blocks match' : `${counted(broken.length, 'chain')} broken`}
          </p>
          <p className="hint">
            {counted(chains.length, 'chain')},{' '}
            {counted(
              chains.reduce((sum, { blocks }) => sum + blocks, 0),
              'block',
            )}
          </p>
          {broken.length > 0 && (
            <Table
              label="Broken chains"
              rows={broken}
              columns={[placeColumn, { head: 'First broken block', cell: ({ firstBroken }) => firstBroken, end: true }]}
            />
          )}
        </>
      )}
    </Card>
  );
}
