import { Link } from 'wouter';
import { obstacleWords, reasonWords } from '../../format/obstacles';
import { formatAge, useTimes } from '../../format/time';
import { Money } from '../../parts/money';
import { ObjectLink } from '../../parts/object-link';
import { useMayWrite } from '../../session';
import { bankOf } from './list';
import type { PayoutDetail } from './query';

/** What happened to a payout that did not arrive, where its money is, what to check, and when it goes out again. */
export function Failed({ payout }: { payout: PayoutDetail }) {
  const time = useTimes();
  const mayWrite = useMayWrite();
  const { status, reasonCode, updatedAt, amount, currency, sourceCurrency, account, address, retriedBy } = payout;
  // A stopped account takes no other bank account.
  const mayChange = mayWrite && account.status === 'ACTIVATED';
  const what = status === 'RETURNED' ? 'The bank sent this payout back' : 'This payout did not arrive';
  return (
    <section className="card failed" aria-label="What happened">
      <h2>
        {what}
        {updatedAt && (
          <>
            , <time dateTime={updatedAt}>{time(updatedAt)}</time>
          </>
        )}
      </h2>
      <dl>
        <div>
          <dt>Why</dt>
          <dd>{reasonCode ? reasonWords(reasonCode) : 'No reason was recorded'}.</dd>
        </div>
        <div>
          <dt>Where the money is</dt>
          <dd>
            {retriedBy ? (
              <>
                It went out again with <ObjectLink id={retriedBy.id}>another payout</ObjectLink>,{' '}
                {time(retriedBy.created)}.
              </>
            ) : (
              <>
                <Money amount={amount} currency={currency} /> went back to what is available.
                {sourceCurrency !== currency && ` It stays in ${currency}.`}
              </>
            )}
          </dd>
        </div>
        {!retriedBy && (
          <>
            <div>
              <dt>What to check</dt>
              <dd>
                {bankOf(address)}
                {address.name && `, held by ${address.name}`}: are the number and the name of the holder right?{' '}
                <Link href={`/accounts/${account.id}`}>{mayChange ? 'Change the bank account' : 'Bank account'}</Link>
              </dd>
            </div>
            <div>
              <dt>When it goes out again</dt>
              <dd>
                <Again account={account} currency={currency} />
              </dd>
            </div>
          </>
        )}
      </dl>
    </section>
  );
}

/** When the money goes out again, or why not. */
function Again({ account, currency }: { account: PayoutDetail['account']; currency: string }) {
  const time = useTimes();
  const { nextPayoutAt: at, payoutsBlockedBy, status, statusSince } = account;
  const stopped = payoutsBlockedBy.filter((each) => each.currency === null || each.currency === currency);
  if (stopped.length > 0) {
    const of = { status, since: statusSince && time(statusSince, 'day') };
    return stopped.map((obstacle) => obstacleWords(obstacle, of)).join(' ');
  }
  if (!at) return 'As soon as money is available.';
  return (
    <>
      With the next payout, <time dateTime={at}>{time(at)}</time> <span className="hint line">{formatAge(at)}</span>.
    </>
  );
}
