import { keep, openEditor, wasOpened } from './editor.js';
import { isKnown } from './key.js';
import { run } from './run.js';
import { element, scrollTo } from './setup.js';
import { openTab, tabs } from './tabs.js';

/*
 * The editor at first sight: two plain fields, an answer, and nothing to load. The first focus of a field brings
 * GraphiQL, which takes over what is here.
 */
const query = element<HTMLTextAreaElement>('query');
const variables = element<HTMLTextAreaElement>('variables');
const button = element<HTMLButtonElement>('run');
const answer = element('answer');
let running: AsyncIterator<object> | undefined;

/** Makes the plain editor work, or opens the editor that the tab of the browser had before. */
export function startPlain(): void {
  showTab();
  element('plain-tabs').append(...tabs.tabs.map(({ title }, at) => tabButton(title, at)));
  query.addEventListener('focus', load);
  variables.addEventListener('focus', load);
  button.addEventListener('click', () => void pressed());
  if (wasOpened()) load();
}

const load = () => void openEditor().catch(() => {});

function tabButton(title: string, at: number): HTMLButtonElement {
  const made = Object.assign(document.createElement('button'), { type: 'button', textContent: title });
  made.setAttribute('aria-pressed', String(at === tabs.activeTabIndex));
  made.addEventListener('click', () => {
    keep();
    tabs.activeTabIndex = at;
    showTab();
    keep();
    for (const [index, each] of [...element('plain-tabs').children].entries())
      each.setAttribute('aria-pressed', String(index === at));
  });
  return made;
}

function showTab(): void {
  const tab = openTab();
  query.value = tab.query ?? '';
  variables.value = tab.variables ?? '';
  element('plain').classList.toggle('with-variables', tab.variables !== null);
  if (!running) say('The answer comes here.');
}

/** Runs the query, or ends the subscription that runs. */
async function pressed(): Promise<void> {
  if (running) {
    await running.return?.();
    return;
  }
  keep();
  if (isKnown) say('Running …');
  try {
    const given = await run({ query: query.value, variables: variablesOf(), operationName: undefined });
    if (Symbol.asyncIterator in given) await follow(given as AsyncIterable<object>);
    else show(given);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
  }
  scrollTo(answer);
}

async function follow(results: AsyncIterable<object>): Promise<void> {
  running = results[Symbol.asyncIterator]();
  label();
  scrollTo(answer);
  try {
    for (let each = await running.next(); !each.done; each = await running.next()) show(each.value);
  } finally {
    running = undefined;
    label();
  }
}

function label(): void {
  button.textContent = running ? 'Stop' : 'Run';
  button.classList.toggle('running', running !== undefined);
}

function variablesOf(): object {
  if (!variables.value.trim()) return {};
  try {
    return JSON.parse(variables.value) as object;
  } catch {
    throw new Error('The variables are not valid JSON. Correct them and run this again.');
  }
}

function say(text: string): void {
  answer.textContent = text;
  answer.classList.add('said');
}

function show(value: object): void {
  answer.textContent = JSON.stringify(value, null, 2);
  answer.classList.remove('said');
}
