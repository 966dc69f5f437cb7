// Makes the payment page smoother; without it every form and link works all the same.
// The server decides what a page shows: this asks for it again whenever the state has changed.

const live = document.getElementById('live');
const main = () => document.querySelector('main');
const pollMilliseconds = 2500;
let stream;
let poll;
let timers = [];
let busy = false;

/** Says something to those who listen rather than look. */
function say(text) {
  if (live) live.textContent = text;
}

/** Puts the page of an answer in the place of this one, and keeps what was typed where the same field is there again. */
async function show(response, { keep = false } = {}) {
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const next = page.querySelector('main');
  if (!next) return location.reload();
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
}

async function refresh(state) {
  const here = main().dataset.state;
  if (busy || here === undefined || state === here) return;
  const away = /^(paid|expired|cancelled|confirming)/.test(state);
  // Nobody's typing is thrown away for news that can wait.
  const typing = [...main().querySelectorAll('form[novalidate] input[type=text]')].some(
    (f) => f.value && f.value !== f.defaultValue,
  );
  if (!away && (typing || location.search !== '')) return;
  if (away && location.search !== '') history.replaceState(null, '', location.pathname);
  await show(await fetch(location.pathname, { headers: { accept: 'text/html' } }));
  say(document.title);
}

async function ask() {
  try {
    const response = await fetch(`${main().dataset.path}/state`);
    if (response.ok) await refresh((await response.json()).state);
  } catch {
    // The next one may get through.
  }
}

/** News by a stream; where there is none, by asking from time to time. */
function listen() {
  if (stream || poll || main().dataset.path === undefined) return;
  stream = new EventSource(`${main().dataset.path}/events`);
  stream.onmessage = ({ data }) => void refresh(data).catch(() => {});
  stream.onerror = () => {
    if (stream.readyState !== EventSource.CLOSED) return;
    poll ??= setInterval(ask, pollMilliseconds);
  };
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
    text.textContent = `You will be taken back in ${left} seconds.`;
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

/** A slash after the month, where somebody types on. */
function slash(field, event) {
  if (event.inputType?.startsWith('delete')) return;
  if (/^\d{2}$/.test(field.value)) field.value += '/';
  else if (/^\d{3,4}$/.test(field.value)) field.value = `${field.value.slice(0, 2)}/${field.value.slice(2)}`;
}

async function send(event) {
  const form = event.target;
  event.preventDefault();
  if (busy) return;
  busy = true;
  const button = form.querySelector('button');
  button.setAttribute('aria-disabled', 'true');
  say('One moment.');
  try {
    const response = await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)) });
    busy = false;
    await show(response, { keep: response.status === 400 });
    say(response.status === 400 ? '' : document.title);
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
