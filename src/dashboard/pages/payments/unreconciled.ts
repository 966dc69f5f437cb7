import { useEffect, useState } from 'react';
import { type CombinedError, useClient } from 'urql';
import { type Connection, pagesOf } from '../../graph/pages';
import { type Filters, isUnreconciled, type Payment, PaymentsQuery } from './query';

/** How many payments a page of the list has at least, unless there are no more. */
const rowsOfPage = 25;
/** How many pages of the gateway are read for it before the viewer is asked to go on. */
const readMost = 10;

/**
 * A page of the payments that have money to reconcile. The gateway does not select by that, so its pages are read until
 * enough are found. `changed` makes it read again.
 */
export function useUnreconciled(variables: Filters, after: string | null, changed: unknown, pause: boolean) {
  const client = useClient();
  const [found, setFound] = useState<{ page?: Connection<Payment>; error?: CombinedError }>({});
  const key = JSON.stringify(variables);
  useEffect(() => {
    if (pause) return undefined;
    let open = true;
    const read = async () => {
      const nodes: Payment[] = [];
      let times = 0;
      const pages = pagesOf(client, PaymentsQuery, JSON.parse(key) as Filters, ({ deposits }) => deposits, after);
      for await (const page of pages) {
        if (!open) return;
        nodes.push(...page.nodes.filter(isUnreconciled));
        if (nodes.length < rowsOfPage && page.pageInfo.hasNextPage && ++times < readMost) continue;
        return setFound({ page: { nodes, pageInfo: page.pageInfo } });
      }
    };
    read().catch((error: CombinedError) => open && setFound({ error }));
    return () => {
      open = false;
    };
  }, [client, key, after, changed, pause]);
  return found;
}
