import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config/config.js';
import type { CrossTenantReads, WorkerCalls } from '../../db/doors.js';
import { Feeds } from './feeds.js';
import type { StreamServices } from './follower.js';
import { Streams } from './streams.js';

/** The part of all streams that a tenant may have in a mode; in any case as many as one key. */
const tenantShare = 1 / 4;

/** Makes what the streams of a gateway share. When the gateway stops, its streams end first. */
export function streamServices(
  app: FastifyInstance,
  {
    config,
    database,
    ...parts
  }: Omit<StreamServices, 'streams' | 'feeds' | 'limits'> & {
    config: Config;
    database: CrossTenantReads & WorkerCalls;
  },
): StreamServices {
  const { STREAMS_MAX: all, STREAMS_OF_KEY_MAX: ofKey } = config;
  const streams = new Streams({ all, ofTenant: Math.max(Math.ceil(all * tenantShare), ofKey), ofKey });
  const feeds = new Feeds(database);
  app.addHook('preClose', async () => streams.drain());
  app.addHook('onClose', async () => feeds.close());
  const limits = {
    nodes: config.GRAPHQL_NODES_MAX,
    answerBytes: config.ANSWER_BYTES_MAX,
    seconds: config.REQUEST_SECONDS,
  };
  return { ...parts, streams, feeds, limits };
}
