import { useState } from 'react';
import { useQuery } from 'urql';
import { useDebounced } from '../graph/find';
import { ChipFind, Found, useChosenId } from '../parts/chip-find';
import { FindQuery } from './find';
import { graphql } from './graphql';
import { nameOf } from './parts';

const ChosenQuery = graphql(`
  query TenantOfFilter($id: ID!) {
    account(id: $id) { id root { id nickname businessDetails { legalName } } }
  }
`);

const name = 'tenant';

/** A filter by a tenant, which is found by the name or the id of any of its accounts. */
export function TenantFilter() {
  const { id, pause } = useChosenId(name);
  const [{ data, fetching }] = useQuery({ query: ChosenQuery, variables: { id }, pause });
  const root = data?.account?.root;
  return (
    <ChipFind label="Tenant" name={name} said={root ? nameOf(root) : fetching ? '…' : id}>
      {(choose) => <FoundTenants onChoose={choose} />}
    </ChipFind>
  );
}

function FoundTenants({ onChoose }: { onChoose: (accountId: string) => void }) {
  const [text, setText] = useState('');
  const debounced = useDebounced(text);
  const [{ data, error, fetching }] = useQuery({
    query: FindQuery,
    variables: { text: debounced },
    pause: !/[\p{L}\p{N}]/u.test(debounced),
  });
  const isAnswered = text.trim() !== '' && debounced === text.trim() && !fetching;
  const found = data?.find.objects.flatMap(({ type, account, tenantId }) =>
    type === 'ACCOUNT' && account && tenantId
      ? [{ id: account.id, name: nameOf(account), value: `account_${tenantId}` }]
      : [],
  );
  // A root has one id in both modes.
  const accounts = found && [...new Map(found.map((account) => [account.id, account])).values()];
  return (
    <Found
      label="An account of the tenant"
      hint="Its name or its id."
      text={text}
      onText={setText}
      error={isAnswered ? error : undefined}
      isLoading={text.trim() !== '' && !isAnswered}
      found={isAnswered ? accounts : undefined}
      onChoose={onChoose}
      none="No account has this name or id."
      more={isAnswered && data?.find.hasMore && 'There are more. Type more of the name.'}
    />
  );
}
