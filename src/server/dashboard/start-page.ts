import { createHash } from 'node:crypto';
import fs from 'node:fs';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'ghtml';
import type { Config } from '../../config/config.js';
import { isLoopback } from '../../config/addresses.js';
import type { DashboardLinks } from './links.js';
import type { Demo } from '../demo/demo.js';
import { sendFile, StaticFile } from '../../request/static-files.js';
import { version } from '../../config/version.js';

/** The parts of the gateway that the start page shows. */
export interface StartPage {
  config: Config;
  /** Whether live mode has an acquirer. */
  takesLivePayments: boolean;
  /** The demos, whose test keys only a local gateway shows. */
  demos: readonly Demo[];
  links: DashboardLinks | undefined;
}

const style = fs.readFileSync(new URL('./assets/start.css', import.meta.url), 'utf8');

// The page has this one style, and neither scripts nor anything of another address.
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Registers the page at `/`: what runs here, and where to go. On a local gateway it has the test keys of the demo, as
 * the start prints them. Silent: the specification has no such page.
 */
export function startPage(app: FastifyInstance, parts: StartPage): void {
  let everywhere: StaticFile | undefined;
  // The page for this machine has new links each time, and is not compressed.
  app.get('/', { config: { open: true }, compress: false }, (request, reply) => {
    reply.header('content-security-policy', policy);
    if (isHere(request, parts.config)) return reply.type('text/html; charset=utf-8').send(page(parts, true));
    everywhere ??= new StaticFile('.html', { identity: Buffer.from(page(parts, false)) });
    return sendFile(request, reply, everywhere, 'page');
  });
}

/**
 * Answers a browser that opens an address with nothing at it with a page, and programs not at all: they get the error
 * of the API. An address of /v1 is never a page.
 */
export function missingPage(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined {
  const { method, url, headers } = request;
  const opens = method === 'GET' && headers.authorization === undefined && /\btext\/html\b/.test(headers.accept ?? '');
  if (!opens || /^\/v1([/?]|$)/.test(url)) return undefined;
  request.budget?.report.codes.push('route_missing');
  const main = html`<main>
<header><img src="${logo}" alt="" width="44" height="44"><div><h1>There is nothing at this address</h1>
<p>Tidegate ${version}</p></div></header>
<p class="lead">The address may be mistyped, or what was here is gone.</p>
<nav aria-label="Places"><ul class="places">
<li><a href="/"><strong>Start</strong><span>What this gateway serves.</span></a></li>
<li><a href="/docs"><strong>Documentation</strong><span>Guides, and the reference of both APIs.</span></a></li>
</ul></nav>
</main>`;
  return reply
    .code(404)
    .headers({ 'content-security-policy': policy, 'request-id': request.id, vary: 'Accept' })
    .type('text/html; charset=utf-8')
    .send(htmlPage('Nothing here · Tidegate', main));
}

/**
 * Whether a request comes to a local gateway under a name of this machine. A page of another site can lead its own name
 * to this machine, and would then read the keys.
 */
function isHere({ hostname }: FastifyRequest, { transport }: Config): boolean {
  return transport === 'local' && isLoopback(hostname.replace(/^\[(.*)\]$/, '$1'));
}

/** The page, with the demo and the operator's console for who is at this machine. */
function page({ config, takesLivePayments, links, demos: all }: StartPage, isHere: boolean): string {
  const demos = isHere ? all : [];
  const places = [
    config.DASHBOARD && { href: '/dashboard', name: 'Dashboard', text: 'Balances, payments, receivables and payouts.' },
    config.EXPLORER && { href: '/graphiql', name: 'Explorer', text: 'Queries of the graph, with examples to run.' },
    { href: '/docs', name: 'Documentation', text: 'Guides, the reference of both APIs, errors and events.' },
    isHere &&
      config.OPERATOR_API && {
        ...{
          href: '/operator',
          name: "Operator's console",
          text: 'Verifications, payouts and the ledger of all tenants.',
        },
      },
  ].filter((place) => place !== false);
  const main = html`<main>
<header><img src="${logo}" alt="" width="44" height="44"><div><h1>Tidegate</h1><p>Version ${version}</p></div></header>
<p class="lead">A payments gateway: one connected graph and REST over collections, receivables and payouts across
borders.</p>
<nav aria-label="Places"><ul class="places">
!${places.map(
    ({ href, name, text }) => html`<li><a
  href="${href}"><strong>${name}</strong><span>${text}</span></a></li>`,
  )}
</ul></nav>
<section aria-labelledby="runs"><h2 id="runs">What runs here</h2>
<dl>
<div><dt>Edition 1</dt><dd>Exporters in India collect from customers abroad.</dd></div>
<div><dt>Edition 2</dt><dd>Businesses abroad collect from partners in India, on a payment page.</dd></div>
<div><dt>Test mode</dt><dd>A sandbox with its own clock. No money moves.</dd></div>
<div><dt>Live mode</dt>
<dd>The payment page takes ${takesLivePayments ? 'payments.' : 'no payments yet: there is no acquirer.'}</dd></div>
<div><dt>APIs</dt><dd><code>/graphql</code> <code>/v1</code> <a href="/openapi.json">/openapi.json</a></dd></div>
</dl></section>
!${
    demos.length === 0
      ? ''
      : html`<section aria-labelledby="demo"><h2 id="demo">The demo</h2>
<p>A platform in each edition, with a quarter of trading in test mode. Only this machine sees these keys.</p>
<ul class="demos">!${demos.map((demo) => demoCard(demo, config, links))}</ul></section>`
  }
</main>`;
  return htmlPage('Tidegate', main);
}

/** The document around the content of a page. */
const htmlPage = (title: string, main: string): string => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${logo}">
<style>!${style}</style>
</head>
<body>
!${main}
</body>
</html>`;

function demoCard({ edition, name, testKey }: Demo, { EXPLORER }: Config, links: DashboardLinks | undefined): string {
  const signIn = links && html`<a href="/dashboard/sign-in#code=${links.newCode(edition)}">Open the dashboard</a>`;
  return html`<li><h3>${name} <small>Edition ${edition}</small></h3>
<code class="key">${testKey}</code>
<p class="ways">!${signIn ?? ''} !${EXPLORER ? html`<a href="/graphiql#key=${testKey}">Explore</a>` : ''}</p></li>`;
}

const logo = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" ' +
    'fill="#0b6e80"/><path d="M5 14q5.5-6 11 0t11 0M5 21q5.5-6 11 0t11 0" fill="none" stroke="#fff" ' +
    'stroke-width="3" stroke-linecap="round"/></svg>',
)}`;
