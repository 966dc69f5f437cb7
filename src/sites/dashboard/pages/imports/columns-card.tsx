import { useQuery } from 'urql';
import { currencies } from '../../format/money';
import type { DayOrder, Sheet } from '../../format/sheet';
import { graphql } from '../../graph/graphql';
import { Field } from '../../parts/field';
import { Card } from '../../parts/page';
import { Table } from '../../parts/table';
import { type ImportKind, kinds, type Member } from './members';
import { type Mapping, missing, orderOf } from './rows';

const PurposesQuery = graphql(`
  query ImportPurposes {
    purposeCodes { code description }
  }
`);

interface ColumnsCardProps {
  kind: ImportKind;
  sheet: Sheet;
  mapping: Mapping;
  onChange: (mapping: Mapping) => void;
}

/** What each column of the sheet is, and what all rows have beside them. */
export function ColumnsCard({ kind, sheet, mapping, onChange }: ColumnsCardProps) {
  const { columns } = mapping;
  const { members } = kinds[kind];
  const choose = (at: number, column: string) =>
    // A member has one column: another one that had it is left out.
    onChange({ ...mapping, columns: columns.map((each, i) => (i === at ? column : each === column ? '' : each)) });
  const isKnown = (column: string) => column === '' || members.some((each) => each.column === column);
  return (
    <Card title="Columns" className="import-columns">
      <Table
        label="Columns of the sheet"
        rows={sheet.names.map((name, i) => ({ id: String(i), name, i }))}
        columns={[
          { head: 'In the sheet', cell: ({ name, i }) => <strong>{name || `Column ${i + 1}`}</strong> },
          { head: 'First value', cell: ({ i }) => <span className="hint">{firstValue(sheet, i)}</span> },
          {
            head: 'Is imported as',
            cell: ({ name, i }) => (
              <select
                aria-label={`${name || `Column ${i + 1}`} is imported as`}
                value={columns[i]}
                onChange={(event) => choose(i, event.target.value)}
              >
                <option value="">Not imported</option>
                {!isKnown(columns[i]!) && <option value={columns[i]}>{columns[i]}</option>}
                {members.map(({ column, label }) => (
                  <option key={column} value={column}>
                    {label}
                  </option>
                ))}
              </select>
            ),
            end: true,
          },
        ]}
      />
      <ForAllRows {...{ kind, sheet, mapping, onChange }} />
    </Card>
  );
}

/** The first cell of a column that has something. */
function firstValue({ rows }: Sheet, i: number): string {
  const value = rows.find(({ cells }) => cells[i] !== '')?.cells[i] ?? '';
  return value.length > 60 ? `${value.slice(0, 60)}…` : value;
}

/** What no column has, or what a sheet alone does not tell. */
function ForAllRows({ kind, sheet, mapping, onChange }: ColumnsCardProps) {
  const { columns, constants, dayOrder } = mapping;
  const asked = kinds[kind].members.filter((each) => each.required && !columns.includes(each.column));
  const given = asked.filter(({ kind: of }) => of === 'currency' || of === 'choice');
  const order = orderOf(kind, sheet, mapping);
  const lacking = missing(kind, mapping).filter((each) => !given.includes(each));
  return (
    <>
      {lacking.length > 0 && (
        <p className="note">
          No column of the sheet is {lacking.map(({ label }) => `“${label}”`).join(', ')}. Choose for each the column
          that has it.
        </p>
      )}
      {(given.length > 0 || order === null) && (
        <div className="fields for-all-rows" role="group" aria-label="For all rows">
          {given.map((member) => (
            <Constant
              key={member.column}
              member={member}
              value={constants[member.column] ?? ''}
              onChange={(value) => onChange({ ...mapping, constants: { ...constants, [member.column]: value } })}
            />
          ))}
          {order === null && (
            <Field label="Days are written" hint="The days of this sheet can be read in both ways.">
              {(input) => (
                <select
                  {...input}
                  required
                  value={dayOrder ?? ''}
                  onChange={(event) =>
                    onChange({ ...mapping, dayOrder: (event.target.value || undefined) as DayOrder })
                  }
                >
                  <option value="">Choose …</option>
                  <option value="DAY_FIRST">31/01/2027: the day first</option>
                  <option value="MONTH_FIRST">01/31/2027: the month first</option>
                </select>
              )}
            </Field>
          )}
        </div>
      )}
    </>
  );
}

interface ConstantProps {
  member: Member;
  value: string;
  onChange: (value: string) => void;
}

/** A value that all rows have. */
function Constant({ member: { column, label, kind, values }, value, onChange }: ConstantProps) {
  const [{ data }] = useQuery({ query: PurposesQuery, pause: column !== 'purpose_code' });
  const purposes = data?.purposeCodes?.map(({ code, description }) => ({
    value: code,
    name: `${code} · ${description}`,
  }));
  const options = kind === 'currency' ? currencies.map((each) => ({ value: each, name: each })) : (values ?? purposes);
  return (
    <Field label={`${label} of all rows`}>
      {(input) => (
        <select {...input} required value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="">Choose …</option>
          {options?.map((option) => (
            <option key={option.value} value={option.value}>
              {option.name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
