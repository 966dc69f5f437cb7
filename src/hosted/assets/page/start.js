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
  const button = event.submitter ?? form.querySelector('button');
  const { app } = button.dataset;
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
    // The payer has chosen the app already; its link is there as well, for a browser that does not open it by itself.
    const link = app && main().querySelector(`a[data-app="${app}"]`);
    if (link) location.assign(link.href);
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

/** Tells the gateway that a payer has the page open. It counts once a minute. */
function opened() {
  if (main().dataset.path !== undefined)
    void fetch(`${main().dataset.path}/opened`, { method: 'POST' }).catch(() => {});
}

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState !== 'visible') return;
  opened();
  void pollState();
});
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});
begin();
opened();
