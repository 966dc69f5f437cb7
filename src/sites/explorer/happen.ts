import { TriggerError } from '../../operator/commands/trigger/gateway.js';
import { trigger } from '../../operator/commands/trigger/trigger.js';
import { isKnown, key, stored } from './key.js';
import { credential } from './run.js';
import { element, type EventType, scrollTo, setup } from './setup.js';
import { openTask } from './tabs.js';

/*
 * Makes events happen: by the recipes of the command `tidegate trigger`, which this page follows with the caller's key
 * over the public API. So a page can do nothing that its key cannot, and each step costs what it costs anybody.
 */
const types = element<HTMLSelectElement>('event-type');

/** Makes the form work that causes an event. */
export function startHappening(): void {
  types.append(...groups(setup.events));
  types.value = 'deposit.completed';
  types.addEventListener('change', describe);
  describe();
  element('view-happen').addEventListener('submit', (event) => {
    event.preventDefault();
    void happen(types.value);
  });
  element('subscription-open').addEventListener('click', () => openTask(String(setup.subscription)));
}

function describe(): void {
  element('event-when').textContent = setup.events.find(({ type }) => type === types.value)?.when ?? '';
}

/** The types of events, by the object that they are about. */
function groups(events: EventType[]): HTMLOptGroupElement[] {
  const objects = [...new Set(events.map(({ type }) => type.split('.')[0]!))];
  return objects.map((object) => {
    const group = Object.assign(document.createElement('optgroup'), { label: object });
    group.append(
      ...events.filter(({ type }) => type.startsWith(`${object}.`)).map(({ type }) => new Option(type, type)),
    );
    return group;
  });
}

async function happen(type: string): Promise<void> {
  const [state, steps] = [element('happen-state'), element('happen-steps')];
  steps.replaceChildren();
  if (!isKnown) {
    state.textContent = 'Paste a test key above first.';
    return;
  }
  const button = element<HTMLButtonElement>('happen');
  button.disabled = true;
  state.textContent = `Making ${type} happen …`;
  try {
    const { number } = await trigger({
      ...{ gateway: location.origin, credential: credential(key), onBehalfOf: stored('behalf') || undefined, type },
      say: (step) => steps.append(Object.assign(document.createElement('li'), { textContent: step })),
    });
    state.textContent = `${type} has happened: it is event ${number}.`;
    scrollTo(document.querySelector('.graphiql-response') ?? element('answer'));
  } catch (error) {
    state.textContent = error instanceof TriggerError ? error.message : 'The gateway did not answer. Try again.';
  } finally {
    button.disabled = false;
  }
}
