import { useMemo } from 'react';
import { daysAgo } from '../../format/time';
import { graphql } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { Page } from '../../parts/page';
import { Problem } from '../../parts/problem';
import { Lines } from '../../parts/skeleton';
import { nameOf, useSession } from '../../session';
import { Balances } from './balances';
import { Checklist } from './checklist';
import { Events } from './events';
import { MoneyIn } from './money-in';
import { Work } from './work';

const HomeQuery = graphql(`
  query Home($from: DateTime!, $to: DateTime!) {
    viewer {
      account {
        id
        type
        status
        requirements {
          fieldName
          message
        }
        payoutBlocks {
          currency
          reasonCode
        }
        balance(descendants: true) {
          available {
            amount
            currency
          }
          pending {
            amount
            currency
          }
          processing {
            amount
            currency
          }
          payoutProcessing {
            amount
            currency
          }
        }
        depositTotals(from: $from, to: $to, interval: DAY, descendants: true) {
          start
          paymentMethod
          currency
          count
          amount
        }
      }
    }
  }
`);

/** How many days of money in are drawn, today included. */
const days = 90;

/** The first page: how much money is where, what came in, and what waits for the viewer. */
export function Home() {
  const { viewer } = useSession();
  const span = useMemo(() => ({ from: daysAgo(days - 1), to: daysAgo(-1) }), []);
  const { data, error, ask } = useLive(HomeQuery, span);
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
        <Checklist requirements={account.requirements} />
      )}
      <div className="home">
        <div className="home-main">
          {account ? <Balances balance={account.balance} blocks={account.payoutBlocks} /> : <CardSkeleton lines={4} />}
          {account ? (
            <MoneyIn totals={account.depositTotals} from={span.from} days={days} />
          ) : (
            <CardSkeleton lines={8} />
          )}
        </div>
        <div className="home-side">
          <Work pending={account?.balance.pending} />
          <Events />
        </div>
      </div>
    </Page>
  );
}

function CardSkeleton({ lines }: { lines: number }) {
  return (
    <section className="card" aria-busy="true">
      <Lines count={lines} />
    </section>
  );
}
