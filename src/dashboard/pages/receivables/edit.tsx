import { graphql, type VariablesOf } from '../../graph/graphql';
import { useWrite } from '../../graph/write';
import { Dialog } from '../../parts/dialog';
import { AmountField, Form, TextField } from '../../parts/form';
import type { ReceivableDetail } from './detail';

const UpdateMutation = graphql(`
  mutation UpdateReceivable($input: UpdateReceivableInput!) {
    updateReceivable(input: $input) {
      receivable {
        id
        description
        amountMaximumReconcilable
      }
    }
  }
`);

const VoidMutation = graphql(`
  mutation VoidReceivable($id: ID!) {
    voidReceivable(input: { id: $id }) {
      receivable {
        id
        status
      }
    }
  }
`);

interface Props {
  receivable: ReceivableDetail;
  onClose: () => void;
}

type Input = VariablesOf<typeof UpdateMutation>['input'];

/** Changes what the gateway lets change: the maximum and the description. */
export function EditReceivable({ receivable, onClose }: Props) {
  const { write, pending, failure } = useWrite(UpdateMutation);
  const submit = async (input: Omit<Input, 'id'>) => {
    // An empty description is removed.
    const changed = await write({ input: { ...input, description: input.description ?? null, id: receivable.id } });
    if (changed) onClose();
  };
  return (
    <Dialog title={`Edit invoice ${receivable.invoice.referenceNumber}`} onClose={onClose}>
      <Form label="Edit receivable" submit="Save" {...{ pending, failure }} onSubmit={submit}>
        <TextField name="description" label="Description" defaultValue={receivable.description ?? ''} />
        <AmountField
          name="amountMaximumReconcilable"
          label="Most that may count"
          currency={receivable.currency}
          defaultValue={receivable.amountMaximumReconcilable}
        />
      </Form>
    </Dialog>
  );
}

/** Withdraws a receivable that nothing was paid for. */
export function VoidReceivable({ receivable, onClose }: Props) {
  const { write, pending, failure } = useWrite(VoidMutation);
  const submit = async () => {
    if (await write({ id: receivable.id })) onClose();
  };
  return (
    <Dialog title="Void this receivable?" onClose={onClose}>
      <p className="hint">
        No payment can be counted towards invoice {receivable.invoice.referenceNumber} any more. This cannot be undone.
      </p>
      <Form label="Void receivable" submit="Void receivable" {...{ pending, failure }} onSubmit={submit}>
        {null}
      </Form>
    </Dialog>
  );
}
