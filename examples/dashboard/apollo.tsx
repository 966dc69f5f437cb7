import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { ApolloProvider, useApolloClient, useMutation, useQuery } from '@apollo/client/react';
import { relayStylePagination } from '@apollo/client/utilities';
import { OperationTypeNode } from 'graphql';
import { CloseCode, createClient } from 'graphql-ws';
import { useEffect, useEffectEvent, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { cacheOptions } from './cache';
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
import { currentSession, fetchFor, forgetSession, identity } from './session';

const { gateway } = await currentSession();

/** A client of its own for each user, so that its cache never has the objects of another one. */
function clientFor(user: string | undefined): ApolloClient {
  const socket = createClient({
    url: `${gateway.replace('http', 'ws')}/graphql`,
    // A page cannot set headers of a WebSocket.
    connectionParams: () => identity(user),
    // The subscription connects again itself, after the last event that it knows.
    retryAttempts: 0,
    on: { closed: (event) => (event as CloseEvent).code === CloseCode.Unauthorized && forgetSession() },
  });
  const link = ApolloLink.split(
    ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
    new GraphQLWsLink(socket),
    new HttpLink({ uri: `${gateway}/graphql`, fetch: fetchFor(user) }),
  );
  // Pages are joined into one list.
  const Query = { fields: { deposits: relayStylePagination() } };
  const cache = new InMemoryCache({ ...cacheOptions, typePolicies: { ...cacheOptions.typePolicies, Query } });
  return new ApolloClient({ link, cache });
}

function App() {
  const [client, setClient] = useState(() => clientFor(undefined));
  const [user, setUser] = useState<string>();
  const [users, setUsers] = useState<readonly User[]>([]);
  useEffect(() => {
    // A session of the platform lists its users.
    void clientFor(undefined)
      .query({ query: UsersQuery })
      .then(({ data }) => setUsers(data?.accounts?.nodes ?? []));
  }, []);
  const actFor = (id: string | undefined) => {
    client.stop();
    setClient(clientFor(id));
    setUser(id);
  };
  return (
    <Frame title="With Apollo Client" users={users} user={user} onActFor={actFor}>
      {/* The key begins anew with the client: nothing of the last user stays on the page. */}
      <ApolloProvider key={user ?? ''} client={client}>
        <PaymentsPage />
      </ApolloProvider>
    </Frame>
  );
}

function PaymentsPage() {
  const position = useQuery(PositionQuery, { fetchPolicy: 'network-only' });
  const known = position.data?.events;
  // Read after the position, so that no event is missed between them.
  const { data, error, fetchMore } = useQuery(PaymentsQuery, { skip: !known });
  const [news, setNews] = useState<string>();
  const client = useApolloClient();
  const [reconcile, mutation] = useMutation(ReconcileMutation, { onError: () => {} });

  useChanges(known && data ? (known.nodes[0]?.number ?? 0) : undefined, ({ type, subject }) => {
    if (subject?.__typename !== 'Deposit') return;
    setNews(newsOf(type, subject));
    // The cache has the payment by its id already. A new one also goes to the top of the list.
    if (type !== 'deposit.initialized') return;
    client.cache.updateQuery({ query: PaymentsQuery }, (list) => {
      if (!list?.deposits || list.deposits.edges.some(({ node }) => node.id === subject.id)) return list;
      const edge = { __typename: 'DepositEdge', cursor: subject.id, node: subject };
      return { ...list, deposits: { ...list.deposits, edges: [edge, ...list.deposits.edges] } };
    });
  });

  const showAll = async () => {
    let page = data?.deposits?.pageInfo;
    while (page?.hasNextPage) {
      const next = await fetchMore({ variables: { after: page.endCursor } });
      page = next.data?.deposits?.pageInfo;
    }
  };
  const onReconcile = (payment: Payment, invoice: Invoice) =>
    void reconcile({
      variables: { deposit: payment.id, receivable: invoice.id, amount: payment.pendingRest },
      optimisticResponse: {
        reconcileDeposit: { __typename: 'ReconcileDepositPayload', deposit: reconciled(payment) },
      },
    });

  return (
    <Payments
      payments={data?.deposits?.edges.map(({ node }) => node)}
      hasMore={data?.deposits?.pageInfo.hasNextPage ?? false}
      onAll={() => void showAll()}
      onReconcile={onReconcile}
      problem={(position.error ?? error ?? mutation.error)?.message}
      news={news}
    />
  );
}

/** Calls back with each event after a number. After a disconnect it goes on after the last one. */
function useChanges(start: number | undefined, onChange: (change: Change) => void) {
  const client = useApolloClient();
  const notify = useEffectEvent(onChange);
  useEffect(() => {
    if (start === undefined) return undefined;
    let after = start;
    let timer: ReturnType<typeof setTimeout>;
    let stop = () => {};
    const connect = () => {
      const again = () => (timer = setTimeout(connect, 2000));
      const next = ({ data }: { data?: { events: Change } | null | undefined }) => {
        if (!data) return;
        after = data.events.number ?? after;
        notify(data.events);
      };
      const subscription = client.subscribe({ query: ChangesSubscription, variables: { after } });
      const running = subscription.subscribe({ next, error: again, complete: again });
      stop = () => running.unsubscribe();
    };
    connect();
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [client, start]);
}

createRoot(document.querySelector('#root')!).render(<App />);
