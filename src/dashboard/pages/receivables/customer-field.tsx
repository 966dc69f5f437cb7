import { useQuery } from 'urql';
import { graphql } from '../../graph';
import { SelectField } from '../../parts';
import { nameOf, NameFragment } from '../../session';

const CustomersQuery = graphql(
  `
    query CustomersOf($accountId: ID!) {
      account(id: $accountId) {
        id
        partners(first: 100) { nodes { ...Name } pageInfo { hasNextPage } }
      }
    }
  `,
  [NameFragment],
);

interface CustomerFieldProps {
  /** Whose customers these are. */
  accountId: string;
  /** The customer that is chosen already. */
  chosen?: { id: string; nickname: string | null; businessDetails: { legalName: string | null } } | null;
}

/** The customer that an invoice bills. Another account has other customers. */
export function CustomerField({ accountId, chosen = null }: CustomerFieldProps) {
  const [{ data }] = useQuery({ query: CustomersQuery, variables: { accountId } });
  const partners = data?.account?.partners;
  const found = partners?.nodes ?? [];
  const all = chosen && found.every(({ id }) => id !== chosen.id) ? [chosen, ...found] : found;
  return (
    <SelectField
      // The choice is made when the customers are there.
      key={`${accountId} ${found.length}`}
      name="customerId"
      label="Customer"
      none="Not known"
      defaultValue={chosen?.id}
      hint={partners?.pageInfo.hasNextPage ? 'The 100 newest customers.' : 'Whom the invoice bills.'}
      options={all.map((customer) => ({ value: customer.id, name: nameOf(customer) }))}
    />
  );
}
