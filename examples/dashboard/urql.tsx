import { startTransition, useEffect, useEffectEvent, useOptimistic, useReducer, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Client, fetchExchange, Provider, useClient } from 'urql';
import { onEnd, pipe, subscribe } from 'wonka';
import { Frame, newsOf, Payments, reconciled } from './page';
import {
  type Change,
  ChangesSubscription,
  type Invoice,
  type Payment,
  PaymentsQuery,
  PositionQuery,
  ReconcileMutation,
  type User,
  UsersQuery,
} from './queries';
import { currentSession, fetchFor } from './session';

const { gateway } = await currentSession();

/** A client of its own for each user. It keeps no answers: the page has the payments, by their ids. */
const clientFor = (user: string | undefined) =>
  new Client({
    url: `${gateway}/graphql`,
    preferGetMethod: false,
    // Over server-sent events, which go through the same `fetch`.
    fetchSubscriptions: true,
    fetch: fetchFor(user),
    exchanges: [fetchExchange],
  });

function App() {
  const [client, setClient] = useState(() => clientFor(undefined));
  const [user, setUser] = useState<string>();
  const [users, setUsers] = useState<readonly User[]>([]);
  useEffect(() => {
    // A session of the platform lists its users.
    void clientFor(undefined)
      .query(UsersQuery, {})
      .then(({ data }) => setUsers(data?.accounts?.nodes ?? []));
  }, []);
  const actFor = (id: string | undefined) => {
    setClient(clientFor(id));
    setUser(id);
  };
  return (
    <Frame title="With urql" users={users} user={user} onActFor={actFor}>
      {/* The key begins anew with the client: nothing of the last user stays on the page. */}
      <Provider key={user ?? ''} value={client}>
        <PaymentsPage />
      </Provider>
    </Frame>
  );
}

interface ListChange {
  payments: readonly Payment[];
  /** Where those go that the list does not have; without it they are left out. */
  to?: 'top' | 'end';
}

/** The list with newer states of some payments, and of their payers, whose other payments show the same invoices. */
function changed(list: readonly Payment[] | undefined, { payments, to }: ListChange): readonly Payment[] | undefined {
  const newer = new Map(payments.map((payment) => [payment.id, payment]));
  const payers = new Map(payments.map(({ fromAccount }) => [fromAccount?.id, fromAccount]));
  const kept = (list ?? []).map(
    (payment) =>
      newer.get(payment.id) ?? {
        ...payment,
        fromAccount: payers.get(payment.fromAccount?.id) ?? payment.fromAccount,
      },
  );
  for (const { id } of list ?? []) newer.delete(id);
  if (to === 'end') return [...kept, ...newer.values()];
  return to === 'top' ? [...newer.values(), ...kept] : list && kept;
}

function PaymentsPage() {
  const client = useClient();
  const [payments, change] = useReducer(changed, undefined);
  const [shown, changeAtOnce] = useOptimistic(payments, changed);
  const [start, setStart] = useState<number>();
  const [end, setEnd] = useState<string | null>(null);
  const [problem, setProblem] = useState<string>();
  const [news, setNews] = useState<string>();

  /** Reads a page; returns the cursor of the next one, or null. */
  const read = async (after: string | null): Promise<string | null> => {
    const { data, error } = await client.query(PaymentsQuery, { after });
    if (error) setProblem(error.message);
    if (!data?.deposits) return null;
    const { edges, pageInfo } = data.deposits;
    change({ payments: edges.map(({ node }) => node), to: 'end' });
    const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
    setEnd(next);
    return next;
  };
  const begin = useEffectEvent(async () => {
    const { data, error } = await client.query(PositionQuery, {});
    if (!data?.events) return setProblem(error?.message);
    // Read after the position, so that no event is missed between them.
    await read(null);
    setStart(data.events.nodes[0]?.number ?? 0);
  });
  useEffect(() => void begin(), []);

  useChanges(start, ({ type, subject }) => {
    if (subject?.__typename !== 'Deposit') return;
    setNews(newsOf(type, subject));
    change({ payments: [subject], ...(type === 'deposit.initialized' && { to: 'top' }) });
  });

  const showAll = async () => {
    for (let after = end; after; ) after = await read(after);
  };
  const onReconcile = (payment: Payment, invoice: Invoice) =>
    startTransition(async () => {
      // It is shown until the answer arrives, and taken back if that is a refusal.
      changeAtOnce({ payments: [reconciled(payment)] });
      const variables = { deposit: payment.id, receivable: invoice.id, amount: payment.pendingRest };
      const { data, error } = await client.mutation(ReconcileMutation, variables);
      const answered = data?.reconcileDeposit?.deposit;
      startTransition(() => {
        setProblem(error?.message);
        if (answered) change({ payments: [answered] });
      });
    });

  return (
    <Payments
      payments={shown}
      hasMore={end !== null}
      onAll={() => void showAll()}
      onReconcile={onReconcile}
      problem={problem}
      news={news}
    />
  );
}

/** Calls back with each event after a number. After a disconnect it goes on after the last one. */
function useChanges(start: number | undefined, onChange: (change: Change) => void) {
  const client = useClient();
  const notify = useEffectEvent(onChange);
  useEffect(() => {
    if (start === undefined) return undefined;
    let after = start;
    let timer: ReturnType<typeof setTimeout>;
    let stop = () => {};
    const connect = () => {
      const { unsubscribe } = pipe(
        client.subscription(ChangesSubscription, { after }),
        onEnd(() => (timer = setTimeout(connect, 2000))),
        subscribe(({ data }) => {
          if (!data) return;
          after = data.events.number ?? after;
          notify(data.events);
        }),
      );
      stop = unsubscribe;
    };
    connect();
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [client, start]);
}

createRoot(document.querySelector('#root')!).render(<App />);
