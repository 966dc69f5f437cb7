// Makes the payment page smoother. Every form and link also works without this script.
// The server decides what a page shows: the script requests the page again whenever the state has changed.

const live = document.getElementById('live');
const main = () => document.querySelector('main');
const pollMilliseconds = 2500;
let stream;
// The last state from the stream; undefined while the stream sends nothing.
let streamed;
let poll;
let timers = [];
// Stops the return to the payee's site; undefined on other pages.
let stay;
// The acquirer's card fields; undefined on a page without them.
let fields;
let busy = false;
// The state before an error page: the error page stays until the state differs from it.
let before;
// Answers may arrive in another order than their requests: the page shows the answer to the last request.
let turn = 0;
// The name on the card that was sent. The server stores no name, so this page keeps it for another attempt.
let cardName = '';

/** Announces a text to screen readers. */
function say(text) {
  if (live) live.textContent = text;
}

/**
 * Replaces this page by the page of an answer; `keep` keeps the typed text of the fields that both pages have. Returns
 * whether it did. It does not when a newer request has been sent, nor, with `news`, for an unchanged state.
 */
async function show(response, mine, { keep = false, news = false } = {}) {
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  if (mine !== turn) return false;
  const next = page.querySelector('main');
  if (!next) {
    location.reload();
    return false;
  }
  if (news && next.dataset.state === main().dataset.state) return false;
  if (next.dataset.state === 'message' && main().dataset.state !== 'message') before = main().dataset.state;
  const typed = keep ? [...main().querySelectorAll('input[type=text]')].map(({ id, value }) => [id, value]) : [];
  const unfolded = main().querySelector('details.fold')?.open;
  main().replaceWith(document.adoptNode(next));
  const fold = next.querySelector('details.fold');
  if (fold && unfolded) fold.open = true;
  const name = document.getElementById('name');
  // As its default, because a text that the payer has not typed does not hold back a change.
  if (name && next.dataset.state.startsWith('declined')) name.defaultValue = cardName;
  for (const [id, value] of typed) {
    const field = document.getElementById(id);
    if (field && value) field.value = value;
  }
  document.title = page.title;
  const url = new URL(response.url);
  if (url.pathname === location.pathname) history.replaceState(null, '', url);
  begin();
  const wrong = main().querySelector('[aria-invalid]');
  (wrong ?? main().querySelector('h1')).focus();
  return true;
}

/** The announcement of a page: its title, and a warning before it leaves for the payee's site. */
function announcement() {
  const seconds = main().querySelector('[data-return]')?.dataset.return;
  return seconds ? `${document.title}. You will be taken back in ${seconds} seconds, unless you stay.` : document.title;
}

async function refresh(state) {
  const here = main().dataset.state;
  if (busy || here === undefined || state === here || (here === 'message' && state === before)) return;
  const urgent = /^(paid|expired|cancelled|confirming)/.test(state);
  // A change that can wait must not discard what the payer has typed.
  const typing = [...main().querySelectorAll('form[novalidate] input[type=text]')].some(
    (f) => f.value && f.value !== f.defaultValue,
  );
  if (!urgent && (typing || fields?.used || location.search !== '')) return;
  if (urgent && location.search !== '') history.replaceState(null, '', location.pathname);
  const mine = ++turn;
  const response = await fetch(main().dataset.path, { headers: { accept: 'text/html' } });
  // A server error is not a new state: the next poll requests the page again.
  if (response.status < 500 && (await show(response, mine, { news: true }))) say(announcement());
}

async function pollState() {
  if (main().dataset.path === undefined) return;
  try {
    const response = await fetch(`${main().dataset.path}/state`);
    if (response.ok) await refresh((await response.json()).state);
  } catch {
    // The next poll may succeed.
  }
}

/**
 * Follows the state by the event stream, and polls while the stream sends nothing. Each interval also retries a
 * streamed state that could not be shown.
 */
function listen() {
  if (stream || main().dataset.path === undefined) return;
  stream = new EventSource(`${main().dataset.path}/events`);
  stream.onmessage = ({ data }) => {
    streamed = data;
    void refresh(data).catch(() => {});
  };
  stream.onerror = () => {
    streamed = undefined;
  };
  poll = setInterval(
    () => void (streamed === undefined ? pollState() : refresh(streamed).catch(() => {})),
    pollMilliseconds,
  );
}
