import type { ReactNode } from 'react';
import type { TypedDocumentNode } from 'urql';
import { Link, useLocation } from 'wouter';
import { type Done, useWrite } from '../graph/write';
import { useMayWrite } from '../session';
import { Empty } from './empty';
import { Form } from './form';
import { Card, Page } from './page';

interface CreatePageProps<Data, Input, Asked> {
  /** What is created, such as `receivable`. */
  kind: string;
  /** The list to which it belongs. */
  list: { href: string; name: string };
  mutation: TypedDocumentNode<Data, { input: Input }>;
  /** Makes the input of the values of the form. */
  read: (asked: Asked) => Input;
  /** The address of what was created. */
  addressOf: (data: Done<Data>) => string;
  /** The name of the draft of the form; what is created, unless the form is filled in. */
  draft?: string;
  /** The fields of the form. */
  children: ReactNode;
}

/** A page with the form that creates an object, and leads to the object's page. */
export function CreatePage<Data, Input, Asked>(props: CreatePageProps<Data, Input, Asked>) {
  const { kind, list, mutation, read, addressOf, draft = kind, children } = props;
  const [, go] = useLocation();
  const mayWrite = useMayWrite();
  const { write, pending, failure } = useWrite(mutation);
  const submit = async (asked: Asked) => {
    const made = await write({ input: read(asked) });
    if (made) go(addressOf(made));
    return made !== undefined;
  };
  const cancel = (
    <Link href={list.href} className="button">
      Cancel
    </Link>
  );
  if (!mayWrite) {
    return (
      <Page title={`New ${kind}`} back={list}>
        <Empty title="You may only read here">
          <p>Sign in with a key that may write.</p>
        </Empty>
      </Page>
    );
  }
  return (
    <Page title={`New ${kind}`} back={list}>
      <Card>
        <Form<Asked>
          label={`New ${kind}`}
          submit={`Create ${kind}`}
          draft={draft}
          {...{ pending, failure }}
          onSubmit={submit}
          actions={cancel}
        >
          {children}
        </Form>
      </Card>
    </Page>
  );
}
