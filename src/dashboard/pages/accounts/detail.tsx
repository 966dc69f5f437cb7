import { useTimes } from '../../format/time';
import { words } from '../../format/words';
import { graphql, type ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { NotFound } from '../../parts/empty';
import { Copy, Facts } from '../../parts/facts';
import { FileLink } from '../../parts/file-link';
import { Money } from '../../parts/money';
import { Card, Page } from '../../parts/page';
import { Problem } from '../../parts/problem';
import { PageSkeleton } from '../../parts/skeleton';
import { Status } from '../../parts/status';
import { Table } from '../../parts/table';
import { TestTools } from '../../parts/test-tools';
import { Timeline } from '../../parts/timeline';
import { nameOf, useMayWrite } from '../../session';
import { Balances } from '../home/balances';
import { Actions } from './actions';
import { Addresses } from './addresses';
import { Onboarding } from './onboarding';
import { toolsFor } from './tools';

const AccountQuery = graphql(`
  query Account($id: ID!) {
    account(id: $id) {
      id
      created
      type
      status
      nickname
      requirements {
        fieldName
        message
        alternatives
      }
      owner {
        id
        nickname
      }
      businessDetails {
        legalName
        emailAddress
        website
        type
        physicalAddress {
          line1
          city
          state
          postalCode
          countryCode
        }
      }
      balance {
        available {
          amount
          currency
        }
        pending {
          amount
          currency
        }
        processing {
          amount
          currency
        }
        payoutProcessing {
          amount
          currency
        }
      }
      idDocument {
        id
        filename
      }
      ownershipStructureDocument {
        id
        filename
      }
      physicalAddressDocument {
        id
        filename
      }
      persons(first: 20) {
        nodes {
          id
          fullName
          relationship {
            director
            owner
            representative
          }
        }
      }
      partners(first: 10) {
        nodes {
          id
          nickname
          status
        }
      }
      addresses(first: 20) {
        nodes {
          id
          category
          type
          status
          currency
          name
          bankAccount {
            bankName
            number
            iban
            domesticCredit
            domesticWire
            globalWire
          }
          vpa {
            id
          }
        }
      }
      depositsOut(first: 5) {
        nodes {
          id
          created
          amount
          currency
          status
        }
      }
    }
  }
`);

export type AccountDetail = NonNullable<ResultOf<typeof AccountQuery>['account']>;

/** One customer or user: what it lacks, where it can be paid, and who it is. */
export function Account({ params }: { params: { id: string } }) {
  const { data, error, ask } = useLive(AccountQuery, { id: params.id });
  const mayWrite = useMayWrite();
  const account = data?.account;
  if (!account) {
    if (data) return <NotFound />;
    return error ? <Problem error={error} onRetry={ask} /> : <PageSkeleton />;
  }
  const partner = account.type === 'PARTNER';
  const lacks = account.status === 'DRAFT' && account.requirements.length > 0;
  return (
    <Page
      title={nameOf(account)}
      back={partner ? { href: '/customers', name: 'Customers' } : { href: '/users', name: 'Users' }}
      subtitle={
        <p className="amount-line">
          <Status value={account.status} />
        </p>
      }
      actions={<Actions account={account} />}
    >
      <div className="detail">
        <div>
          {lacks && (partner || !mayWrite) && <Missing account={account} />}
          {lacks && !partner && mayWrite && <Onboarding accountId={account.id} requirements={account.requirements} />}
          <Addresses addresses={account.addresses.nodes} />
          {!partner && account.balance && <Balances balance={account.balance} />}
          <Paid account={account} />
          <Customers account={account} />
          <Timeline objectId={account.id} />
        </div>
        <div>
          <About account={account} />
          <Persons account={account} />
          <TestTools id={account.id} tools={toolsFor(account.status)} />
        </div>
      </div>
    </Page>
  );
}

function Missing({ account }: { account: AccountDetail }) {
  return (
    <Card title="Before activation">
      <ul className="checklist">
        {account.requirements.map(({ fieldName, message }) => (
          <li key={fieldName}>{message}</li>
        ))}
      </ul>
    </Card>
  );
}

function About({ account }: { account: AccountDetail }) {
  const time = useTimes();
  const { legalName, emailAddress, website, type, physicalAddress: at } = account.businessDetails;
  const documents = [account.idDocument, account.ownershipStructureDocument, account.physicalAddressDocument];
  const found = documents.filter((document) => document !== null);
  return (
    <Card title="Details">
      <Facts
        facts={[
          ['Legal name', legalName],
          ['Legal form', type && words(type)],
          ['E-mail', emailAddress],
          ['Website', website],
          ['Address', at && [at.line1, at.city, at.state, at.postalCode, at.countryCode].filter(Boolean).join(', ')],
          ['Belongs to', account.owner && nameOf(account.owner)],
          ['Documents', found.length > 0 && found.map((document) => <FileLink key={document.id} {...document} />)],
          ['Created', <time dateTime={account.created}>{time(account.created, 'date')}</time>],
          ['ID', <Copy text={account.id} label="the id" />],
        ]}
      />
    </Card>
  );
}

function Persons({ account }: { account: AccountDetail }) {
  if (account.persons.nodes.length === 0) return null;
  return (
    <Card title="Persons">
      <ul className="persons">
        {account.persons.nodes.map(({ id, fullName, relationship }) => (
          <li key={id}>
            <strong>{fullName}</strong>
            <span className="hint">
              {Object.entries(relationship)
                .filter(([, held]) => held === true)
                .map(([role]) => words(role))
                .join(', ')}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Paid({ account }: { account: AccountDetail }) {
  const time = useTimes();
  if (account.depositsOut.nodes.length === 0) return null;
  return (
    <Card title="Latest payments">
      <Table
        label="Latest payments"
        rows={account.depositsOut.nodes}
        href={({ id }) => `/payments/${id}`}
        columns={[
          { head: 'Received', cell: ({ created }) => time(created) },
          { head: 'Status', cell: ({ status }) => <Status value={status} /> },
          { head: 'Amount', cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />, end: true },
        ]}
      />
    </Card>
  );
}

function Customers({ account }: { account: AccountDetail }) {
  if (account.partners.nodes.length === 0) return null;
  return (
    <Card title="Customers">
      <Table
        label="Customers"
        rows={account.partners.nodes}
        href={({ id }) => `/accounts/${id}`}
        columns={[
          { head: 'Name', cell: (partner) => nameOf(partner) },
          { head: 'Status', cell: ({ status }) => <Status value={status} />, end: true },
        ]}
      />
    </Card>
  );
}
