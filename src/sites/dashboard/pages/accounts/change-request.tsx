import { graphql, type VariablesOf } from '../../graph/graphql';
import type { RowOf } from '../../graph/pages';
import { useWrite } from '../../graph/write';
import { ActionButton } from '../../parts/action';
import { Changes } from '../../parts/changes';
import { DialogButton } from '../../parts/dialog';
import { CheckedField, CountryField, Form, SelectField, TextAreaField, TextField } from '../../parts/form';
import { Card } from '../../parts/page';
import { Status } from '../../parts/status';
import { Time } from '../../parts/time';
import { UploadField } from '../../parts/upload';
import { useMayWrite } from '../../session';
import { nameOfPath } from '../../format/requirements';
import { businessTypes } from './business-types';
import { checkOf } from './numbers';
import type { AccountDetail } from './query';

const RequestMutation = graphql(`
  mutation RequestAccountChange($input: RequestAccountChangeInput!) {
    requestAccountChange(input: $input) { changeRequest { id account { id } } }
  }
`);

const WithdrawMutation = graphql(`
  mutation WithdrawChangeRequest($input: WithdrawChangeRequestInput!) {
    withdrawChangeRequest(input: $input) { changeRequest { id status account { id } } }
  }
`);

type Input = Omit<VariablesOf<typeof RequestMutation>['input'], 'accountId'>;
type Request = RowOf<AccountDetail['changeRequests']>;

const openOf = ({ changeRequests }: AccountDetail): Request | undefined =>
  changeRequests?.nodes.find(({ status }) => status === 'OPEN');

/** Asks for a change of what can no longer be updated. One request at a time is open. */
export function RequestChange({ account }: { account: AccountDetail }) {
  const mayWrite = useMayWrite();
  const { type, status } = account;
  const isDraft = status === 'DRAFT' && type === 'USER';
  if (!mayWrite || isDraft || status === 'DEACTIVATED' || openOf(account)) return null;
  return (
    <DialogButton title="Request a change">{(close) => <ChangeForm account={account} onDone={close} />}</DialogButton>
  );
}

const texts = ['legalName', 'dba', 'email', 'website'] as const;
const places = ['line1', 'line2', 'city', 'state', 'postalCode'] as const;
const numbers = ['business', 'tax', 'taxGst', 'taxTrade'] as const;
const documents = ['idDocument', 'ownershipStructureDocument', 'physicalAddressDocument'] as const;

const whyHint = 'What the service should know. Of a change of persons, such as a new director, send a document, too.';

function ChangeForm({ account, onDone }: { account: AccountDetail; onDone: () => void }) {
  const { write, pending, failure } = useWrite(RequestMutation);
  const { businessDetails: business } = account;
  const submit = async (input: Input) => {
    const made = await write({ input: { ...input, accountId: account.id } });
    if (made) onDone();
    return made;
  };
  const field = (path: string, value: string | null | undefined) => ({
    key: path,
    name: path,
    label: nameOfPath(path),
    defaultValue: value ?? undefined,
  });
  return (
    <Form<Input>
      label="Request a change"
      submit="Send request"
      draft={`change:${account.id}`}
      {...{ pending, failure }}
      onSubmit={submit}
    >
      <p className="hint">The details stay as they are until the service has checked and accepted the new ones.</p>
      <div className="fields">
        {texts.map((name) => (
          <TextField {...field(`businessDetails.${name}`, business[name])} />
        ))}
        <SelectField {...field('businessDetails.type', business.type)} none="Choose …" options={businessTypes} />
        <TextField {...field('businessDetails.dateOfIncorporation', business.dateOfIncorporation)} type="date" />
        {places.map((name) => (
          <TextField {...field(`businessDetails.physicalAddress.${name}`, business.physicalAddress?.[name])} />
        ))}
        <CountryField {...field('businessDetails.physicalAddress.country', business.physicalAddress?.country)} />
        {numbers.map((name) => {
          const path = `businessDetails.ids.${name}`;
          const check = checkOf(path, business) ?? (() => undefined);
          return <CheckedField {...field(path, business.ids?.[name])} check={check} />;
        })}
        {documents.map((name) => (
          <UploadField
            key={name}
            name={`supportingDocumentation.${name}`}
            label={nameOfPath(name)}
            purpose="additional_verification"
          />
        ))}
        <TextAreaField name="reason" label="Why" hint={whyHint} maxLength={500} />
      </div>
    </Form>
  );
}

/** The newest request of the account, as long as it waits or has an answer to read. */
export function LatestChange({ account }: { account: AccountDetail }) {
  const mayWrite = useMayWrite();
  const [request] = account.changeRequests?.nodes ?? [];
  if (!request || request.status === 'WITHDRAWN') return null;
  const { id, status, created, changes, reason, answer, answeredAt } = request;
  return (
    <Card title="Requested change" action={<Status value={status} />} className="dialogue">
      <Changes changes={changes} />
      {reason && <p className="answer">{reason}</p>}
      {answer && <p>{`The service says: ${answer}`}</p>}
      <p className="hint">
        Requested <Time at={created} />
        {answeredAt && (
          <>
            , answered <Time at={answeredAt} />
          </>
        )}
      </p>
      {mayWrite && status === 'OPEN' && (
        <ActionButton name="Withdraw" mutation={WithdrawMutation} read={() => ({ id })}>
          <p>The details stay as they are, and you can request another change.</p>
        </ActionButton>
      )}
    </Card>
  );
}
