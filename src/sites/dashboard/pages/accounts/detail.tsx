import { placeOf } from '../../format/countries';
import { requirementWords } from '../../format/requirements';
import { useTimes } from '../../format/time';
import { words } from '../../format/words';
import { useLive } from '../../graph/live';
import type { RowOf } from '../../graph/pages';
import { amountColumn, stateColumn, statusColumn } from '../../parts/cells';
import { Copy, Facts } from '../../parts/facts';
import { FileLink } from '../../parts/file-link';
import { Loaded } from '../../parts/loaded';
import { ObjectLink } from '../../parts/object-link';
import { Card, DetailPage } from '../../parts/page';
import { Part } from '../../parts/part';
import { Table } from '../../parts/table';
import { TestTools } from '../../parts/test-tools';
import { Timeline } from '../../parts/timeline';
import { nameOf, useMayWrite, useSession } from '../../session';
import { Balances } from '../home/balances';
import { stateOf } from '../payments/query';
import { TestPayment } from '../payments/test-payment';
import { Actions } from './actions';
import { Addresses } from './addresses';
import { LatestChange } from './change-request';
import { Owes } from './invoices';
import { Onboarding } from './onboarding';
import { PersonList } from './persons';
import { type AccountDetail, AccountQuery, isOnboarding } from './query';
import { toolsOf } from './tools';

/** One customer or user: what it lacks, where it can be paid, and who it is. */
export function Account({ params }: { params: { id: string } }) {
  const result = useLive(AccountQuery, { id: params.id });
  return (
    <Loaded result={result} of={({ account }) => account}>
      {(account) => <AccountPage account={account} />}
    </Loaded>
  );
}

function AccountPage({ account }: { account: AccountDetail }) {
  const { viewer } = useSession();
  const own = account.id === viewer.account.id;
  const partner = account.type === 'PARTNER';
  const steps = useMayWrite() && isOnboarding(account);
  const list = partner ? { href: '/customers', name: 'Customers' } : { href: '/users', name: 'Users' };
  return (
    <DetailPage
      title={nameOf(account)}
      // Only a platform has users, and no account is on a list of its own users.
      back={own ? undefined : list}
      status={account.status}
      actions={<Actions account={account} />}
      side={
        <>
          <About account={account} />
          {!steps && (
            <Part value={account.persons} field="account.persons" title="Persons">
              {({ nodes }) => nodes.length > 0 && <Persons account={account} />}
            </Part>
          )}
          <TestTools id={account.id} {...toolsOf(account, own)}>
            {partner && account.status === 'ACTIVATED' && (
              <li>
                <TestPayment small name="Pay as this customer" payeeId={account.owner?.id} customerId={account.id} />
              </li>
            )}
          </TestTools>
        </>
      }
    >
      <Lacking account={account} />
      <LatestChange account={account} />
      {partner && <Owes customer={account} />}
      <Part value={account.addresses} field="account.addresses" title="Addresses">
        {() => <Addresses account={account} />}
      </Part>
      {!partner && (
        <Part value={account.balance} field="account.balance" title="Balances">
          {(balance) => <Balances balance={balance} />}
        </Part>
      )}
      <Part value={account.depositsOut} field="account.depositsOut" title="Latest payments">
        {({ nodes }) => <Paid payments={nodes} />}
      </Part>
      <Part value={account.partners} field="account.partners" title="Customers">
        {({ nodes }) => <Customers customers={nodes} />}
      </Part>
      <Timeline objectId={account.id} account={account} />
    </DetailPage>
  );
}

/** What the account lacks before it can be activated, as a form for those who may fill it in. */
function Lacking({ account }: { account: AccountDetail }) {
  const mayWrite = useMayWrite();
  const { status, requirements } = account;
  if (mayWrite && isOnboarding(account)) return <Onboarding account={account} />;
  if (status !== 'DRAFT' || requirements.length === 0) return null;
  return (
    <Card title="Before activation">
      <ul className="checklist">
        {requirements.map((requirement) => (
          <li key={`${requirement.fieldName} ${requirement.message}`}>{requirementWords(requirement)}</li>
        ))}
      </ul>
      {!mayWrite && <p className="hint">You may only read here. Who may write can fill this in on this page.</p>}
    </Card>
  );
}

function About({ account }: { account: AccountDetail }) {
  const time = useTimes();
  const { owner } = account;
  const { legalName, email, website, type, physicalAddress: at } = account.businessDetails;
  const documents = [account.idDocument, account.ownershipStructureDocument, account.physicalAddressDocument];
  const found = documents.filter((document) => document !== null);
  return (
    <Card title="Details">
      <Facts
        facts={[
          ['Legal name', legalName],
          ['Legal form', type && words(type)],
          ['E-mail', email],
          ['Website', website],
          ['Address', at && placeOf(at)],
          ['Belongs to', owner && <ObjectLink id={owner.id}>{nameOf(owner)}</ObjectLink>],
          ['Documents', found.length > 0 && found.map((document) => <FileLink key={document.id} {...document} />)],
          ['Created', <time dateTime={account.created}>{time(account.created, 'date')}</time>],
          ['ID', <Copy text={account.id} label="the id" />],
        ]}
      />
    </Card>
  );
}

function Persons({ account }: { account: AccountDetail }) {
  return (
    <Card title="Persons">
      <PersonList account={account} />
    </Card>
  );
}

function Paid({ payments }: { payments: readonly RowOf<AccountDetail['depositsOut']>[] }) {
  const time = useTimes();
  if (payments.length === 0) return null;
  return (
    <Card title="Latest payments">
      <Table
        label="Latest payments"
        rows={payments}
        href={({ id }) => `/payments/${id}`}
        columns={[
          { head: 'Received', cell: ({ created }) => time(created), line: true },
          stateColumn(stateOf),
          amountColumn(),
        ]}
      />
    </Card>
  );
}

function Customers({ customers }: { customers: readonly RowOf<AccountDetail['partners']>[] }) {
  if (customers.length === 0) return null;
  return (
    <Card title="Customers">
      <Table
        label="Customers"
        rows={customers}
        href={({ id }) => `/accounts/${id}`}
        columns={[{ head: 'Name', cell: (partner) => nameOf(partner) }, statusColumn(true)]}
      />
    </Card>
  );
}
