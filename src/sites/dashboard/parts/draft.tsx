import { type RefObject, useContext, useLayoutEffect, useRef, useState } from 'react';
import { type Draft, draftOf, forgetDraft, keepDraft } from '../graph/drafts';
import { SessionContext } from '../session';

/** Fields that are never kept: secrets, and numbers of bank accounts, persons and businesses. */
const unkept = /^(apiKey$|bankAccount\.|identification\.|ids\.)|\.ids\./;

type Input = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** The inputs of a form whose values are kept. */
function inputsOf(form: HTMLFormElement): Input[] {
  const inputs = [...form.elements].filter(
    (each): each is Input =>
      each instanceof HTMLInputElement || each instanceof HTMLSelectElement || each instanceof HTMLTextAreaElement,
  );
  return inputs.filter(
    ({ name, type }) => name !== '' && !['password', 'file', 'hidden'].includes(type) && !unkept.test(name),
  );
}

/** The values that were chosen before with a select for several, which the list above it names in `data-chosen`. */
function chosenIn(form: HTMLFormElement, name: string): string[] {
  const lists = [...form.querySelectorAll<HTMLElement>('[data-chosen-for]')];
  return lists.find(({ dataset }) => dataset.chosenFor === name)?.dataset.chosen?.split('\n') ?? [];
}

const isBox = (input: Input): input is HTMLInputElement => input.type === 'checkbox';

/** Whether an input has the value that it came with. */
function isUntouched(input: Input): boolean {
  if (input instanceof HTMLSelectElement)
    return [...input.options].find(({ defaultSelected }) => defaultSelected)?.value === input.value;
  return isBox(input) ? input.checked === input.defaultChecked : input.value === input.defaultValue;
}

/** Gives an input a value of a draft, and reports the change as if it was chosen. */
function fill(input: Input, value: Draft[string]): void {
  if (isBox(input)) input.checked = value === true;
  else if (input.value !== value) {
    const before = input.value;
    input.value = String(value);
    // The options of a select may be still to come.
    if (input instanceof HTMLSelectElement && input.value !== value) input.value = before;
    else input.dispatchEvent(new Event('change', { bubbles: true }));
  }
}

/**
 * Keeps what is typed into a form in the storage of the tab, by account and mode, until it is sent or the viewer signs
 * out: a form that was left is filled in when it is opened again. Without a name nothing is kept.
 */
export function useDraft(form: RefObject<HTMLFormElement | null>, name: string | undefined) {
  const viewer = useContext(SessionContext)?.viewer;
  const key = name && viewer ? `${viewer.mode}:${viewer.account.id}:${name}` : undefined;
  const [restored, setRestored] = useState(false);
  const observed = useRef<MutationObserver>(null);
  useLayoutEffect(() => {
    const shown = form.current;
    const kept = new Map(Object.entries(key ? draftOf(key) : {}));
    if (!shown || kept.size === 0) return undefined;
    setRestored(true);
    // Some inputs come with what others have, such as the invoices of a customer; each is filled in once.
    const filled = new WeakSet<Input>();
    const fillAll = () => {
      for (const input of inputsOf(shown)) {
        const all = kept.get(input.name);
        const before = chosenIn(shown, input.name);
        const value =
          input instanceof HTMLSelectElement && typeof all === 'string'
            ? all.split('\n').find((each) => !before.includes(each))
            : all;
        // What was left empty may be filled in by the form itself.
        if (value === undefined || value === '' || filled.has(input)) continue;
        fill(input, value);
        if (isBox(input) || input.value === value) filled.add(input);
      }
    };
    const observer = new MutationObserver(fillAll);
    observed.current = observer;
    observer.observe(shown, { childList: true, subtree: true });
    fillAll();
    // What the viewer does goes before the draft.
    const stop = (event: Event) => event.isTrusted && observer.disconnect();
    const acts = ['input', 'click'] as const;
    for (const act of acts) shown.addEventListener(act, stop);
    return () => {
      observer.disconnect();
      for (const act of acts) shown.removeEventListener(act, stop);
    };
  }, [form, key]);
  const keep = () => {
    const shown = form.current;
    if (!key || !shown) return;
    const values: Record<string, string | boolean> = {};
    for (const { dataset } of shown.querySelectorAll<HTMLElement>('[data-chosen-for]'))
      values[dataset.chosenFor!] = dataset.chosen!;
    for (const input of inputsOf(shown)) {
      const chosen = chosenIn(shown, input.name);
      // What the form itself has filled in may be another value when it is opened again.
      if (chosen.length === 0 && isUntouched(input)) continue;
      values[input.name] = isBox(input) ? input.checked : [...chosen, input.value].filter(Boolean).join('\n');
    }
    keepDraft(key, values);
  };
  const forget = () => {
    observed.current?.disconnect();
    if (key) forgetDraft(key);
    setRestored(false);
  };
  return { restored, keep, forget };
}

/** Says that a form is filled in from a draft, and empties it. */
export function Restored({ form, onDiscard }: { form: RefObject<HTMLFormElement | null>; onDiscard: () => void }) {
  const discard = () => {
    onDiscard();
    form.current?.reset();
    for (const select of form.current?.querySelectorAll('select') ?? [])
      select.dispatchEvent(new Event('change', { bubbles: true }));
    form.current?.querySelector<HTMLElement>('input, select, textarea')?.focus();
  };
  return (
    <p className="restored" role="status">
      This is what you had typed before.
      <button type="button" className="button small" onClick={discard}>
        Start again
      </button>
    </p>
  );
}
