import { describe, expect, it } from 'vitest';

import { digestOfJson, type JsonObject, newSalt } from '#libs/crypto';

import type { LivingAgent } from '../../agents/index.js';
import {
  type CallOutcome,
  ConnectorDriver,
  failedOutcome,
  type LiveConnector,
  type RequestFacts,
  type ToolDescription,
} from '../../connectors/index.js';
import { SIDE_EFFECTS, type ActionId, type SideEffect } from '../../kernel/index.js';
import { type ActionRequest, canonicalRequest, policyInputOf, resolveTool, submissionOf } from './call-request.js';

/** A type whose tool does what the argument `does` says. */
class ByArgument extends ConnectorDriver {
  override readonly type = 'database';

  constructor(private readonly own: SideEffect) {
    super();
  }

  override toolOf(_connector: LiveConnector, name: string): ToolDescription {
    const digest = digestOfJson({});
    const terms = { isRepeatable: false, timeoutMs: 1_000, inputSchema: {} };
    return { name, description: null, sideEffect: this.own, digest, ...terms };
  }
  override toolsOf(): readonly ToolDescription[] {
    return [];
  }
  override requestFacts(): RequestFacts {
    return {};
  }
  override sideEffectOf(connector: LiveConnector, name: string, { does }: JsonObject): SideEffect {
    return (does as SideEffect | undefined) ?? super.sideEffectOf(connector, name, {});
  }
  override send(): Promise<CallOutcome> {
    return Promise.resolve(failedOutcome('tool_unknown', 'Nothing is sent here.'));
  }
}

const connector = { status: 'active', type: 'database', id: 'con_00000000000000000000000001' } as LiveConnector;
const agent = { agent: 'agt_00000000000000000000000001', name: 'a', labels: {} } as unknown as LivingAgent;
const NOW = '2026-01-01T00:00:00.000Z';

/** In the policy input, and in what is on record of the submission. */
const sideEffects = (own: SideEffect, args: JsonObject): readonly SideEffect[] => {
  const request = canonicalRequest({
    tool: 'shop.execute',
    args,
    mode: 'gateway',
    connectorType: null,
    onBehalfOf: null,
    session: null,
    trace: null,
  } as unknown as ActionRequest);
  const driver = new ByArgument(own);
  const resolved = resolveTool(request, connector, { driverOf: () => driver });
  const input = policyInputOf(request, agent, resolved, NOW);
  const document = { body: '{}', digest: digestOfJson({}), salt: newSalt() };
  const digest = { document, idempotencyKeyHash: null };
  const submission = submissionOf(request, 'act_00000000000000000000000001' as ActionId, agent, resolved, digest);
  return [input.side_effect, submission.side_effect];
};

describe('the side effect of one call', () => {
  it('is the tool’s own, where the type says nothing else of the call', () =>
    expect(sideEffects('write', {})).toEqual(['write', 'write']));

  it('is what the arguments make of it: a DELETE through execute destroys', () =>
    expect(sideEffects('write', { does: 'destructive' })).toEqual(['destructive', 'destructive']));

  it.each(SIDE_EFFECTS.flatMap((own) => SIDE_EFFECTS.map((does) => [own, does] as const)))(
    'is never below the tool’s own: %s, and the call %s',
    (own, does) => {
      const [graver] = [own, does].toSorted((one, other) => SIDE_EFFECTS.indexOf(other) - SIDE_EFFECTS.indexOf(one));
      expect(sideEffects(own, { does })).toEqual([graver, graver]);
    },
  );

  it('is not known of a tool that nobody serves', () => {
    const request = canonicalRequest({ tool: 'shop.execute', args: {} } as unknown as ActionRequest);
    expect(policyInputOf(request, agent, null, NOW).side_effect).toBe('unknown');
  });
});
