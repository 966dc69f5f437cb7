/*
 * This script runs before GraphiQL's own: it reads the key, writes it into the headers of the tabs, and sends the
 * requests. It stores everything in sessionStorage, so the browser deletes the key when its tab is closed.
 * The page has the setup: the endpoint, the tabs with their examples, and the addresses of the workers.
 */
const tidegate = ((setup) => {
  const element = (id) => document.getElementById(id);
  const clean = (text) => text.trim().replace(/^bearer(\s+|$)/i, '');
  /** The mode and the end of a key, by which its holder knows it. */
  const mask = (key) => (/^[a-z]+_(test|live)_/.exec(key)?.[0] ?? '') + '…' + key.slice(-4);
  // The pane of headers has the masked key only; `fetcher` sends the key in its place.
  const headersFor = (key) => (key ? '{"Authorization": ' + JSON.stringify('Bearer ' + mask(key)) + '}' : '{}');
  const store = (name, value) =>
    value ? sessionStorage.setItem('tidegate:' + name, value) : sessionStorage.removeItem('tidegate:' + name);
  const stored = (name) => sessionStorage.getItem('tidegate:' + name) ?? '';

  // The address may have a key, a query with its variables, and the account to act for. It is cleaned at once.
  const given = new URLSearchParams(location.hash.slice(1));
  if (location.hash) history.replaceState(null, '', location.pathname + location.search);
  const entered = given.get('key') ?? sessionStorage.getItem('tidegate:entered');
  if (entered !== null) store('key', clean(entered));
  sessionStorage.removeItem('tidegate:entered');
  const key = stored('key');
  // A link with a query comes from the dashboard, whose session then serves a tab that has no key.
  if (key) store('session', '');
  else if (setup.dashboard && (given.has('query') || given.has('session'))) store('session', 'yes');
  const session = stored('session') === 'yes';
  if (entered !== null) store('behalf', '');
  if (given.has('on-behalf-of')) store('behalf', given.get('on-behalf-of'));
  const opening = given.has('query')
    ? { query: given.get('query'), variables: pretty(given.get('variables') ?? '') }
    : setup.tasks[sessionStorage.getItem('tidegate:task') ?? ''];
  sessionStorage.removeItem('tidegate:task');

  // GraphiQL finds its open tab again by comparing these entries with the tabs, and adds an empty tab when none is
  // equal. At its first start, these entries are its only source of the first tab's variables.
  const tabs = setup.tabs.map(tabOf);
  let open = tabs[0];
  try {
    const state = JSON.parse(sessionStorage.getItem('graphiql:tabState')) ?? opened();
    if (entered !== null) for (const tab of state.tabs) tab.headers = withKey(tab.headers);
    if (opening) {
      const wanted = tabOf(opening);
      const same = state.tabs.findIndex(
        ({ query, variables }) => query === wanted.query && variables === wanted.variables,
      );
      state.activeTabIndex = same < 0 ? state.tabs.push(wanted) - 1 : same;
    }
    open = state.tabs[state.activeTabIndex] ?? open;
    sessionStorage.setItem('graphiql:tabState', JSON.stringify(state));
  } catch {
    sessionStorage.removeItem('graphiql:tabState');
  }
  for (const part of ['query', 'variables', 'headers']) sessionStorage.setItem('graphiql:' + part, open[part] ?? '');

  /** The tabs before GraphiQL has stored its own; only where a further one is to be opened. */
  function opened() {
    if (!opening) throw new Error('GraphiQL opens its first tabs itself');
    return { tabs, activeTabIndex: 0 };
  }

  function tabOf({ query, variables }) {
    const title = /(?:query|mutation|subscription) (\w+)/.exec(query)?.[1] ?? 'Query';
    const part = { query, variables: variables ? dated(variables) : null, headers: headersFor(key) };
    return { id: crypto.randomUUID(), title, hash: '', operationName: null, response: null, ...part };
  }

  /** Replaces `@-90d` by the time 90 days ago. */
  function dated(text) {
    return text.replace(/"@(-?\d+)d"/g, (_, days) => {
      const time = new Date();
      time.setUTCHours(0, 0, 0, 0);
      time.setUTCDate(time.getUTCDate() + Number(days));
      return '"' + time.toISOString().slice(0, 19) + 'Z"';
    });
  }

  function pretty(text) {
    try {
      return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      return text;
    }
  }

  function withKey(headers) {
    try {
      const others = Object.entries(JSON.parse(headers)).filter(([name]) => name.toLowerCase() !== 'authorization');
      if (others.length) {
        const own = key ? { Authorization: 'Bearer ' + mask(key) } : {};
        return JSON.stringify({ ...own, ...Object.fromEntries(others) }, null, 2);
      }
    } catch {}
    return headersFor(key);
  }

  // GraphiQL reads its headers only when it starts. The key is applied at the next start, because GraphiQL may still
  // write its tabs until then.
  function enter(text) {
    sessionStorage.setItem('tidegate:entered', text);
    location.reload();
  }
  element('key-bar').addEventListener('submit', (event) => {
    event.preventDefault();
    const text = clean(element('key').value);
    if (text) enter(text);
    else element('key').focus();
  });
  element('key-forget').addEventListener('click', () => enter(''));
  addEventListener('hashchange', () => {
    if (/^#(key|query|session|on-behalf-of)(=|&|$)/.test(location.hash)) location.reload();
  });
  element('session-use').addEventListener('click', () => {
    store('session', 'yes');
    location.reload();
  });
  element('tasks').addEventListener('change', ({ target }) => {
    sessionStorage.setItem('tidegate:task', target.value);
    location.reload();
  });

  function say(key, status) {
    const signedIn = !key && session;
    element('key-forget').hidden = !key;
    element('key-hint').hidden = Boolean(key) || (session && status !== 401);
    element('session-use').hidden = Boolean(key) || session || !setup.dashboard;
    element('behalf-load').hidden = (!key && !session) || status === 401 || !element('behalf').hidden;
    element('key-status').textContent = signedIn
      ? status === 401
        ? 'The dashboard is not signed in. Sign in there, or paste a key.'
        : "Using the dashboard's session."
      : !key
        ? 'Paste a key to load the schema. It stays in this tab.'
        : status === 401
          ? 'The key ' + mask(key) + ' was refused. Paste another one.'
          : 'Using ' + mask(key) + ' in this tab.';
  }
  say(key);
  if (!key && !session) element('key').focus();

  /** Shows the users for whom a platform can act. The choice is sent as On-Behalf-Of with every request. */
  async function chooseUser() {
    const query = 'query UsersToActFor { accounts(type: [USER], first: 100) { nodes { id nickname } } }';
    const answer = await post(key, {}, { query }).then((response) => response.json());
    const users = answer.data?.accounts.nodes ?? [];
    const picker = element('behalf');
    const options = [{ id: '', nickname: 'Act as yourself' }, ...users].map(
      ({ id, nickname }) => new Option(nickname ?? id, id),
    );
    const behalf = stored('behalf');
    if (behalf && !users.some(({ id }) => id === behalf)) options.push(new Option(behalf, behalf));
    picker.replaceChildren(...options);
    picker.value = behalf;
    picker.hidden = false;
    element('behalf-load').hidden = true;
  }
  element('behalf').addEventListener('change', ({ target }) => store('behalf', target.value));
  element('behalf-load').addEventListener('click', () => void chooseUser().then(() => element('behalf').focus()));
  if (stored('behalf')) {
    element('behalf').replaceChildren(
      new Option('Act as yourself', ''),
      new Option(stored('behalf'), stored('behalf'), true, true),
    );
    element('behalf').hidden = false;
    element('behalf-load').hidden = true;
    // A new page knows the id alone; with the names, another user can be chosen, too.
    if (key || session) void chooseUser().catch(() => {});
  }

  const points = (count) => count.toLocaleString('en');
  function tellCost(cost) {
    element('cost').textContent = !cost
      ? ''
      : 'Cost ' +
        points(cost.actual) +
        (cost.actual === cost.requested ? '' : ' of at most ' + points(cost.requested)) +
        ' points · ' +
        points(cost.remaining) +
        ' left';
  }

  const bearer = (headers) =>
    clean(String(Object.entries(headers).find(([name]) => name.toLowerCase() === 'authorization')?.[1] ?? ''));
  let introspectedWith;

  /** Sends a request with a key, or with the dashboard's session if there is none. */
  function post(used, headers, body) {
    const own = used ? { authorization: 'Bearer ' + used } : session ? { 'x-tidegate-dashboard': '1' } : {};
    return fetch(setup.endpoint, {
      method: 'POST',
      headers: {
        accept: 'application/graphql-response+json, application/json',
        'content-type': 'application/json',
        ...headers,
        ...own,
      },
      body: JSON.stringify(body),
    });
  }

  async function fetcher({ query, variables, operationName }, { headers: typed = {} } = {}) {
    const headers = Object.fromEntries(Object.entries(typed).map(([name, value]) => [name.toLowerCase(), value]));
    const written = bearer(headers);
    const used = written === mask(key) || written === '' ? key : written;
    delete headers.authorization;
    const behalf = stored('behalf');
    if (behalf) headers['on-behalf-of'] ??= behalf;
    const introspecting = operationName === 'IntrospectionQuery';
    // A `data` member, even null, stops GraphiQL from a second request, which would count a wrong key twice.
    if (introspecting && !used && !session)
      return { data: null, errors: [{ message: 'Enter an API key above to load the schema.' }] };
    if (introspecting) introspectedWith = used;
    // GraphiQL updates the name shortly after the text, so a click in between would send the name of another tab.
    const name = query.includes(operationName) ? operationName : undefined;
    const response = await post(used, headers, { query, variables, operationName: name });
    say(used, response.status);
    let answer;
    try {
      answer = await response.json();
    } catch {
      answer = { errors: [{ message: 'The server answered ' + response.status + ' without JSON.' }] };
    }
    if (introspecting) return { data: null, ...answer };
    tellCost(answer.extensions?.cost);
    // After the first answer with a key from the header editor, load the schema, by GraphiQL's keyboard shortcut.
    if (response.ok && used !== introspectedWith) {
      dispatchEvent(new KeyboardEvent('keydown', { key: 'R', ctrlKey: true }));
    }
    return answer;
  }

  function start(graphiql) {
    const headers = headersFor(key);
    graphiql.renderYogaGraphiQL(element('root'), {
      fetcher,
      headers,
      defaultTabs: tabs.length ? tabs.map(({ query, variables }) => ({ query, variables, headers })) : undefined,
      // Yoga replaces GraphiQL's own plugin, the history, by its checklist of fields; this leaves the history in.
      plugins: undefined,
      // An example with variables is about those: some have ids to replace.
      defaultEditorToolsVisibility: open.variables ? 'variables' : 'headers',
      storage: sessionStorage,
      shouldPersistHeaders: true,
      showPersistHeadersSettings: false,
      logo: '',
      title: '',
      onEditQuery() {},
    });
  }

  // GraphiQL's script looks for this when it runs.
  self.MonacoEnvironment = { globalAPI: false, getWorkerUrl: (_module, label) => setup.workers[label] };
  return { start };
})(JSON.parse(document.getElementById('setup').textContent));
