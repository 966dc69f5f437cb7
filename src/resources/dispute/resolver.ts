import { Ctx, Mutation, Resolver } from 'type-graphql';
import { DomainError, problem } from '../../errors/problems.js';
import type { Context } from '../../operation/context.js';
import { type ById, Input } from '../../types/input.js';
import { checkFiles } from '../file/reference.js';
import { file } from '../file/table.js';
import { AcceptDisputeInput, LoseTestDisputeInput, RespondToDisputeInput, WinTestDisputeInput } from './inputs.js';
import { noEvidence } from './rules.js';
import { type DisputeRow, dispute } from './table.js';
import {
  AcceptDisputePayload,
  Dispute,
  LoseTestDisputePayload,
  RespondToDisputePayload,
  WinTestDisputePayload,
} from './type.js';

@Resolver(() => Dispute)
export class DisputeResolver {
  /** Answers a dispute, once and in time. Silent: the operation. */
  @Mutation(() => RespondToDisputePayload, {
    description:
      'Answers a dispute that NEEDS_RESPONSE with a text, files, or both, once and until `respondBy`. The bank or ' +
      'the acquirer then decides.',
  })
  async respondToDispute(@Input(() => RespondToDisputeInput) input: RespondToDisputeInput, @Ctx() context: Context) {
    const { id, text, fileIds } = input;
    const row = await found(context, id);
    if (!text && !fileIds?.length) throw new DomainError(noEvidence);
    await checkEvidence(context, row, fileIds ?? []);
    return {
      dispute: await context.write('respond_to_dispute', dispute, { id, text: text || null, fileIds: fileIds ?? [] }),
    };
  }

  /** Accepts a dispute. Silent: the operation. */
  @Mutation(() => AcceptDisputePayload, {
    description: 'Accepts a dispute that NEEDS_RESPONSE: its money is not fought for. There is no way back.',
  })
  async acceptDispute(@Input(() => AcceptDisputeInput) { id }: ById, @Ctx() context: Context) {
    await found(context, id);
    return { dispute: await context.write('accept_dispute', dispute, { id }) };
  }

  @Mutation(() => WinTestDisputePayload, {
    description: 'Test helper: decides a dispute for the account; its money is pending of the deposit again.',
  })
  winTestDispute(@Input(() => WinTestDisputeInput) { id }: ById, @Ctx() context: Context) {
    return decided(context, id, 'won');
  }

  @Mutation(() => LoseTestDisputePayload, { description: 'Test helper: decides a dispute for the payer.' })
  loseTestDispute(@Input(() => LoseTestDisputeInput) { id }: ById, @Ctx() context: Context) {
    return decided(context, id, 'lost');
  }
}

/** The dispute of a write. An older release that runs beside this one could not read what the write makes. */
async function found({ scope }: Context, id: string): Promise<DisputeRow> {
  await scope.refuseBesideOtherReleases();
  return scope.one(dispute, id);
}

async function decided(context: Context, id: string, to: 'won' | 'lost') {
  await found(context, id);
  return { dispute: await context.write('decide_dispute', dispute, { id, to }) };
}

/** Refuses files that the caller cannot see, of another purpose, or of an account that the dispute does not concern. */
async function checkEvidence({ scope }: Context, row: DisputeRow, ids: string[]): Promise<void> {
  const field = (i: number) => `dispute.file_ids[${i}]`;
  await checkFiles(
    scope,
    ids.map((id, i) => ({ id, field: field(i), purposes: ['dispute_evidence'] })),
  );
  const files = await Promise.all(ids.map((id) => scope.one(file, id)));
  // The acting account is the user of a partner that had received the deposit.
  const owners = [row.accountId, row.actingAccountId, `account_${row.tenantId}`];
  const misfits = files.flatMap(({ accountId }, i) =>
    owners.includes(accountId)
      ? []
      : [problem('parameter_invalid', field(i), 'must be a file of the account of the dispute, or of its platform')],
  );
  if (misfits.length > 0) throw new DomainError(...misfits);
}
