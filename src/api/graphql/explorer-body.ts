/** What differs in the body of the explorer's page. The texts are HTML. */
interface BodyParts {
  /** The options of the menu of examples. */
  examples: string;
  /** A sentence above the editors. */
  notice?: string | undefined;
  dashboard: boolean;
}

/** The body of the explorer's page; `src/sites/explorer` makes it work. */
export const explorerBody = ({ examples, notice, dashboard }: BodyParts): string => `<header id="bar">
<h1>Tidegate explorer</h1>
<div class="status">
<output id="key-status"></output> <span id="key-owner"></span>
<button type="button" id="key-forget" hidden>Change key</button>
</div>
<div class="tools">
<select id="tasks" aria-label="Examples by task"><option value="">Examples by task …</option>${examples}</select>
<button type="button" id="behalf-load" hidden>Act for a user</button>
<select id="behalf" aria-label="On-Behalf-Of" hidden></select>
<button type="button" id="show-code" aria-expanded="false" aria-controls="panel">Code</button>
<button type="button" id="show-happen" aria-expanded="false" aria-controls="panel">Make it happen</button>
</div>
<a href="/docs">Docs</a>
</header>
<form id="welcome" autocomplete="off" aria-labelledby="welcome-title">
<div><h2 id="welcome-title">Paste a key to begin</h2>
<p>The queries run with an API key of yours, against your own data. The key stays in this tab of the browser. No key
yet? A local gateway shows test keys on its <a href="/">start page</a>${
  dashboard ? '; the <a href="/dashboard">dashboard</a> makes others' : ''
}.</p></div>
<div class="key">
<label for="key">API key</label>
<input id="key" name="key" type="text" placeholder="sk_test_…" autocomplete="off" autocapitalize="off"
spellcheck="false">
<button type="submit">Use key</button>
<button type="button" id="session-use" hidden>Use the dashboard's session</button>
</div>
</form>
${notice === undefined ? '' : `<aside id="notice" aria-label="Notice">${notice}</aside>`}
<noscript>The explorer needs JavaScript.</noscript>
<div id="work">
<main>
<div id="plain">
<div id="plain-tabs" role="group" aria-label="Tabs"></div>
<div class="fields">
<div class="query"><label for="query">Query</label>
<textarea id="query" spellcheck="false" autocapitalize="off" autocomplete="off"></textarea>
<button type="button" id="run">Run</button></div>
<div class="variables"><label for="variables">Variables</label>
<textarea id="variables" spellcheck="false" autocapitalize="off" autocomplete="off"></textarea></div>
<p id="plain-state" role="status"></p>
</div>
<section class="answer" aria-label="Answer"><pre id="answer" tabindex="0"></pre></section>
</div>
<div id="root" hidden></div>
</main>
${panel}
</div>
<footer id="cost-bar"><output id="cost"
title="What the last answer cost, and what is left of the account's allowance"></output></footer>`;

/** What stands beside the query: its code, and the events that can be made to happen. */
const panel = `<aside id="panel" aria-label="Beside the query" hidden>
<button type="button" id="panel-close" aria-label="Close">×</button>
<div id="view-code" hidden>
<h2>Code of this query</h2>
<fieldset id="languages"><legend>Language</legend></fieldset>
<pre id="code" tabindex="0"></pre>
<div class="act"><button type="button" id="copy">Copy</button> <output id="code-state"></output></div>
</div>
<form id="view-happen" hidden>
<h2>Make it happen</h2>
<p>Causes an event with your test key: this page makes what the event needs, such as a customer and a payment, by the
same steps as <code>tidegate trigger</code>. Run the subscription first, and see each event arrive.</p>
<p><button type="button" id="subscription-open">Open the subscription</button></p>
<label for="event-type">Event</label>
<select id="event-type"></select>
<p id="event-when"></p>
<div class="act"><button type="submit" id="happen">Make it happen</button></div>
<p id="happen-state" role="status"></p>
<ol id="happen-steps" aria-label="Steps"></ol>
</form>
</aside>`;
