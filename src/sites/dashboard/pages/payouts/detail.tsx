import { Printer } from 'lucide-react';
import { reasonWords } from '../../format/obstacles';
import { useTimes } from '../../format/time';
import { useLive } from '../../graph/live';
import { Copy, Facts } from '../../parts/facts';
import { Loaded } from '../../parts/loaded';
import { Money } from '../../parts/money';
import { ObjectLink } from '../../parts/object-link';
import { Card, DetailPage } from '../../parts/page';
import { TestTools } from '../../parts/test-tools';
import { Ledger } from '../../parts/ledger';
import { Timeline } from '../../parts/timeline';
import { nameOf } from '../../session';
import { bankOf } from './list';
import { type PayoutDetail, PayoutQuery } from './query';
import { Failed } from './failed';
import { Statement, useSettlements } from './statement';
import { toolsOf } from './tools';
import { PayoutWay } from './way';

/** One payout: where it went, and the invoices that it settles, also as a statement to print. */
export function Payout({ params }: { params: { id: string } }) {
  const result = useLive(PayoutQuery, { id: params.id });
  return (
    <Loaded result={result} of={({ payout }) => payout}>
      {(payout) => <PayoutPage payout={payout} />}
    </Loaded>
  );
}

function PayoutPage({ payout }: { payout: PayoutDetail }) {
  const settlements = useSettlements(payout);
  return (
    <DetailPage
      title={`Payout to ${nameOf(payout.account)}`}
      back={{ href: '/payouts', name: 'Payouts' }}
      money={payout}
      status={payout.status}
      notes={
        <>
          {['FAILED', 'RETURNED'].includes(payout.status) && <Failed payout={payout} />}
          <PayoutWay payout={payout} settlements={settlements} />
        </>
      }
      actions={
        // A payout that has failed or was returned is no proof of a remittance.
        !['FAILED', 'RETURNED'].includes(payout.status) && (
          <button type="button" className="button" disabled={!settlements.complete} onClick={() => print()}>
            <Printer aria-hidden /> Print {payout.status === 'COMPLETED' ? 'statement' : 'provisional statement'}
          </button>
        )
      }
      side={
        <>
          <About payout={payout} />
          <TestTools id={payout.id} {...toolsOf(payout.status)} />
        </>
      }
    >
      <Statement payout={payout} settlements={settlements} />
      <Timeline objectId={payout.id} account={payout.account} />
      <Ledger paymentId={payout.paymentId} />
    </DetailPage>
  );
}

function About({ payout }: { payout: PayoutDetail }) {
  const time = useTimes();
  const { account, address, created, expectedArrivalAt, sourceAmount, sourceCurrency, currency } = payout;
  return (
    <Card title="Details">
      <Facts
        facts={[
          ['Account', <ObjectLink id={account.id}>{nameOf(account)}</ObjectLink>],
          ['Account holder', address.name],
          ['Paid to', bankOf(address)],
          ['Sent', <time dateTime={created}>{time(created)}</time>],
          ['Expected', expectedArrivalAt && <time dateTime={expectedArrivalAt}>{time(expectedArrivalAt)}</time>],
          ['Exchanged from', sourceCurrency !== currency && <Money amount={sourceAmount} currency={sourceCurrency} />],
          ['Rate', sourceCurrency !== currency && `1 ${sourceCurrency} = ${payout.rate} ${currency}`],
          ['Reason', payout.reasonCode && reasonWords(payout.reasonCode)],
          ['Bank reference', payout.bankReference && <Copy text={payout.bankReference} label="the bank reference" />],
          ['ID', <Copy text={payout.id} label="the id" />],
        ]}
      />
    </Card>
  );
}
