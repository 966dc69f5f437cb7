import { Download } from 'lucide-react';
import { useEffect, useEffectEvent, useState } from 'react';
import { Link } from 'wouter';
import { listName } from '../format/exports';
import { dayOf } from '../format/days';
import { useTimeZone } from '../format/preferences';
import { counted } from '../format/words';
import { download } from '../graph/files';
import { graphql, type ResultOf, type VariablesOf } from '../graph/graphql';
import { useLive } from '../graph/live';
import { type Failure, useWrite } from '../graph/write';
import { useMayWrite } from '../session';
import { Problem } from './problem';

/** An export, as it is shown while it is made and afterwards. */
export const ExportFragment = graphql(`
  fragment Exported on Export { id created list filters format status rows bytes error expiresAt contentPath }
`);

export type Exported = ResultOf<typeof ExportFragment>;

const CreateMutation = graphql(`
  mutation CreateExport($input: CreateExportInput!) {
    createExport(input: $input) { export { id } }
  }
`);

const ExportQuery = graphql(
  `
    query Export($id: ID!) {
      export(id: $id) { ...Exported }
    }
  `,
  [ExportFragment],
);

/** The list of an export, with the filters and the order of a page. */
export type ExportSource = VariablesOf<typeof CreateMutation>['input']['source'];

interface ExportProps {
  source: ExportSource;
  /** What the file holds, where it is not what the page shows. */
  holds?: string;
}

/**
 * Exports the whole list of a page as a CSV file, as the filters of the page select it. The gateway makes the file, of
 * one moment, and keeps it for some time; it is saved as soon as it is made. Those who may only read make none.
 */
export function Export({ source, holds }: ExportProps) {
  const { write, pending, failure } = useWrite(CreateMutation);
  const [made, setMade] = useState<string>();
  const [saved, setSaved] = useState<Exported>();
  if (!useMayWrite()) return null;
  const begin = async () => {
    setSaved(undefined);
    const done = await write({ input: { source, format: 'CSV' } });
    setMade(done?.createExport.export.id);
  };
  const end = (ended: Exported | undefined) => {
    setMade(undefined);
    setSaved(ended);
  };
  return (
    <>
      {failure && <Problem error={{ ...failure, messages: [...failure.messages, ...Object.values(failure.fields)] }} />}
      {made && <Making id={made} onEnd={end} />}
      {saved && <Made made={saved} />}
      {holds && !made && !saved && <span className="hint export-holds">{holds}</span>}
      <button type="button" className="button" disabled={pending || made !== undefined} onClick={() => void begin()}>
        <Download aria-hidden /> Export CSV
      </button>
    </>
  );
}

/** How far an export is. It saves the file when it is made. */
function Making({ id, onEnd }: { id: string; onEnd: (made: Exported | undefined) => void }) {
  const timeZone = useTimeZone();
  const { data, error } = useLive(ExportQuery, { id }, { seconds: 1, withoutEvents: true, ofFrame: true });
  const [failure, setFailure] = useState<Failure>();
  const made = data?.export;
  const save = useEffectEvent(async () => {
    if (made?.status !== 'COMPLETED') return made && onEnd(made);
    const refused = await download(made.contentPath!, fileNameOf(made, timeZone));
    if (refused) setFailure(refused);
    else onEnd(made);
  });
  const ended = made !== undefined && made !== null && made.status !== 'PENDING' && made.status !== 'RUNNING';
  useEffect(() => {
    if (ended) void save();
  }, [ended]);
  if (failure ?? error) return <Problem error={(failure ?? error)!} />;
  return (
    <span className="hint" role="status">
      {made?.rows ? `${counted(made.rows, 'row')} …` : 'Preparing …'}
    </span>
  );
}

/** What became of an export that was made just now. */
function Made({ made: { status, rows, error } }: { made: Exported }) {
  if (status !== 'COMPLETED') return <Problem error={{ messages: [error ?? 'The export failed.'], fields: {} }} />;
  return (
    <span className="hint" role="status">
      {counted(rows, 'row')} saved · <Link href="/settings/exports">All exports</Link>
    </span>
  );
}

/** The name of the file of an export: `payments-2026-11-28.csv`. */
export const fileNameOf = ({ list, created, format }: Exported, timeZone: string): string =>
  `${listName(list).toLowerCase().replaceAll(' ', '-')}-${dayOf(created, timeZone)}.${format.toLowerCase()}`;
