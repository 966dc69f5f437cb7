import { useState } from 'react';
import { useLocation } from 'wouter';
import { counted } from '../../format/words';
import { upload } from '../../graph/files';
import { type Failure, useWrite } from '../../graph/write';
import { Card } from '../../parts/page';
import { Problem } from '../../parts/problem';
import { type ImportKind, kinds } from './members';
import { Failed, ProgressBar, useProgress } from './progress';
import { CreateMutation, type Progress } from './query';
import { Results } from './results';

interface CheckCardProps {
  kind: ImportKind;
  /** How many rows the sheet has. */
  count: number;
  /** Makes the file that is checked, and then imported. */
  file: () => File;
  /** What still has to be chosen before the rows can be checked. */
  lacking: string | undefined;
  rowName: (row: number) => string;
  faultOf: (row: number, column: string | null) => string | undefined;
}

/** Has the gateway try all rows, shows every fault, and then imports the rows that have none. */
export function CheckCard({ kind, count, file, lacking, rowName, faultOf }: CheckCardProps) {
  const { write, pending, failure } = useWrite(CreateMutation);
  const [share, setShare] = useState<number | null>(null);
  const [refused, setRefused] = useState<Failure>();
  const [trial, setTrial] = useState<{ fileId: string; importId: string }>();
  const check = async () => {
    setRefused(undefined);
    setShare(0);
    const uploaded = await upload(file(), 'import', setShare);
    setShare(null);
    if ('messages' in uploaded) return setRefused(uploaded);
    const made = await write({ input: { kind, fileId: uploaded.id, dryRun: true } });
    if (made) setTrial({ fileId: uploaded.id, importId: made.createImport.import.id });
  };
  const wrong =
    refused ?? (failure && { ...failure, messages: [...failure.messages, ...Object.values(failure.fields)] });
  return (
    <Card title="Check and import">
      {wrong && <Problem error={wrong} />}
      {trial ? (
        <Trial key={trial.importId} {...{ kind, trial, rowName, faultOf }} />
      ) : (
        <>
          <p className="hint">
            {lacking ?? 'All rows are tried, and every error is shown. Nothing is stored before you import them.'}
          </p>
          <div className="form-end">
            <button
              type="button"
              className="button primary"
              disabled={lacking !== undefined || share !== null || pending}
              onClick={() => void check()}
            >
              {share !== null || pending ? 'Sending …' : `Check ${counted(count, 'row')}`}
            </button>
          </div>
        </>
      )}
    </Card>
  );
}

type TrialProps = Pick<CheckCardProps, 'kind' | 'rowName' | 'faultOf'> & {
  trial: { fileId: string; importId: string };
};

/** The trial of all rows, and what it has found. */
function Trial({ kind, trial: { fileId, importId }, rowName, faultOf }: TrialProps) {
  const [, go] = useLocation();
  const { write, pending, failure } = useWrite(CreateMutation);
  const { result, progress, ended } = useProgress(importId);
  if (!ended)
    return result.error && !progress ? (
      <Problem error={result.error} onRetry={result.ask} />
    ) : (
      <ProgressBar progress={progress} doing="Checking" />
    );
  if (ended.status !== 'COMPLETED') return <Failed progress={ended} />;
  const left = ended.rowsFailed + ended.rowsSeenBefore;
  const good = ended.rows - left;
  // What was checked is what is imported: the same file.
  const begin = async () => {
    const made = await write({ input: { kind, fileId } });
    if (made) go(`/imports/${made.createImport.import.id}`);
  };
  return (
    <>
      <p role="status">{foundWords(ended)}</p>
      {left > 0 && <Results id={importId} group="left" {...{ kind, rowName, faultOf }} />}
      {failure && <Problem error={{ ...failure, messages: [...failure.messages, ...Object.values(failure.fields)] }} />}
      {good > 0 && (
        <div className="form-end">
          <button type="button" className="button primary" disabled={pending} onClick={() => void begin()}>
            {pending ? 'Sending …' : `Import ${left > 0 ? 'the other ' : ''}${counted(good, kinds[kind].noun)}`}
          </button>
        </div>
      )}
    </>
  );
}

/** What a trial has found. */
function foundWords({ rows, rowsFailed, rowsSeenBefore }: Progress): string {
  const found = [
    rowsFailed > 0 && `${counted(rowsFailed, 'row')} cannot be imported`,
    rowsSeenBefore > 0 && `${counted(rowsSeenBefore, 'row')} ${rowsSeenBefore === 1 ? 'exists' : 'exist'} already`,
  ].filter((each) => each !== false);
  if (found.length === 0) return `All ${counted(rows, 'row')} can be imported.`;
  if (rowsFailed === rows)
    return rows === 1
      ? 'The only row cannot be imported. Mend it in the sheet, and choose the sheet again.'
      : `None of the ${counted(rows, 'row')} can be imported. Mend them in the sheet, and choose it again.`;
  if (rowsSeenBefore === rows)
    return rows === 1 ? 'The only row exists already.' : `All ${counted(rows, 'row')} exist already.`;
  const next = 'Mend them in the sheet and choose it again, or leave them out.';
  return `Of ${counted(rows, 'row')}, ${found.join(', and ')}. ${next}`;
}
