import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { useLocation } from 'wouter';
import { useTimes } from '../format/time';
import { useSettled } from '../graph/find';
import { Dialog } from '../parts/dialog';
import { Field } from '../parts/field';
import { Money } from '../parts/money';
import { addressOf } from '../parts/object-link';
import { Problem } from '../parts/problem';
import { Status } from '../parts/status';
import { type Answer, useFound } from './found';
import { type Hit, readText, textLengthMax } from './query';

/** Calls a function when Ctrl K, or on a Mac ⌘ K, is pressed. */
export function useFindKey(open: () => void): void {
  useEffect(() => {
    const press = (event: globalThis.KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      // The browser would go to its own search. A dialog that is open keeps what was typed in it.
      event.preventDefault();
      if (!document.querySelector('dialog[open]')) open();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [open]);
}

/** The box that finds an object by what the viewer has of it, and goes to its page. */
export function Find({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Find" onClose={onClose}>
      <Box onClose={onClose} />
    </Dialog>
  );
}

function Box({ onClose }: { onClose: () => void }) {
  const id = useId();
  const [, go] = useLocation();
  const [text, setText] = useState('');
  const settled = useSettled(text);
  const answer = useFound(settled);
  const [chosen, setChosen] = useState(0);
  const [waiting, setWaiting] = useState(false);
  // What is shown while the next answer is awaited is not of the text that is typed.
  const ready = settled === text.trim() && answer !== undefined;
  const hits = ready ? answer.hits : [];
  const open = (hit: Hit) => {
    onClose();
    go(addressOf(hit.id)!);
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
      <Field label="Id, bank reference, amount, invoice number or name">
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
      <Said text={text.trim()} answer={ready ? answer : undefined} />
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
        <strong>{hit.name}</strong>
        <span className="hint">{[hit.kind, hit.hint, time(hit.created)].filter(Boolean).join(' · ')}</span>
      </span>
      <span className="hit-end">
        {hit.money && <Money amount={hit.money.amount} currency={hit.money.currency} />}
        <Status value={hit.status} />
      </span>
    </>
  );
}

function Said({ text, answer }: { text: string; answer: Answer | undefined }) {
  return (
    <>
      {answer?.error && <Problem error={answer.error} />}
      <p className="hint" role="status">
        {said(text, answer)}
      </p>
    </>
  );
}

/** What the box says below its hits, and where it has looked when it has none. */
function said(text: string, answer: Answer | undefined): string {
  if (text === '') return 'Type for example UTR123456789, 393.27, INV-5001, or the id of a payment.';
  const { id, amount, words } = readText(text);
  if (id === undefined && words === undefined) return 'Type a letter or a digit.';
  if (!answer) return 'Looking …';
  if (answer.error) return '';
  if (answer.more) return 'There are more. Type more of what you look for, or search in a list.';
  if (answer.hits.length > 0) return '';
  if (id !== undefined) return 'Nothing that you can see has this id.';
  const texts = "the payers, descriptions and banks' references of payments, invoice numbers or accounts";
  const end = amount === undefined ? '.' : ', and no payment, invoice or payout has this amount.';
  return `Nothing was found in ${texts}${end}`;
}
