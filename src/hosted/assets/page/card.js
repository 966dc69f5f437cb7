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
