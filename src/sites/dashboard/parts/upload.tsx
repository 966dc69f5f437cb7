import { FileCheck2, FileUp, X } from 'lucide-react';
import { type ChangeEvent, useId, useState } from 'react';
import { upload, type UploadedFile } from '../graph/files';
import type { Failure } from '../graph/write';

interface UploadFieldProps {
  label: string;
  /** The purpose of the file, as /v1 writes it, such as `invoice`. */
  purpose: string;
  /** The member of the form's input that takes the id of the file. */
  name?: string;
  hint?: string;
  onUploaded?: (file: UploadedFile) => void;
}

/** A field that uploads a file as soon as it is chosen or dropped, and shows how far it has come. */
export function UploadField({ label, purpose, name, hint, onUploaded }: UploadFieldProps) {
  const id = useId();
  const [share, setShare] = useState<number | null>(null);
  const [file, setFile] = useState<UploadedFile | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const send = async (event: ChangeEvent<HTMLInputElement>) => {
    const [chosen] = event.target.files ?? [];
    if (!chosen) return;
    setFailure(null);
    setShare(0);
    const answer = await upload(chosen, purpose, setShare);
    setShare(null);
    if ('messages' in answer) return setFailure(answer);
    setFile(answer);
    onUploaded?.(answer);
  };
  const error = failure && `${id}-error`;
  return (
    <div className="field">
      <span className="label" id={`${id}-label`}>
        {label}
      </span>
      {file ? (
        <p className="uploaded" role="status">
          <FileCheck2 aria-hidden /> <span className="clip">{file.filename}</span>
          <button type="button" className="icon-button" aria-label="Take another file" onClick={() => setFile(null)}>
            <X aria-hidden />
          </button>
          {name && <input type="hidden" name={name} value={file.id} />}
        </p>
      ) : (
        <label className="upload" data-busy={share !== null}>
          <FileUp aria-hidden />
          <span>{share === null ? 'Choose or drop a PDF, PNG or JPEG' : 'Uploading …'}</span>
          <input
            type="file"
            accept="application/pdf,image/png,image/jpeg"
            disabled={share !== null}
            aria-labelledby={`${id}-label`}
            aria-describedby={error ?? undefined}
            onChange={(event) => void send(event)}
          />
        </label>
      )}
      {share !== null && <progress aria-label={`Upload of ${label}`} value={share} max={1} />}
      {failure && (
        <p className="field-error" id={`${id}-error`} role="alert">
          {failure.messages.join(' ')}
        </p>
      )}
      {hint && <p className="hint">{hint}</p>}
    </div>
  );
}
