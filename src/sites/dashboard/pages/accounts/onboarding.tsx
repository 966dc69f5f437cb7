import { Circle, CircleCheck } from 'lucide-react';
import { type MouseEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { isMistyped, nameOfPath, pathOf, type Requirement, requirementWords } from '../../format/requirements';
import { counted } from '../../format/words';
import { graphql, type VariablesOf } from '../../graph/graphql';
import { type InputMember, useInputMembers } from '../../graph/input-types';
import { useWrite } from '../../graph/write';
import { useFilters } from '../../parts/filters';
import { Form } from '../../parts/form';
import { MemberField } from '../../parts/member-field';
import { Card } from '../../parts/page';
import { Lines } from '../../parts/skeleton';
import { useSession } from '../../session';
import { Activate } from './actions';
import { Banks, Business } from './given';
import { checkOf, isInIndia } from './numbers';
import { payoutAccount, PayoutAddress } from './payout-address';
import { AddPerson, PersonList } from './person';
import type { AccountDetail } from './query';

const UpdateMutation = graphql(`
  mutation UpdateAccount($input: UpdateAccountInput!) {
    updateAccount(input: $input) {
      account { id requirements { fieldName } }
    }
  }
`);

type Input = VariablesOf<typeof UpdateMutation>['input'];

const wordsOf = (all: Requirement[]) => all.map(requirementWords).join(', ').toLowerCase();

/**
 * The steps to an activation, each with what was given and a form for what is missing. The fields are the requirements
 * of the gateway: their names are paths of the input of `updateAccount`, and the schema says of what type each is.
 * Persons and the payout address have forms of their own.
 */
export function Onboarding({ account }: { account: AccountDetail }) {
  const { requirements } = account;
  const members = useInputMembers('UpdateAccountInput');
  if (!members) {
    return (
      <Card title="Before activation">
        <Lines count={6} />
      </Card>
    );
  }
  return (
    <Card
      title="Before activation"
      action={
        <span className="count" id="missing">
          {requirements.length > 0 ? `${counted(requirements.length, 'thing')} missing` : 'Nothing is missing'}
        </span>
      }
    >
      <Steps account={account} members={members} />
    </Card>
  );
}

interface StepsProps {
  account: AccountDetail;
  members: ReadonlyMap<string, InputMember>;
}

function Steps({ account, members }: StepsProps) {
  const { params } = useFilters();
  const { fields, persons, addresses } = partsOf(account.requirements, members);
  const [first] = [
    fields.length > 0 && 'business',
    persons.length > 0 && 'persons',
    addresses.length > 0 && 'bank',
    'review',
  ].filter((each) => each !== false);
  const { nodes: given = [] } = account.addresses ?? {};
  return (
    <ol className="steps">
      <Step title="Business" missing={fields.length} open={first === 'business'}>
        <Business account={account} />
        {fields.length > 0 && <BusinessForm {...{ account, members, fields }} />}
      </Step>
      <Step title="Persons" missing={persons.length} open={first === 'persons'}>
        <PersonList persons={account.persons?.nodes ?? []} />
        {persons.length > 0 && (
          <AddPerson
            accountId={account.id}
            roles={persons.map(({ fieldName }) => fieldName.split('.').at(-1)!)}
            inIndia={isInIndia(account.businessDetails)}
            hint={`Missing: ${wordsOf(persons)}. One person can have several roles.`}
          />
        )}
      </Step>
      <Step
        title="Bank account for payouts"
        missing={addresses.length}
        open={first === 'bank'}
        sought={params.get('add') === payoutAccount}
      >
        <Banks addresses={given.filter(({ category }) => category === 'USER_PAYOUT')} />
        {addresses.length > 0 && (
          <PayoutAddress account={account} hint="Where the money of this account is paid out." />
        )}
      </Step>
      <Step title="Review" missing={account.requirements.length} done="Ready" open={first === 'review'}>
        <Review account={account} />
      </Step>
    </ol>
  );
}

interface BusinessFormProps extends StepsProps {
  fields: Requirement[];
}

/** The form for what the details of the business lack. */
function BusinessForm({ account: { id, businessDetails }, members, fields }: BusinessFormProps) {
  const { write, pending, failure } = useWrite(UpdateMutation);
  return (
    <Form<Omit<Input, 'id'>>
      label="Details of the business"
      submit="Save details"
      draft={`business:${id}`}
      {...{ pending, failure }}
      onSubmit={(input) => write({ input: { ...input, id } })}
    >
      <div className="fields">
        {fields.map((requirement) => (
          <RequiredField key={requirement.fieldName} {...{ requirement, members, businessDetails }} />
        ))}
      </div>
    </Form>
  );
}

/** All that is missing in one place; when nothing is, the account can be activated here. */
function Review({ account }: { account: AccountDetail }) {
  const { viewer } = useSession();
  const { id, requirements } = account;
  return (
    <div className="review">
      {requirements.length === 0 ? (
        <p>Everything that the activation needs is there.</p>
      ) : (
        <ul className="checklist">
          {requirements.map((requirement) => (
            <li key={`${requirement.fieldName} ${requirement.message}`}>
              <Circle aria-hidden />
              <span>{requirementWords(requirement)}</span>
            </li>
          ))}
        </ul>
      )}
      {id === viewer.account.id ? (
        <p className="hint">Your platform activates the account.</p>
      ) : (
        <div className="actions">
          <Activate account={account} />
        </div>
      )}
    </div>
  );
}

/** What is missing by the form that it is given in; what has none here is said by the review. */
function partsOf(requirements: Requirement[], members: ReadonlyMap<string, InputMember>) {
  const persons = requirements.filter(({ fieldName }) => /^account\.persons\.\w+$/.test(fieldName));
  const addresses = requirements.filter(({ fieldName }) => fieldName.startsWith('account.addresses.'));
  const fields = requirements.filter(({ fieldName, alternatives }) =>
    [fieldName, ...alternatives].some((each) => members.has(pathOf(each))),
  );
  return { fields, persons, addresses };
}

interface StepProps {
  title: string;
  /** How many things the step lacks. */
  missing: number;
  /** What is said of it when it lacks nothing. */
  done?: string;
  /** Whether a phone, where all steps would be very long, has it open. */
  open: boolean;
  /** Whether the address of the page is that of this step. */
  sought?: boolean;
  children: ReactNode;
}

/** A step to the activation, ticked when it lacks nothing. */
function Step({ title, missing, done = 'Done', open, sought = false, children }: StepProps) {
  const [wide] = useState(() => !matchMedia('(max-width: 40rem)').matches);
  const [chosen, setChosen] = useState<boolean | undefined>(sought || undefined);
  const place = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (!sought) return;
    place.current?.scrollIntoView();
    place.current?.querySelector<HTMLElement>('input')?.focus();
  }, [sought]);
  const opened = chosen ?? (open || wide);
  const toggle = (event: MouseEvent) => {
    event.preventDefault();
    setChosen(!opened);
  };
  return (
    <li ref={place}>
      <details className="step" open={opened}>
        <summary onClick={toggle}>
          {missing === 0 ? <CircleCheck aria-hidden className="done" /> : <Circle aria-hidden />} {title}
          <span className={`status ${missing === 0 ? 'good' : 'wait'}`}>
            {missing === 0 ? done : `${missing} missing`}
          </span>
        </summary>
        {children}
      </details>
    </li>
  );
}

interface RequiredFieldProps {
  requirement: Requirement;
  members: ReadonlyMap<string, InputMember>;
  businessDetails: AccountDetail['businessDetails'];
}

/** The field of a requirement, or of one of its alternatives. */
function RequiredField({ requirement, members, businessDetails }: RequiredFieldProps) {
  const { fieldName, message, alternatives } = requirement;
  const choices = [fieldName, ...alternatives].map(pathOf).filter((path) => members.has(path));
  const [path, setPath] = useState(choices[0]!);
  // The message lists the purposes that a file may have; the first is as good as the others.
  const [purpose] = message.match(/\b[A-Z]+_[A-Z_]+\b/) ?? [];
  return (
    <div className="required">
      <MemberField
        path={path}
        member={members.get(path)!}
        purpose={purpose?.toLowerCase()}
        required
        check={checkOf(path, businessDetails)}
        doubt={isMistyped(message) ? message : undefined}
      />
      {choices.length > 1 && (
        <label className="alternative">
          What to give
          <select
            value={path}
            aria-label={`Instead of ${nameOfPath(choices[0]!)}`}
            onChange={(event) => setPath(event.target.value)}
          >
            {choices.map((choice) => (
              <option key={choice} value={choice}>
                {nameOfPath(choice)}
              </option>
            ))}
          </select>
        </label>
      )}
    </div>
  );
}
