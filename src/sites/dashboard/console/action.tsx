import { type ReactNode, useState } from 'react';
import type { TypedDocumentNode } from 'urql';
import { required } from '../format/refusals';
import { type Failure, useWrite } from '../graph/write';
import { Dialog } from '../parts/dialog';
import { Form, TextField } from '../parts/form';
import { useMayAct, useSession } from './session';

interface ActionProps<Input extends object, Answer> {
  /** What the button says, which opens the dialog. */
  name: string;
  /** What the button is about, for those who do not see its row. */
  about?: string;
  /** The title of the dialog, and what its own button says. */
  title: string;
  submit: string;
  kind?: 'primary' | 'danger';
  small?: boolean;
  /** Asks why, for the audit log; a text is the hint of the field. */
  reason?: boolean | string;
  mutation: TypedDocumentNode<Answer, { input: Input }>;
  /** The members of the input that are known; those of the form join them. */
  input: Partial<Input>;
  /** Changes the values of the form, where they are no texts. */
  read?: (values: Record<string, unknown>) => object;
  /** What is said when it is done, also by what was answered. */
  done: string | ((answer: Answer) => string);
  onDone?: (() => void) | undefined;
  /** What will happen, and the fields of the form. */
  children: ReactNode;
}

/**
 * A button for something that an operator does, with a dialog that says what will happen before it does. Operators that
 * only read do not see it.
 */
export function Action<Input extends object, Answer>(props: ActionProps<Input, Answer>) {
  const { name, about, kind, small, ...dialog } = props;
  const [open, setOpen] = useState(false);
  if (!useMayAct()) return null;
  return (
    <>
      <button
        type="button"
        className={`button ${kind ?? ''}${small ? ' small' : ''}`}
        aria-label={about && `${name}: ${about}`}
        onClick={() => setOpen(true)}
      >
        {name}
      </button>
      {open && <ActionDialog {...dialog} danger={kind === 'danger'} onClose={() => setOpen(false)} />}
    </>
  );
}

type DialogProps<Input extends object, Answer> = Omit<
  ActionProps<Input, Answer>,
  'name' | 'about' | 'kind' | 'small'
> & {
  danger: boolean;
  onClose: () => void;
};

function ActionDialog<Input extends object, Answer>(props: DialogProps<Input, Answer>) {
  const { title, submit, danger, reason, mutation, input, read, done, onDone, onClose, children } = props;
  const { write, pending, failure } = useWrite(mutation);
  const { announce } = useSession();
  // The gateway takes these changes without a reason, for programs; a person gives one.
  const [unexplained, setUnexplained] = useState<Failure>();
  const send = async (values: Record<string, unknown>) => {
    const isExplained = !reason || String(values.reason ?? '').trim() !== '';
    setUnexplained(isExplained ? undefined : { messages: [], fields: { reason: required } });
    if (!isExplained) return;
    const given = { ...input, ...(read ? read(values) : values) } as Input;
    const answer = await write({ input: given });
    if (answer === undefined) return;
    announce(typeof done === 'string' ? done : done(answer as Answer));
    onClose();
    onDone?.();
  };
  const cancel = (
    <button type="button" className="button" onClick={onClose}>
      Cancel
    </button>
  );
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        label={title}
        {...{ submit, danger, pending }}
        failure={unexplained ?? failure}
        actions={cancel}
        onSubmit={send}
      >
        {children}
        {reason && (
          <TextField
            name="reason"
            label="Reason"
            hint={typeof reason === 'string' ? reason : 'For the audit log.'}
            required
          />
        )}
      </Form>
    </Dialog>
  );
}
