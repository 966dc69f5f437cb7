import { useMemo } from 'react';
import { dayBefore } from '../../format/days';
import { useTimeZone } from '../../format/preferences';
import { AttentionItemFragment } from '../../graph/attention';
import { BalanceFragment } from '../../graph/balance';
import { graphql, type ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { Page } from '../../parts/page';
import { Answered, Part } from '../../parts/part';
import { Problem } from '../../parts/problem';
import { Lines } from '../../parts/skeleton';
import { nameOf, useSession } from '../../session';
import { Attention } from './attention';
import { Balances } from './balances';
import { Checklist } from './checklist';
import { Events } from './events';
import { MoneyIn } from './money-in';
import { NextPayout } from './next-payout';

const HomeQuery = graphql(
  `
    query Home($from: DateTime!, $to: DateTime!, $timeZone: String!) {
      viewer {
        account {
          id type status
          requirements { fieldName message alternatives }
          nextPayoutAt
          payoutsBlockedBy { currency reasonCode }
          attention(scope: DESCENDANTS) { items(limit: 50) { ...Attention } }
          balance(scope: DESCENDANTS) { ...Compartments }
          own: balance { available { amount currency } }
          depositTotals(from: $from, to: $to, interval: DAY, scope: DESCENDANTS, timeZone: $timeZone) {
            start method currency count amount
          }
        }
      }
    }
  `,
  [AttentionItemFragment, BalanceFragment],
);

/** How many days of money in are drawn, today included. */
const days = 90;

/** The first page: what needs attention, how much money is where, what came in, and what happened last. */
export function Home() {
  const { viewer } = useSession();
  const timeZone = useTimeZone();
  const span = useMemo(() => {
    // Days begin at other times in other zones, so the range is a day longer at both ends than the chart.
    const at = (day: number) => `${dayBefore(viewer.now, timeZone, day)}T00:00:00Z`;
    return { from: at(days), to: at(-2), timeZone };
  }, [viewer.now, timeZone]);
  const result = useLive(HomeQuery, span);
  const { data, error, ask } = result;
  const account = data?.viewer.account;
  const platform = viewer.account.type === 'PLATFORM';
  return (
    <Page
      title="Home"
      subtitle={
        <p className="subtitle">
          {platform ? `${nameOf(viewer.account)} and its users` : `${nameOf(viewer.account)} and its customers`}
        </p>
      }
    >
      {error && !account && <Problem error={error} onRetry={ask} />}
      {account && account.requirements.length > 0 && account.status === 'DRAFT' && (
        <Checklist accountId={account.id} requirements={account.requirements} />
      )}
      {!account && !error && <HomeSkeleton platform={platform} />}
      {/* All of it appears at once, so that nothing moves; the events are asked for meanwhile. */}
      <div hidden={!account}>
        <Answered answer={result}>
          <Cards account={account} platform={platform} span={{ ...span, last: dayBefore(viewer.now, timeZone, 0) }} />
        </Answered>
      </div>
    </Page>
  );
}

interface CardsProps {
  account: ResultOf<typeof HomeQuery>['viewer']['account'] | undefined;
  platform: boolean;
  span: { last: string; timeZone: string };
}

function Cards({ account, platform, span: { last, timeZone } }: CardsProps) {
  return (
    <>
      {account && (
        <Part value={account.attention?.items} field="viewer.account.attention" title="Needs attention">
          {(items) => <Attention items={items} />}
        </Part>
      )}
      <div className="home">
        {account && (
          <Part value={account.balance} field="viewer.account.balance" title="Balances">
            {(balance) => <Balances balance={balance} />}
          </Part>
        )}
        <div className="home-side">
          {account && (!platform || account.nextPayoutAt) && (
            <Part value={account.own} field="viewer.account.own" title="Next payout">
              {({ available }) => (
                <NextPayout at={account.nextPayoutAt} obstacles={account.payoutsBlockedBy} available={available} />
              )}
            </Part>
          )}
          <Events />
        </div>
        {account && (
          <Part value={account.depositTotals} field="viewer.account.depositTotals" title="Money in">
            {(totals) => <MoneyIn totals={totals} last={last} days={days} timeZone={timeZone} />}
          </Part>
        )}
      </div>
    </>
  );
}

/** The cards of the page while its answer is awaited. */
function HomeSkeleton({ platform }: { platform: boolean }) {
  const side = platform ? [6] : [3, 6];
  return (
    <>
      <CardSkeleton lines={5} />
      <div className="home">
        <CardSkeleton lines={4} />
        <div className="home-side">
          {side.map((lines, i) => (
            <CardSkeleton key={i} lines={lines} />
          ))}
        </div>
        <CardSkeleton lines={8} />
      </div>
    </>
  );
}

function CardSkeleton({ lines }: { lines: number }) {
  return (
    <section className="card" aria-busy="true">
      <Lines count={lines} />
    </section>
  );
}
