import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { useQuery } from 'urql';
import { Link, useLocation } from 'wouter';
import { attentionAction, attentionList, attentionWords, isOfAccount, severityWords } from '../../format/attention';
import { obstacleLine } from '../../format/obstacles';
import { formatLeft, formatSince, useTimes } from '../../format/time';
import { AttentionItemFragment } from '../../graph/attention';
import { graphql, type ResultOf } from '../../graph/graphql';
import { Money } from '../../parts/money';
import { addressOf } from '../../parts/object-link';
import { Card } from '../../parts/page';
import { nameOf, useSession } from '../../session';

type Item = ResultOf<typeof AttentionItemFragment>;

/** How many rows the card has before it is unfolded. */
const shownFirst = 5;

/**
 * What waits for the viewer, the most urgent first: what, whose, how much, since when, and the way to it. With `more`
 * other things wait, too, at users of the viewer: all that waits at one account is fewer.
 */
export function Attention({ items, more }: { items: readonly Item[]; more: boolean }) {
  const [all, setAll] = useState(false);
  if (items.length === 0)
    return (
      <p className="calm">
        <CircleCheck aria-hidden /> Nothing needs your attention.
      </p>
    );
  const shown = all ? items : items.slice(0, shownFirst);
  return (
    <Card title="Needs attention">
      <ul className="attention">
        {shown.map((item, i) => (
          <Row key={`${item.kind} ${item.account.id}`} item={item} detailed={i < shownFirst} />
        ))}
      </ul>
      {items.length > shownFirst && (
        <button type="button" className="button small" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Show fewer' : `Show ${more ? 'the first' : 'all'} ${items.length}`}
        </button>
      )}
      {more && (
        <p className="hint">
          More waits than these {items.length}. <Link href="/users?sort=needs">Users by what they need</Link>
        </p>
      )}
    </Card>
  );
}

const marks = { CRITICAL: CircleAlert, WARNING: TriangleAlert, INFO: Info } as const;

/** The invoices that a payment may pay, the best first. Finding them costs much, so only rows that are shown ask. */
const MatchQuery = graphql(`
  query BestMatch($id: ID!) {
    deposit(id: $id) { id receivableMatches { receivable { id invoice { referenceNumber } } } }
  }
`);

/** The invoice that the payment may pay, or of several the one that has waited longest. */
function BestMatch({ id, several }: { id: string; several: boolean }) {
  const [{ data }] = useQuery({ query: MatchQuery, variables: { id } });
  const [best] = data?.deposit?.receivableMatches ?? [];
  if (!best) return null;
  const { referenceNumber } = best.receivable.invoice;
  return <span>{several ? `The oldest may pay ${referenceNumber}` : `Best match ${referenceNumber}`}</span>;
}

/** What blocks the payouts of an account. Only rows that are shown ask. */
const ObstaclesQuery = graphql(`
  query PayoutsBlocked($id: ID!) { account(id: $id) { id payoutsBlockedBy { reasonCode } } }
`);

/** Why the money of an account is not paid out. Money that only waits for more is none of it. */
function WhyBlocked({ id }: { id: string }) {
  const [{ data }] = useQuery({ query: ObstaclesQuery, variables: { id } });
  const why = data?.account?.payoutsBlockedBy.find(({ reasonCode }) => reasonCode !== 'AMOUNT_TOO_SMALL');
  return why && <span>{obstacleLine(why)}</span>;
}

function Row({ item, detailed }: { item: Item; detailed: boolean }) {
  const { viewer } = useSession();
  const { severity, amounts, account } = item;
  const Mark = marks[severity];
  const own = account.id === viewer.account.id;
  const returned = item.object?.__typename === 'Payout' && item.object.status === 'RETURNED';
  const text = returned && item.count.value === 1 ? 'Payout returned' : attentionWords(item);
  return (
    <li data-severity={severity}>
      <Mark aria-hidden />
      <span className="attention-what">
        <strong>
          <span className="unseen">{severityWords(severity)}: </span>
          {text}
        </strong>
        <span className="hint">
          {!own && <span className="attention-who">{nameOf(account)}</span>}
          <Age item={item} />
          {detailed && item.object?.__typename === 'Deposit' && (
            <BestMatch id={item.object.id} several={item.count.value > 1} />
          )}
          {detailed && item.kind === 'PAYOUTS_BLOCKED' && <WhyBlocked id={account.id} />}
        </span>
      </span>
      <span className="attention-sums">
        {amounts?.map((each) => (
          <Money key={each.currency} {...each} />
        ))}
      </span>
      <Go item={item} own={own} label={`${attentionAction(item)}: ${text}${own ? '' : `, ${nameOf(account)}`}`} />
    </li>
  );
}

/** How long it waits, or how long it can still be done. */
function Age({ item: { since, dueBy } }: { item: Item }) {
  const time = useTimes();
  if (dueBy)
    return (
      <time dateTime={dueBy} title={time(dueBy, 'full')}>
        {formatLeft(dueBy)}
      </time>
    );
  return (
    since && (
      <time dateTime={since} title={time(since, 'full')}>
        {formatSince(since)}
      </time>
    )
  );
}

/** The page of the one object, or the list of all. Why payouts are blocked is said above their list. */
function pageOf({ object, count, ...item }: Item): string {
  if (!object || count.value > 1 || item.kind === 'PAYOUTS_BLOCKED') return attentionList(item);
  return addressOf(object.__typename === 'Dispute' ? object.depositId : object.id) ?? attentionList(item);
}

/** The way to what waits. What waits at a user is opened as that user; its account is on the platform's own pages. */
function Go({ item, own, label }: { item: Item; own: boolean; label: string }) {
  const { actAs } = useSession();
  const [, navigate] = useLocation();
  const page = pageOf(item);
  if (own || isOfAccount(item))
    return (
      <Link href={page} className="button small" aria-label={label}>
        {attentionAction(item)}
      </Link>
    );
  const open = () => {
    navigate(page);
    actAs(item.account.id);
  };
  return (
    <button type="button" className="button small" aria-label={label} onClick={open}>
      {attentionAction(item)}
    </button>
  );
}
