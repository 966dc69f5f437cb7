import { UserRoundCog } from 'lucide-react';
import type { TypedDocumentNode } from 'urql';
import { graphql } from '../../graph/graphql';
import { useWrite } from '../../graph/write';
import { DialogButton } from '../../parts/dialog';
import { useFilters } from '../../parts/filters';
import { Problem } from '../../parts/problem';
import { useMayWrite, useSession } from '../../session';
import { RequestChange } from './change-request';
import { payoutAccount, PayoutAddress } from './payout-address';
import { type AccountDetail, isOnboarding } from './query';

const ActivateMutation = graphql(`
  mutation ActivateAccount($id: ID!) {
    activateAccount(input: {id: $id}) { account { id status } }
  }
`);

const DeactivateMutation = graphql(`
  mutation DeactivateAccount($id: ID!) {
    deactivateAccount(input: {id: $id}) { account { id status } }
  }
`);

/**
 * What the viewer can do with an account: activate it when nothing is missing, deactivate it, act as it, pay it out.
 */
export function Actions({ account }: { account: AccountDetail }) {
  const { id, type, status } = account;
  const { viewer, actAs } = useSession();
  const { params } = useFilters();
  const mayWrite = useMayWrite();
  const partner = type === 'PARTNER';
  return (
    <>
      {viewer.account.type === 'PLATFORM' && type === 'USER' && (
        <button type="button" className="button" onClick={() => actAs(id)}>
          <UserRoundCog aria-hidden /> Act as this user
        </button>
      )}
      {mayWrite && !partner && status === 'ACTIVATED' && (
        <DialogButton title="Add a payout account" opened={params.get('add') === payoutAccount}>
          {(close) => (
            <PayoutAddress
              account={account}
              hint="Payouts go to the newest account of their currency, and otherwise to the newest of all."
              onDone={close}
            />
          )}
        </DialogButton>
      )}
      {mayWrite && partner && status === 'ACTIVATED' && (
        <Move name="Deactivate" id={id} mutation={DeactivateMutation} />
      )}
      <RequestChange account={account} />
      {mayWrite && !isOnboarding(account) && <Activate account={account} />}
    </>
  );
}

/** The button that activates an account, where the viewer can do that: what it lacks is said by `#missing`. */
export function Activate({ account: { id, type, status, requirements } }: { account: AccountDetail }) {
  const { viewer } = useSession();
  const activatable = status === 'DRAFT' || (status === 'DEACTIVATED' && type === 'PARTNER');
  if (id === viewer.account.id || !activatable) return null;
  return <Move name="Activate" id={id} mutation={ActivateMutation} primary disabled={requirements.length > 0} />;
}

interface MoveProps {
  name: string;
  id: string;
  mutation: TypedDocumentNode<unknown, { id: string }>;
  primary?: boolean;
  disabled?: boolean;
}

function Move({ name, id, mutation, primary = false, disabled = false }: MoveProps) {
  const { write, pending, failure } = useWrite(mutation);
  return (
    <>
      <button
        type="button"
        className={`button${primary ? ' primary' : ''}`}
        disabled={pending || disabled}
        aria-describedby={disabled ? 'missing' : undefined}
        onClick={() => void write({ id })}
      >
        {name}
      </button>
      {failure && <Problem error={{ ...failure, messages: [...failure.messages, ...Object.values(failure.fields)] }} />}
    </>
  );
}
