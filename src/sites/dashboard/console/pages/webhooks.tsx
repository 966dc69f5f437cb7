import { formatAge } from '../../format/time';
import { useLive } from '../../graph/live';
import { Empty } from '../../parts/empty';
import { useFilters } from '../../parts/filters';
import { List } from '../../parts/list';
import { Page } from '../../parts/page';
import { Status } from '../../parts/status';
import { Time } from '../../parts/time';
import { graphql } from '../graphql';
import { AccountLink, nameOf, pageOf, placeColumn } from '../parts';

const WebhooksQuery = graphql(`
  query FailingWebhooks($after: String) {
    failingWebhookEndpoints(first: 25, after: $after) {
      nodes {
        id livemode tenantId accountId url enabled failingSince lastError lastStatus lastTriedAt nextAttemptAt
        account { id nickname businessDetails { legalName } }
        root { id nickname businessDetails { legalName } }
      }
      next
    }
  }
`);

/** The webhook endpoints of all tenants that do not take their events, those that have failed the longest first. */
export function Webhooks() {
  const { params } = useFilters();
  const result = useLive(WebhooksQuery, { after: params.get('after') });
  return (
    <Page
      title="Webhooks"
      subtitle={
        <p className="hint">
          Endpoints of accounts that do not take their events. A delivery is tried again by itself, later each time;
          after five days the endpoint is disabled.
        </p>
      }
    >
      <List
        label="Failing webhooks"
        result={result}
        page={pageOf(result.data?.failingWebhookEndpoints)}
        columns={[
          {
            head: 'Account',
            cell: ({ id, accountId, livemode, account, url }) => (
              <span className="two-lines" title={id}>
                <AccountLink id={accountId} livemode={livemode}>
                  {account ? nameOf(account) : accountId}
                </AccountLink>
                <span className="hint">{url}</span>
              </span>
            ),
          },
          placeColumn,
          {
            head: 'Last error',
            cell: ({ lastError, lastStatus, lastTriedAt }) => (
              <span className="two-lines">
                <span>{lastError ?? 'Not kept any more'}</span>
                <span className="hint">
                  {lastStatus !== null && `Status ${lastStatus}, `}
                  {lastTriedAt && <Time at={lastTriedAt} />}
                </span>
              </span>
            ),
          },
          { head: 'First failed', cell: ({ failingSince }) => formatAge(failingSince) },
          {
            head: 'Next try',
            cell: ({ enabled, nextAttemptAt }) =>
              nextAttemptAt ? <Time at={nextAttemptAt} /> : <Status value={enabled ? 'ENABLED' : 'DISABLED'} />,
            end: true,
          },
        ]}
        empty={
          <Empty title="Every webhook takes its events">
            <p>An endpoint comes here with its first delivery that fails.</p>
          </Empty>
        }
      />
    </Page>
  );
}
