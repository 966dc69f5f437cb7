import path from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { allFilesOf, explorerFiles, explorerPage, explorerPlace } from '../../api/graphql/explorer.js';
import { examples } from '../../api/graphql/explorer-examples.js';
import type { Config } from '../../config/config.js';
import { triggerTypes } from '../../operator/commands/trigger/types.js';
import { once } from '../http/once.js';
import { fixedFiles, sendFile, StaticFile } from '../../request/static-files.js';

/** Sends the page of the explorer, whose files `explorerRoutes` registers. */
export type SendExplorer = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** The files of the explorer, for all gateways of the process. Most processes never show it, and never make them. */
const shared = once(make);

/** Registers the explorer at /graphiql with its files; returns what sends its page, for other addresses. */
export function explorerRoutes(app: FastifyInstance, config: Config): SendExplorer {
  const page = once(() => pageOf(config));
  const send: SendExplorer = async (request, reply) => {
    const { file, policy } = await page();
    reply.header('content-security-policy', policy).header('referrer-policy', 'no-referrer');
    return sendFile(request, reply, file, 'page');
  };
  app.get(explorerPlace, { config: { open: true } }, send);
  fixedFiles(app, explorerPlace, async (name) => (await shared()).byName.get(name));
  return send;
}

async function make() {
  const files = await explorerFiles();
  const byName = new Map<string, StaticFile>();
  for (const { name, content } of allFilesOf(files))
    byName.set(name, new StaticFile(path.extname(name), { identity: content }));
  return { files, byName };
}

async function pageOf(config: Config): Promise<{ file: StaticFile; policy: string }> {
  const { html, policy } = explorerPage((await shared()).files, {
    endpoint: '/graphql',
    examples,
    events: triggerTypes().flatMap(({ type, when, reason }) => (reason === undefined ? [{ type, when }] : [])),
    notice: noticeOf(config),
    dashboard: config.DASHBOARD,
  });
  return { file: new StaticFile('.html', { identity: html }), policy };
}

/** What the explorer says above its editors. */
function noticeOf({ TRUSTED_DOCUMENTS }: Config): string | undefined {
  return TRUSTED_DOCUMENTS === 'only'
    ? 'This gateway answers only the documents of its manifest (TRUSTED_DOCUMENTS=only). It refuses the schema ' +
        'and every other document here.'
    : undefined;
}
