import { words } from '../../format/words';
import { Card } from '../../parts/page';
import { Problem } from '../../parts/problem';
import { Status } from '../../parts/status';
import { Table } from '../../parts/table';
import { graphql } from '../graphql';
import { Run, useOnDemand } from '../on-demand';

const HealthQuery = graphql(`
  query Health {
    health { check level finding command }
  }
`);

/** What `tidegate doctor` prints. */
export function Health() {
  const { data, error, fetching, start } = useOnDemand(HealthQuery);
  return (
    <Card title="Health" action={<Run name="Check the deployment" fetching={fetching} start={start} />}>
      {error && <Problem error={error} onRetry={start} />}
      {!data && !error && (
        <p className="hint">Servers, disks, standbys, versions, secrets, ledgers, backups and work.</p>
      )}
      {data && (
        <Table
          label="Health"
          rows={data.health.map((line) => ({ ...line, id: `${line.check} ${line.finding}` }))}
          columns={[
            {
              head: 'Finding',
              cell: ({ check, finding, command }) => (
                <span className="two-lines">
                  <strong>{finding}</strong>
                  <span className="hint">{command ? <code>{command}</code> : words(check)}</span>
                </span>
              ),
            },
            { head: 'State', cell: ({ level }) => <Status value={level} />, end: true },
          ]}
        />
      )}
    </Card>
  );
}
