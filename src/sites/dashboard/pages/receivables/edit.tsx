import { graphql, type VariablesOf } from '../../graph/graphql';
import { ActionButton } from '../../parts/action';
import { AmountField, TextField } from '../../parts/form';
import { CustomerField } from './customer-field';
import type { ReceivableDetail } from './query';

const UpdateMutation = graphql(`
  mutation UpdateReceivable($input: UpdateReceivableInput!) {
    updateReceivable(input: $input) { receivable { id description amountMaximumReconcilable } }
  }
`);

const VoidMutation = graphql(`
  mutation VoidReceivable($input: VoidReceivableInput!) {
    voidReceivable(input: $input) { receivable { id status } }
  }
`);

interface Props {
  receivable: ReceivableDetail;
}

type Input = VariablesOf<typeof UpdateMutation>['input'];

/** Changes what the gateway lets change: the customer, the maximum and the description. */
export function EditReceivable({ receivable }: Props) {
  return (
    <ActionButton
      name="Edit"
      title={`Edit invoice ${receivable.invoice.referenceNumber}`}
      submit="Save"
      mutation={UpdateMutation}
      // What is empty is removed.
      read={({ description = null, customerId = null, ...input }: Omit<Input, 'id'>) => ({
        ...{ ...input, description, customerId, id: receivable.id },
      })}
    >
      <CustomerField
        name="customerId"
        accountId={receivable.account.id}
        none="Not known"
        chosen={receivable.customer}
      />
      <TextField name="description" label="Description" defaultValue={receivable.description ?? ''} />
      <AmountField
        name="amountMaximumReconcilable"
        label="Amount to be paid here"
        currency={receivable.currency}
        hint="Less than the invoice if a part of it is paid elsewhere."
        defaultValue={receivable.amountMaximumReconcilable}
      />
    </ActionButton>
  );
}

/** Withdraws a receivable that nothing was paid for. */
export function VoidReceivable({ receivable }: Props) {
  return (
    <ActionButton
      name="Void"
      title="Void this receivable?"
      submit="Void receivable"
      danger
      mutation={VoidMutation}
      read={() => ({ id: receivable.id })}
    >
      <p className="hint">
        No payment can be counted towards invoice {receivable.invoice.referenceNumber} any more. This cannot be undone.
      </p>
    </ActionButton>
  );
}
