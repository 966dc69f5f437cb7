import { FileUp } from 'lucide-react';
import { type ChangeEvent, useId, useState } from 'react';
import { type Sheet, sheetOf } from '../../format/sheet';
import { counted } from '../../format/words';
import { Card } from '../../parts/page';

interface FileCardProps {
  hint: string;
  /** Gets the sheet that was chosen; null where the file cannot be read. */
  onSheet: (sheet: Sheet | null) => void;
}

/** The field for a sheet, which is read here before anything is sent. */
export function FileCard({ hint, onSheet }: FileCardProps) {
  const id = useId();
  const [name, setName] = useState<string>();
  const [outcome, setOutcome] = useState<{ fault?: string; rows?: number }>();
  const choose = async (event: ChangeEvent<HTMLInputElement>) => {
    const [file] = event.target.files ?? [];
    if (!file) return;
    // So that the same file can be chosen again, after it was mended.
    const input = event.target;
    const sheet = await read(file);
    input.value = '';
    setName(file.name);
    setOutcome(typeof sheet === 'string' ? { fault: sheet } : { rows: sheet.rows.length });
    onSheet(typeof sheet === 'string' ? null : sheet);
  };
  return (
    <Card title="Sheet">
      <div className="field wide">
        <label className="upload">
          <FileUp aria-hidden />
          <span>{name === undefined ? 'Choose or drop a CSV file' : 'Choose or drop another CSV file'}</span>
          <input
            type="file"
            accept=".csv,.tsv,.txt,text/csv"
            aria-label="CSV file"
            aria-invalid={outcome?.fault !== undefined}
            aria-describedby={`${id}-hint ${id}-outcome`}
            onChange={(event) => void choose(event)}
          />
        </label>
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
        <div id={`${id}-outcome`} role="status">
          {outcome?.fault !== undefined && (
            <p className="field-error">
              {name}: {outcome.fault}
            </p>
          )}
          {outcome?.rows !== undefined && (
            <p>
              <strong className="file-name">{name}</strong>: {counted(outcome.rows, 'row')}
            </p>
          )}
        </div>
      </div>
    </Card>
  );
}

async function read(file: File): Promise<Sheet | string> {
  // What is far too large is not even read.
  if (file.size > 50_000_000) return 'The file is larger than 5 MB. Import its rows in several files.';
  try {
    return sheetOf(new Uint8Array(await file.arrayBuffer()));
  } catch {
    return 'The file could not be read. It may have been moved or changed.';
  }
}
