import { useEffect, useState } from 'react';
import { type CombinedError, useClient } from 'urql';
import { graphql } from '../../graph/graphql';
import { pagesOf } from '../../graph/pages';
import { NameFragment, nameOf, useSession } from '../../session';

const CustomersQuery = graphql(
  `
    query CustomersByName($first: Int!, $after: ID, $accountId: ID!) {
      partners(first: $first, after: $after, filter: { accountId: $accountId }) {
        nodes { ...Name businessDetails { email } }
        pageInfo { hasNextPage endCursor }
      }
    }
  `,
  [NameFragment],
);

/** The most customers among which names are looked for. */
const customersMax = 5_000;

/** The customers of the account by what a sheet may call them. A name that several have is with all of them. */
export interface Customers {
  byName: ReadonlyMap<string, readonly string[]>;
  /** Their names by their ids. */
  names: ReadonlyMap<string, string>;
  /** Whether there are more than are looked at. */
  more: boolean;
}

const keyOf = (name: string) => name.normalize('NFKC').trim().toLowerCase();

/** Reads the customers of the account, once `wanted`. */
export function useCustomers(wanted: boolean): { customers: Customers | undefined; error: CombinedError | undefined } {
  const client = useClient();
  const { id: accountId } = useSession().viewer.account;
  const [customers, setCustomers] = useState<Customers>();
  const [error, setError] = useState<CombinedError>();
  useEffect(() => {
    if (!wanted) return undefined;
    let open = true;
    const read = async () => {
      const byName = new Map<string, string[]>();
      const names = new Map<string, string>();
      for await (const { nodes } of pagesOf(client, CustomersQuery, { accountId }, ({ partners }) => partners)) {
        for (const customer of nodes) {
          const { id, nickname, businessDetails } = customer;
          names.set(id, nameOf(customer));
          for (const name of new Set([nickname, businessDetails.legalName, businessDetails.email]))
            if (name) byName.set(keyOf(name), [...new Set([...(byName.get(keyOf(name)) ?? []), id])]);
        }
        if (!open || names.size >= customersMax) break;
      }
      if (open) setCustomers({ byName, names, more: names.size >= customersMax });
    };
    read().catch((caught: CombinedError) => open && setError(caught));
    return () => {
      open = false;
    };
  }, [client, accountId, wanted]);
  return { customers, error };
}

/** The id of the customer that a cell names; the cell itself where none or several have this name. */
export function customerOf(cell: string, { byName }: Customers): string {
  const found = byName.get(keyOf(cell)) ?? [];
  return found.length === 1 ? found[0]! : cell;
}

/** Why a cell names no customer; undefined where it names one. */
export function customerFault(cell: string, { byName, more }: Customers): string | undefined {
  const found = byName.get(keyOf(cell)) ?? [];
  if (cell.startsWith('account_') || found.length === 1) return undefined;
  if (found.length > 1) return `${found.length} customers are called “${cell}”. Give the id of the one that is meant.`;
  if (more) return `None of the newest 5,000 customers is called “${cell}”. Give the id of the customer.`;
  return `No customer is called “${cell}”. Create it first, or import your customers.`;
}
