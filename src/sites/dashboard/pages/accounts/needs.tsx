import { attentionWords } from '../../format/attention';
import { graphql, type ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { Money } from '../../parts/money';
import { NameFragment } from '../../session';

/** What waits at a user, for its row. */
export const NeedFragment = graphql(`
  fragment Need on AttentionItem { kind severity count { value precision } amounts { amount currency } }
`);

/** How many items are read at most, each of a kind and an account. */
const itemsMax = 100;

const UsersInNeedQuery = graphql(
  `
    query UsersInNeed {
      viewer {
        account {
          id
          attention(scope: DESCENDANTS) {
            counts { count { precision } }
            items(limit: 100) {
              ...Need
              account {
                id type created ...Name status
                businessDetails { legalName physicalAddress { city country } }
                balance { available { amount currency } pending { amount currency } }
                requirements { fieldName }
              }
            }
          }
        }
      }
    }
  `,
  [NameFragment, NeedFragment],
);

type Need = ResultOf<typeof NeedFragment>;

/** The users for whom something waits, in the order of what is most urgent for each. */
export function useUsersInNeed() {
  const result = useLive(UsersInNeedQuery, {});
  const attention = result.data?.viewer.account.attention;
  const byUser = new Map<string, Need[]>();
  const all = attention?.items;
  const items = all?.filter(({ account }) => account.type === 'USER');
  for (const item of items ?? []) byUser.set(item.account.id, [...(byUser.get(item.account.id) ?? []), item]);
  const users = items
    ?.filter(({ account }, i) => items.findIndex((each) => each.account.id === account.id) === i)
    .map(({ account }) => ({ ...account, attention: { items: byUser.get(account.id)! } }));
  const isCut = attention?.counts.some(({ count }) => count.precision === 'AT_LEAST') ?? false;
  const more = isCut || all?.length === itemsMax;
  return { result, users: attention === null ? null : users, more };
}

/** How many needs a row says. */
const said = 3;

interface NeedsProps {
  attention?: { items: readonly Need[] | null } | null | undefined;
  requirements?: readonly unknown[] | undefined;
}

/** What a user needs, the most urgent first. */
export function Needs({ attention, requirements = [] }: NeedsProps) {
  const items = attention?.items;
  if (!items) return <span className="hint none">not known</span>;
  if (items.length === 0) return <span className="hint none">–</span>;
  return (
    <ul className="needs">
      {items.slice(0, said).map((item) => (
        <li key={item.kind} data-severity={item.severity}>
          <NeedText item={item} missing={requirements.length} />
        </li>
      ))}
      {items.length > said && <li className="hint">and {items.length - said} more</li>}
    </ul>
  );
}

const sums: Record<string, string> = { DEPOSIT_UNRECONCILED: 'to reconcile', RECEIVABLE_OVERDUE: 'overdue' };

/** Money that waits is said by its sum, and other things by their number. */
function NeedText({ item, missing }: { item: Need; missing: number }) {
  const { kind, amounts } = item;
  if (kind === 'ACCOUNT_INCOMPLETE' && missing > 0) return `${missing} ${missing === 1 ? 'detail' : 'details'} missing`;
  const what = sums[kind];
  if (!what || !amounts || amounts.length === 0) return attentionWords(item);
  return (
    <>
      {amounts.map((each, i) => (
        <span key={each.currency}>
          {i > 0 && '+ '}
          <Money {...each} />
        </span>
      ))}{' '}
      {what}
    </>
  );
}
