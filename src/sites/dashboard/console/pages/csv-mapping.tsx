import { useState } from 'react';
import { useWrite } from '../../graph/write';
import { Form, SelectField, TextField } from '../../parts/form';
import { graphql } from '../graphql';
import { type CsvHead, cellsOf, type Delimiter, guessOf } from './csv-head';

const SaveMutation = graphql(`
  mutation SaveBankMapping($input: SaveBankMappingInput!) {
    saveBankMapping(input: $input) { mapping { name } }
  }
`);

/** The members of a mapping that are columns, as a person calls them; the first two are always there. */
const columns = [
  ['reference', "The bank's reference"],
  ['day', 'Day'],
  ['amount', 'Amount'],
  ['direction', 'Direction, beside the amount'],
  ['credit', 'Amount that came in'],
  ['debit', 'Amount that went out'],
  ['currency', 'Currency'],
  ['account', 'Account that received'],
  ['payerName', 'Name of the payer'],
  ['text', 'Text of the payer'],
  ['endToEndId', 'Reference of the sender (your payouts)'],
  ['returnReason', 'Why it came back'],
] as const;

const separators: { value: Delimiter; name: string }[] = [
  { value: 'COMMA', name: 'Comma' },
  { value: 'SEMICOLON', name: 'Semicolon' },
  { value: 'TAB', name: 'Tab' },
  { value: 'PIPE', name: 'Vertical line' },
];

interface MappingFormProps {
  /** The first lines of the file whose columns are mapped. */
  head: CsvHead;
  /** The name of the mapping that is replaced, or an empty text for a new one. */
  name: string;
  onSaved: (name: string) => void;
  onBack: () => void;
}

/** Maps the columns of a CSV file. Each shows what the first line of the file has in it. */
export function MappingForm({ head, name, onSaved, onBack }: MappingFormProps) {
  const { write, pending, failure } = useWrite(SaveMutation);
  const [delimiter, setDelimiter] = useState(head.delimiter);
  const [headerLine, setHeaderLine] = useState(String(head.headerLine));
  const at = Number(headerLine);
  const names = cellsOf(head.lines[at - 1] ?? '', delimiter).filter((cell) => cell !== '');
  const first = cellsOf(head.lines[at] ?? '', delimiter);
  const examples = new Map(cellsOf(head.lines[at - 1] ?? '', delimiter).map((cell, i) => [cell, first[i] ?? '']));
  const save = async (values: object) => {
    const saved = await write({ input: { ...(values as { name: string; columns: object }), headerLine: at } });
    if (saved) onSaved(saved.saveBankMapping.mapping.name);
  };
  return (
    <Form
      label="Columns of a CSV file"
      submit="Save the columns"
      pending={pending}
      failure={failure}
      actions={
        <button type="button" className="button" onClick={onBack}>
          Back
        </button>
      }
      onSubmit={save}
    >
      <TextField
        name="name"
        label="Name"
        hint="Such as the name of the bank."
        defaultValue={name}
        maxLength={100}
        required
      />
      <div className="fields">
        <SelectField
          name="delimiter"
          label="Cells are separated by"
          options={separators}
          defaultValue={delimiter}
          onChange={(chosen) => setDelimiter(chosen as Delimiter)}
        />
        <TextField
          name="headerLine"
          label="Line with the names"
          inputMode="numeric"
          defaultValue={headerLine}
          onChange={({ target }) => setHeaderLine(target.value)}
        />
      </div>
      <Columns key={names.join('\n')} names={names} examples={examples} />
      <OfAllLines />
    </Form>
  );
}

/** What all lines have, and how they are written. */
function OfAllLines() {
  return (
    <>
      <p className="hint">Where no column has the currency or the account, all lines have these:</p>
      <div className="fields">
        <TextField name="currency" label="Currency of all lines" maxLength={3} placeholder="INR" />
        <TextField name="account" label="Account of all lines" maxLength={64} spellCheck={false} />
      </div>
      <div className="fields">
        <SelectField
          name="dayFormat"
          label="Days are written"
          options={[
            { value: 'DAY_FIRST', name: '31/01/2026' },
            { value: 'MONTH_FIRST', name: '01/31/2026' },
            { value: 'YEAR_FIRST', name: '2026-01-31' },
          ]}
        />
        <SelectField
          name="decimal"
          label="Amounts are written"
          options={[
            { value: 'POINT', name: '1,000.50' },
            { value: 'COMMA', name: '1.000,50' },
          ]}
        />
      </div>
    </>
  );
}

/** The columns, each with what the first line has in the chosen one. */
function Columns({ names, examples }: { names: string[]; examples: Map<string, string> }) {
  const [chosen, setChosen] = useState<Record<string, string | undefined>>(() =>
    Object.fromEntries(columns.map(([member]) => [member, guessOf(member, names)])),
  );
  return (
    <div className="fields">
      {columns.map(([member, label]) => {
        const column = chosen[member];
        const example = column === undefined ? undefined : examples.get(column);
        return (
          <SelectField
            key={member}
            name={`columns.${member}`}
            label={label}
            none="None"
            options={names.map((each) => ({ value: each, name: each }))}
            defaultValue={column}
            required={member === 'reference' || member === 'day'}
            hint={example === undefined || example === '' ? undefined : `First line: ${example}`}
            onChange={(value) => setChosen({ ...chosen, [member]: value === '' ? undefined : value })}
          />
        );
      })}
    </div>
  );
}
