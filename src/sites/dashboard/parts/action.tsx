import { type ReactNode, useState } from 'react';
import type { TypedDocumentNode } from 'urql';
import { type Done, useWrite } from '../graph/write';
import { useMayWrite } from '../session';
import { Dialog } from './dialog';
import { Copy } from './facts';
import { Form } from './form';

interface ActionDialogProps<Data, Input, Values> {
  /** The title of the dialog, and what its button says unless `submit` says it. */
  title: string;
  submit?: string;
  /** Whether what it does cannot be undone. */
  danger?: boolean;
  /** Whether no session may do it; see `Form`. */
  withKey?: boolean | undefined;
  mutation: TypedDocumentNode<Data, { input: Input }>;
  /** Makes the input of the values of the form. */
  read: (values: Values) => Input;
  onClose: () => void;
  /** With it, the dialog stays open, and shows what is left to say of the answer. */
  after?: (data: Done<Data>) => ReactNode;
  onDone?: ((data: Done<Data>) => void) | undefined;
  /** What will happen, and the fields of the form. */
  children?: ReactNode;
}

/** A dialog that does one thing: it says what will happen, asks for what it needs, and closes when it is done. */
export function ActionDialog<Data, Input, Values>(props: ActionDialogProps<Data, Input, Values>) {
  const { title, submit = title, danger, withKey, mutation, read, onClose, after, onDone, children } = props;
  const { write, pending, failure } = useWrite(mutation);
  const [answer, setAnswer] = useState<ReactNode>();
  const send = async (values: Values, apiKey?: string) => {
    const data = await write({ input: read(values) }, apiKey);
    if (data === undefined) return;
    onDone?.(data);
    if (after) setAnswer(after(data));
    else onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      {answer ? (
        <>
          {answer}
          <button type="button" className="button" onClick={onClose}>
            Done
          </button>
        </>
      ) : (
        <Form<Values> label={title} {...{ submit, danger, withKey, pending, failure }} onSubmit={send}>
          {children}
        </Form>
      )}
    </Dialog>
  );
}

type ActionButtonProps<Data, Input, Values> = Omit<ActionDialogProps<Data, Input, Values>, 'onClose' | 'title'> & {
  /** What the button says, and unless `title` says it the dialog, too. */
  name: string;
  title?: string;
  /** What the button is about, for those who do not see what stands beside it. */
  about?: string;
  small?: boolean;
  /** Whether it is what the page is for. */
  primary?: boolean;
};

/** A button that opens the dialog of one thing to do. Those who may only read do not see it. */
export function ActionButton<Data, Input, Values>(props: ActionButtonProps<Data, Input, Values>) {
  const { name, title = name, about, small, primary, ...dialog } = props;
  const [open, setOpen] = useState(false);
  if (!useMayWrite()) return null;
  return (
    <>
      <button
        type="button"
        className={`button${small ? ' small' : ''}${primary ? ' primary' : ''}${dialog.danger ? ' danger' : ''}`}
        aria-label={about && `${name} ${about}`}
        onClick={() => setOpen(true)}
      >
        {name}
      </button>
      {open && <ActionDialog {...dialog} title={title} onClose={() => setOpen(false)} />}
    </>
  );
}

/** A new secret, which is shown once. A try whose answer was lost has made it too, and nobody can see it any more. */
export function NewSecret({ label, name, secret }: { label: string; name: string; secret: string | null }) {
  if (secret === null)
    return (
      <p className="note" role="status">
        An earlier try has done this, and the {name} was lost with its answer. Rotate the {name} to get another one.
      </p>
    );
  return (
    <div className="note" role="status">
      <p>
        <strong>{label}</strong> Copy it now: it is not shown again.
      </p>
      <Copy text={secret} label={`the ${name}`} />
    </div>
  );
}
