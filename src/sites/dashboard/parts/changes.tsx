import { nameOfPath } from '../format/requirements';
import { words } from '../format/words';
import { Facts } from './facts';

interface Change {
  path: string;
  from: string | null;
  to: string | null;
}

/** What details of an account were, and what they are to become. A document is another file. */
export function Changes({ changes }: { changes: readonly Change[] }) {
  return <Facts facts={changes.map((change) => [nameOfPath(change.path), <Values key={change.path} {...change} />])} />;
}

function Values({ path, from, to }: Change) {
  if (path.startsWith('supportingDocumentation.')) return to === null ? 'No document' : 'Another document';
  const shown = path === 'businessDetails.type' ? words : String;
  return (
    <>
      {from !== null && (
        <>
          <del>{shown(from)}</del>{' '}
        </>
      )}
      {to === null ? 'nothing' : <ins>{shown(to)}</ins>}
    </>
  );
}
