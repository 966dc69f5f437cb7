import { DomainError, problem, type Problem } from '../errors/problems.js';

/** The queues of a process that may refuse: by these names metrics count the refusals, and errors name the queue. */
export const queueNames = [
  'requests',
  'pages',
  'reads',
  'expensive_reads',
  'audit_reads',
  'writes',
  'uploads',
  'unknown_keys',
  'unknown_operator_keys',
] as const;
export type QueueName = (typeof queueNames)[number];

/** How often each queue of this process has refused. */
export const refusals: Record<QueueName, number> = Object.fromEntries(queueNames.map((name) => [name, 0])) as Record<
  QueueName,
  number
>;

/** The problem of a queue in which too many wait, or in which one has waited too long: 503, with the queue's name. */
export const queueProblem = (queue: QueueName): Problem =>
  problem('service_unavailable', undefined, undefined, { reason: `queue_${queue}` });

/** The refusal of a queue, which is counted. */
export function queueRefusal(queue: QueueName): DomainError {
  refusals[queue]++;
  return new DomainError(queueProblem(queue));
}
