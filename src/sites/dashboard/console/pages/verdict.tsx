import { graphql } from '../graphql';
import { Action } from '../action';
import { nameOf } from '../parts';
import type { Account } from './account-query';

const VerifyMutation = graphql(`
  mutation VerifyAccount($input: VerifyAccountInput!) {
    verifyAccount(input: $input) { account { id status } }
  }
`);

const HoldMutation = graphql(`
  mutation HoldAccount($input: HoldAccountInput!) {
    holdAccount(input: $input) { account { id status } }
  }
`);

const DeactivateMutation = graphql(`
  mutation DeactivateAccount($input: DeactivateAccountInput!) {
    deactivateAccount(input: $input) { account { id status } }
  }
`);

/** What the operator can decide about an account in its status. */
export function Verdict({ account }: { account: Account }) {
  const { id, livemode, status } = account;
  const waits = status === 'VERIFYING' || (status === 'DRAFT' && account.ownerId === null && livemode);
  const act = { account, input: { id, mode: livemode ? ('LIVE' as const) : ('TEST' as const) } };
  return (
    <>
      {(waits || status === 'HOLD') && <Activate {...act} lifts={!waits} />}
      {waits && <Refuse {...act} />}
      {status === 'ACTIVATED' && <Hold {...act} />}
      {(status === 'ACTIVATED' || status === 'HOLD') && <Deactivate {...act} />}
    </>
  );
}

interface Act {
  account: Account;
  input: { id: string; mode: 'LIVE' | 'TEST' };
}

function Activate({ account, input, lifts }: Act & { lifts: boolean }) {
  const name = nameOf(account);
  return (
    <Action
      name={lifts ? 'Lift the hold' : 'Activate'}
      kind="primary"
      title={`Activate ${name}`}
      submit="Activate"
      reason
      mutation={VerifyMutation}
      input={{ ...input, outcome: 'ACTIVATED' }}
      done={`${name} is activated.`}
    >
      <p>
        {account.livemode
          ? 'It can then create live receivables and gets payouts of real money.'
          : 'It can then do in test mode whatever an activated account can.'}
      </p>
      <p className="hint">Have you compared what it says about itself with its documents?</p>
    </Action>
  );
}

function Refuse({ account, input }: Act) {
  const name = nameOf(account);
  return (
    <Action
      name="Put on hold"
      kind="danger"
      title={`Put ${name} on hold`}
      submit="Put on hold"
      reason
      mutation={VerifyMutation}
      input={{ ...input, outcome: 'HOLD' }}
      done={`${name} is on hold.`}
    >
      <p>Its verification ends without an activation. You can lift the hold later.</p>
    </Action>
  );
}

function Hold({ account, input }: Act) {
  const name = nameOf(account);
  return (
    <Action
      name="Put on hold"
      kind="danger"
      title={`Put ${name} on hold`}
      submit="Put on hold"
      reason
      mutation={HoldMutation}
      input={input}
      done={`${name} is on hold.`}
    >
      <p>It gets no payouts and creates no live receivables until you lift the hold.</p>
    </Action>
  );
}

function Deactivate({ account, input }: Act) {
  const name = nameOf(account);
  return (
    <Action
      name="Deactivate"
      kind="danger"
      title={`Deactivate ${name}`}
      submit="Deactivate"
      reason
      mutation={DeactivateMutation}
      input={input}
      done={`${name} is deactivated.`}
    >
      <p>It gets no payouts and creates no live receivables any more. This cannot be undone.</p>
    </Action>
  );
}
