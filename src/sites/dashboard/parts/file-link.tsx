import { FileDown } from 'lucide-react';
import { useState } from 'react';
import { download } from '../graph/files';
import type { Failure } from '../graph/write';
import { Problem } from './problem';

/** A file with a button that downloads it. */
export function FileLink({ id, filename }: { id: string; filename: string }) {
  const [failure, setFailure] = useState<Failure>();
  return (
    <span className="file-link">
      <button
        type="button"
        className="link"
        onClick={() => void download(`/v1/files/${id}/content`, filename).then(setFailure)}
      >
        <FileDown aria-hidden /> <span>{filename}</span>
      </button>
      {failure && <Problem error={failure} />}
    </span>
  );
}
