import { useLive } from '../../graph/live';
import { stateColumn, Two } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { TextField } from '../../parts/form';
import { List } from '../../parts/list';
import type { Column } from '../../parts/table';
import { Time } from '../../parts/time';
import type { ResultOf } from '../../graph/graphql';
import { Action } from '../action';
import { graphql } from '../graphql';
import { useMayAct } from '../session';

const AccountsQuery = graphql(`
  query OwnAccounts {
    ownAccounts { id created createdBy holder currency iban number bic ifsc closedAt }
  }
`);

const AddMutation = graphql(`
  mutation AddOwnAccount($input: AddOwnAccountInput!) {
    addOwnAccount(input: $input) { ownAccount { id } }
  }
`);

const CloseMutation = graphql(`
  mutation CloseOwnAccount($input: CloseOwnAccountInput!) {
    closeOwnAccount(input: $input) { ownAccount { id closedAt } }
  }
`);

type OwnAccount = ResultOf<typeof AccountsQuery>['ownAccounts'][number];

/** The number of an account as people read it: an IBAN in groups of four. */
export const numberOf = ({ iban, number }: { iban: string | null; number: string | null }): string =>
  iban?.replaceAll(/(.{4})(?=.)/g, '$1 ') ?? number ?? '';

/** The accounts of the operator at banks, from which payouts are paid. */
export function OwnAccounts() {
  const mayAct = useMayAct();
  const result = useLive(AccountsQuery, {});
  const rows = result.data?.ownAccounts;
  return (
    <List
      label="Your accounts"
      result={result}
      page={rows && { nodes: rows, pageInfo: { hasNextPage: false, endCursor: null } }}
      columns={[...columns, ...(mayAct ? [closing(result.ask)] : [])]}
      empty={
        <Empty title="No account at a bank">
          <p>Payouts are paid from your own accounts at banks.</p>
        </Empty>
      }
    />
  );
}

const columns: Column<OwnAccount>[] = [
  { head: 'Account', cell: (account) => <Two hint={account.holder}>{numberOf(account)}</Two> },
  { head: 'Bank', cell: ({ bic, ifsc }) => bic ?? ifsc },
  {
    head: 'Added',
    cell: ({ created, createdBy }) => (
      <span className="two-lines">
        <Time at={created} />
        <span className="hint">{createdBy}</span>
      </span>
    ),
  },
  stateColumn(({ closedAt }) => (closedAt === null ? 'OPEN' : 'CLOSED')),
  { head: 'Currency', cell: ({ currency }) => currency, end: true },
];

const closing = (onDone: () => void): Column<OwnAccount> => ({
  head: 'Action',
  end: true,
  cell: (account) =>
    account.closedAt === null && (
      <Action
        name="Close"
        about={numberOf(account)}
        small
        kind="danger"
        title="Close the account"
        submit="Close it"
        mutation={CloseMutation}
        input={{ id: account.id }}
        done={`The account ${numberOf(account)} is closed.`}
        onDone={onDone}
      >
        <p>No order is made from {numberOf(account)} any more. Its orders stay as they are.</p>
      </Action>
    ),
});

export function AddAccount({ onDone }: { onDone: () => void }) {
  return (
    <Action
      name="Add an account"
      kind="primary"
      title="Add an account of yours"
      submit="Add it"
      mutation={AddMutation}
      input={{}}
      done="The account is added."
      onDone={onDone}
    >
      <TextField name="holder" label="Holder" maxLength={70} hint="As the bank knows you." required />
      <TextField name="currency" label="Currency" placeholder="INR" maxLength={3} required />
      <TextField name="iban" label="IBAN" spellCheck={false} hint="Or the number, if it has no IBAN." />
      <TextField name="number" label="Number" spellCheck={false} />
      <div className="fields two">
        <TextField name="bic" label="BIC of the bank" spellCheck={false} />
        <TextField name="ifsc" label="IFSC of the bank" spellCheck={false} />
      </div>
    </Action>
  );
}
