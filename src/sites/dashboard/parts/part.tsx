import { createContext, type ReactNode, useContext } from 'react';
import { CombinedError } from 'urql';
import { Card } from './page';
import { Pending } from './problem';

/** The answer of which a page shows parts. */
interface Answer {
  error?: CombinedError | undefined;
  ask?: () => void;
}

const AnswerContext = createContext<Answer>({});

/** Gives the parts of a page the answer that they are taken from. */
export function Answered({ answer, children }: { answer: Answer; children: ReactNode }) {
  return <AnswerContext value={answer}>{children}</AnswerContext>;
}

/** The errors of a field, or below it. */
function ownErrors(error: CombinedError | undefined, field: string): CombinedError['graphQLErrors'] {
  const path = field.split('.');
  return error?.graphQLErrors.filter((each) => path.every((key, i) => each.path?.[i] === key)) ?? [];
}

/** The errors of a field, or below it; all errors where none is there, since a field that is null has been refused. */
function errorsAt(error: CombinedError | undefined, field: string): CombinedError | undefined {
  const own = ownErrors(error, field);
  return own.length > 0 ? new CombinedError({ graphQLErrors: own }) : error;
}

interface PartProps<Value> {
  /** What the field has: undefined until the answer is there, and null where the gateway refuses it. */
  value: Value | null | undefined;
  /** Where the field is in the answer, by the names that the query gives, such as `viewer.account.balance`. */
  field: string;
  /** The title of the card that stands in its place; without one the place is in a card already. */
  title?: string;
  /** How many grey lines wait for the answer. */
  lines?: number;
  children: (value: Value) => ReactNode;
}

/** A part of a page that the gateway can refuse alone: then it shows the error of its field, and the others stay. */
export function Part<Value>({ value, field, title, lines = 3, children }: PartProps<Value>) {
  const { error, ask } = useContext(AnswerContext);
  if (value !== null && value !== undefined) return children(value);
  const refused = { error: errorsAt(error, field), ...(ask && { ask }) };
  const pending = <Pending result={refused} lines={lines} />;
  return title === undefined ? pending : <Card title={title}>{pending}</Card>;
}
