import type { Most } from '../format/money';
import { nameOfPath } from '../format/requirements';
import { words } from '../format/words';
import type { InputMember } from '../graph/input-types';
import { AmountField, CheckedField, CountryField, SelectField, TextField } from './form';
import { UploadField } from './upload';

interface MemberFieldProps {
  /** The path of the member in the input of the form. */
  path: string;
  member: InputMember;
  /** The purpose of a file, as /v1 writes it. */
  purpose?: string | undefined;
  required?: boolean | undefined;
  /** What seems wrong with a text, as `CheckedField` has it. */
  check?: ((text: string, form: FormData) => string | undefined) | undefined;
  doubt?: string | undefined;
  most?: Most | undefined;
}

/** A field for a member of an input of the graph, by its type in the schema. */
export function MemberField({
  path,
  member,
  purpose = 'additional_verification',
  required,
  check,
  doubt,
  most,
}: MemberFieldProps) {
  const { type, description } = member;
  const field = {
    name: path,
    label: nameOfPath(path),
    hint: description?.replaceAll('`', '') ?? undefined,
    required: required ?? member.required,
  };
  // The hint says how programs write a country.
  if (type.name === 'CountryCode') return <CountryField {...field} hint={undefined} />;
  if (type.enumValues) {
    const options = type.enumValues.map(({ name }) => ({ value: name, name: words(name) }));
    return <SelectField {...field} none={field.required ? 'Choose …' : 'As usual'} options={options} />;
  }
  if (type.name === 'ID') return <UploadField name={path} label={field.label} purpose={purpose} />;
  const kind = type.name === 'EmailAddress' ? 'email' : /date/i.test(path) ? 'date' : 'text';
  if (type.name === 'Amount') return <AmountField {...field} most={most} />;
  return check ? <CheckedField {...field} {...{ check, doubt }} /> : <TextField {...field} type={kind} />;
}
