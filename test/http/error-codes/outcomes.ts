import { expect } from 'vitest';
import type { ErrorCode } from '#libs/domain/kernel';
import type { Answer } from '../../support/service.js';
import type { Stage } from './stage.js';

/**
 * A call that was allowed and went wrong on its way (rule EXEC-4): 200 with the action, whose `execution` carries the
 * code. Nothing was refused, so there is no envelope, and the statuses that the catalogue has for these codes are those
 * of requests that are no action.
 */
export interface Outcome {
  readonly rule: string;
  /** `failed` certainly did not apply; of `unknown` nobody can say. */
  readonly execution: readonly [status: 'failed' | 'unknown', code: ErrorCode];
  /** Requests that reached the upstream. Default: 1. */
  readonly sent?: number;
  readonly provoke: (stage: Stage) => Promise<Answer>;
}

const NOTHING_SENT = { sent: 0 };

export const OUTCOMES: readonly Outcome[] = [
  ...([401, 403] as const).map((status): Outcome => ({
    rule: `an upstream that answers ${status}`,
    execution: ['failed', 'upstream_auth_failed'],
    provoke: ({ act }) => act('lab.write', String(status)),
  })),
  {
    rule: 'an upstream that answers 404',
    execution: ['failed', 'upstream_not_found'],
    provoke: ({ act }) => act('lab.write', '404'),
  },
  {
    rule: 'an upstream that answers 429 to what may be sent once',
    execution: ['failed', 'upstream_rate_limited'],
    provoke: ({ act }) => act('lab.write', '429'),
  },
  {
    rule: 'an upstream that answers another 4xx',
    execution: ['failed', 'upstream_error'],
    provoke: ({ act }) => act('lab.write', '422'),
  },
  {
    rule: 'an upstream that answers 5xx',
    execution: ['unknown', 'upstream_error'],
    provoke: ({ act }) => act('lab.write', '500'),
  },
  {
    rule: 'an upstream that does not answer in time',
    execution: ['unknown', 'timeout'],
    provoke: ({ act }) => act('lab.write', 'silent'),
  },
  {
    rule: 'an upstream that answers more than the connector takes',
    execution: ['unknown', 'response_too_large'],
    provoke: ({ act }) => act('lab.write', 'large'),
  },
  {
    rule: 'an upstream that redirects a read elsewhere',
    execution: ['failed', 'destination_blocked'],
    provoke: ({ act }) => act('lab.read', 'elsewhere'),
  },
  {
    rule: 'an upstream that nobody serves',
    execution: ['failed', 'connector_unavailable'],
    ...NOTHING_SENT,
    provoke: ({ act }) => act('nowhere.write', 'open'),
  },
  {
    rule: 'a connector without the credential that its config asks for',
    execution: ['failed', 'credentials_missing'],
    ...NOTHING_SENT,
    provoke: ({ act }) => act('bare.write', 'open'),
  },
  {
    rule: 'a credential that no longer opens',
    execution: ['failed', 'vault_unavailable'],
    ...NOTHING_SENT,
    provoke: async ({ act, database }) => {
      await database.query(`update vault_secrets set sealed = '\\x00' where field = 'token'`);
      return act('sealed.write', 'open');
    },
  },
  {
    rule: 'arguments that make no path',
    execution: ['failed', 'validation_failed'],
    ...NOTHING_SENT,
    provoke: ({ act }) => act('lab.write', '../open'),
  },
];

export const expectOutcome = (stage: Stage, answer: Answer, { execution, sent = 1 }: Outcome): void => {
  const [status, code] = execution;
  const action = answer.json;
  expect([answer.status, answer.headers.get('retry-after'), action['object']]).toEqual([200, null, 'action']);
  expect(action).toMatchObject({
    state: 'sealed',
    status: status === 'failed' ? 'failed' : 'executed',
    decision: { outcome: 'allow', code: null },
    execution: { status, error_code: code, error_message: expect.stringMatching(/ .*\.$/) },
    witness: status === 'failed' ? null : { verdict: 'UNVERIFIABLE', reasons: [code] },
    deed: expect.stringMatching(/^deed_/),
  });
  expect(stage.lab.upstream.countFor(String(action['id']))).toBe(sent);
};
