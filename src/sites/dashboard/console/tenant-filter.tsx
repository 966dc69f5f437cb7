import { useState } from 'react';
import { useQuery } from 'urql';
import { useDebounced } from '../graph/find';
import { Chip, Opening, useUsed } from '../parts/chips';
import { Field } from '../parts/field';
import { useFilters } from '../parts/filters';
import { useChoose } from '../parts/orders';
import { Problem } from '../parts/problem';
import { Lines } from '../parts/skeleton';
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
  const { params } = useFilters();
  const choose = useChoose();
  const used = useUsed(name);
  const id = params.get(name) ?? '';
  const [{ data, fetching }] = useQuery({ query: ChosenQuery, variables: { id }, pause: !used });
  const root = data?.account?.root;
  const said = root ? nameOf(root) : fetching ? '…' : id;
  return (
    <Chip label="Tenant" name={name} used={used} onRemove={() => choose(name, { [name]: null })}>
      <Opening label="Tenant" said={used ? said : undefined}>
        {(close) => (
          <FoundTenants
            onChoose={(tenantId) => {
              close();
              choose(name, { [name]: `account_${tenantId}` });
            }}
          />
        )}
      </Opening>
    </Chip>
  );
}

function FoundTenants({ onChoose }: { onChoose: (tenantId: string) => void }) {
  const [text, setText] = useState('');
  const debounced = useDebounced(text);
  const [{ data, error, fetching }] = useQuery({
    query: FindQuery,
    variables: { text: debounced },
    pause: !/[\p{L}\p{N}]/u.test(debounced),
  });
  const isAnswered = text.trim() !== '' && debounced === text.trim() && !fetching;
  const found = data?.find.objects.flatMap(({ type, account, tenantId }) =>
    type === 'ACCOUNT' && account && tenantId ? [{ ...account, tenantId }] : [],
  );
  // A root has one id in both modes.
  const accounts = found && [...new Map(found.map((account) => [account.id, account])).values()];
  return (
    <div className="chip-find">
      <Field label="An account of the tenant" hint="Its name or its id.">
        {(input) => (
          <input
            {...input}
            value={text}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setText(event.target.value)}
            autoFocus
          />
        )}
      </Field>
      {text.trim() !== '' && !isAnswered && <Lines count={3} />}
      {isAnswered && error && <Problem error={error} />}
      {isAnswered && accounts && (
        <ul className="choices">
          {accounts.map((account) => (
            <li key={account.id}>
              <button type="button" title={account.id} onClick={() => onChoose(account.tenantId)}>
                {nameOf(account)}
              </button>
            </li>
          ))}
        </ul>
      )}
      {isAnswered && accounts?.length === 0 && <p className="hint">No account has this name or id.</p>}
      {isAnswered && data?.find.hasMore && <p className="hint">There are more. Type more of the name.</p>}
    </div>
  );
}
