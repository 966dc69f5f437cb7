import { codeOf, type Language, languages } from './code.js';
import { startHappening } from './happen.js';
import { store, stored } from './key.js';
import { documentOf, headersOf } from './run.js';
import { element, scrollTo, setup } from './setup.js';
import { onChange, open } from './tabs.js';

/** The two views of the panel beside the editors, with the buttons that show them. */
const views = ['code', 'happen'] as const;
type View = (typeof views)[number];

let language: Language = languages.find((each) => each === stored('language')) ?? 'curl';

/** Makes the panel work: the code of the query at hand, and *Make it happen*. */
export function startPanel(): void {
  for (const view of views)
    element(`show-${view}`).addEventListener('click', () => toggle(element(`view-${view}`).hidden ? view : undefined));
  element('panel-close').addEventListener('click', () => toggle(undefined));
  element('languages').append(...languages.map(choice));
  element('copy').addEventListener('click', () => void copy());
  onChange(refresh);
  startHappening();
  // The view that was open when an example was chosen.
  const before = views.find((view) => view === stored('view'));
  if (before) toggle(before);
}

function toggle(shown: View | undefined): void {
  const before = views.find((view) => !element(`view-${view}`).hidden);
  element('panel').hidden = shown === undefined;
  for (const view of views) {
    element(`view-${view}`).hidden = view !== shown;
    element(`show-${view}`).setAttribute('aria-expanded', String(view === shown));
  }
  store('view', shown ?? '');
  refresh();
  if (shown) scrollTo(element('panel'));
  else if (before) element(`show-${before}`).focus();
}

function choice(name: Language): HTMLLabelElement {
  const radio = Object.assign(document.createElement('input'), {
    ...{ type: 'radio', name: 'language', value: name, checked: name === language },
  });
  radio.addEventListener('change', () => {
    language = name;
    store('language', name);
    refresh();
  });
  const label = document.createElement('label');
  label.append(radio, name);
  return label;
}

/** Writes the code of the query at hand, as long as it is shown. */
function refresh(): void {
  if (element('view-code').hidden) return;
  const [code, fault] = written();
  element('code').textContent = code ?? '';
  element('code').hidden = code === undefined;
  element<HTMLButtonElement>('copy').disabled = code === undefined;
  element('code-state').textContent = fault ?? '';
}

function written(): [code: string | undefined, fault?: string] {
  const { query, variables, headers: typed, operationName } = open();
  const document = documentOf(query);
  if (!document) return [undefined, 'The query has a fault. Its code comes here when it has none.'];
  try {
    const { headers } = headersOf(objectOf(typed, 'headers'));
    const url = new URL(setup.endpoint, location.href).href;
    return [codeOf(language, { url, document, operationName, variables: objectOf(variables, 'variables'), headers })];
  } catch (error) {
    return [undefined, (error as Error).message];
  }
}

function objectOf(text: string, what: string): Record<string, unknown> {
  if (!text.trim()) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {}
  throw new Error(`The ${what} are no JSON object. The code comes here when they are one.`);
}

async function copy(): Promise<void> {
  try {
    await navigator.clipboard.writeText(element('code').textContent);
    element('code-state').textContent = 'Copied.';
  } catch {
    getSelection()?.selectAllChildren(element('code'));
    element('code-state').textContent = 'The browser does not let this page copy. The code is selected: copy it.';
  }
}
