import { useState } from 'react';
import { useQuery } from 'urql';
import type { ResultOf } from '../graph/graphql';
import { formatMoney } from '../format/money';
import { useDebounced } from '../graph/find';
import { Field } from '../parts/field';
import { useError } from '../parts/form';
import { FindQuery } from './find';
import { nameOf } from './parts';

type Found = ResultOf<typeof FindQuery>['find']['objects'][number];

interface FoundInputProps {
  name: string;
  label: string;
  hint: string;
  placeholder?: string;
  required?: boolean;
  /** Which of what is found can be chosen. */
  fits: (found: Found) => boolean;
  /** The id that the form has of what is chosen; its own by default. */
  idOf?: (found: Found) => string;
  /** How it is called, beside its mode. */
  called: (found: Found) => string;
  defaultValue?: string | undefined;
}

/**
 * A field for an object by what people have of it: its id, its name or its number. What is chosen is said below it, and
 * its id is the value of the form; of several that are found one is chosen. Until one is, the value is what was typed,
 * which the gateway refuses: without a value, a field that need not be filled in would be lost unseen.
 */
function FoundInput({ name, label, hint, fits, idOf = idItself, called, ...props }: FoundInputProps) {
  const { defaultValue = '', ...input } = props;
  const [text, setText] = useState(defaultValue);
  const [chosen, setChosen] = useState<string>();
  const typed = text.trim();
  const debounced = useDebounced(text);
  const [{ data, fetching }] = useQuery({
    query: FindQuery,
    variables: { text: debounced },
    pause: !/[\p{L}\p{N}]/u.test(debounced),
  });
  const isAnswered = debounced === typed && typed !== '' && !fetching;
  const rows = isAnswered ? (data?.find.objects.filter(fits) ?? []) : [];
  // A root has one id in both modes, and a payment may be found by its notice, too.
  const found = [...new Map(rows.map((row) => [idOf(row), row])).values()];
  const row = found.length === 1 ? found[0] : found.find((each) => idOf(each) === chosen);
  return (
    <>
      <Field
        label={label}
        hint={row ? called(row) : isAnswered && found.length === 0 ? 'Nothing was found.' : hint}
        error={useError(name)}
      >
        {(attributes) => (
          <input
            {...attributes}
            {...input}
            type="text"
            autoComplete="off"
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      <input type="hidden" name={name} value={row ? idOf(row) : typed} />
      {found.length > 1 && (
        <Field label={`${label}: which one`}>
          {(attributes) => (
            <select {...attributes} value={row ? idOf(row) : ''} onChange={(event) => setChosen(event.target.value)}>
              <option value="">Choose …</option>
              {found.map((each) => (
                <option key={idOf(each)} value={idOf(each)}>
                  {called(each)}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
    </>
  );
}

const idItself = ({ id }: Found) => id;

const nameOfFound = ({ account, id }: Found) => (account ? nameOf(account) : id);

/** Whose money it is, how much, and its reference. */
function moneyOf(found: Found): string {
  const { amount, currency, reference } = found;
  const money = amount !== null && currency !== null && `${formatMoney({ amount, currency })} ${currency}`;
  return [nameOfFound(found), money, reference].filter(Boolean).join(' · ');
}

type NamedProps = Pick<FoundInputProps, 'name' | 'label' | 'required' | 'defaultValue'> & {
  hint?: string;
};

/** A field for an account by its name or its id. */
export function AccountInput({ hint = 'Its name or its id.', ...field }: NamedProps) {
  return (
    <FoundInput
      {...field}
      hint={hint}
      placeholder="Name or account_…"
      fits={({ type }) => type === 'ACCOUNT'}
      called={(found) => `${nameOfFound(found)} · …${found.id.slice(-8)}`}
    />
  );
}

/** A field for a live receiving address by the number of its bank account or its id. */
export function AddressInput(field: NamedProps) {
  return (
    <FoundInput
      hint="Its account number or IBAN, or its id."
      {...field}
      placeholder="Account number or address_…"
      fits={({ type, livemode }) => type === 'ADDRESS' && livemode}
      called={(found) => [nameOfFound(found), found.currency, found.reference].filter(Boolean).join(' · ')}
    />
  );
}

/** What names a payment. */
const ofPayment = new Set<Found['type']>(['BANK_NOTICE', 'CHECKOUT', 'DEPOSIT']);

/**
 * A field for a live payment by the bank's reference, its id or that of its checkout, or for an attempt by its id: what
 * was taken in another currency has no payment.
 */
export function PaymentInput(field: NamedProps) {
  return (
    <FoundInput
      hint="The bank's reference, the id or the checkout; or the id of an attempt that was taken in another currency."
      {...field}
      placeholder="Bank's reference, deposit_… or transaction_…"
      // A payment with a negative amount is a dispute or a recall of another one.
      fits={({ type, livemode, amount, depositId }) =>
        livemode && !amount?.startsWith('-') && (type === 'TRANSACTION' || (ofPayment.has(type) && depositId !== null))
      }
      idOf={({ type, id, depositId }) => (ofPayment.has(type) ? depositId! : id)}
      called={moneyOf}
    />
  );
}

/** A field for a live attempt by its id. */
export function AttemptInput(field: NamedProps) {
  return (
    <FoundInput
      hint="Its id."
      {...field}
      placeholder="transaction_…"
      fits={({ type, livemode }) => type === 'TRANSACTION' && livemode}
      called={moneyOf}
    />
  );
}
