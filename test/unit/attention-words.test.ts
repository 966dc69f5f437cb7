import fs from 'node:fs';
import { buildSchema, isEnumType } from 'graphql';
import { describe, expect, it } from 'vitest';
import {
  attentionAction,
  attentionList,
  attentionWords,
  isOfAccount,
  severityWords,
  waitingAt,
} from '../../src/sites/dashboard/format/attention.js';
import {
  isStopped,
  obstacleLine,
  obstacleWords,
  reasonWords,
  stoppedWords,
} from '../../src/sites/dashboard/format/obstacles.js';

const schema = buildSchema(fs.readFileSync('schema/graph.graphql', 'utf8'));

/** The values of an enum of the graph. */
function valuesOf(name: string): string[] {
  const type = schema.getType(name);
  if (!isEnumType(type)) throw new Error(`The graph has no enum ${name}.`);
  return type.getValues().map((each) => each.name);
}

const exactly = (value: number) => ({ value, precision: 'EXACT' });
const atLeast = (value: number) => ({ value, precision: 'AT_LEAST' });
const kinds = valuesOf('AttentionKind');
const constant = /[A-Z]{2,}|_/;

/** The pages of the navigation. */
const places = [...fs.readFileSync('src/sites/dashboard/shell.tsx', 'utf8').matchAll(/\{ path: '([^']+)'/g)].map(
  ([, path]) => path,
);

describe('what needs attention, in words', () => {
  it.each(kinds)('has words for one and for several of %s, an action, and a page of the navigation', (kind) => {
    const one = attentionWords({ kind, count: exactly(1) });
    const several = attentionWords({ kind, count: exactly(12) });
    for (const text of [one, several, attentionAction({ kind })]) {
      expect(text).toMatch(/^(1 |12 )?[A-Za-z]/);
      expect(text).not.toMatch(constant);
    }
    expect(several).toMatch(/^12 [a-z]/);
    expect(attentionWords({ kind, count: atLeast(1) })).toMatch(/^1\+ [a-z]/);
    // A newer gateway's kind is a constant with the action "See", on the first page.
    expect(attentionAction({ kind })).not.toBe('See');

    const [place] = waitingAt([{ kind, count: exactly(12) }]);
    expect(place).toEqual([expect.stringMatching(/^\/\w+$/), '12']);
    expect(places).toContain(place![0]);
    expect(isOfAccount({ kind })).toBe(place![0] === '/users');
  });

  it('has other words for each kind', () => {
    const words = kinds.map((kind) => attentionWords({ kind, count: exactly(2) }));
    expect(new Set(words).size).toBe(kinds.length);
    expect(new Set(kinds.map((kind) => attentionWords({ kind, count: exactly(1) }))).size).toBe(kinds.length);
  });

  it('shows a kind that only a newer gateway knows', () => {
    const kind = 'COMET';
    expect([1, 3].map((count) => attentionWords({ kind, count: exactly(count) }))).toEqual(['COMET', '3 COMET']);
    expect([attentionAction({ kind }), attentionList({ kind })]).toEqual(['See', '/']);
  });

  it('says each severity in a word of its own', () => {
    const words = valuesOf('AttentionSeverity').map(severityWords);
    expect([new Set(words).size, words.filter((each) => constant.test(each))]).toEqual([3, []]);
  });
});

describe('how much waits at a place of the navigation', () => {
  it('is the sum of its kinds, and as exact as the least exact of them', () => {
    const counts = [
      { kind: 'PAYOUT_FAILED', count: exactly(2) },
      { kind: 'PAYOUTS_BLOCKED', count: atLeast(100) },
      { kind: 'DEPOSIT_UNRECONCILED', count: atLeast(100) },
      { kind: 'DISPUTE_OPEN', count: exactly(1) },
      { kind: 'RECEIVABLE_OVERDUE', count: exactly(3) },
    ];
    expect([...waitingAt(counts)]).toEqual([
      ['/payouts', '102+'],
      ['/payments', '101+'],
      ['/receivables', '3'],
    ]);
    expect([...waitingAt(counts.toReversed())].toSorted()).toEqual([...waitingAt(counts)].toSorted());
  });

  it('is nothing where nothing waits', () => {
    expect(waitingAt([]).size).toBe(0);
  });
});

describe('an account whose status stops it', () => {
  const statuses = valuesOf('AccountStatus');

  it('is one of each status but a draft and an activated one', () => {
    expect(statuses.filter((status) => !isStopped(status)).toSorted()).toEqual(['ACTIVATED', 'DRAFT']);
  });

  it.each(statuses.filter(isStopped))('is told so in two sentences: %s', (status) => {
    for (const [since, state] of [
      ['27 Nov 2026', 'has been'],
      [null, 'is'],
    ] as const) {
      const text = stoppedWords({ status, since });
      expect(text).toMatch(new RegExp(`^This account ${state} [a-z ]+( since 27 Nov 2026)?\\. [A-Z][a-z ]+\\.$`));
      expect([text.includes('since'), text.includes('undefined')]).toEqual([since !== null, false]);
    }
    const reason = { reasonCode: 'ACCOUNT_NOT_ACTIVATED', currency: null };
    expect(obstacleWords(reason, { status, since: '27 Nov 2026' })).toMatch(
      /^Nothing is paid out: the account has been [a-z ]+ since 27 Nov 2026\.$/,
    );
  });
});

describe('why money is not with its owner, in words', () => {
  const reasons = new Set([...valuesOf('PayoutObstacleReason'), ...valuesOf('PayoutBlockReason')]);

  it.each([...reasons])('is said of money that is not paid out: %s', (reasonCode) => {
    expect(obstacleLine({ reasonCode })).not.toMatch(constant);
    const words = obstacleWords({ reasonCode, currency: 'USD' }, { status: 'ACTIVATED' });
    expect(words).toBe(`USD is not paid out: ${obstacleLine({ reasonCode }).replace(/^./, (a) => a.toLowerCase())}.`);
  });

  it.each(valuesOf('PayoutReasonCode'))('is said of a payout that did not arrive: %s', (code) => {
    // A sentence of its own, and not the constant with small letters.
    expect(reasonWords(code)).toMatch(/^(The|A) [a-z ]+$/);
  });
});
