import { FlaskConical } from 'lucide-react';
import type { TypedDocumentNode } from 'urql';
import { useWrite } from '../graph/write';
import { useMayWrite, useSession } from '../session';
import { Card } from './page';
import { Problem } from './problem';

export interface Tool {
  name: string;
  mutation: TypedDocumentNode<unknown, { id: string }>;
}

/** What the sandbox can do to an object; shown in test mode alone. */
export function TestTools({ id, tools }: { id: string; tools: Tool[] }) {
  const { viewer } = useSession();
  const mayWrite = useMayWrite();
  if (viewer.mode !== 'TEST' || !mayWrite || tools.length === 0) return null;
  return (
    <Card title="Test tools" className="test-tools" action={<FlaskConical aria-hidden />}>
      <p className="hint">Play what the bank or the payer would do.</p>
      <ul>
        {tools.map((tool) => (
          <li key={tool.name}>
            <ToolButton id={id} tool={tool} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function ToolButton({ id, tool }: { id: string; tool: Tool }) {
  const { write, pending, failure } = useWrite(tool.mutation);
  return (
    <>
      <button type="button" className="button small" disabled={pending} onClick={() => void write({ id })}>
        {tool.name}
      </button>
      {failure && <Problem error={failure} />}
    </>
  );
}
