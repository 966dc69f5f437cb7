import { useEffect, useState } from 'react';
import { type CombinedError, useClient } from 'urql';
import { currencies } from '../format/money';
import { useTimeZone } from '../format/preferences';
import { useSession } from '../session';
import type { Answer, Hit } from './box';
import { NodeQuery } from './by-id';
import { type Finder, hitOf } from './hit';
import { AmountQuery, readText, TextQuery } from './query';

type Node = Parameters<typeof hitOf>[0];
interface Page {
  nodes: readonly Node[];
  pageInfo: { hasNextPage: boolean };
}
type Lists = Record<string, Page | null>;

/**
 * What the viewer can see and has a text: an object by its id, and otherwise the hits of the searches and of the orders
 * by amount. A text that changes cancels what was asked for the one before.
 */
export function useFound(text: string): Answer | undefined {
  const client = useClient();
  const { viewer } = useSession();
  const [answer, setAnswer] = useState<Answer>();
  const accountId = viewer.account.id;
  const timeZone = useTimeZone();
  // Only a platform has accounts below it.
  const scope = viewer.account.type === 'PLATFORM' ? 'DESCENDANTS' : 'SELF';
  useEffect(() => {
    const { id, words, amount } = readText(text);
    const context = { requestPolicy: 'network-only' as const };
    const asked = [
      ...(id === undefined ? [] : [client.query(NodeQuery, { id }, context)]),
      ...(words === undefined
        ? []
        : [client.query(TextQuery, { search: words, references: [words, words.toUpperCase()], scope }, context)]),
      ...(amount === undefined
        ? []
        : currencies.map((currency) => client.query(AmountQuery, { amount, currency, scope }, context))),
    ];
    const results: { data?: object | undefined; error?: CombinedError | undefined }[] = [];
    const subscriptions = asked.map((source, at) =>
      source.subscribe((result) => {
        results[at] = result;
        if (asked.every((_, each) => results[each])) setAnswer({ text, ...hitsOf(results, { accountId, timeZone }) });
      }),
    );
    return () => {
      for (const each of subscriptions) each.unsubscribe();
    };
  }, [text, scope, accountId, timeZone, client]);
  return answer?.text === text ? answer : undefined;
}

function hitsOf(results: readonly { data?: object | undefined; error?: CombinedError | undefined }[], finder: Finder) {
  const hits = new Map<string, Hit>();
  let more = false;
  const add = (node: Node) => {
    if ('id' in node) hits.set(node.id, hitOf(node, finder));
  };
  for (const { data } of results) {
    if (!data) continue;
    if ('node' in data) {
      if (data.node) add(data.node as Node);
      continue;
    }
    for (const page of Object.values(data as Lists)) {
      if (!page || typeof page !== 'object') continue;
      page.nodes.forEach(add);
      more ||= page.pageInfo.hasNextPage;
    }
  }
  return { hits: [...hits.values()], more, error: results.find(({ error }) => error)?.error };
}
