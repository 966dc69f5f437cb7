/*
 * This script runs before GraphiQL's own: it reads the key, writes it into the headers of the tabs, and sends the requests.
 * It stores everything in sessionStorage, so the browser deletes the key when its tab is closed.
 * The page defines `tidegateSetup`: the endpoint, and the tabs with their examples.
 */
const tidegate = ((setup) => {
  const element = (id) => document.getElementById(id);
  const headersFor = (key) => '{"Authorization": ' + JSON.stringify('Bearer ' + key) + '}';
  const clean = (text) => text.trim().replace(/^bearer(\s+|$)/i, '');

  const asked = new URLSearchParams(location.hash.slice(1));
  const given = asked.get('key');
  // A link may bring a query, such as that of a page of the dashboard. Nothing runs it but a click.
  const brought = asked.has('query') && { query: asked.get('query'), variables: asked.get('variables') ?? '' };
  if (given !== null || brought) history.replaceState(null, '', location.pathname + location.search);
  const entered = given ?? sessionStorage.getItem('tidegate:entered');
  if (entered !== null) sessionStorage.setItem('tidegate:key', clean(entered));
  sessionStorage.removeItem('tidegate:entered');
  const key = sessionStorage.getItem('tidegate:key') ?? '';

  // GraphiQL finds its open tab again by comparing these entries with the tabs, and adds an empty tab when none is equal.
  // At its first start, these entries are its only source of the first tab's variables.
  let open = { ...setup.tabs[0], headers: headersFor(key) };
  try {
    const state = JSON.parse(sessionStorage.getItem('graphiql:tabState'));
    if (entered !== null) for (const tab of state.tabs) tab.headers = withKey(tab.headers);
    open = state.tabs[state.activeTabIndex] ?? open;
    sessionStorage.setItem('graphiql:tabState', JSON.stringify(state));
  } catch {
    sessionStorage.removeItem('graphiql:tabState');
  }
  if (brought) {
    open = { ...brought, headers: headersFor(key) };
    sessionStorage.removeItem('graphiql:tabState');
  }
  for (const part of ['query', 'variables', 'headers']) sessionStorage.setItem('graphiql:' + part, open[part] ?? '');

  function withKey(headers) {
    try {
      const others = Object.entries(JSON.parse(headers)).filter(([name]) => name.toLowerCase() !== 'authorization');
      if (others.length)
        return JSON.stringify({ Authorization: 'Bearer ' + key, ...Object.fromEntries(others) }, null, 2);
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
    if (location.hash.startsWith('#key=')) location.reload();
  });

  const mask = (key) => key.slice(0, key.lastIndexOf('_') + 1) + '…' + key.slice(-4);
  function say(key, status) {
    element('key-forget').hidden = !key;
    element('key-status').textContent = !key
      ? 'Paste a key to load the schema and run the examples. It stays in this browser tab.'
      : status === 401
        ? 'The key ' + mask(key) + ' was refused. Paste another one.'
        : 'Using ' + mask(key) + ' in this browser tab.';
  }
  say(key);
  if (!key) element('key').focus();

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
  async function fetcher({ query, variables, operationName }, { headers = {} } = {}) {
    const used = bearer(headers);
    const introspecting = operationName === 'IntrospectionQuery';
    // A `data` member, even null, stops GraphiQL from a second request, which would count a wrong key twice.
    if (introspecting && !used)
      return { data: null, errors: [{ message: 'Enter an API key above to load the schema.' }] };
    if (introspecting) introspectedWith = used;
    const response = await fetch(setup.endpoint, {
      method: 'POST',
      headers: {
        accept: 'application/graphql-response+json, application/json',
        'content-type': 'application/json',
        ...headers,
      },
      // GraphiQL updates the name shortly after the text, so a click in between would send the name of another tab.
      body: JSON.stringify({
        query,
        variables,
        operationName: query.includes(operationName) ? operationName : undefined,
      }),
    });
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

  function workers(sources) {
    const addresses = {};
    for (const [label, source] of Object.entries(sources)) {
      addresses[label] = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
    }
    return { globalAPI: false, getWorkerUrl: (_module, label) => addresses[label] };
  }

  function start(graphiql) {
    const headers = headersFor(key);
    const tabs = brought ? [brought, ...setup.tabs] : setup.tabs;
    graphiql.renderYogaGraphiQL(element('root'), {
      fetcher,
      headers,
      defaultTabs: tabs.length ? tabs.map((tab) => ({ ...tab, headers })) : undefined,
      defaultEditorToolsVisibility: 'headers',
      storage: sessionStorage,
      shouldPersistHeaders: true,
      showPersistHeadersSettings: false,
      logo: '',
      title: '',
      onEditQuery() {},
    });
  }

  return { workers, start };
})(tidegateSetup);
