import { UserRoundCog } from 'lucide-react';
import type { TypedDocumentNode } from 'urql';
import { graphql } from '../../graph/graphql';
import { useWrite } from '../../graph/write';
import { DialogButton } from '../../parts/dialog';
import { Problem } from '../../parts/problem';
import { useMayWrite, useSession } from '../../session';
import { PayoutAddress } from './payout-address';
import type { AccountDetail } from './query';

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
export function Actions({ account: { id, type, status, requirements } }: { account: AccountDetail }) {
  const { viewer, actAs } = useSession();
  const mayWrite = useMayWrite();
  const partner = type === 'PARTNER';
  const activatable = status === 'DRAFT' || (status === 'DEACTIVATED' && partner);
  return (
    <>
      {viewer.account.type === 'PLATFORM' && type === 'USER' && (
        <button type="button" className="button" onClick={() => actAs(id)}>
          <UserRoundCog aria-hidden /> Act as this user
        </button>
      )}
      {mayWrite && !partner && status === 'ACTIVATED' && (
        <DialogButton title="Add a payout account">
          {(close) => (
            <PayoutAddress
              accountId={id}
              hint="Payouts go to the newest account of their currency, and otherwise to the newest of all."
              onDone={close}
            />
          )}
        </DialogButton>
      )}
      {mayWrite && partner && status === 'ACTIVATED' && (
        <Move name="Deactivate" id={id} mutation={DeactivateMutation} />
      )}
      {mayWrite && id !== viewer.account.id && activatable && (
        <Move name="Activate" id={id} mutation={ActivateMutation} primary disabled={requirements.length > 0} />
      )}
    </>
  );
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
