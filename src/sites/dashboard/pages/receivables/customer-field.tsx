import { graphql, type ResultOf } from '../../graph/graphql';
import { FoundField } from '../../parts/found-field';
import { nameOf, NameFragment } from '../../session';

const CustomersQuery = graphql(
  `
    query CustomersOf($accountId: ID!, $search: String, $status: [AccountStatus!]) {
      partners(filter: { accountId: $accountId, status: $status }, search: $search, first: 100) {
        nodes { ...Name status }
        pageInfo { hasNextPage }
      }
    }
  `,
  [NameFragment],
);

/** A filter for those that can pay. */
const paying = { status: ['ACTIVATED' as const] };

interface CustomerFieldProps {
  name: string;
  /** Whose customers these are. */
  accountId: string;
  label?: string;
  /** The first choice. */
  none: string;
  hint?: string;
  required?: boolean;
  /** Whether only those can be chosen that are activated. */
  activated?: boolean;
  /** The customer that is chosen already. */
  chosen?: ResultOf<typeof NameFragment> | null | undefined;
  onChange?: (customerId: string) => void;
}

/** A customer of an account: one of the newest, or any that is found by its name or e-mail address. */
export function CustomerField({ accountId, activated, chosen, label = 'Customer', ...field }: CustomerFieldProps) {
  return (
    <FoundField
      {...field}
      key={accountId}
      label={label}
      find="Find a customer"
      query={CustomersQuery}
      // A search goes with no other filter.
      variables={(search) => ({ accountId, ...(search ? { search } : activated && paying) })}
      listOf={({ partners }) => partners}
      fits={({ status }) => !activated || status === 'ACTIVATED'}
      called={nameOf}
      chosen={chosen ? { value: chosen.id, name: nameOf(chosen) } : undefined}
    />
  );
}
