import { payoutDays } from '../../format/payout-days';
import { graphql } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { Card, Page } from '../../parts/page';
import { Answered, Part } from '../../parts/part';
import { Status } from '../../parts/status';
import { useMayWrite, useSession } from '../../session';
import { NextPayout } from '../home/next-payout';
import { ChangeInterval, type PayoutsSetting, PayoutsFragment } from './interval';
import { PayoutsOfUsers } from './users';

const PayoutSettingsQuery = graphql(
  `
    query PayoutSettings {
      viewer {
        account {
          id
          nextPayoutAt
          nextPayouts { sourceAmount { amount currency } amount { amount currency } rate rateSetAt }
          payoutsBlockedBy { reasonCode currency }
          balance { available { amount currency } }
          setting {
            liveFx
            address { user }
            ...Payouts
          }
        }
      }
    }
  `,
  [PayoutsFragment],
);

/** When the account is paid out, and of a platform when its users are. */
export function PayoutSettings() {
  const { viewer } = useSession();
  const result = useLive(PayoutSettingsQuery, {});
  const account = result.data?.viewer.account;
  const ofPlatform = viewer.account.type === 'PLATFORM';
  return (
    <Page title="Payout settings">
      <Answered answer={result}>
        <div className="detail">
          <Part value={account} field="viewer.account" title="Your payouts">
            {({ setting }) => <Own setting={setting} ofPlatform={ofPlatform} />}
          </Part>
          <Part value={account} field="viewer.account" title="Next payout">
            {({ nextPayoutAt, nextPayouts, payoutsBlockedBy, balance }) => (
              <NextPayout
                at={nextPayoutAt}
                payouts={nextPayouts}
                obstacles={payoutsBlockedBy}
                available={balance?.available ?? []}
              />
            )}
          </Part>
        </div>
        {ofPlatform && viewer.edition === 1 && account && <PayoutsOfUsers atOnce={account.setting.liveFx} />}
      </Answered>
    </Page>
  );
}

interface OwnProps {
  setting: PayoutsSetting & { address: { user: boolean | null } };
  ofPlatform: boolean;
}

function Own({ setting, ofPlatform }: OwnProps) {
  const { viewer } = useSession();
  const mayWrite = useMayWrite();
  const { enabled, ...days } = setting.payouts;
  // A user of a platform has no say in where its addresses are offered, nor in its payouts; the platform that acts as
  // it has.
  const theirs = ofPlatform || viewer.onBehalf || setting.address.user !== null;
  const changeable = viewer.edition === 1 && theirs && mayWrite && enabled !== null;
  return (
    <Card title="Your payouts" action={changeable && <ChangeInterval setting={setting} atOnce={false} />}>
      {enabled === null ? (
        <p>This account has no payouts of its own.</p>
      ) : (
        <>
          <p className="lead">
            What is available is paid out <strong>{payoutDays(days)}</strong>, at midnight UTC.{' '}
            <Status value={enabled ? 'ENABLED' : 'DISABLED'} />
          </p>
          <p className="hint">
            {whoDecides(viewer.edition, theirs)} {theirs && !viewer.onBehalf && noOwnHold(viewer.edition)}
          </p>
        </>
      )}
    </Card>
  );
}

const noOwnHold = (edition: number) =>
  'You cannot stop your own payouts: ' +
  (edition === 1
    ? 'a platform can stop those of its users, and the service those of every account.'
    : 'the service alone can stop those of an account.');

function whoDecides(edition: number, theirs: boolean): string {
  if (edition === 2) return 'In Edition 2 these days cannot be changed.';
  return theirs
    ? 'Money that cannot be paid out on such a day is tried again on the next one.'
    : 'Your platform decides on which days you are paid out, and whether.';
}
