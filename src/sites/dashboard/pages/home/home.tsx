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

/** How many of what needs attention are read at most. */
const itemsMax = 50;

const HomeQuery = graphql(
  `
    query Home {
      viewer {
        account {
          id type status
          requirements { fieldName message alternatives }
          nextPayoutAt
          payoutsBlockedBy { currency reasonCode }
          attention(scope: DESCENDANTS) { items(limit: 50) { ...Attention } }
          balance(scope: DESCENDANTS) { ...Compartments }
          own: balance { available { amount currency } }
          nextPayouts { sourceAmount { amount currency } amount { amount currency } rate rateSetAt }
        }
      }
    }
  `,
  [AttentionItemFragment, BalanceFragment],
);

/** The first page: what needs attention, how much money is where, what came in, and what happened last. */
export function Home() {
  const { viewer } = useSession();
  const result = useLive(HomeQuery, {});
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
          <Cards account={account} platform={platform} />
        </Answered>
      </div>
    </Page>
  );
}

interface CardsProps {
  account: ResultOf<typeof HomeQuery>['viewer']['account'] | undefined;
  platform: boolean;
}

function Cards({ account, platform }: CardsProps) {
  return (
    <>
      {account && (
        <Part value={account.attention?.items} field="viewer.account.attention" title="Needs attention">
          {(items) => <Attention items={items} more={items.length === itemsMax} />}
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
                <NextPayout
                  at={account.nextPayoutAt}
                  payouts={account.nextPayouts}
                  obstacles={account.payoutsBlockedBy}
                  available={available}
                />
              )}
            </Part>
          )}
          <Events />
        </div>
        <MoneyIn />
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
