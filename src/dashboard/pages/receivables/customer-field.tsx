import { useState } from 'react';
import { useQuery } from 'urql';
import { graphql, type ResultOf, useSettled } from '../../graph';
import { FoundField } from '../../parts';
import { nameOf, NameFragment } from '../../session';

const CustomersQuery = graphql(
  `
    query CustomersOf($accountId: ID!, $search: String, $status: [AccountStatus!]) {
      partners(accountId: $accountId, search: $search, status: $status, first: 100) {
        nodes { ...Name status }
        pageInfo { hasNextPage }
      }
    }
  `,
  [NameFragment],
);

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
  const [text, setText] = useState('');
  const search = useSettled(text);
  const [{ data }] = useQuery({
    query: CustomersQuery,
    // A search goes with no other filter.
    variables: { accountId, ...(search ? { search } : activated && { status: ['ACTIVATED'] }) },
  });
  const found = data?.partners.nodes.filter(({ status }) => !activated || status === 'ACTIVATED') ?? [];
  const all = chosen && found.every(({ id }) => id !== chosen.id) ? [chosen, ...found] : found;
  return (
    <FoundField
      {...field}
      key={accountId}
      label={label}
      find="Find a customer"
      defaultValue={chosen?.id}
      options={all.map((customer) => ({ value: customer.id, name: nameOf(customer) }))}
      more={data?.partners.pageInfo.hasNextPage ?? false}
      text={text}
      onText={setText}
    />
  );
}
