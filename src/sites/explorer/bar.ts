import { clean, enter, isKnown, key, mask, session, store, stored } from './key.js';
import { asked, onStatus } from './run.js';
import { element, setup } from './setup.js';
import { changed, openTask } from './tabs.js';

/** Who a key is, as the bar shows it. */
interface Viewer {
  viewer: { edition: number; mode: 'TEST' | 'LIVE'; account: { nickname: string | null } };
}

interface Users {
  accounts: { nodes: { id: string; nickname: string | null }[] };
}

/** Makes the bar above the editors work: the key, the examples, and for whom requests act. */
export function startBar(): void {
  element('welcome').hidden = isKnown;
  document.body.classList.toggle('known', isKnown);
  element('session-use').hidden = !setup.dashboard;
  element('welcome').addEventListener('submit', (event) => {
    event.preventDefault();
    const text = clean(element<HTMLInputElement>('key').value);
    if (text) enter(text);
    else element('key').focus();
  });
  element('key-forget').addEventListener('click', () => enter(''));
  element('session-use').addEventListener('click', () => {
    store('session', 'yes');
    location.reload();
  });
  element<HTMLSelectElement>('tasks').addEventListener('change', ({ target }) =>
    openTask((target as HTMLSelectElement).value),
  );
  startActing();
  onStatus(say);
  say(200, key);
  if (isKnown) void greet();
  else if (!('ontouchstart' in window)) element('key').focus();
}

/** Shows whose key it is, which also finds out whether it is valid. */
async function greet(): Promise<void> {
  const found = await asked<Viewer>('query WhoseKey { viewer { edition mode account { nickname } } }').catch(
    () => null,
  );
  if (!found) return;
  const { edition, mode, account } = found.viewer;
  element('key-owner').textContent = [account.nickname, `Edition ${edition}`, `${mode.toLowerCase()} mode`]
    .filter(Boolean)
    .join(' · ');
}

/** Says which key is used, and whether it was refused. */
function say(status: number, used: string): void {
  const refused = status === 401;
  element('key-forget').hidden = !used;
  element('key-forget').textContent = refused ? 'Use another key' : 'Change key';
  element('behalf-load').hidden = !isKnown || refused || !element('behalf').hidden;
  if (refused) {
    element('welcome').hidden = false;
    element('key-owner').textContent = '';
  }
  element('key-status').textContent =
    !used && session
      ? refused
        ? 'The dashboard is not signed in. Sign in there, or paste a key.'
        : "Using the dashboard's session."
      : !used
        ? ''
        : refused
          ? `The key ${mask(used)} was refused. Paste another one.`
          : `Using ${mask(used)} in this tab.`;
}

/** The choice for whom to act is sent as On-Behalf-Of with every request. */
function startActing(): void {
  const picker = element<HTMLSelectElement>('behalf');
  picker.addEventListener('change', () => {
    store('behalf', picker.value);
    changed();
  });
  element('behalf-load').addEventListener('click', () => void chooseUser().then(() => picker.focus()));
  const behalf = stored('behalf');
  if (!behalf) return;
  picker.replaceChildren(new Option('Act as yourself', ''), new Option(behalf, behalf, true, true));
  picker.hidden = false;
  // A new page knows the id alone; with the names, another user can be chosen, too.
  if (isKnown) void chooseUser().catch(() => {});
}

/** Shows the users for whom a platform can act. */
async function chooseUser(): Promise<void> {
  const behalf = stored('behalf');
  const query = 'query UsersToActFor { accounts(type: [USER], first: 100) { nodes { id nickname } } }';
  const users = (await asked<Users>(query))?.accounts.nodes ?? [];
  const options = [{ id: '', nickname: 'Act as yourself' }, ...users].map(
    ({ id, nickname }) => new Option(nickname ?? id, id),
  );
  if (behalf && !users.some(({ id }) => id === behalf)) options.push(new Option(behalf, behalf));
  const picker = element<HTMLSelectElement>('behalf');
  picker.replaceChildren(...options);
  picker.value = stored('behalf');
  picker.hidden = false;
  element('behalf-load').hidden = true;
}
