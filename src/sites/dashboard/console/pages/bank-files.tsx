import { formatMoney } from '../../format/money';
import { formatDay } from '../../format/time';
import { words } from '../../format/words';
import type { ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { sent } from '../../graph/sent';
import { stateColumn, Two } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { Choice } from '../../parts/chips';
import { FilterBar } from '../../parts/filter-bar';
import { useFilters } from '../../parts/filters';
import { TextField } from '../../parts/form';
import { List } from '../../parts/list';
import { Money } from '../../parts/money';
import { Page } from '../../parts/page';
import type { Column } from '../../parts/table';
import { Time } from '../../parts/time';
import { Tabs } from '../../parts/tabs';
import { Action } from '../action';
import { AddressInput } from '../found-input';
import { graphql } from '../graphql';
import { pageOf } from '../parts';
import { useMayAct } from '../session';
import { BookWaiting } from './book-file';
import { ClosingBalances } from './closing-balances';
import { ImportFile } from './import-file';

const Line = graphql(`
  fragment Line on BankLine {
    id fileId line day account payee direction isReversal amount currency reference payerName text
    state reason note depositId decidedBy
  }
`);

const LinesQuery = graphql(
  `
  query BankLines($fileId: ID, $state: BankLineState, $after: String) {
    bankLines(fileId: $fileId, state: $state, first: 25, after: $after) { nodes { ...Line } next }
  }
`,
  [Line],
);

const FilesQuery = graphql(`
  query BankFiles($after: String) {
    bankFiles(first: 25, after: $after) { nodes { id created createdBy name format lines storedAt } next }
  }
`);

const AssignMutation = graphql(`
  mutation AssignBankLine($input: AssignBankLineInput!) {
    assignBankLine(input: $input) { line { id state } }
  }
`);

const ReturnMutation = graphql(`
  mutation ReturnBankLine($input: ReturnBankLineInput!) {
    returnBankLine(input: $input) { line { id state } }
  }
`);

type BankLine = ResultOf<typeof Line>;
type BankFile = NonNullable<ResultOf<typeof FilesQuery>['bankFiles']>['nodes'][number];

const kinds = [
  ['unmatched', 'Unmatched'],
  ['files', 'Files'],
  ['balances', 'Closing balances'],
] as const;

/** Files of banks: the transfers that fit no address, the imported files with their lines, and the banks' balances. */
export function BankFiles() {
  const { params, set } = useFilters();
  const shown = params.get('show') ?? 'unmatched';
  const fileId = params.get('file');
  const toFile = (file: string) => set({ show: 'files', file, state: null });
  const list =
    shown === 'balances' ? <ClosingBalances /> : shown === 'files' && !fileId ? <Files /> : <Lines fileId={fileId} />;
  return (
    <Page
      title="Bank files"
      subtitle={<p className="hint">Transfers that banks report in camt.053, camt.054 and CSV files.</p>}
      actions={useMayAct() && <ImportFile onDone={toFile} />}
    >
      <FilterBar>
        <Tabs
          kinds={kinds}
          chosen={shown}
          onChoose={(show) => set({ show: show === 'unmatched' ? null : show, file: null, state: null, day: null })}
        />
        {fileId && (
          <Choice label="State" name="state" values={['MATCHED', 'BOOKED', 'SEEN_BEFORE', 'UNMATCHED', 'RETURNED']} />
        )}
      </FilterBar>
      {list}
    </Page>
  );
}

function Files() {
  const { params } = useFilters();
  const result = useLive(FilesQuery, { after: params.get('after') });
  return (
    <List
      label="Bank files"
      result={result}
      page={pageOf(result.data?.bankFiles)}
      href={({ id }) => `/bank-files?show=files&file=${id}`}
      columns={fileColumns}
      empty={
        <Empty title="No file was imported">
          <p>Import a statement of a bank, here or with `tidegate bank import`.</p>
        </Empty>
      }
    />
  );
}

const fileColumns: Column<BankFile>[] = [
  { head: 'File', cell: ({ name, format }) => <Two hint={format}>{name}</Two> },
  { head: 'Imported by', cell: ({ createdBy }) => createdBy },
  { head: 'Imported', cell: ({ created }) => <Time at={created} />, line: true },
  stateColumn(({ storedAt }) => (storedAt === null ? 'INTERRUPTED' : 'STORED')),
  { head: 'Lines', cell: ({ lines }) => lines.toLocaleString(), end: true },
];

const states = ['MATCHED', 'BOOKED', 'SEEN_BEFORE', 'UNMATCHED', 'RETURNED'] as const;

/** The lines of a file, or those of all files that fit no address. */
function Lines({ fileId }: { fileId: string | null }) {
  const mayAct = useMayAct();
  const { params, one } = useFilters();
  const state = fileId === null ? 'UNMATCHED' : one('state', states);
  const result = useLive(LinesQuery, sent({ fileId: fileId ?? undefined, state, after: params.get('after') }));
  const page = pageOf(result.data?.bankLines);
  return (
    <>
      {mayAct && fileId && page?.nodes.some((line) => line.state === 'MATCHED') && (
        <BookWaiting fileId={fileId} onDone={result.ask} />
      )}
      <List
        label="Lines of banks"
        result={result}
        page={page}
        columns={[...lineColumns, ...(mayAct ? [decision(result.ask)] : [])]}
        empty={
          fileId === null ? (
            <Empty title="Every transfer has its address">
              <p>
                A transfer of a bank that fits no address waits here until it is assigned to one, or its money is sent
                back.
              </p>
            </Empty>
          ) : (
            <Empty title="No line matches">
              <p>The file has no transfers of this kind.</p>
            </Empty>
          )
        }
      />
    </>
  );
}

const nameOf = ({ reference, line }: BankLine) => reference ?? `line ${line}`;

const lineColumns: Column<BankLine>[] = [
  {
    head: 'Transfer',
    cell: ({ reference, payerName, text, note }) => (
      <Two hint={[note, payerName, text].filter(Boolean).join(' · ')}>{reference ?? 'No reference'}</Two>
    ),
  },
  {
    head: 'Account',
    cell: ({ payee, account, fileId, line }) => (
      <span title={`Line ${line} of ${fileId}, in account ${account ?? 'none'}`}>{payee ?? account ?? 'None'}</span>
    ),
    line: true,
  },
  { head: 'Day', cell: ({ day }) => formatDay(day), line: true },
  {
    head: 'State',
    cell: ({ state, reason, decidedBy }) => (
      <span className="two-lines">
        {words(reason ?? state)}
        <span className="hint">{decidedBy}</span>
      </span>
    ),
    line: true,
  },
  {
    head: 'Amount',
    cell: ({ amount, currency, direction, isReversal }) => (
      <span className="two-lines">
        <Money amount={direction === 'DEBIT' ? `-${amount}` : amount} currency={currency} />
        {isReversal && <span className="hint">reversal</span>}
      </span>
    ),
    end: true,
    plain: true,
  },
];

/** What the operator decides about a line that fits no address. */
const decision = (onDone: () => void): Column<BankLine> => ({
  head: 'Decision',
  end: true,
  cell: (line) => line.state === 'UNMATCHED' && <Decision line={line} onDone={onDone} />,
});

interface DecisionProps {
  line: BankLine;
  onDone: () => void;
}

function Decision({ line, onDone }: DecisionProps) {
  const cameIn = line.direction === 'CREDIT' && !line.isReversal;
  if (line.direction === 'CREDIT' && line.isReversal)
    return <span className="hint">Money that came back: record it with its payout</span>;
  return (
    <span className="row-actions">
      <Assign line={line} cameIn={cameIn} onDone={onDone} />
      {cameIn && <Return line={line} onDone={onDone} />}
    </span>
  );
}

const common = (line: BankLine) => ({ about: nameOf(line), small: true, input: { id: line.id } });
const moneyOf = ({ amount, currency }: BankLine) => (
  <strong>
    {formatMoney({ amount, currency })} {currency}
  </strong>
);

function Assign({ line, cameIn, onDone }: DecisionProps & { cameIn: boolean }) {
  const { reference, payerName, reason } = line;
  return (
    <Action
      name="Assign"
      title="Assign the transfer to an address"
      submit="Assign it"
      mutation={AssignMutation}
      read={(values) => ({ ...values, allowCurrency: values.allowCurrency === 'on' })}
      done={`The transfer ${nameOf(line)} is booked.`}
      onDone={onDone}
      {...common(line)}
    >
      {cameIn ? (
        <p>
          {moneyOf(line)} {payerName && <>of {payerName} </>}becomes a payment of the address's account.
        </p>
      ) : (
        <p>
          {moneyOf(line)} that the bank took back is taken from the payment of its receipt. What answers a payout is
          recorded with the payout.
        </p>
      )}
      <AddressInput name="addressId" label="Receiving address" required />
      {!cameIn && <TextField name="originalReference" label="Reference of the receipt" maxLength={255} required />}
      <TextField
        name="reference"
        label="Reference"
        maxLength={255}
        required={reference === null}
        hint={reference === null ? 'The bank gives none.' : `In place of ${reference}.`}
      />
      {cameIn && reason === 'OTHER_CURRENCY' && (
        <label className="check">
          <input type="checkbox" name="allowCurrency" /> In another currency than the address
        </label>
      )}
    </Action>
  );
}

function Return({ line, onDone }: DecisionProps) {
  return (
    <Action
      name="Return"
      kind="danger"
      title="Record that the money was sent back"
      submit="Record it"
      mutation={ReturnMutation}
      done={`The transfer ${nameOf(line)} is returned.`}
      reason
      onDone={onDone}
      {...common(line)}
    >
      <p>
        You have sent {moneyOf(line)} back to {line.payerName ?? 'its payer'}. It is in no balance.
      </p>
    </Action>
  );
}
