import type { Socket } from 'node:net';
import { errorV1, type Problem, problem } from '../../errors/problems.js';
import { newRequestId } from '../../request/id.js';
import { repeatedHeader } from './single-headers.js';

/** Limits for slow clients: a client that sends its headers very slowly must not occupy a socket for long. */
export const slowClients = {
  requireHostHeader: false,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16_384,
};

/** The answers to Node's errors for requests that it could not read. Every other error is malformed HTTP. */
const unread: Record<string, [status: string, problem: Problem]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', problem('request_timeout')],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', problem('headers_too_large')],
};
const malformed: [status: string, problem: Problem] = [
  '400 Bad Request',
  problem('body_invalid', undefined, 'The request is not well-formed HTTP. Check its first line and its headers.'),
];

/** Node reads no second length of a body, so it is not among the headers of single-headers.ts. */
const secondLength: [status: string, problem: Problem] = ['400 Bad Request', repeatedHeader('Content-Length')];

/** Answers malformed HTTP and late requests, unless the client has disconnected or an answer has already begun. */
export function clientErrorHandler(
  { code = '', reason = '' }: { code?: string; reason?: string },
  socket: Socket,
): void {
  const answering = (socket as Socket & { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent;
  if (code === 'ECONNRESET' || !socket.writable || answering) {
    socket.destroy();
    return;
  }
  const isSecond = code === 'HPE_UNEXPECTED_CONTENT_LENGTH' && !reason.includes('Transfer-Encoding');
  socket.end(unreadAnswer(...(unread[code] ?? (isSecond ? secondLength : malformed))));
}

/** The raw text of an HTTP answer: Fastify cannot send it, because no request exists. */
function unreadAnswer(status: string, refused: Problem): string {
  const body = `${JSON.stringify(errorV1([refused]))}\n`;
  const head = [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Request-Id: ${newRequestId()}`,
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
