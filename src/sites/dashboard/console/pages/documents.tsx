import { useEffect, useState } from 'react';
import { counted } from '../../format/words';
import { contentOf } from '../../graph/files';
import type { Failure } from '../../graph/write';
import { Empty } from '../../parts/empty';
import { Card } from '../../parts/page';
import { Problem } from '../../parts/problem';
import { operatorHeaders } from '../session';
import { type Account, type File, titleOf } from './account-query';

interface DocumentsProps {
  account: Account;
  shown: string | undefined;
  show: (id: string) => void;
}

/** The documents of an account, one of which is shown. The audit log has an entry for each that was opened. */
export function Documents({ account, shown, show }: DocumentsProps) {
  const { files } = account;
  const file = files.find(({ id }) => id === shown) ?? files[0];
  return (
    <Card title="Documents" className="documents">
      {file ? (
        <>
          <div className="tabs" role="group" aria-label="Documents">
            {files.map((each) => (
              <button key={each.id} type="button" aria-pressed={each === file} onClick={() => show(each.id)}>
                {titleOf(account, each)}
              </button>
            ))}
          </div>
          <Content key={file.id} file={file} title={titleOf(account, file)} />
        </>
      ) : (
        <Empty title="No documents">
          <p>The account and its persons refer to no files.</p>
        </Empty>
      )}
    </Card>
  );
}

/** The types that the gateway accepts for documents. Anything else is not shown, since a page could be among it. */
const types = ['application/pdf', 'image/png', 'image/jpeg'];

/**
 * The content of a document as an address of this page. The request needs the header of the console, which no picture
 * or frame sends by itself.
 */
function useContent({ contentPath, contentType }: File): { address?: string; failure?: Failure } {
  const [state, setState] = useState<{ address?: string; failure?: Failure }>({});
  useEffect(() => {
    let made: string | undefined;
    let open = true;
    void contentOf(contentPath, operatorHeaders).then((content) => {
      if (!open) return;
      if ('messages' in content) return setState({ failure: content });
      const type = types.find((each) => each === contentType) ?? 'application/octet-stream';
      made = URL.createObjectURL(new Blob([content], { type }));
      setState({ address: made });
    });
    return () => {
      open = false;
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [contentPath, contentType]);
  return state;
}

function Content({ file, title }: { file: File; title: string }) {
  const { address, failure } = useContent(file);
  if (failure) return <Problem error={failure} />;
  return (
    <>
      {address === undefined && <div className="document" role="status" aria-label="Loading" />}
      {address !== undefined &&
        (file.contentType.startsWith('image/') ? (
          <img className="document" src={address} alt={title} />
        ) : (
          // The viewer shows the page alone, as wide as it can.
          <iframe className="document" src={`${address}#navpanes=0&view=FitH`} title={title} />
        ))}
      <p className="hint document-facts">
        <a href={address} download={file.filename}>
          {file.filename}
        </a>
        <span>{size(file.size)}</span> <code title={file.sha256}>SHA-256 {file.sha256.slice(0, 12)}…</code>
      </p>
    </>
  );
}

function size(bytes: number): string {
  return bytes < 1024 ? counted(bytes, 'byte') : `${Math.round(bytes / 1024).toLocaleString()} KiB`;
}
