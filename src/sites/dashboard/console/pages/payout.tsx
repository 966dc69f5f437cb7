import { Link } from 'wouter';
import { reasonWords } from '../../format/obstacles';
import { useLive } from '../../graph/live';
import { Copy, Facts } from '../../parts/facts';
import { Loaded } from '../../parts/loaded';
import { Money } from '../../parts/money';
import { Card, DetailPage } from '../../parts/page';
import { Time } from '../../parts/time';
import { Trail } from '../../parts/trail';
import { ObjectOf, tenantFact } from '../object-of';
import { AccountLink, bankOf, Mode, payeeOf } from '../parts';
import { useMayAct } from '../session';
import { Counts } from './payment';
import { Outcome } from './payouts';
import { Postings } from './postings';
import { type OwnPayout, type PayoutTrail, PayoutTrailQuery } from './trail-query';
import { payoutStations } from './trail-stations';

/** A payout of any tenant: the payments and invoices that it pays, where it goes, and how it ends. */
export function Payout({ params }: { params: { id: string } }) {
  const result = useLive(PayoutTrailQuery, { id: decodeURIComponent(params.id) });
  return (
    <Loaded result={result} of={({ trail }) => trail}>
      {(trail) => trail.payout && <PayoutPage trail={trail} payout={trail.payout} onDone={result.ask} />}
    </Loaded>
  );
}

function PayoutPage({ trail, payout, onDone }: { trail: PayoutTrail; payout: OwnPayout; onDone: () => void }) {
  const mayAct = useMayAct();
  const { paidAccount } = trail;
  return (
    <DetailPage
      title={`Payout to ${payeeOf(payout)}`}
      back={{ href: '/payouts', name: 'Payouts' }}
      money={payout}
      status={payout.status}
      actions={mayAct && <Outcome payout={payout} onDone={onDone} />}
      notes={<Trail stations={payoutStations(trail, payout)} />}
      side={<About payout={payout} root={paidAccount.root} />}
    >
      <Counts trail={trail} of="payout" />
      <Postings postings={trail.postings} />
    </DetailPage>
  );
}

function About({ payout, root }: { payout: OwnPayout; root: PayoutTrail['paidAccount']['root'] }) {
  const { id, livemode, accountId, sourceAmount, sourceCurrency, bankReference, reasonCode } = payout;
  return (
    <Card title="Details">
      <Facts
        facts={[
          ['Mode', <Mode livemode={livemode} />],
          [
            'Payee',
            <AccountLink id={accountId} livemode={livemode}>
              {payeeOf(payout)}
            </AccountLink>,
          ],
          tenantFact(root),
          ['Bank account', bankOf(payout)],
          ['From', sourceCurrency !== payout.currency && <Money amount={sourceAmount} currency={sourceCurrency} />],
          ['Rate', sourceCurrency !== payout.currency && payout.rate],
          ['Sent', <Time at={payout.created} />],
          ['Ended', payout.endedAt && <Time at={payout.endedAt} />],
          ["Bank's reference", bankReference && <Copy text={bankReference} label="the bank's reference" />],
          ['Reason', reasonCode && reasonWords(reasonCode)],
          ['In', payout.orderId && <ObjectOf id={payout.orderId} tenantId={null} account={null} />],
          ['ID', <Copy text={id} label="the id" />],
          ['Audit log', <Link href={`/audit?object=${id}`}>What operators did</Link>],
        ]}
      />
    </Card>
  );
}
