import { useLive } from '../../graph/live';
import { words } from '../../format/words';
import { Empty } from '../../parts/empty';
import { Copy } from '../../parts/facts';
import { List } from '../../parts/list';
import { Card, Page } from '../../parts/page';
import { Status } from '../../parts/status';
import { Time } from '../../parts/time';
import { graphql } from '../graphql';
import { useMayAct } from '../session';

const OperatorsQuery = graphql(`
  query Operators {
    operators { id created createdBy name role keyPrefix lastUsedAt revokedAt }
  }
`);

/** The operators, who are made and revoked by command, so that no session can make another operator. */
export function Operators() {
  const result = useLive(OperatorsQuery, {});
  const mayAct = useMayAct();
  const rows = result.data?.operators;
  return (
    <Page title="Operators" subtitle={<p className="hint">Who may use this console, each with a key of their own.</p>}>
      <List
        label="Operators"
        result={result}
        page={rows && { nodes: rows, pageInfo: { hasNextPage: false, endCursor: null } }}
        href={({ name }) => `/audit?operator=${encodeURIComponent(name)}`}
        columns={[
          {
            head: 'Operator',
            cell: ({ name, keyPrefix }) => (
              <span className="two-lines">
                <strong>{name}</strong>
                <code className="hint">{keyPrefix}</code>
              </span>
            ),
          },
          { head: 'May', cell: ({ role }) => (role === 'READ' ? 'Read' : words(role)) },
          {
            head: 'Created',
            cell: ({ created, createdBy }) => (
              <span className="two-lines">
                <Time at={created} />
                <span className="hint">by {createdBy}</span>
              </span>
            ),
          },
          {
            head: 'Last used',
            cell: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} /> : 'Never'),
          },
          {
            head: 'State',
            cell: ({ revokedAt }) => <Status value={revokedAt === null ? 'ACTIVE' : 'REVOKED'} />,
            end: true,
          },
        ]}
        empty={
          <Empty title="No named operators">
            <p>Everybody with OPERATOR_KEY acts under one name.{mayAct && ' Make an operator for each person.'}</p>
          </Empty>
        }
      />
      {mayAct && (rows ?? result.error) && <Commands />}
    </Page>
  );
}

function Commands() {
  return (
    <Card title="Make or revoke an operator">
      <div className="commands">
        <p className="hint">By command, where the gateway runs. The key is shown once. A revocation counts at once.</p>
        <Copy
          text="npm run --silent tidegate -- operator create --name 'Priya Nair' --role operate"
          label="the command that creates"
        />
        <Copy text="npm run --silent tidegate -- operator revoke 'Priya Nair'" label="the command that revokes" />
      </div>
    </Card>
  );
}
