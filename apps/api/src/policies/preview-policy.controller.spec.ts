import type { QueryBus } from '@nestjs/cqrs';
import { describe, expect, it } from 'vitest';
import { canonicalize, digestOf } from '#libs/crypto';
import { DamagedPayload, type FoldedStreams, type Payload, PayloadStore } from '#libs/domain/kernel';
import type { PolicyDecision } from '#libs/domain/policies';
import type { ActionRow } from '#libs/infra/read-models';
import { TEST_ORG, testId } from '../../../../test/support/given-log.js';
import { policyInput } from '../../../../test/support/given-policy-input.js';
import { actionRow } from '../../../../test/support/given-rows.js';
import type { ListActions } from '../gate/list-actions.query-handler.js';
import type { Exchange } from '../http/exchange.js';
import type { EnforcedJudge, PolicyInForce } from './policy-in-force.js';
import { PreviewPolicyController } from './preview-policy.controller.js';
import { RecordedCalls } from './recorded-calls.js';

const DENY = 'version: 1\ndefault: deny\n';
const BODY = canonicalize(policyInput());
const EXCHANGE = {
  caller: { org: TEST_ORG },
  commandMetadata: () => ({ actor: { type: 'user', id: 'usr_1' } }),
} as unknown as Exchange;

/** Newest first, each with the same input. */
const ROWS: readonly ActionRow[] = Array.from({ length: 120 }, (_, index) => {
  const row = actionRow(120 - index);
  const submission = { ...row.folded.submission, input_digest: digestOf(BODY) };
  return { ...row, folded: { ...row.folded, submission } };
});

class SomePayloads extends PayloadStore {
  constructor(private readonly bodyOf: (owner: string) => string | null) {
    super();
  }
  override put(): Promise<void> {
    return Promise.reject(new Error('a preview stores nothing'));
  }
  override get(owner: string): Promise<string | null> {
    return Promise.resolve(this.bodyOf(owner));
  }
  override salted(): Promise<null> {
    return Promise.reject(new Error('a preview needs no salts'));
  }
}

const preview = async ({
  body = { source: DENY, actions: 110 },
  msAStep = 0,
  bodyOf = (): string | null => BODY,
  inForce = null,
}: {
  body?: { source: string; actions?: number };
  msAStep?: number;
  bodyOf?: (owner: string) => string | null;
  inForce?: EnforcedJudge | null;
} = {}) => {
  const asked: number[] = [];
  const queries = {
    execute: ({ page: { limit, after } }: ListActions) => {
      asked.push(limit);
      const from = after === null ? 0 : ROWS.findIndex(({ id }) => id === after.id) + 1;
      return Promise.resolve({
        rows: ROWS.slice(from, from + limit),
        hasMore: from + limit < ROWS.length,
        lagEvents: 0,
      });
    },
  } as unknown as QueryBus;
  let nowMs = 0;
  const clock = { monotonicMs: () => (nowMs += msAStep), nowMs: () => 0 };
  const recorded = new RecordedCalls({} as FoldedStreams, new SomePayloads(bodyOf));
  const enforced = { of: () => Promise.resolve(inForce) } as unknown as PolicyInForce;
  const controller = new PreviewPolicyController(queries, recorded, enforced, clock);
  return { json: await controller.preview(body, EXCHANGE), asked };
};

describe('a preview', () => {
  it('goes through as many of the newest as are asked for, slice by slice', async () => {
    const { json, asked } = await preview();
    expect(asked).toEqual([50, 50, 10]);
    expect(json).toMatchObject({
      compared_with: { basis: 'recorded', policy: null, policy_version: null, version: null },
      judged: 110,
      changed: 110,
      complete: true,
      from: ROWS[109]?.createdAt,
      to: ROWS[0]?.createdAt,
    });
  });

  it('compares with the version in force, and names it', async () => {
    const slot = { policy: testId('pol', 1), versionId: testId('pv', 2), version: 6 } as EnforcedJudge['slot'];
    const denied = { outcome: 'deny', timeLimitTripped: false } as PolicyDecision;
    const { json } = await preview({ inForce: { slot, judge: () => denied } });
    expect(json).toMatchObject({
      compared_with: { basis: 'enforced', policy: slot.policy, policy_version: slot.versionId, version: 6 },
      ...{ judged: 110, same: 110, changed: 0, changed_from_recorded: 110, samples: [] },
    });
  });

  it('ends with the list', async () => {
    const { json, asked } = await preview({ body: { source: DENY } });
    expect([asked, json['judged'], json['complete']]).toEqual([[50, 50, 50], 120, true]);
  });

  it('answers with what there is after 3 s, and says so', async () => {
    const { json } = await preview({ msAStep: 100 });
    expect(json['complete']).toBe(false);
    expect(Number(json['judged'])).toBeGreaterThan(0);
    expect(Number(json['judged'])).toBeLessThan(50);
  });

  it('tells an input that is gone from one that is damaged, and judges neither', async () => {
    const bodyOf = (owner: string): string | null => {
      if (owner === ROWS[0]?.id) return null;
      const payload = { owner, kind: 'policy_input', digest: digestOf(BODY) } as Payload;
      if (owner === ROWS[1]?.id) throw new DamagedPayload(payload);
      return BODY;
    };
    const { json } = await preview({ bodyOf });
    expect(json).toMatchObject({
      judged: 108,
      unjudged: 2,
      unjudged_because: { not_asked: 0, payload_removed: 1, payload_damaged: 1, time_limit: 0 },
    });
  });
});
