import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agentDecider } from '#libs/domain/agents';
import { CreateAdminKey, CreateAgentKey, RollAdminKey, RollAgentKey } from '#libs/domain/agents/handlers';
import { streamRef, type CommandMetadata, type KeyId } from '#libs/domain/kernel';
import { organizationDecider } from '#libs/domain/people';
import { MemoryEventStore } from '#libs/infra/event-store';
import { GateBench } from '../support/gate-bench.js';

const TOOLS = [{ name: 'read', method: 'GET', path: '/v1/customers', args: {} }];

let bench: GateBench;
let metadata: CommandMetadata;

beforeEach(async () => {
  bench = await new GateBench(new MemoryEventStore()).prepare('http://127.0.0.1:9', TOOLS);
  metadata = { ...bench.metadata(), commandId: 'one command' };
});
afterEach(() => bench.close());

const keysOfAgent = async (): Promise<readonly KeyId[]> => {
  const { state } = await bench.streams.load(streamRef(agentDecider, bench.agent));
  return state.status === 'none' ? [] : [...state.keys.keys()];
};
const keysOfOrganization = async (): Promise<readonly KeyId[]> => {
  const { state } = await bench.streams.load(streamRef(organizationDecider, bench.org));
  return state.status === 'none' ? [] : [...state.adminKeys.keys()];
};

/**
 * A command may be repeated, for example by two processes that start for the first time at once, or by a retry after a
 * crash.
 */
describe('a command for a key that is repeated names the same key, and has no secret to show', () => {
  it('creating one for an agent', async () => {
    const create = () =>
      bench.commands.execute(new CreateAgentKey(bench.org, bench.agent, { livemode: false }, metadata));
    const [first, second] = [await create(), await create()];
    expect(first.secret).toMatch(/^svc_test_/);
    expect(second).toEqual({ key: first.key, secret: null, deed: null });
    expect((await keysOfAgent()).filter((key) => key === first.key)).toHaveLength(1);
    expect(await keysOfAgent()).toHaveLength(2);
  });

  it('rolling one', async () => {
    const roll = () =>
      bench.commands.execute(new RollAgentKey(bench.org, bench.agent, { key: bench.key, livemode: false }, metadata));
    const [first, second] = [await roll(), await roll()];
    expect(first.secret).not.toBeNull();
    expect(second).toEqual({ key: first.key, secret: null, deed: null });
    expect(await keysOfAgent()).toEqual([bench.key, first.key]);
  });

  it('creating and rolling one of the organization', async () => {
    const create = () => bench.commands.execute(new CreateAdminKey(bench.org, true, metadata));
    const [made, again] = [await create(), await create()];
    expect(again).toEqual({ key: made.key, secret: null, deed: null });
    const rolling = { ...metadata, commandId: 'another command' };
    const roll = () => bench.commands.execute(new RollAdminKey(bench.org, { key: made.key, livemode: true }, rolling));
    const [rolled, rolledAgain] = [await roll(), await roll()];
    expect(rolledAgain).toEqual({ key: rolled.key, secret: null, deed: null });
    expect(await keysOfOrganization()).toEqual([made.key, rolled.key]);
  });
});
