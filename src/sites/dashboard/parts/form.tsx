import {
  createContext,
  type FormEvent,
  type InputHTMLAttributes,
  type ReactNode,
  useContext,
  useEffect,
  useRef,
  useState,
} from 'react';
import { countries } from '../format/countries';
import { isMoreThan, type Most, readAmount } from '../format/money';
import { wrongKey } from '../graph/with-key';
import { required as missing } from '../format/refusals';
import type { Failure } from '../graph/write';
import { SessionContext } from '../session';
import { Restored, useDraft } from './draft';
import { Field } from './field';
import { inputOf, readAmounts } from './form-values';
import { Problem } from './problem';

const FailureContext = createContext<(Failure & { sent?: FormData | undefined }) | undefined>(undefined);

interface FormProps<Input> {
  label: string;
  /** The text of the button that sends the form. */
  submit: string;
  /** Whether what it does cannot be undone. */
  danger?: boolean | undefined;
  pending: boolean;
  failure?: Failure | undefined;
  /**
   * Asks for an API key, for what no session may do: a session that could do it alone would hand its powers to who
   * steals it, or sits down at the screen. The key is given to `onSubmit` and then forgotten.
   */
  withKey?: boolean | undefined;
  /** Sends it. What it answers is true of a form that was sent; its draft is then forgotten. */
  onSubmit: (input: Input, apiKey?: string) => unknown;
  /** The name under which the tab keeps what is typed, until it is sent; see `useDraft`. */
  draft?: string | undefined;
  /** Further buttons, before the one that sends. */
  actions?: ReactNode;
  children?: ReactNode;
}

/**
 * A form for an input of the graph. The names of its fields are the paths of the input, such as `invoice.amount`, so
 * the gateway's errors find their fields, and the values become the input without a line of code. Fields left empty are
 * absent.
 */
export function Form<Input>({
  label,
  submit,
  danger,
  pending,
  failure: refusal,
  withKey = false,
  onSubmit,
  draft: name,
  actions,
  children,
}: FormProps<Input>) {
  const form = useRef<HTMLFormElement>(null);
  const mode = useContext(SessionContext)?.viewer.mode;
  const [fault, setFault] = useState<string>();
  const draft = useDraft(form, name);
  const [sent, setSent] = useState<FormData>();
  const failure = fault === undefined ? refusal : { messages: [], fields: { apiKey: fault } };
  useEffect(() => {
    if (failure) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [refusal, fault]);
  const send = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (pending) return;
    const values = new FormData(event.currentTarget);
    const apiKey = withKey ? String(values.get('apiKey')).trim() : undefined;
    values.delete('apiKey');
    readAmounts(event.currentTarget, values);
    setSent(values);
    const wrong = apiKey !== undefined && mode ? wrongKey(apiKey, mode) : undefined;
    setFault(wrong);
    if (wrong !== undefined) return;
    const input = event.currentTarget.elements.namedItem('apiKey');
    // The gateway checks the input; the names of the fields are those of its members.
    if (await onSubmit(inputOf(values) as Input, apiKey)) draft.forget();
    if (input instanceof HTMLInputElement) input.value = '';
  };
  return (
    <form
      ref={form}
      className="form"
      aria-label={label}
      onInput={draft.keep}
      onSubmit={(event) => void send(event)}
      noValidate
    >
      {draft.restored && <Restored form={form} onDiscard={draft.forget} />}
      {failure && <Refusal failure={failure} elements={form.current?.elements} />}
      <FailureContext value={failure && { ...failure, sent }}>
        {children}
        {withKey && <KeyField mode={mode} />}
      </FailureContext>
      <FormEnd {...{ actions, danger, pending, submit }} />
    </form>
  );
}

function FormEnd({
  actions,
  danger,
  pending,
  submit,
}: Pick<FormProps<never>, 'actions' | 'danger' | 'pending' | 'submit'>) {
  return (
    <>
      <p className="hint required-note">Fields with * are required.</p>
      <div className="form-end">
        {actions}
        <button type="submit" className={`button primary${danger ? ' danger' : ''}`} disabled={pending}>
          {pending ? 'Sending …' : submit}
        </button>
      </div>
    </>
  );
}

/** The messages that belong to the form, with those of members that it does not have. */
function Refusal({ failure, elements }: { failure: Failure; elements: HTMLFormControlsCollection | undefined }) {
  const names = [...(elements ?? [])].map((element) => element.getAttribute('name'));
  const elsewhere = Object.entries(failure.fields)
    .filter(([path]) => !names.some((name) => name && (path === name || path.startsWith(`${name}.`))))
    .map(([path, text]) => (text === missing ? `${path} is required.` : text));
  return <Problem error={{ ...failure, messages: [...failure.messages, ...elsewhere] }} />;
}

/**
 * The error of a field of the form, or of a part of its value, such as an item of a list. Of an amount that was more
 * than `most` it is that sentence, with the figure; a smaller one was refused by what the page does not know yet.
 */
export function useError(name: string, most?: Most): string | undefined {
  const { fields = {}, codes, sent } = useContext(FailureContext) ?? {};
  const [path, text] = Object.entries(fields).find(([each]) => each === name || each.startsWith(`${name}.`)) ?? [];
  const exceeds = path !== undefined && codes?.[path]?.startsWith('amount_exceeds_');
  return exceeds && most && isMoreThan(sent?.get(name), most.amount) ? most.words : text;
}

/** The key for one action. */
function KeyField({ mode }: { mode: 'TEST' | 'LIVE' | undefined }) {
  return (
    <TextField
      name="apiKey"
      label="Secret key"
      type="password"
      required
      spellCheck={false}
      placeholder={mode === 'LIVE' ? 'sk_live_…' : 'sk_test_…'}
      hint={
        'Being signed in is not enough for this, so that a stolen session cannot do it. Enter an API key of this ' +
        'account; the person who set up Tidegate for you has one. It is sent once, for this action, and not kept.'
      }
    />
  );
}

interface NamedFieldProps {
  name: string;
  label: string;
  hint?: string | undefined;
  /** Whether the gateway demands a value; the label says so. */
  required?: boolean | undefined;
}

type InputAttributes = Omit<InputHTMLAttributes<HTMLInputElement>, 'name'>;

/** A field with a line of text, a date, or whatever `type` says. `doubt` is what seems wrong before it is sent. */
export function TextField({
  name,
  label,
  hint,
  doubt,
  most,
  ...attributes
}: NamedFieldProps &
  InputAttributes & { doubt?: string | undefined; most?: Most | undefined; 'data-amount'?: string }) {
  return (
    <Field label={label} hint={hint} error={useError(name, most) ?? doubt}>
      {(input) => <input {...input} {...attributes} name={name} autoComplete="off" />}
    </Field>
  );
}

interface CheckedFieldProps extends NamedFieldProps, InputAttributes {
  name: string;
  /** What is wrong with a text that is not empty, by it and the form that it stands in; undefined where nothing is. */
  check: (text: string, form: FormData) => string | undefined;
  /** What is wrong with the text that was given before. */
  doubt?: string | undefined;
}

/** A field for a text that says what seems wrong with it as soon as it is left. The form can be sent all the same. */
export function CheckedField({ check, doubt: first, ...field }: CheckedFieldProps) {
  const [doubt, setDoubt] = useState(first);
  return (
    <TextField
      {...field}
      doubt={doubt}
      onInput={() => setDoubt(undefined)}
      onBlur={({ target }) => {
        const text = target.value.trim();
        setDoubt(text === '' ? undefined : check(text, new FormData(target.form ?? undefined)));
      }}
    />
  );
}

/** A field for a text of several lines. */
export function TextAreaField({ name, label, hint, maxLength }: NamedFieldProps & { maxLength: number }) {
  return (
    <Field label={label} hint={hint} error={useError(name)}>
      {(input) => <textarea {...input} {...{ name, maxLength }} rows={6} />}
    </Field>
  );
}

interface AmountFieldProps extends NamedFieldProps {
  /** Its currency, where no field beside it has it. */
  currency?: string | undefined;
  defaultValue?: string | undefined;
  placeholder?: string | undefined;
  most?: Most | undefined;
}

/** A field for an amount of money, as people write it. What it is taken for stands in it when it is left. */
export function AmountField({ currency, label, placeholder = '0.00', ...field }: AmountFieldProps) {
  return (
    <TextField
      {...field}
      label={currency ? `${label} (${currency})` : label}
      inputMode="decimal"
      placeholder={placeholder}
      className="amount-input"
      data-amount=""
      onBlur={({ target }) => void (target.value = readAmount(target.value))}
    />
  );
}

export interface Option {
  value: string;
  name: string;
}

/** A field with one of some values. With `none`, no value is possible and the first choice. */
export function SelectField({
  name,
  label,
  hint,
  options,
  none,
  required,
  defaultValue,
  onChange,
}: NamedFieldProps & {
  options: readonly Option[];
  none?: string | undefined;
  defaultValue?: string | undefined;
  onChange?: (value: string) => void;
}) {
  return (
    <Field label={label} hint={hint} error={useError(name)}>
      {(input) => (
        <select {...input} {...{ name, required, defaultValue }} onChange={(event) => onChange?.(event.target.value)}>
          {none !== undefined && <option value="">{none}</option>}
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** A field for a country, by its name in the language of the viewer. */
export function CountryField(field: NamedFieldProps & { defaultValue?: string | undefined }) {
  return <SelectField {...field} none="Choose …" options={countries()} />;
}
