// Makes the payment page smoother; without it every form and link works all the same.
// The server decides what a page shows: this asks for it again whenever the state has changed.

const live = document.getElementById('live');
const main = () => document.querySelector('main');
const pollMilliseconds = 2500;
let stream;
// What the stream has said last; nothing while it is silent.
let heard;
let poll;
let timers = [];
let busy = false;
// What was shown before a fault: until that changes, the page that tells of the fault stays.
let before;
// Answers may overtake each other: what was asked for last is what is shown.
let turn = 0;

/** Says something to those who listen rather than look. */
function say(text) {
  if (live) live.textContent = text;
}

/**
 * Puts the page of an answer in the place of this one, and keeps what was typed where the same field is there again.
 * Whether it did: not when something else was asked for meanwhile, nor when news turn out to be none.
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
  main().replaceWith(document.adoptNode(next));
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

/** What a page is about, in words: its title, and that it will not stay. */
function told() {
  const seconds = main().querySelector('[data-return]')?.dataset.return;
  return seconds ? `${document.title}. You will be taken back in ${seconds} seconds, unless you stay.` : document.title;
}

async function refresh(state) {
  const here = main().dataset.state;
  if (busy || here === undefined || state === here || (here === 'message' && state === before)) return;
  const away = /^(paid|expired|cancelled|confirming)/.test(state);
  // Nobody's typing is thrown away for news that can wait.
  const typing = [...main().querySelectorAll('form[novalidate] input[type=text]')].some(
    (f) => f.value && f.value !== f.defaultValue,
  );
  if (!away && (typing || location.search !== '')) return;
  if (away && location.search !== '') history.replaceState(null, '', location.pathname);
  const mine = ++turn;
  const response = await fetch(main().dataset.path, { headers: { accept: 'text/html' } });
  // A fault of the server's is no news; it is asked again.
  if (response.status < 500 && (await show(response, mine, { news: true }))) say(told());
}

async function ask() {
  if (main().dataset.path === undefined) return;
  try {
    const response = await fetch(`${main().dataset.path}/state`);
    if (response.ok) await refresh((await response.json()).state);
  } catch {
    // The next one may get through.
  }
}

/** News by a stream; while that is silent, by asking from time to time. What could not be shown at once is shown then, too. */
function listen() {
  if (stream || main().dataset.path === undefined) return;
  stream = new EventSource(`${main().dataset.path}/events`);
  stream.onmessage = ({ data }) => {
    heard = data;
    void refresh(data).catch(() => {});
  };
  stream.onerror = () => {
    heard = undefined;
  };
  poll = setInterval(() => void (heard === undefined ? ask() : refresh(heard).catch(() => {})), pollMilliseconds);
}

function leftText(seconds) {
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (h > 0) return m > 0 ? `${h} h ${m} min left` : `${h} h left`;
  return m > 0 ? `${m} min ${String(s).padStart(2, '0')} s left` : `${s} s left`;
}

/** Counts a time down, seen but not read aloud; half a minute before its end, a warning is. */
function count(element) {
  const end = performance.now() + Number(element.dataset.left) * 1000;
  let warned = false;
  const tick = () => {
    const left = Math.max(0, Math.round((end - performance.now()) / 1000));
    element.textContent = ` (${leftText(left)})`;
    if (element.dataset.warn && left <= 30 && left > 0 && !warned) {
      warned = true;
      say(element.dataset.warn);
    }
    // What is over is looked up: the server says what is left of it.
    if (left === 0) void ask();
  };
  tick();
  timers.push(setInterval(tick, 1000));
}

/** Goes back to the payee after a while, unless the payer wants to stay. */
function goBack(element) {
  const link = main().querySelector('[data-leave]');
  let left = Number(element.dataset.return);
  const text = document.createElement('span');
  const stay = document.createElement('button');
  stay.type = 'button';
  stay.textContent = 'Stay on this page';
  element.replaceChildren(text, ' ', stay);
  const tick = () => {
    text.textContent = `You will be taken back in ${left} ${left === 1 ? 'second' : 'seconds'}.`;
    if (left-- > 0) return;
    clearInterval(timer);
    location.assign(link.href);
  };
  const timer = setInterval(tick, 1000);
  tick();
  timers.push(timer);
  stay.addEventListener('click', () => {
    clearInterval(timer);
    element.remove();
    say('');
    link.focus();
  });
}

/** Digits in groups of four, as they are on the card. */
function group(field) {
  const before = field.value.slice(0, field.selectionStart).replace(/\D/g, '').length;
  field.value = field.value.replace(/\D/g, '').replace(/(.{4})(?=.)/g, '$1 ');
  let at = 0;
  for (let digits = 0; digits < before && at < field.value.length; at++) if (field.value[at] !== ' ') digits++;
  field.setSelectionRange(at, at);
}

/**
 * A slash after the month, where four or six digits can be nothing but month and year: a payer may also be on the way to
 * another spelling, and what would be read without this script must not be spoiled by it.
 */
function slash(field, event) {
  if (event.inputType?.startsWith('delete') || field.selectionStart < field.value.length) return;
  const [, month, year] = /^(0[1-9]|1[0-2])(\d\d|20\d\d)$/.exec(field.value) ?? [];
  const ahead = Number(year?.slice(-2)) - (new Date().getFullYear() % 100);
  if (ahead >= 0 && ahead < 20) field.value = `${month}/${year}`;
}

async function send(event) {
  const form = event.target;
  event.preventDefault();
  if (busy) return;
  busy = true;
  const mine = ++turn;
  const button = form.querySelector('button');
  button.setAttribute('aria-disabled', 'true');
  say('One moment.');
  try {
    const response = await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)) });
    // What the stream said before may be older than this answer.
    heard = undefined;
    await show(response, mine, { keep: response.status === 400 });
    busy = false;
    say(response.status === 400 ? '' : told());
  } catch {
    busy = false;
    // The same form again is the same attempt, so the browser may send it as it would without this script.
    form.submit();
  }
}

/** Everything that a page needs once it is there. */
function begin() {
  for (const timer of timers) clearInterval(timer);
  timers = [];
  for (const element of main().querySelectorAll('[data-left]')) count(element);
  const back = main().querySelector('[data-return]');
  if (back) goBack(back);
  for (const form of main().querySelectorAll('form')) form.addEventListener('submit', send);
  const number = document.getElementById('number');
  number?.addEventListener('input', () => group(number));
  const expiry = document.getElementById('expiry');
  expiry?.addEventListener('input', (event) => slash(expiry, event));
  if (main().dataset.state?.startsWith('paid')) {
    stream?.close();
    clearInterval(poll);
  } else listen();
}

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') void ask();
});
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});
begin();
