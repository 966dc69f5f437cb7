import type { CombinedError } from 'urql';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useState } from 'react';
import { useLocation } from 'wouter';
import { useTimes } from '../format/time';
import { useDebounced } from '../graph/find';
import { Dialog } from '../parts/dialog';
import { Field } from '../parts/field';
import { Money } from '../parts/money';
import { Problem } from '../parts/problem';
import { Status } from '../parts/status';

/** An object that was found, as the box shows it. */
export interface Hit {
  /** What no other hit has. */
  id: string;
  /** The address of its page. */
  href: string;
  kind: string;
  /** Whose it is, or what it is called. */
  name: string;
  /** The reference by which people know it. */
  hint: string | null;
  created: string;
  status: string | null;
  money?: { amount: string; currency: string } | undefined;
  /** What else stands beside its name, such as its mode. */
  mark?: ReactNode;
}

/** What the gateway answered for a text. */
export interface Answer {
  text: string;
  hits: Hit[];
  /** Whether some lists have more than is shown. */
  more: boolean;
  error?: CombinedError | undefined;
}

/** What a box finds, and what it says. */
interface FinderProps<Found extends Answer> {
  label: string;
  textLengthMax: number;
  /** The answer for a text, once it is there. */
  useAnswer: (text: string) => Found | undefined;
  /** What the box says below its hits, and where it has looked when it has none. */
  said: (text: string, answer: Found | undefined) => string;
  onClose: () => void;
}

/** The box that finds an object by what the viewer has of it, and goes to its page. */
export function FindDialog<Found extends Answer>(props: FinderProps<Found>) {
  return (
    <Dialog title="Find" onClose={props.onClose}>
      <Box {...props} />
    </Dialog>
  );
}

function Box<Found extends Answer>({ label, textLengthMax, useAnswer, said, onClose }: FinderProps<Found>) {
  const id = useId();
  const [, go] = useLocation();
  const [text, setText] = useState('');
  const debounced = useDebounced(text);
  const answer = useAnswer(debounced);
  const [chosen, setChosen] = useState(0);
  const [waiting, setWaiting] = useState(false);
  // What is shown while the next answer is awaited is not of the text that is typed.
  const ready = debounced === text.trim() && answer !== undefined;
  const hits = ready ? answer.hits : [];
  const open = (hit: Hit) => {
    onClose();
    go(hit.href);
  };
  useEffect(() => {
    if (!waiting || !ready) return;
    setWaiting(false);
    // Enter came before the answer: it opens what cannot be anything else.
    if (hits.length === 1 && !answer.more) open(hits[0]!);
  });
  const press = (event: KeyboardEvent<HTMLInputElement>) => {
    // In a field for searches the browser would clear the text first.
    if (event.key === 'Escape') onClose();
    if (event.key === 'Enter') {
      event.preventDefault();
      if (ready && hits[chosen]) open(hits[chosen]);
      else setWaiting(!ready);
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined || hits.length === 0) return;
    event.preventDefault();
    setChosen((chosen + step + hits.length) % hits.length);
  };
  return (
    <>
      <Field label={label}>
        {(input) => (
          <input
            {...input}
            type="search"
            {...comboOf(id, hits.length > 0, chosen)}
            autoComplete="off"
            spellCheck={false}
            maxLength={textLengthMax}
            value={text}
            onKeyDown={press}
            onChange={(event) => {
              setText(event.target.value);
              setChosen(0);
              setWaiting(false);
            }}
          />
        )}
      </Field>
      <Hits id={id} hits={hits} chosen={chosen} onChoose={setChosen} onOpen={open} />
      <Said error={ready ? answer.error : undefined} text={said(text.trim(), ready ? answer : undefined)} />
    </>
  );
}

/** How a field names its list of options, and the chosen one. */
const comboOf = (id: string, isOpen: boolean, chosen: number) => ({
  role: 'combobox',
  'aria-expanded': isOpen,
  ...(isOpen && { 'aria-controls': `${id}-hits`, 'aria-activedescendant': `${id}-${chosen}` }),
});

interface HitsProps {
  /** The beginning of the ids of the options, by which the field names the chosen one. */
  id: string;
  hits: readonly Hit[];
  chosen: number;
  onChoose: (at: number) => void;
  onOpen: (hit: Hit) => void;
}

function Hits({ id, hits, chosen, onChoose, onOpen }: HitsProps) {
  // The focus stays in the field, so the browser does not show what is chosen by the arrows.
  useEffect(() => document.getElementById(`${id}-${chosen}`)?.scrollIntoView({ block: 'nearest' }), [id, chosen]);
  if (hits.length === 0) return null;
  return (
    <ul className="hits" role="listbox" id={`${id}-hits`} aria-label="Found">
      {hits.map((hit, at) => (
        <li
          key={hit.id}
          id={`${id}-${at}`}
          role="option"
          aria-selected={at === chosen}
          onClick={() => onOpen(hit)}
          onPointerMove={() => onChoose(at)}
        >
          <HitRow hit={hit} />
        </li>
      ))}
    </ul>
  );
}

function HitRow({ hit }: { hit: Hit }) {
  const time = useTimes();
  return (
    <>
      <span className="hit-name">
        <span>
          <strong>{hit.name}</strong> {hit.mark}
        </span>
        <span className="hint">{[hit.kind, hit.hint, time(hit.created)].filter(Boolean).join(' · ')}</span>
      </span>
      <span className="hit-end">
        {hit.money && <Money amount={hit.money.amount} currency={hit.money.currency} />}
        {hit.status && <Status value={hit.status} />}
      </span>
    </>
  );
}

function Said({ error, text }: { error: CombinedError | undefined; text: string }) {
  return (
    <>
      {error && <Problem error={error} />}
      <p className="hint" role="status">
        {text}
      </p>
    </>
  );
}
