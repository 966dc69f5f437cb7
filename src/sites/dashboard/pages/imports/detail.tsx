import { Link } from 'wouter';
import { useTimes } from '../../format/time';
import { counted } from '../../format/words';
import { Loaded } from '../../parts/loaded';
import { Card, Page } from '../../parts/page';
import { kinds } from './members';
import { Failed, ProgressBar, useProgress } from './progress';
import type { Progress } from './query';
import { Results } from './results';

/** An import: how far it is, and what became of its rows. */
export function Import({ params }: { params: { id: string } }) {
  const { result, ended } = useProgress(params.id);
  return (
    <Loaded result={result} of={({ import: found }) => found}>
      {(progress) => <ImportPage progress={progress} ended={ended !== undefined} />}
    </Loaded>
  );
}

function ImportPage({ progress, ended }: { progress: Progress; ended: boolean }) {
  const time = useTimes();
  const { id, kind, created, status, dryRun, rows, rowsFailed, rowsSeenBefore } = progress;
  const { list, noun } = kinds[kind];
  const left = rowsFailed + rowsSeenBefore;
  const done = rows - left;
  const name = dryRun ? 'Check' : 'Import';
  return (
    <Page
      title={`${name} of ${counted(rows, noun)}`}
      back={list}
      subtitle={<p className="subtitle">Begun {time(created, 'clock')}</p>}
    >
      {!ended && (
        <Card title="Under way">
          <ProgressBar progress={progress} doing={dryRun ? 'Checking' : 'Importing'} />
          <p className="hint">You can leave this page. The import ends early when you sign out.</p>
        </Card>
      )}
      {status === 'FAILED' && <Failed progress={progress} />}
      {ended && done > 0 && !dryRun && (
        <Card
          title={`${counted(done, noun)} imported`}
          action={<Link href={list.href}>All {list.name.toLowerCase()}</Link>}
        >
          <Results id={id} kind={kind} group="created" rowName={nextLine} />
        </Card>
      )}
      {ended && left > 0 && (
        <Card title={`${counted(left, 'row')} left out`}>
          <p className="hint">
            {again[kind]} Rows are numbered as in a sheet whose first line has the names, without empty lines.
          </p>
          <Results id={id} kind={kind} group="left" rowName={nextLine} />
        </Card>
      )}
    </Page>
  );
}

/** What happens to rows of a sheet that is imported again. */
const again = {
  RECEIVABLES:
    'Mend them in the sheet and import it again: an invoice of a customer is recognised by its number, and not ' +
    'made twice.',
  PARTNERS: 'Mend them in the sheet, and import these rows alone.',
};

/** The place of a row in a sheet whose first line has the names of its columns. */
const nextLine = (row: number) => String(row + 1);
