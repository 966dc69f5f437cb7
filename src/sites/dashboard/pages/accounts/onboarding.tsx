import { type ReactNode, useState } from 'react';
import { isMistyped, nameOfPath, pathOf, type Requirement, requirementWords } from '../../format/requirements';
import { counted } from '../../format/words';
import { graphql, type VariablesOf } from '../../graph/graphql';
import { type InputMember, useInputMembers } from '../../graph/input-types';
import { useWrite } from '../../graph/write';
import { Form } from '../../parts/form';
import { MemberField } from '../../parts/member-field';
import { Card } from '../../parts/page';
import { Lines } from '../../parts/skeleton';
import { checkOf, isInIndia } from './numbers';
import { PayoutAddress } from './payout-address';
import { AddPerson } from './person';
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
 * A form for what an account lacks. Its fields are the requirements of the gateway: their names are paths of the input
 * of `updateAccount`, and the schema says of what type each is. Persons and the payout address have forms of their own.
 */
export function Onboarding({ account }: { account: AccountDetail }) {
  const { id: accountId, requirements, businessDetails } = account;
  const members = useInputMembers('UpdateAccountInput');
  const { write, pending, failure } = useWrite(UpdateMutation);
  if (!members) {
    return (
      <Card title="Before activation">
        <Lines count={6} />
      </Card>
    );
  }
  const { fields, persons, addresses, others } = partsOf(requirements, members);
  const submit = (input: Omit<Input, 'id'>) => write({ input: { ...input, id: accountId } });
  return (
    <Card
      title="Before activation"
      action={
        <span className="count" id="missing">
          {counted(requirements.length, 'thing')} missing
        </span>
      }
    >
      {fields.length > 0 && (
        <Step title="Business" open>
          <Form label="Details of the business" submit="Save details" {...{ pending, failure }} onSubmit={submit}>
            <div className="fields">
              {fields.map((requirement) => (
                <RequiredField key={requirement.fieldName} {...{ requirement, members, businessDetails }} />
              ))}
            </div>
          </Form>
        </Step>
      )}
      {persons.length > 0 && (
        <Step title="Persons" open={fields.length === 0}>
          <AddPerson
            accountId={accountId}
            roles={persons.map(({ fieldName }) => fieldName.split('.').at(-1)!)}
            inIndia={isInIndia(businessDetails)}
            hint={`Missing: ${wordsOf(persons)}. One person can have several roles.`}
          />
        </Step>
      )}
      {addresses.length > 0 && (
        <Step title="Bank account for payouts" open={fields.length + persons.length === 0}>
          <PayoutAddress accountId={accountId} hint="Where the money of this account is paid out." />
        </Step>
      )}
      {others.map(({ message }) => (
        <p className="note" key={message}>
          {message}
        </p>
      ))}
    </Card>
  );
}

/** What is missing by the form that it is given in; `others` have none here. */
function partsOf(requirements: Requirement[], members: ReadonlyMap<string, InputMember>) {
  const persons = requirements.filter(({ fieldName }) => /^account\.persons\.\w+$/.test(fieldName));
  const addresses = requirements.filter(({ fieldName }) => fieldName.startsWith('account.addresses.'));
  const fields = requirements.filter(({ fieldName, alternatives }) =>
    [fieldName, ...alternatives].some((each) => members.has(pathOf(each))),
  );
  const others = requirements.filter((each) => ![...persons, ...addresses, ...fields].includes(each));
  return { fields, persons, addresses, others };
}

/** A part of what is missing. A phone, where all parts would be very long, begins with the first one open. */
function Step({ title, open, children }: { title: string; open: boolean; children: ReactNode }) {
  const [first] = useState(open || !matchMedia('(max-width: 40rem)').matches);
  return (
    <details className="step" open={first}>
      <summary>{title}</summary>
      {children}
    </details>
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
