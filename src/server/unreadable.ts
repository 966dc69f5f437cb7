import type { Socket } from 'node:net';
import { errorV1, type Problem, problem } from '../request/problems.js';
import { newRequestId } from '../request/id.js';

/** A client that sends its headers by the byte must not hold a socket for long. */
export const slowClients = {
  requireHostHeader: false,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16_384,
};

/** What Node says of a request that it could not read, and how it is answered; anything else is not well-formed. */
const unread: Record<string, [status: string, problem: Problem]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', problem('request_timeout')],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', problem('headers_too_large')],
};
const malformed: [status: string, problem: Problem] = [
  '400 Bad Request',
  problem('body_invalid', undefined, 'The request is not well-formed HTTP.'),
];

/** Answers what is no HTTP, or did not arrive in time, unless the client is gone or reads another answer already. */
export function clientErrorHandler({ code = '' }: { code?: string }, socket: Socket): void {
  const answering = (socket as Socket & { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent;
  if (code === 'ECONNRESET' || !socket.writable || answering) {
    socket.destroy();
    return;
  }
  socket.end(unreadAnswer(...(unread[code] ?? malformed)));
}

/** An answer as it goes over the wire; there is no request to answer it by. */
function unreadAnswer(status: string, told: Problem): string {
  const body = JSON.stringify(errorV1([told]));
  const head = [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Request-Id: ${newRequestId()}`,
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
