import { UserRoundCog } from 'lucide-react';
import { graphql } from '../../graph/graphql';
import { useWrite } from '../../graph/write';
import { Problem } from '../../parts/problem';
import { useMayWrite, useSession } from '../../session';
import type { AccountDetail } from './detail';

const ActivateMutation = graphql(`
  mutation ActivateAccount($id: ID!) {
    activateAccount(input: { id: $id }) {
      account {
        id
        status
      }
    }
  }
`);

const DeactivateMutation = graphql(`
  mutation DeactivateAccount($id: ID!) {
    deactivateAccount(input: { id: $id }) {
      account {
        id
        status
      }
    }
  }
`);

/** What the viewer can do with an account: activate it when nothing is missing, deactivate it, act as it. */
export function Actions({ account: { id, type, status, requirements } }: { account: AccountDetail }) {
  const { viewer, actAs } = useSession();
  const mayWrite = useMayWrite();
  const activate = useWrite(ActivateMutation);
  const deactivate = useWrite(DeactivateMutation);
  const failure = activate.failure ?? deactivate.failure;
  return (
    <>
      {viewer.account.type === 'PLATFORM' && type === 'USER' && (
        <button type="button" className="button" onClick={() => actAs(id)}>
          <UserRoundCog aria-hidden /> Act as this user
        </button>
      )}
      {mayWrite && type === 'PARTNER' && status === 'ACTIVATED' && (
        <button
          type="button"
          className="button"
          disabled={deactivate.pending}
          onClick={() => void deactivate.write({ id })}
        >
          Deactivate
        </button>
      )}
      {mayWrite &&
        id !== viewer.account.id &&
        (status === 'DRAFT' || (status === 'DEACTIVATED' && type === 'PARTNER')) && (
          <button
            type="button"
            className="button primary"
            disabled={activate.pending || requirements.length > 0}
            onClick={() => void activate.write({ id })}
          >
            Activate
          </button>
        )}
      {failure && <Problem error={{ ...failure, messages: [...failure.messages, ...Object.values(failure.fields)] }} />}
    </>
  );
}
