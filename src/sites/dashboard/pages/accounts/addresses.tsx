import { reasonWords } from '../../format/obstacles';
import type { RowOf } from '../../graph/pages';
import { Copy, Facts } from '../../parts/facts';
import { Card } from '../../parts/page';
import { Status } from '../../parts/status';
import { ToolButton, useMayTest } from '../../parts/test-tools';
import { detailsOf } from './address-details';
import type { AccountDetail } from './query';
import { addressToolsOf } from './tools';

type Address = RowOf<AccountDetail['addresses']>;

const categories: Record<Address['category'], string> = {
  SERVICE_RECEIVE: 'To be paid at',
  USER_PAYOUT: 'Payouts go to',
  PARTNER_PAYMENT: 'Has paid from',
  SERVICE_CHECKOUT: 'Checkouts are paid at',
  SERVICE_FEE_ADVANCE: 'Advance for fees',
};

/** The addresses of an account. What is given to payers can be copied. */
export function Addresses({ addresses }: { addresses: readonly Address[] }) {
  const mayTest = useMayTest();
  // What a customer has paid from has no details that could be used again.
  const shown = addresses.filter(({ bankAccount, vpa }) => vpa || bankAccount?.number || bankAccount?.iban);
  if (shown.length === 0) return null;
  return (
    <Card title="Addresses">
      <ul className="addresses">
        {shown.map((address) => (
          <li key={address.id}>
            <header>
              <h3>
                {categories[address.category]} · {address.currency}
              </h3>
              <Status value={address.status} />
            </header>
            {address.payoutProblem && (
              <p className="note">
                The last payout to it did not arrive. {why(address.payoutProblem)} Check these details. If they are
                wrong, add another address: what is available is then sent there at once.
              </p>
            )}
            <Facts facts={factsOf(address)} />
            {mayTest && (
              <p className="address-tools">
                {addressToolsOf(address.status).map((tool) => (
                  <ToolButton key={tool.name} id={address.id} tool={tool} about={`address in ${address.currency}`} />
                ))}
              </p>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Why a payout did not arrive, if its bank has said it. */
const why = (code: NonNullable<Address['payoutProblem']>) => (code === 'GENERAL' ? '' : `${reasonWords(code)}.`);

const factsOf = (address: Address) =>
  detailsOf(address).map(
    ({ label, text, copied }) => [label, copied ? <Copy text={text} label={label} /> : text] as const,
  );
