// "Try it": sends the operation of the page to this gateway. The key stays in the memory of this page, in no storage.
for (const form of document.querySelectorAll('form.try')) {
  const output = form.querySelector('output');
  const button = form.querySelector('button[type=submit]');
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    button.disabled = true;
    say('Sending …');
    void send().finally(() => (button.disabled = false));
  });

  function say(text, kind = '') {
    output.textContent = text;
    output.className = kind;
  }

  /** The address, headers and body of the request; a sentence where one of them is missing. */
  function requestOf() {
    const key = form.elements.key.value.trim();
    if (!/^(sk|ses)_test_/.test(key))
      return 'Send a test key, which begins with sk_test_. This page takes no live key.';
    const headers = { authorization: `Bearer ${key}` };
    const query = new URLSearchParams();
    let path = form.dataset.path;
    for (const field of form.querySelectorAll('[data-in]')) {
      const value = field.value.trim();
      if (value === '') continue;
      if (field.dataset.in === 'path') path = path.replace(`{${field.name}}`, encodeURIComponent(value));
      else if (field.dataset.in === 'header') headers[field.name] = value;
      else query.append(field.name, value);
    }
    const { method } = form.dataset;
    if (method !== 'POST') return { address: query.size > 0 ? `${path}?${query}` : path, options: { method, headers } };
    headers['content-type'] = 'application/json';
    headers['idempotency-key'] = crypto.randomUUID?.() ?? `docs-${Date.now()}-${Math.random()}`;
    return { address: path, options: { method, headers, body: form.elements.body.value } };
  }

  async function send() {
    const request = requestOf();
    if (typeof request === 'string') return say(request, 'bad');
    const began = performance.now();
    try {
      const response = await fetch(request.address, { ...request.options, credentials: 'omit', cache: 'no-store' });
      const text = await bodyOf(response);
      const took = Math.round(performance.now() - began);
      const id = response.headers.get('request-id');
      say(`${response.status} in ${took} ms · ${id}`, response.ok ? 'good' : 'bad');
      show(request, response, text);
    } catch {
      say('The gateway could not be reached.', 'bad');
    }
  }

  async function bodyOf(response) {
    const type = response.headers.get('content-type') ?? '';
    if (!type.startsWith('application/json')) return `${type}, ${(await response.blob()).size} bytes`;
    return JSON.stringify(await response.json(), null, 2);
  }

  function show({ address, options }, response, text) {
    const figure = form.querySelector('.code') ?? form.appendChild(document.createElement('figure'));
    const caption = document.createElement('figcaption');
    const pre = document.createElement('pre');
    const help = helpOf(response);
    figure.className = 'code';
    caption.textContent = `${response.status} · ${options.method} ${address}`;
    if (help) caption.append(help);
    pre.tabIndex = 0;
    pre.textContent = text;
    figure.replaceChildren(caption, pre);
  }

  /** A link to the error's entry in the catalogue, from the header Link. */
  function helpOf(response) {
    const [, path] = /<(\/docs\/errors#\w+)>; rel="help"/.exec(response.headers.get('link') ?? '') ?? [];
    if (!path) return undefined;
    const link = document.createElement('a');
    link.href = path;
    link.textContent = 'What to do';
    return link;
  }
}
