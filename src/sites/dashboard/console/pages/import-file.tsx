import { FileUp } from 'lucide-react';
import { useState } from 'react';
import { counted, words } from '../../format/words';
import type { ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { type Failure, useWrite } from '../../graph/write';
import { DialogButton } from '../../parts/dialog';
import { Facts } from '../../parts/facts';
import { Form, SelectField } from '../../parts/form';
import { Problem } from '../../parts/problem';
import { graphql } from '../graphql';
import { useSession } from '../session';
import { bookedText, flat, useBooking } from './book-file';
import { headOf } from './csv-head';
import { MappingForm } from './csv-mapping';

/** The most bytes of a file that fit into a request of the operators' graph, in base64. */
const bytesMax = 3_100_000;

const tooLarge = (size: number) =>
  `This file has ${size.toLocaleString()} bytes. The console takes ${bytesMax.toLocaleString()} at most: import it ` +
  'with tidegate bank import.';

const MappingsQuery = graphql(`
  query BankMappings {
    bankMappings { name }
  }
`);

const ImportMutation = graphql(`
  mutation ImportBankFile($input: ImportBankFileInput!) {
    importBankFile(input: $input) {
      import { file { id } format lines new seenBefore unmatched reasons { reason count } notBooked }
    }
  }
`);

type Import = NonNullable<NonNullable<ResultOf<typeof ImportMutation>['importBankFile']>['import']>;

interface Given {
  name: string;
  content: string;
  mapping?: string;
}

/** Reads a file, says what would become of its lines, and then stores and books it. */
export function ImportFile({ onDone }: { onDone: (fileId: string) => void }) {
  return (
    <DialogButton title="Import a file" className="button primary">
      {(close) => (
        <ImportForm
          close={close}
          onDone={(fileId) => {
            close();
            onDone(fileId);
          }}
        />
      )}
    </DialogButton>
  );
}

/** The file that is chosen, and what would become of its lines by the mapping that is chosen. */
function useTrial() {
  const { write, pending, failure: refused } = useWrite(ImportMutation);
  const [given, setGiven] = useState<Given>();
  const [trial, setTrial] = useState<Import>();
  const [fault, setFault] = useState<Failure>();
  const attempt = async (file: Given) => {
    setGiven(file);
    setTrial(undefined);
    setFault(undefined);
    setTrial((await write({ input: { ...file, dryRun: true } }))?.importBankFile.import);
  };
  const choose = async (file: File, mapping: string) => {
    if (file.size <= bytesMax) return attempt(givenOf({ name: file.name, content: await base64(file) }, mapping));
    setTrial(undefined);
    setFault(failure(tooLarge(file.size)));
  };
  const map = async (mapping: string) => given && attempt(givenOf(given, mapping));
  return { given, trial, pending, fault: fault ?? (refused && flat(refused)), choose, map };
}

const givenOf = ({ name, content }: Given, mapping: string): Given => ({
  ...{ name, content },
  ...(mapping !== '' && { mapping }),
});

/** The mapping that is chosen, the saved ones, and the first lines of a file whose columns can be mapped. */
function useMapping(given: Given | undefined, attempt: (name: string) => unknown) {
  const [mapping, setMapping] = useState('');
  const [isMapped, setMapped] = useState(false);
  const saved = useLive(MappingsQuery, {}, { seconds: 60 });
  const map = (name: string) => {
    setMapping(name);
    void attempt(name);
  };
  return { mapping, isMapped, setMapped, saved, head: given && headOf(given.content), map };
}

function ImportForm({ close, onDone }: { close: () => void; onDone: (fileId: string) => void }) {
  const { announce } = useSession();
  const { given, trial, fault, ...trying } = useTrial();
  const importing = useWrite(ImportMutation);
  const booking = useBooking();
  const { mapping, isMapped, setMapped, saved, head, map } = useMapping(given, trying.map);
  const send = async ({ allowUnknown }: { allowUnknown?: string }) => {
    if (!given || !trial) return;
    const answer = await importing.write({ input: { ...given, allowUnknown: allowUnknown === 'on' } });
    const file = answer?.importBankFile.import.file;
    const done = file && (await booking.book(file.id));
    if (!done) return;
    announce(bookedText(done));
    onDone(file.id);
  };
  const pending = trying.pending || importing.pending || booking.pending;
  if (head && isMapped)
    return (
      <MappingForm
        head={head}
        name={mapping}
        onBack={() => setMapped(false)}
        onSaved={(name) => {
          saved.ask();
          setMapped(false);
          map(name);
        }}
      />
    );
  return (
    <Form
      label="Import a file"
      submit={trial && trial.new > 0 ? `Import and book ${counted(trial.new, 'line')}` : 'Import it'}
      pending={pending}
      failure={importing.failure ?? booking.failure}
      actions={
        <button type="button" className="button" onClick={close}>
          Cancel
        </button>
      }
      onSubmit={send}
    >
      <FileField name={given?.name} pending={pending} onChoose={(file) => void trying.choose(file, mapping)} />
      <Mapping
        names={(saved.data?.bankMappings ?? []).map(({ name }) => name)}
        chosen={mapping}
        onChoose={map}
        onMap={head && (() => setMapped(true))}
      />
      {fault && <Problem error={fault} />}
      {trial && <Trial trial={trial} />}
      {booking.progress && <progress aria-label="Lines that are booked" {...booking.progress} />}
    </Form>
  );
}

interface FileFieldProps {
  name: string | undefined;
  pending: boolean;
  onChoose: (file: File) => void;
}

function FileField({ name, pending, onChoose }: FileFieldProps) {
  return (
    <div className="field">
      <span className="label">File</span>
      <label className="upload" data-busy={pending}>
        <FileUp aria-hidden />
        <span className="clip">{name ?? 'Choose or drop a camt.053, camt.054 or CSV file'}</span>
        <input
          type="file"
          accept=".xml,.csv,.txt,text/xml,application/xml,text/csv"
          aria-label="File"
          disabled={pending}
          onChange={({ target: { files } }) => files?.[0] && onChoose(files[0])}
        />
      </label>
    </div>
  );
}

interface MappingProps {
  names: readonly string[];
  chosen: string;
  onChoose: (name: string) => void;
  /** Maps the columns of the file that is chosen, if it has any. */
  onMap: (() => void) | undefined;
}

function Mapping({ names, chosen, onChoose, onMap }: MappingProps) {
  const all = chosen === '' || names.includes(chosen) ? names : [...names, chosen];
  return (
    <>
      <SelectField
        key={all.join('\n')}
        name="mapping"
        label="Columns of a CSV file"
        none="None: it is a camt file"
        options={all.map((name) => ({ value: name, name }))}
        defaultValue={chosen}
        hint={onMap ? undefined : 'Choose a CSV file to say which of its columns is what.'}
        onChange={onChoose}
      />
      {onMap && (
        <button type="button" className="button small" onClick={onMap}>
          {chosen === '' ? 'Map its columns' : `Map its columns anew: ${chosen}`}
        </button>
      )}
    </>
  );
}

/** What would become of the lines of a file. */
function Trial({ trial }: { trial: Import }) {
  const { format, lines, new: fresh, seenBefore, unmatched, reasons, notBooked } = trial;
  const why = reasons.map(({ reason, count }) => `${count.toLocaleString()} ${words(reason).toLowerCase()}`);
  const isForeign = lines > 0 && fresh === 0 && reasons.some((each) => each.count === lines);
  return (
    <>
      <Facts
        facts={[
          ['Format', format],
          ['Lines', lines.toLocaleString()],
          ['New', <strong>{fresh.toLocaleString()}</strong>],
          ['Seen before', seenBefore.toLocaleString()],
          ['Unmatched', unmatched > 0 ? `${unmatched.toLocaleString()}: ${why.join(', ')}` : '0'],
          ['Announced, not booked', notBooked > 0 && notBooked.toLocaleString()],
        ]}
      />
      <p className="hint">Live mode: real money. Nothing is stored until you import it.</p>
      {isForeign && (
        <label className="check">
          <input type="checkbox" name="allowUnknown" /> Import it although no line names an account of the service
        </label>
      )}
    </>
  );
}

const failure = (message: string): Failure => ({ messages: [message], fields: {} });

/** The content of a file in base64. */
function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('error', () => reject(new Error('The file cannot be read.')));
    reader.addEventListener('load', () => resolve((reader.result as string).replace(/^[^,]*,?/, '')));
    reader.readAsDataURL(file);
  });
}
