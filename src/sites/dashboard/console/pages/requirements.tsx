import { CircleCheck, CircleDashed, FileText } from 'lucide-react';
import type { ReactNode } from 'react';
import { formatMoney } from '../../format/money';
import { formatDay } from '../../format/time';
import { words } from '../../format/words';
import { Card } from '../../parts/page';
import { type Account, titleOf } from './account-query';

interface Shown {
  account: Account;
  /** The document that is shown beside. */
  shown: string | undefined;
  show: (id: string) => void;
}

type Claim = readonly [name: string, value: string | null | undefined | false];

/** What the account says about its business, by the parts of a verification. */
function claimsOf({ businessDetails: business }: Account): readonly (readonly [string, readonly Claim[]])[] {
  const { ids, physicalAddress: at, estimatedMonthlyVolume: volume } = business;
  const place = at && [at.line1, at.line2, at.city, at.state, at.postalCode, at.country].filter(Boolean).join(', ');
  const amount =
    volume?.amount &&
    volume.currency &&
    `${formatMoney({ ...volume, amount: volume.amount, currency: volume.currency })} ${volume.currency}`;
  return [
    [
      'Business',
      [
        ['Legal name', business.legalName],
        ['Legal form', business.type && words(business.type)],
        ['Trades as', business.dba ?? false],
        ['Incorporated', business.dateOfIncorporation && formatDay(business.dateOfIncorporation)],
        ['E-mail', business.email],
        ['Website', business.website],
        ['Address', place],
      ],
    ],
    [
      'Identifiers',
      [
        ['Business id', ids?.business],
        ['Tax id', ids?.tax],
        ['GST id', ids?.taxGst],
        ['Foreign trade', ids?.taxTrade ?? false],
        ['Tax deduction', ids?.taxDeduction ?? false],
      ],
    ],
    [
      'What it sells',
      [
        ['Category', business.productCategory],
        ['Description', business.productDescription],
        ['Merchant category', business.merchantCategoryCode],
        ['Size', business.merchantSize ?? false],
        ['Volume a month', amount ?? false],
      ],
    ],
  ];
}

/** The requirements of a verification with what the account has given for each, and the documents that prove it. */
export function Requirements({ account, shown, show }: Shown) {
  const named = new Map(account.files.map((file) => [file.id, file]));
  const personal = new Set(account.persons.flatMap(({ identification: i }) => [i.taxCardImage, i.passportImage]));
  const documents = account.files.filter(({ id }) => !personal.has(id));
  const waits = account.status === 'VERIFYING';
  return (
    <Card title={waits ? 'Requirements' : 'About the account'}>
      {waits && <Unmet requirements={account.requirements} />}
      {claimsOf(account).map(([part, claims]) => {
        const given = claims.filter(([, value]) => (waits ? value !== false : value));
        return given.length === 0 ? null : (
          <Part key={part} name={part}>
            {given.map(([name, value]) => (
              <Given key={name} name={name} value={value || null} />
            ))}
          </Part>
        );
      })}
      {(waits || account.persons.length > 0) && (
        <Part name="Persons">
          {account.persons.length === 0 && <Given name="Director, owner or representative" value={null} />}
          {account.persons.map(({ id, fullName, relationship, identification }) => (
            <Given
              key={id}
              name={rolesOf(relationship) || 'No role'}
              value={fullName}
              more={identification.taxCardNumber && `Tax card ${identification.taxCardNumber}`}
            >
              {[identification.taxCardImage, identification.passportImage].map((file) => {
                const document = file && named.get(file);
                return document && <Open key={file} {...{ id: file, shown, show }} name={document.filename} />;
              })}
            </Given>
          ))}
        </Part>
      )}
      {(waits || documents.length > 0) && (
        <Part name="Documents">
          {documents.length === 0 && <Given name="Of the business" value={null} />}
          {documents.map((file) => (
            <Given key={file.id} name={titleOf(account, file)} value=" ">
              <Open {...{ id: file.id, shown, show }} name={file.filename} />
            </Given>
          ))}
        </Part>
      )}
    </Card>
  );
}

/** What its edition requires and the account does not have any more, such as a person who was removed. */
function Unmet({ requirements }: Pick<Account, 'requirements'>) {
  if (requirements.length === 0)
    return <p className="hint lead">All that its edition requires is given. The rest may be left out.</p>;
  return (
    <ul className="problem" aria-label="Requirements that are not met">
      {requirements.map(({ fieldName, message }) => (
        <li key={fieldName}>{message}</li>
      ))}
    </ul>
  );
}

function rolesOf(relationship: Record<string, boolean>): string {
  const held = Object.entries(relationship).filter(([, isHeld]) => isHeld === true);
  return held.map(([role]) => words(role)).join(', ');
}

function Part({ name, children }: { name: string; children: ReactNode }) {
  return (
    <section className="part">
      <h3>{name}</h3>
      <ul>{children}</ul>
    </section>
  );
}

interface GivenProps {
  name: string;
  value: string | null | undefined;
  more?: string | null;
  children?: ReactNode;
}

function Given({ name, value, more, children }: GivenProps) {
  const given = Boolean(value);
  return (
    <li className={given ? 'given' : 'missing'}>
      {given ? <CircleCheck aria-hidden /> : <CircleDashed aria-hidden />}
      <span className="given-name">{name}</span>
      <span className="given-value">
        {given ? value : 'Not given'}
        {more && <span className="hint">{more}</span>}
        {children}
      </span>
    </li>
  );
}

/** The button that shows a document beside the requirements. */
function Open({ id, name, shown, show }: Omit<Shown, 'account'> & { id: string; name: string }) {
  return (
    <button type="button" className="link" aria-pressed={shown === id} onClick={() => show(id)}>
      <FileText aria-hidden /> <span>{name}</span>
    </button>
  );
}
