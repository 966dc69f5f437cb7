import { useState } from 'react';
import { counted } from '../../format/words';
import { type Failure, useWrite } from '../../graph/write';
import { Problem } from '../../parts/problem';
import { graphql } from '../graphql';
import { useSession } from '../session';

const BookMutation = graphql(`
  mutation BookBankFile($input: BookBankFileInput!) {
    bookBankFile(input: $input) { booking { booked unmatched left } }
  }
`);

/** Books the lines of a file that wait because its import was interrupted. */
export function BookWaiting({ fileId, onDone }: { fileId: string; onDone: () => void }) {
  const { announce } = useSession();
  const { book, pending, progress, failure } = useBooking();
  const send = async () => {
    const done = await book(fileId);
    if (done) announce(bookedText(done));
    onDone();
  };
  return (
    <div className="note" role="status">
      <p>Lines of this file wait to be booked: its import was interrupted.</p>
      {failure && <Problem error={flat(failure)} />}
      {progress && <progress aria-label="Lines that are booked" {...progress} />}
      <button type="button" className="button small" disabled={pending} onClick={() => void send()}>
        Book them
      </button>
    </div>
  );
}

interface Booked {
  booked: number;
  unmatched: number;
}

export const bookedText = ({ booked, unmatched }: Booked) =>
  `${counted(booked, 'line')} booked${unmatched > 0 ? `, ${unmatched.toLocaleString()} refused and unmatched` : ''}.`;

/** Books a file in steps, with how far it has come. */
export function useBooking() {
  const { write, failure } = useWrite(BookMutation);
  const [progress, setProgress] = useState<{ value: number; max: number }>();
  const book = async (id: string): Promise<Booked | undefined> => {
    const done = { booked: 0, unmatched: 0 };
    setProgress({ value: 0, max: 1 });
    for (;;) {
      const answer = await write({ input: { id } });
      if (!answer) break;
      const { booked, unmatched, left } = answer.bookBankFile.booking;
      done.booked += booked;
      done.unmatched += unmatched;
      const value = done.booked + done.unmatched;
      setProgress({ value, max: value + left });
      if (left > 0) continue;
      setProgress(undefined);
      return done;
    }
    setProgress(undefined);
    return undefined;
  };
  return { book, failure, progress, pending: progress !== undefined };
}

/** A failure for a form without fields: all of its messages together. */
export const flat = ({ messages, fields, ...more }: Failure): Failure => ({
  ...more,
  messages: [...messages, ...Object.values(fields)],
  fields: {},
});
