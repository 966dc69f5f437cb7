import { FlaskConical } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { TypedDocumentNode } from 'urql';
import { useInputMembers } from '../graph/input-types';
import { useWrite } from '../graph/write';
import { useMayWrite, useSession } from '../session';
import { ActionDialog } from './action';
import { MemberField } from './member-field';
import { Card } from './page';
import type { Most } from '../format/money';
import { Problem } from './problem';
import { Lines } from './skeleton';

/** Something that the sandbox can do to an object: a test helper of the graph. */
export interface Tool {
  name: string;
  mutation: TypedDocumentNode<unknown, { input: { id: string } }>;
  /** The input of the mutation, when it takes more than the object: each member becomes a field of a dialog. */
  input?: string;
  /** Whether no session may do it, but a key. */
  withKey?: boolean;
  most?: Most | undefined;
}

interface TestToolsProps {
  id: string;
  tools: readonly Tool[];
  /** Why the sandbox can do nothing to the object in its state; said when there are no tools. */
  none?: string | undefined;
  /** Tools with a form of their own. */
  children?: ReactNode;
}

/** Whether the viewer may use the tools of the sandbox. */
export function useMayTest(): boolean {
  const { viewer } = useSession();
  return useMayWrite() && viewer.mode === 'TEST';
}

/** What the sandbox can do to an object; shown in test mode alone. */
export function TestTools({ id, tools, none, children }: TestToolsProps) {
  if (!useMayTest()) return null;
  return (
    <Card title="Test tools" className="test-tools" action={<FlaskConical aria-hidden />}>
      <p className="hint">{(tools.length === 0 && none) || 'Play what the bank or the payer would do.'}</p>
      <ul>
        {children}
        {tools.map((tool) => (
          <li key={tool.name}>
            <ToolButton id={id} tool={tool} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** A button for a tool, which asks for what the tool takes before it does anything. */
export function ToolButton({ id, tool, about }: { id: string; tool: Tool; about?: string }) {
  const { write, pending, failure } = useWrite(tool.mutation);
  const [open, setOpen] = useState(false);
  const asks = tool.input !== undefined || tool.withKey === true;
  return (
    <>
      <button
        type="button"
        className="button small"
        aria-label={about && `${tool.name}: ${about}`}
        disabled={pending}
        onClick={() => (asks ? setOpen(true) : void write({ input: { id } }))}
      >
        {tool.name}
        {asks && ' …'}
      </button>
      {failure && <Problem error={failure} />}
      {open && (
        <ActionDialog
          title={tool.name}
          withKey={tool.withKey}
          mutation={tool.mutation}
          read={(values: object) => ({ ...values, id })}
          onClose={() => setOpen(false)}
        >
          {tool.input !== undefined && <Members of={tool.input} most={tool.most} />}
        </ActionDialog>
      )}
    </>
  );
}

/** The fields for what a helper takes beyond the object. */
function Members({ of, most }: { of: string; most: Most | undefined }) {
  const members = useInputMembers(of);
  if (!members) return <Lines count={2} />;
  return [...members]
    .filter(([path]) => path !== 'id')
    .map(([path, member]) => <MemberField key={path} {...{ path, member, most }} />);
}
