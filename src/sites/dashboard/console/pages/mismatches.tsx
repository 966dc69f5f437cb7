import { useLive } from '../../graph/live';
import { Copy } from '../../parts/facts';
import { Empty } from '../../parts/empty';
import { Json } from '../../parts/json';
import { Money } from '../../parts/money';
import { Page } from '../../parts/page';
import { Problem } from '../../parts/problem';
import { Lines } from '../../parts/skeleton';
import { graphql } from '../graphql';
import { AccountLink, nameOf, OfTenant } from '../parts';

const MismatchesQuery = graphql(`
  query Mismatches {
    transactionMismatches {
      tenantId transactionId checkoutId livemode amount currency credited submitted reported
      account { id nickname businessDetails { legalName } }
      root { id nickname businessDetails { legalName } }
    }
  }
`);

/** Successes that an acquirer reported and that do not match their attempts. They are cleared with the acquirer. */
export function Mismatches() {
  const { data, error, ask } = useLive(MismatchesQuery, {});
  return (
    <Page
      title="Mismatches"
      subtitle={
        <p className="hint">
          Successes of an acquirer that do not match their attempts. They are cleared with the acquirer.
        </p>
      }
    >
      {error && !data && <Problem error={error} onRetry={ask} />}
      {!data && !error && <Lines count={6} />}
      {data?.transactionMismatches.length === 0 && (
        <Empty title="Every success matches its attempt">
          <p>What an acquirer reports is compared with what was submitted.</p>
        </Empty>
      )}
      {data && data.transactionMismatches.length > 0 && (
        <ul className="disclosures" aria-label="Mismatches">
          {data.transactionMismatches.map((each) => (
            <li key={each.transactionId}>
              <details>
                <summary>
                  <span className="two-lines">
                    <strong>{each.credited ? 'Credited' : 'Not credited: refund the payer'}</strong>
                    <span className="hint" title={each.transactionId}>
                      {each.account ? nameOf(each.account) : each.transactionId}
                    </span>
                  </span>
                  <OfTenant {...each} />
                  <Money amount={each.amount} currency={each.currency} />
                </summary>
                <p className="account-line">
                  {each.account && (
                    <AccountLink id={each.account.id} livemode={each.livemode}>
                      {nameOf(each.account)}
                    </AccountLink>
                  )}
                  <Copy text={each.transactionId} label="the id of the attempt" />
                </p>
                <div className="compare">
                  <div>
                    <h3>Submitted</h3>
                    <Json value={each.submitted} label="what was submitted" />
                  </div>
                  <div>
                    <h3>Reported</h3>
                    <Json value={each.reported} label="what was reported" />
                  </div>
                </div>
              </details>
            </li>
          ))}
        </ul>
      )}
    </Page>
  );
}
