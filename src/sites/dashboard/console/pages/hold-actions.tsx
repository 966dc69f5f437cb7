import { Action } from '../action';
import { graphql } from '../graphql';
import { nameOf } from '../parts';

export const PlaceMutation = graphql(`
  mutation PlaceServiceHold($input: PlaceServiceHoldInput!) {
    placeServiceHold(input: $input) { accountSetting { id serviceHold payoutsEnabled } }
  }
`);

const LiftMutation = graphql(`
  mutation LiftServiceHold($input: LiftServiceHoldInput!) {
    liftServiceHold(input: $input) { accountSetting { id serviceHold payoutsEnabled } }
  }
`);

interface HoldActionProps {
  account: Parameters<typeof nameOf>[0] & { livemode: boolean };
  held: boolean;
  onDone?: () => void;
}

/** Places or lifts the service hold on the payouts of an account. */
export function HoldAction({ account, held, onDone }: HoldActionProps) {
  const name = nameOf(account);
  const input = { accountId: account.id, mode: account.livemode ? ('LIVE' as const) : ('TEST' as const) };
  const common = { about: name, small: true, input, onDone };
  return held ? (
    <Action
      name="Lift the hold"
      title={`Pay ${name} out again`}
      submit="Lift the hold"
      reason
      mutation={LiftMutation}
      done={`${name} gets payouts again.`}
      {...common}
    >
      <p>Its next payout takes the money that waits.</p>
    </Action>
  ) : (
    <Action
      name="Hold payouts"
      kind="danger"
      title={`Hold the payouts of ${name}`}
      submit="Hold the payouts"
      reason
      mutation={PlaceMutation}
      done={`The payouts of ${name} are held.`}
      {...common}
    >
      <p>Its money stays in its balance until you lift the hold. Payouts under way go on.</p>
    </Action>
  );
}
