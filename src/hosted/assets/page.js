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

function leftText(seconds) {
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (h > 0) return m > 0 ? `${h} h ${m} min left` : `${h} h left`;
  return m > 0 ? `${m} min ${String(s).padStart(2, '0')} s left` : `${s} s left`;
}

/** Shows a countdown that screen readers do not announce; 30 seconds before its end it announces a warning. */
function count(element) {
  const end = performance.now() + Number(element.dataset.left) * 1000;
  const ring = element.closest('.time')?.querySelector('[data-ring]');
  let warned = false;
  const tick = () => {
    const left = Math.max(0, Math.round((end - performance.now()) / 1000));
    element.textContent = `(${leftText(left)})`;
    ring?.setAttribute('stroke-dasharray', `${(100 * left) / Number(ring.dataset.ring)} 100`);
    if (element.dataset.warn && left <= 30 && left > 0 && !warned) {
      warned = true;
      say(element.dataset.warn);
    }
    // At the end of the countdown, the server reports the state.
    if (left === 0) void pollState();
  };
  tick();
  timers.push(setInterval(tick, 1000));
}

/** Goes back to the payee's site after a countdown, unless the payer chooses to stay or uses the receipt. */
function goBack(element) {
  const link = main().querySelector('[data-leave]');
  let left = Number(element.dataset.return);
  const text = document.createElement('span');
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet small';
  button.textContent = 'Stay on this page';
  element.replaceChildren(text, ' ', button);
  const tick = () => {
    text.textContent = `You will be taken back in ${left} ${left === 1 ? 'second' : 'seconds'}.`;
    if (left-- > 0) return;
    clearInterval(timer);
    location.assign(link.href);
  };
  const timer = setInterval(tick, 1000);
  tick();
  timers.push(timer);
  stay = () => {
    clearInterval(timer);
    element.remove();
    say('');
  };
  button.addEventListener('click', () => {
    stay();
    link.focus();
  });
  for (const fold of main().querySelectorAll('details')) fold.addEventListener('toggle', stay, { once: true });
}

/** Copies a text, and says so on its button for a moment. */
async function copy(button) {
  stay?.();
  const [, label] = button.children;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    label.textContent = 'Copied';
  } catch {
    label.textContent = 'Not copied';
  }
  say(label.textContent);
  timers.push(setTimeout(() => (label.textContent = 'Copy'), 2000));
}

/** The brand of a card by the first digits of its number. */
function brandOf(number) {
  if (/^3[47]/.test(number)) return 'american-express';
  if (/^(60|508|652[12]|8[12])/.test(number)) return 'rupay';
  if (/^(5[1-5]|2(22[1-9]|2[3-9]|[3-6]|7[01]|720))/.test(number)) return 'mastercard';
  return number.startsWith('4') ? 'visa' : '';
}

/** Groups the digits as on the card, and shows the mark of its brand. */
function group(field) {
  const before = field.value.slice(0, field.selectionStart).replace(/\D/g, '').length;
  const digits = field.value.replace(/\D/g, '');
  const brand = brandOf(digits);
  field.nextElementSibling.dataset.brand = brand;
  const groups = brand === 'american-express' ? /^(.{4})(.{0,6})(.*)$/ : /^(.{4})(.{0,4})(.{0,4})(.*)$/;
  field.value = (groups.exec(digits)?.slice(1) ?? [digits]).filter(Boolean).join(' ');
  let at = 0;
  for (let passed = 0; passed < before && at < field.value.length; at++) if (field.value[at] !== ' ') passed++;
  field.setSelectionRange(at, at);
}

/**
 * Adds a slash after the month, but only when four or six digits can only be a month and a year. The payer may be
 * typing another format, and the script must not break a date that the server can read.
 */
function slash(field, event) {
  if (event.inputType?.startsWith('delete') || field.selectionStart < field.value.length) return;
  const [, month, year] = /^(0[1-9]|1[0-2])(\d\d|20\d\d)$/.exec(field.value) ?? [];
  const ahead = Number(year?.slice(-2)) - (new Date().getFullYear() % 100);
  if (ahead >= 0 && ahead < 20) field.value = `${month}/${year}`;
}

/**
 * Connects the acquirer's card fields in the frame of this page. The frame gets the message `tidegate:tokenize` and
 * answers with `tidegate:token` or `tidegate:invalid`; it may state its height. Messages of another origin or of
 * another window are not read, and ours go to that origin alone.
 */
function connectFields(form) {
  const frame = form.querySelector('iframe');
  const button = form.querySelector('[data-needs-script]');
  const { fields: origin } = form.dataset;
  let timer;
  button.hidden = false;
  // Only now, because the frame states its height when it has loaded, and this script must hear it.
  frame.src = frame.dataset.src;
  const idle = (text = '') => {
    clearTimeout(timer);
    timer = undefined;
    button.removeAttribute('aria-disabled');
    const error = form.querySelector('[data-fields-error]');
    error.hidden = text === '';
    error.firstElementChild.textContent = text;
    say('');
  };
  return {
    used: false,
    /** Asks the frame for a token. The form is sent when it arrives. */
    ask() {
      if (timer !== undefined) return;
      button.setAttribute('aria-disabled', 'true');
      say('One moment.');
      timer = setTimeout(
        () => idle('The card form does not answer. You have not been charged. Please try again.'),
        20_000,
      );
      timers.push(timer);
      frame.contentWindow.postMessage({ type: 'tidegate:tokenize' }, origin);
    },
    hear({ origin: sender, source, data }) {
      if (sender !== origin || source !== frame.contentWindow) return;
      const { type, token, height } = data ?? {};
      if (type === 'tidegate:height' && Number.isFinite(height)) frame.height = Math.min(Math.max(height, 100), 900);
      if (type === 'tidegate:used') this.used = true;
      if (type === 'tidegate:invalid') idle();
      if (type !== 'tidegate:token' || typeof token !== 'string' || timer === undefined) return;
      idle();
      form.elements.namedItem('token').value = token;
      form.requestSubmit();
    },
  };
}
addEventListener('message', (event) => fields?.hear(event));

async function send(event) {
  const form = event.target;
  event.preventDefault();
  if (busy) return;
  if (form.dataset.fields !== undefined && form.elements.namedItem('token').value === '') {
    fields.ask();
    return;
  }
  busy = true;
  const mine = ++turn;
  const button = form.querySelector('button');
  cardName = form.elements.namedItem('name')?.value ?? cardName;
  button.setAttribute('aria-disabled', 'true');
  say('One moment.');
  try {
    const response = await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)) });
    // The last state from the stream may be older than this answer.
    streamed = undefined;
    await show(response, mine, { keep: response.status === 400 });
    busy = false;
    say(response.status === 400 ? '' : announcement());
  } catch {
    busy = false;
    // A form that is sent again is the same attempt, so the browser may send it as it does without this script.
    form.submit();
  }
}

/** Starts the countdowns, the forms and the polling of a new page. */
function begin() {
  for (const timer of timers) clearInterval(timer);
  timers = [];
  stay = undefined;
  for (const element of main().querySelectorAll('[data-left]')) count(element);
  const back = main().querySelector('[data-return]');
  if (back) goBack(back);
  const framed = main().querySelector('form[data-fields]');
  fields = framed ? connectFields(framed) : undefined;
  for (const button of main().querySelectorAll('[data-copy], [data-print]')) button.hidden = false;
  for (const button of main().querySelectorAll('[data-copy]'))
    button.addEventListener('click', () => void copy(button));
  main()
    .querySelector('[data-print]')
    ?.addEventListener('click', () => {
      stay?.();
      print();
    });
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
  if (document.visibilityState === 'visible') void pollState();
});
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});
begin();
