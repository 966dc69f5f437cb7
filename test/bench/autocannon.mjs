import fs from 'node:fs';
import autocannon from 'autocannon';

/** One round by autocannon: reads the requests from a file, and prints the figures of the round. */
const { origin, headers, requests, seconds, connections, pauseMilliseconds } = JSON.parse(
  fs.readFileSync(process.argv[2], 'utf8'),
);
let clients = 0;
const result = await autocannon({
  ...{ url: origin, connections, duration: seconds, headers, requests },
  // The times are those of the answers, as wrk gives them, without what a pause is thought to have hidden.
  ...(pauseMilliseconds && {
    connectionRate: Math.max(1, Math.round(1_000 / pauseMilliseconds)),
    ignoreCoordinatedOmission: true,
  }),
  // The connections begin at different requests: otherwise all of them would ask the same at the same time.
  setupClient: (client) => {
    const at = Math.floor((clients++ % connections) * (requests.length / connections));
    client.setRequests([...requests.slice(at), ...requests.slice(0, at)]);
  },
});
const { p50, p99 } = result.latency;
process.stdout.write(
  JSON.stringify({
    requests: result.requests.total,
    seconds: result.duration,
    p50,
    p99,
    bytes: result.throughput.total,
    // Its errors have the time-outs among them.
    failures: result.non2xx + result.errors,
    refused: result.non2xx,
  }),
);
