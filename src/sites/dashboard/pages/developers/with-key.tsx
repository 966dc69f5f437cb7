import type { TypedDocumentNode } from 'urql';
import { useKeyedQuery } from '../../graph/with-key';
import type { Done } from '../../graph/write';
import { Form } from '../../parts/form';
import { Card } from '../../parts/page';
import { useSession } from '../../session';

interface ShowWithKeyProps<Data> {
  /** What is shown, such as `the keys`. */
  what: string;
  /** Why it takes a key, and what else is good to know. */
  hint: string;
  query: TypedDocumentNode<Data, { accountId: string }>;
  onShown: (data: Done<Data>) => void;
}

/** Asks for a key to show what no session sees: once, until the page is left. */
export function ShowWithKey<Data>({ what, hint, query, onShown }: ShowWithKeyProps<Data>) {
  const { viewer } = useSession();
  const { ask, pending, failure } = useKeyedQuery(query);
  const show = async (_: object, apiKey = '') => {
    const data = await ask({ accountId: viewer.account.id }, apiKey);
    if (data) onShown(data);
  };
  return (
    <Card title={`Show ${what}`}>
      <p className="hint lead">{hint}</p>
      <Form label={`Show ${what}`} submit={`Show ${what}`} withKey {...{ pending, failure }} onSubmit={show} />
    </Card>
  );
}

/** The state of what can be revoked, and may end by itself. */
export function statusOf({ revokedAt, expiresAt }: { revokedAt: string | null; expiresAt: string | null }): string {
  if (revokedAt) return 'REVOKED';
  return expiresAt && Date.parse(expiresAt) <= Date.now() ? 'EXPIRED' : 'ACTIVE';
}
