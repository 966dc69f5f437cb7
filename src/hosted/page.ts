import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { contentOf } from '../resources/file/content.js';
import { Answers, type Hosted, notValid, unreadable } from './answers.js';
import { formRoutes } from './forms.js';
import { assetPaths, assetRoutes } from './page-assets.js';
import { payerScope } from './session.js';
import { stateRoutes } from './state-routes.js';
import { messagePage } from './view/layout.js';

const formPattern = /^(card|upi|upi\/[^/]+)$/;

// Nothing but ourselves: no other host, no inline script or style, no frame around it.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The headers of every answer here, besides those of every answer of the gateway. */
const pageHeaders = { 'content-security-policy': policy, 'x-robots-tag': 'noindex, nofollow' };

/** A page shows what a payer typed beside the token of its address, so it is not compressed: see docs/security.md. */
const ofPage = { config: { open: true }, compress: false } as const;

/** The answer to an address that the framework itself cannot read, such as one that was cut within a letter. */
export function mangledPage(reply: FastifyReply): FastifyReply {
  return reply.code(404).headers(pageHeaders).type('text/html; charset=utf-8').send(messagePage(assetPaths, notValid));
}

/**
 * The hosted payment pages. They work as plain forms and links; the script only makes them smoother. Whoever has a page's
 * address may see it and pay; it shows what the payer must know, and nothing else of the account.
 * Silent: the page. Spec: Checkout.
 */
export function hostedPages(app: FastifyInstance, hosted: Hosted): void {
  const answers = new Answers(hosted);

  // A form is what a browser makes of one; anything else has no fields that are text.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_: FastifyRequest, text: string) => Object.fromEntries(new URLSearchParams(text)),
  );
  app.addHook('onRequest', async (_, reply) => {
    reply.headers(pageHeaders);
  });
  app.setErrorHandler((error: FastifyError, request, reply) => answers.failed(error, request, reply));

  app.get<{ Params: { token: string }; Querystring: { pay?: string } }>(
    '/checkout/:token',
    ofPage,
    async (request, reply) => {
      const opened = await answers.open(request.params.token);
      return opened ? answers.show(reply, opened, {}, request.query.pay === 'again') : answers.missing(reply);
    },
  );
  formRoutes(app, answers, ofPage);
  stateRoutes(app, hosted);
  logoRoute(app, answers);
  assetRoutes(app);

  // Any other address: a form that is opened again by its address, a link that was cut or grew, another method.
  app.all<{ Params: { '*': string } }>('/checkout/*', ofPage, (request, reply) => {
    const [token = '', ...rest] = request.params['*'].split('/');
    const form = formPattern.test(rest.join('/'));
    if (!['GET', 'HEAD'].includes(request.method))
      return answers.message(reply.code(405).header('allow', form ? 'POST' : 'GET, HEAD'), unreadable);
    return form ? answers.back(reply, encodeURIComponent(token)) : answers.missing(reply);
  });
}

/** The payee's logo, as the payee has uploaded it. */
function logoRoute(app: FastifyInstance, answers: Answers): void {
  app.get<{ Params: { token: string } }>('/checkout/:token/logo', ofPage, async (request, reply) => {
    const opened = await answers.open(request.params.token);
    const logo = opened?.session.logo;
    if (!opened || !logo) return answers.missing(reply);
    const content = await contentOf(payerScope(answers.hosted.database, opened.place), logo.id);
    reply
      .header('content-security-policy', "default-src 'none'; sandbox")
      .header('cache-control', 'private, max-age=300');
    return reply.type(logo.contentType).send(content);
  });
}
