import { counted } from '../../format/words';
import { useLive } from '../../graph/live';
import { Problem } from '../../parts/problem';
import { ImportQuery, type Progress } from './query';

const isUnderWay = (progress: Progress | null | undefined) =>
  !progress || progress.status === 'PENDING' || progress.status === 'RUNNING';

/** An import, asked again each second until it has ended. */
export function useProgress(id: string) {
  // The first answer decides how often it is asked again.
  const result = useLive(ImportQuery, { id }, { seconds: 1, withoutEvents: true });
  const progress = result.data?.import ?? undefined;
  return { result, progress, ended: isUnderWay(progress) ? undefined : progress };
}

/** How far an import is. */
export function ProgressBar({ progress, doing }: { progress: Progress | undefined; doing: string }) {
  const { rows = 1, rowsDone = 0 } = progress ?? {};
  return (
    <div className="import-progress">
      <progress aria-label={doing} value={rowsDone} max={Math.max(rows, 1)} />
      <p className="hint" role="status">
        {progress ? `${doing}: ${rowsDone.toLocaleString()} of ${counted(rows, 'row')}` : `${doing} …`}
      </p>
    </div>
  );
}

/** Why an import could not be done as a whole. */
export const Failed = ({ progress: { error } }: { progress: Progress }) => (
  <Problem error={{ messages: [error ?? 'The import failed.'], fields: {} }} />
);
