import { words } from '../../format/words';
import { Money } from '../../parts/money';
import { Card } from '../../parts/page';
import { Time } from '../../parts/time';
import { nameOf } from '../parts';
import type { TrailParts } from './trail-query';

/** What the contra accounts of the service are called. */
const contras: Readonly<Record<string, string>> = { fx: 'Exchange' };

/** The movements of money in the ledger, each with its sides. */
export function Postings({ postings }: Pick<TrailParts, 'postings'>) {
  return (
    <Card title="Ledger">
      {postings.length === 0 && <p className="hint">No money has moved.</p>}
      <ul className="postings" aria-label="Postings">
        {postings.map(({ id, kind, created, entries }) => (
          <li key={id}>
            <span className="two-lines">
              <strong>{words(kind)}</strong>
              <span className="hint" title={id}>
                <Time at={created} />
              </span>
            </span>
            <ul>
              {entries.map(({ accountId, account, compartment, contra, amount, currency }, i) => (
                <li key={i}>
                  <span title={accountId ?? undefined}>
                    {accountId === null
                      ? (contras[contra ?? ''] ?? words(contra ?? ''))
                      : `${words(compartment ?? '')} of ${account ? nameOf(account) : accountId}`}
                  </span>
                  <Money amount={amount} currency={currency} />
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </Card>
  );
}
