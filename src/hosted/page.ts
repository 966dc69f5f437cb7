import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { contentOf } from '../resources/file/content.js';
import { Answers, type Hosted, notValid, unreadable } from './answers.js';
import { fieldsOfForm, formLimits } from './form-body.js';
import { formRoutes } from './forms.js';
import { assetPaths, assetRoutes } from './page-assets.js';
import { policyOf } from './page-policy.js';
import { payerScope } from './session.js';
import { stateRoutes } from './state-routes.js';
import { messagePage } from './view/layout.js';

/** The places below a page that take POST alone: its forms, and what its script tells. */
const postedPattern = /^(card|upi|upi\/[^/]+|opened)$/;

/** The headers of every payment page, in addition to those of every answer of the gateway. */
const pageHeaders = { 'content-security-policy': policyOf(), 'x-robots-tag': 'noindex, nofollow' };

/**
 * A page contains both the payer's input and the token of its address, so it is not compressed: see docs/security.md.
 */
const ofPage = { config: { open: true, page: true }, compress: false } as const;

/** The answer to an address that the framework cannot read, such as one that ends inside an encoded character. */
export function mangledPage(reply: FastifyReply): FastifyReply {
  return reply.code(404).headers(pageHeaders).type('text/html; charset=utf-8').send(messagePage(assetPaths, notValid));
}

/**
 * The hosted payment pages. They work as plain forms and links; the script only makes them smoother. Every client that
 * has the address of a page may see the page and pay. The page shows what the payer must know, and no other account
 * data.
 * Silent: the page. Spec: Checkout.
 */
export function hostedPages(app: FastifyInstance, hosted: Hosted): void {
  const answers = new Answers(hosted);

  // Accept only the encoding that browsers use for these forms: its fields are all text.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: formLimits.bytes },
    async (_: FastifyRequest, text: string) => fieldsOfForm(text),
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

  // Any other request: a form's address opened as a page, a link with missing or extra characters, another method.
  app.all<{ Params: { '*': string } }>('/checkout/*', ofPage, (request, reply) => {
    const [token = '', ...rest] = request.params['*'].split('/');
    const posted = postedPattern.test(rest.join('/'));
    if (!['GET', 'HEAD'].includes(request.method))
      return answers.message(reply.code(405).header('allow', posted ? 'POST' : 'GET, HEAD'), unreadable);
    return posted ? answers.back(reply, encodeURIComponent(token)) : answers.missing(reply);
  });
}

/** Registers the payee's logo, which is sent as the payee uploaded it. */
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
