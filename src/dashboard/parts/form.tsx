import {
  createContext,
  type FormEvent,
  type InputHTMLAttributes,
  type ReactNode,
  useContext,
  useEffect,
  useRef,
} from 'react';
import { type Failure, required } from '../graph/write';
import { Field } from './field';
import { Problem } from './problem';

const FailureContext = createContext<Failure | undefined>(undefined);

interface FormProps<Input> {
  label: string;
  /** The text of the button that sends the form. */
  submit: string;
  /** Whether what it does cannot be undone. */
  danger?: boolean | undefined;
  pending: boolean;
  failure?: Failure | undefined;
  onSubmit: (input: Input) => unknown;
  /** Further buttons, before the one that sends. */
  actions?: ReactNode;
  children?: ReactNode;
}

/**
 * A form for an input of the graph. The names of its fields are the paths of the input, such as `invoice.amount`, so the
 * gateway's errors find their fields, and the values become the input without a line of code. Fields left empty are
 * absent.
 */
export function Form<Input>({
  label,
  submit,
  danger,
  pending,
  failure,
  onSubmit,
  actions,
  children,
}: FormProps<Input>) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (failure) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [failure]);
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    // The gateway checks the input; the names of the fields are those of its members.
    if (!pending) onSubmit(inputOf(new FormData(event.currentTarget)) as Input);
  };
  // Errors of members that the form does not have belong to the form.
  const names = [...(form.current?.elements ?? [])].map((element) => element.getAttribute('name'));
  const elsewhere = Object.entries(failure?.fields ?? {}).filter(
    ([path]) => !names.some((name) => name && (path === name || path.startsWith(`${name}.`))),
  );
  return (
    <form ref={form} className="form" aria-label={label} onSubmit={send} noValidate>
      {failure && (
        <Problem
          error={{
            ...failure,
            messages: [
              ...failure.messages,
              ...elsewhere.map(([path, text]) => (text === required ? `${path} is required.` : text)),
            ],
          }}
        />
      )}
      <FailureContext value={failure}>{children}</FailureContext>
      <div className="form-end">
        {actions}
        <button type="submit" className={`button primary${danger ? ' danger' : ''}`} disabled={pending}>
          {pending ? 'Sending …' : submit}
        </button>
      </div>
    </form>
  );
}

/** The error of a field of the form, or of a part of its value, such as an item of a list. */
function useError(name: string): string | undefined {
  const fields = Object.entries(useContext(FailureContext)?.fields ?? {});
  return fields.find(([path]) => path === name || path.startsWith(`${name}.`))?.[1];
}

/** The values of a form as nested objects, by the dots of their names. */
function inputOf(values: FormData): object {
  const input: Record<string, unknown> = {};
  for (const [name, value] of values) {
    if (value === '') continue;
    const path = name.split('.');
    const last = path.pop()!;
    let at = input;
    for (const part of path) at = (at[part] ??= {}) as Record<string, unknown>;
    at[last] = value;
  }
  return input;
}

interface NamedFieldProps {
  name: string;
  label: string;
  hint?: string | undefined;
}

/** A field with a line of text, a date, or whatever `type` says. */
export function TextField({
  name,
  label,
  hint,
  ...attributes
}: NamedFieldProps & Omit<InputHTMLAttributes<HTMLInputElement>, 'name'>) {
  return (
    <Field label={label} hint={hint} error={useError(name)}>
      {(input) => <input {...input} {...attributes} name={name} autoComplete="off" />}
    </Field>
  );
}

/** A field for an amount of money in a currency. */
export function AmountField({ currency, ...field }: NamedFieldProps & { currency: string; defaultValue?: string }) {
  return (
    <Field label={`${field.label} (${currency})`} hint={field.hint} error={useError(field.name)}>
      {(input) => (
        <input
          {...input}
          name={field.name}
          defaultValue={field.defaultValue}
          inputMode="decimal"
          placeholder="0.00"
          autoComplete="off"
          className="amount-input"
        />
      )}
    </Field>
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
  defaultValue,
  onChange,
}: NamedFieldProps & {
  options: readonly Option[];
  none?: string;
  defaultValue?: string | undefined;
  onChange?: (value: string) => void;
}) {
  return (
    <Field label={label} hint={hint} error={useError(name)}>
      {(input) => (
        <select {...input} name={name} defaultValue={defaultValue} onChange={(event) => onChange?.(event.target.value)}>
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
