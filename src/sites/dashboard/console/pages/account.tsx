import { useState } from 'react';
import { Link } from 'wouter';
import { obstacleWords, reasonWords } from '../../format/obstacles';
import { useTimes } from '../../format/time';
import { words } from '../../format/words';
import { useLive } from '../../graph/live';
import { sent } from '../../graph/sent';
import { NotFound } from '../../parts/empty';
import { Copy, Facts } from '../../parts/facts';
import { useFilters } from '../../parts/filters';
import { Card, Page } from '../../parts/page';
import { Problem } from '../../parts/problem';
import { PageSkeleton } from '../../parts/skeleton';
import { Status } from '../../parts/status';
import { Table } from '../../parts/table';
import { Time } from '../../parts/time';
import { AccountLink, Mode, modes, nameOf } from '../parts';
import { detailsOf } from '../../pages/accounts/address-details';
import { HoldAction } from './hold-actions';
import { type Account as AccountDetail, AccountQuery } from './account-query';
import { IssueAddress } from './issue-address';
import { Documents } from './documents';
import { Requirements } from './requirements';
import { Verdict } from './verdict';

/** One account: what it says about itself beside the documents that prove it, and the verdict on it. */
export function Account({ params }: { params: { id: string } }) {
  const { one } = useFilters();
  const { data, error, ask } = useLive(
    AccountQuery,
    sent({ id: decodeURIComponent(params.id), mode: one('mode', modes) }),
  );
  const [shown, show] = useState<string>();
  const account = data?.account;
  if (!account) {
    const missing = data !== undefined || error?.graphQLErrors.some((each) => each.extensions.httpStatus === 404);
    if (missing) return <NotFound />;
    return error ? <Problem error={error} onRetry={ask} /> : <PageSkeleton />;
  }
  const waits = account.status === 'VERIFYING';
  return (
    <Page
      title={nameOf(account)}
      back={waits ? { href: '/verification', name: 'Verification' } : { href: '/accounts', name: 'Accounts' }}
      subtitle={
        <p className="account-line">
          <Mode livemode={account.livemode} /> <Status value={account.status} />
          <span className="hint">
            {words(account.type)}, Edition {account.edition}
            {account.ownerId === null && ' · root'}
          </span>
        </p>
      }
      actions={<Verdict account={account} />}
    >
      <div className="review">
        <Requirements account={account} shown={shown} show={show} />
        <Documents account={account} shown={shown} show={show} />
      </div>
      <div className="review under">
        <Addresses account={account} />
        <Payouts account={account} />
      </div>
    </Page>
  );
}

function Addresses({ account }: { account: AccountDetail }) {
  return (
    <Card title="Addresses" action={account.livemode && <IssueAddress account={account} />}>
      {account.addresses.length === 0 ? (
        <p className="hint">The account has no addresses.</p>
      ) : (
        <Table
          label="Addresses"
          rows={account.addresses}
          columns={[
            {
              head: 'Address',
              cell: (address) => (
                <span className="two-lines">
                  <strong>
                    {words(address.category)}, {address.currency}
                  </strong>
                  {detailsOf(address).map(({ label, text }) => (
                    <span key={label}>
                      <span className="hint">{label}</span> {text}
                    </span>
                  ))}
                  {address.payoutProblem && (
                    <span>The last payout to it did not arrive. {reasonWords(address.payoutProblem)}.</span>
                  )}
                  <Copy text={address.id} label="the id of the address" />
                </span>
              ),
            },
            { head: 'Status', cell: ({ status }) => <Status value={status} />, end: true },
          ]}
        />
      )}
    </Card>
  );
}

function Payouts({ account }: { account: AccountDetail }) {
  const { setting, root, owner, payoutsBlockedBy, status, statusSince } = account;
  const time = useTimes();
  const of = { status, since: statusSince && time(statusSince, 'day') };
  return (
    <Card
      title="Payouts and identity"
      action={setting && <HoldAction account={account} held={setting.serviceHold} />}
      className="narrow"
    >
      <Facts
        facts={[
          [
            'Payouts',
            setting && (setting.payoutsEnabled ? 'Enabled' : words(setting.payoutsReason ?? 'NOT_APPLICABLE')),
          ],
          [
            'Not paid out',
            payoutsBlockedBy.length > 0 && (
              <span className="two-lines">
                {payoutsBlockedBy.map((obstacle) => (
                  <span key={`${obstacle.reasonCode} ${obstacle.currency}`}>{obstacleWords(obstacle, of)}</span>
                ))}
              </span>
            ),
          ],
          ['Interval', setting && words(setting.payoutsInterval)],
          ['Service hold', setting && (setting.serviceHold ? 'Payouts are held by the service' : 'None')],
          ['Platform hold', setting?.platformHold && 'Payouts are held by the platform'],
          ['Account', <Copy text={account.id} label="the id" />],
          ['Owner', owner && <AccountLink {...owner}>{nameOf(owner)}</AccountLink>],
          ['Tenant', account.ownerId !== null && root && <AccountLink {...root}>{nameOf(root)}</AccountLink>],
          ['Created', <Time at={account.created} />],
          ['Audit log', <Link href={`/audit?object=${account.id}`}>What operators did</Link>],
        ]}
      />
    </Card>
  );
}
