import { type Command, Option } from 'commander';
import { liveOf } from '../../request/mode.js';
import { ChangeRequestStatus } from '../../resources/change-request/table.js';
import { changeRequestV1 } from '../../resources/change-request/v1.js';
import { changeRequestOf, endChangeRequest, listChangeRequests } from '../account/change-requests.js';
import { type AddCommand, after, mode, reason } from './command.js';
import { namedPage } from './named.js';

/** Adds the commands about what owners ask to change of accounts that they cannot update. */
export function changeRequestCommands(program: Command, command: AddCommand): void {
  const requests = program.command('change-request').description('Details of accounts that their owners ask to change');

  command(
    requests,
    'list',
    'List change requests, the newest first; --status open lists those that wait for you, the oldest first',
    async (operator, o) => {
      const status = o.status as ChangeRequestStatus | undefined;
      const page = await listChangeRequests(operator, {
        ...{ status, livemode: liveOf(o.mode), after: o.after as string | undefined },
      });
      return namedPage(operator, page, 'change_requests', changeRequestV1);
    },
  )
    .addOption(new Option('--status <status>').choices(Object.values(ChangeRequestStatus)))
    .addOption(mode())
    .addOption(after());

  command(requests, 'show <request>', 'Show a change request', async (operator, _, id) =>
    changeRequestV1(await changeRequestOf(operator, id)),
  );
  const answer = (name: string, description: string, to: 'accepted' | 'declined') =>
    command(requests, `${name} <request>`, description, async (operator, o, id) =>
      changeRequestV1(await endChangeRequest(operator, id, to, o.answer as string | undefined)),
    )
      .option('--answer <text>', 'what the account is told')
      .addOption(reason());
  answer('accept', 'Give the account the details that the request asks for', 'accepted');
  answer('decline', 'Decline a change request; the account stays as it is', 'declined');
}
