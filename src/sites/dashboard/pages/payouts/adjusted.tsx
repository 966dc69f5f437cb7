import { useTimes } from '../../format/time';
import { graphql } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { Money } from '../../parts/money';
import { Card } from '../../parts/page';
import { nameOf, NameFragment } from '../../session';

const AdjustmentsQuery = graphql(
  `
    query Adjustments {
      payments(filter: { type: [ADJUSTMENT] }, first: 5) {
        nodes {
          id created
          account { ...Name }
          source { __typename ...on Adjustment { reason credit { amount currency } debit { amount currency } } }
        }
      }
    }
  `,
  [NameFragment],
);

/** The newest corrections of available money by the service, which change what is paid out. Nothing without any. */
export function Adjusted({ ofUsers }: { ofUsers: boolean }) {
  const { data } = useLive(AdjustmentsQuery, {});
  const time = useTimes();
  const rows = (data?.payments?.nodes ?? []).flatMap(({ source, ...payment }) =>
    source?.__typename === 'Adjustment' ? [{ ...payment, ...source }] : [],
  );
  if (rows.length === 0) return null;
  return (
    <Card title="Adjustments by the service">
      <ul className="coming-later">
        {rows.map(({ id, created, account, reason, credit, debit }) => (
          <li key={id}>
            <span className="line">{time(created, 'date')}</span>
            <span className="coming-entry">
              <span>{ofUsers ? `${nameOf(account)}: ${reason}` : reason}</span>
              {credit && <strong>+{<Money {...credit} />}</strong>}
              {debit && <strong>−{<Money {...debit} />}</strong>}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
