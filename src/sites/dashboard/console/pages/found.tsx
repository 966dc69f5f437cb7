import { Link } from 'wouter';
import { words } from '../../format/words';
import type { ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { Copy, Facts } from '../../parts/facts';
import { useFilters } from '../../parts/filters';
import { Loaded } from '../../parts/loaded';
import { Money } from '../../parts/money';
import { Card, Page } from '../../parts/page';
import { Status } from '../../parts/status';
import { Time } from '../../parts/time';
import { kinds } from '../find';
import { graphql } from '../graphql';
import { tenantFact } from '../object-of';
import { AccountLink, Mode, nameOf } from '../parts';

const FoundQuery = graphql(`
  query Found($text: String!) {
    find(text: $text) {
      objects {
        type id tenantId livemode created status amount currency reference
        account {
          id livemode nickname businessDetails { legalName }
          root { id livemode nickname businessDetails { legalName } }
        }
        request {
          api operation status codes durationMilliseconds apiKeyId sessionId
          onBehalfOfAccount { id livemode nickname businessDetails { legalName } }
        }
      }
    }
  }
`);

type Object = ResultOf<typeof FoundQuery>['find']['objects'][number];

/** An object that has no page of its own and no money on its way: what the gateway knows of it, and whose it is. */
export function FoundObject({ params }: { params: { id: string } }) {
  const { params: filters } = useFilters();
  const id = decodeURIComponent(params.id);
  const text = [id, filters.get('account')].filter(Boolean).join(' ');
  const result = useLive(FoundQuery, { text });
  return (
    <Loaded result={result} of={({ find }) => find.objects.find((object) => object.id === id)}>
      {(object) => <FoundPage object={object} />}
    </Loaded>
  );
}

/** What the reference of some kinds is. */
const referenceNames: Partial<Record<Object['type'], string>> = {
  BALANCE_TRANSACTION: 'Entry of a balance',
  IMPORT_ROW: 'Import',
  PAYMENT: 'Of',
  PERSON: 'Name',
  WEBHOOK_ENDPOINT: 'URL',
};

function FoundPage({ object }: { object: Object }) {
  const { type, id, livemode, created, status, amount, currency, reference, account, request } = object;
  const isOpenAttempt = type === 'TRANSACTION' && livemode && status === 'processing';
  return (
    <Page title={`${kinds[type]}${account ? ` of ${nameOf(account)}` : ''}`}>
      <Card title="Details">
        <Facts
          facts={[
            ['Mode', <Mode livemode={livemode} />],
            ['Account', account && <AccountLink {...account}>{nameOf(account)}</AccountLink>],
            tenantFact(account?.root ?? account),
            ['Amount', amount !== null && currency !== null && <Money amount={amount} currency={currency} />],
            ['Status', status && <Status value={status.toUpperCase()} />],
            [
              referenceNames[type] ?? 'Reference',
              !request && (type === 'PAYMENT' ? words(reference ?? '') : reference),
            ],
            ['What to do', isOpenAttempt && <Link href="/attempts">Decide an attempt</Link>],
            ['Created', <Time at={created} />],
            ...(request ? requestFacts(request) : []),
            ['ID', <Copy text={id} label="the id" />],
          ]}
        />
      </Card>
    </Page>
  );
}

const requestFacts = (request: NonNullable<Object['request']>) => {
  const { api, operation, status, codes, durationMilliseconds, apiKeyId, sessionId, onBehalfOfAccount: user } = request;
  return [
    ['API', api === 'REST' ? '/v1' : '/graphql'],
    ['Operation', <code>{operation}</code>],
    ['On behalf of', user && <AccountLink {...user}>{nameOf(user)}</AccountLink>],
    ['HTTP status', status],
    ['Errors', codes.map(words).join(', ')],
    ['Time taken', `${durationMilliseconds} ms`],
    ['Key', apiKeyId && <code>{apiKeyId}</code>],
    ['Session', sessionId && <code>{sessionId}</code>],
  ] as const;
};
