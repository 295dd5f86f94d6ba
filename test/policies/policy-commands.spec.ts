import { describe, expect, it } from 'vitest';

import {
  NO_METER,
  appendEvents,
  CommandRunner,
  DomainError,
  FoldedStreams,
  type CommandMetadata,
  type OrgId,
} from '#libs/domain/kernel';
import {
  AddPolicyVersion,
  AddPolicyVersionHandler,
  CompiledPolicies,
  compilePolicy,
  CreatePolicy,
  CreatePolicyHandler,
  latestVersion,
  type PolicyEvent,
} from '#libs/domain/policies';
import { MemoryEventStore } from '#libs/infra/event-store';
import { rejected } from '../support/thrown.js';

const org = 'org_00000000000000000000000001' as OrgId;
const foreignOrg = 'org_00000000000000000000000002' as OrgId;
const SOURCE = 'version: 1\ndefault: deny\n';
const OTHER_SOURCE =
  'version: 1\ndefault: deny\nrules:\n  - id: reads\n    match:\n      side_effect: read\n    decision: allow\n';

const metadata = (commandId: string, by = org): CommandMetadata => ({
  org: by,
  actor: { type: 'admin_key', id: 'key_00000000000000000000000001' },
  requestId: null,
  commandId,
  now: '2026-10-01T12:00:00.000Z',
});

const setUp = () => {
  const store = new MemoryEventStore();
  const streams = new FoldedStreams(store);
  const runner = new CommandRunner(store, streams);
  const create = (commandId: string, source = SOURCE, name = 'Support') =>
    new CreatePolicyHandler(runner).execute(
      new CreatePolicy({ org, name, source, notes: 'first', origin: 'user' }, metadata(commandId)),
    );
  const add = (policy: Awaited<ReturnType<typeof create>>['policy'], commandId: string, source: string, by = org) =>
    new AddPolicyVersionHandler(runner).execute(
      new AddPolicyVersion({ org: by, policy, source, notes: null, origin: 'user' }, metadata(commandId, by)),
    );
  return { store, streams, create, add };
};

const refusal = (attempt: Promise<unknown>): Promise<DomainError> => rejected(DomainError, attempt);

describe('policy commands: creation', () => {
  it('makes a policy with version 1 and its hashes, in one append', async () => {
    const { store, create } = setUp();
    const policy = await create('command-1');
    const compiled = compilePolicy(SOURCE);
    expect(policy).toMatchObject({ org, name: 'Support', versions: [{ version: 1, source: SOURCE, notes: 'first' }] });
    expect(latestVersion(policy)).toMatchObject(
      compiled.ok ? { sourceHash: compiled.policy.sourceHash, versionHash: compiled.policy.versionHash } : {},
    );
    expect((await store.readStream(`policy-${policy.policy}`)).map(({ type }) => type)).toEqual([
      'PolicyCreated',
      'PolicyVersionAdded',
    ]);
  });

  it('a retry of the same command answers the same policy and writes nothing', async () => {
    const { store, create } = setUp();
    const first = await create('command-1');
    const head = await store.head();
    expect(await create('command-1')).toEqual(first);
    expect(await store.head()).toBe(head);
  });

  it('two commands with the same content make two policies', async () => {
    const { create } = setUp();
    expect((await create('command-1')).policy).not.toBe((await create('command-2')).policy);
  });

  it('a source with errors is policy_invalid with every diagnostic, and leaves no trace', async () => {
    const { store, create } = setUp();
    const error = await refusal(create('command-1', 'version: 2\ndefualt: deny\n'));
    expect(error).toMatchObject({ code: 'policy_invalid', status: 400, param: 'source' });
    expect(error.extra).toMatchObject({
      diagnostics: [
        { object: 'policy_diagnostic', code: 'missing_field', line: 1 },
        { object: 'policy_diagnostic', code: 'unsupported_version', line: 1 },
        { object: 'policy_diagnostic', code: 'unknown_field', line: 2 },
      ],
    });
    expect(await store.head()).toBe(-1n);
  });
});

describe('policy commands: versions', () => {
  it('other content is a new version', async () => {
    const { create, add } = setUp();
    const { policy } = await create('command-1');
    expect(await add(policy, 'command-2', OTHER_SOURCE)).toMatchObject({
      isNew: true,
      version: { version: 2, source: OTHER_SOURCE },
    });
  });

  it('identical content returns the existing version', async () => {
    const { store, create, add } = setUp();
    const { policy } = await create('command-1');
    await add(policy, 'command-2', OTHER_SOURCE);
    const head = await store.head();
    expect(await add(policy, 'command-3', SOURCE)).toMatchObject({ isNew: false, version: { version: 1 } });
    expect(await store.head()).toBe(head);
  });

  it('a retry of the command that added a version is told it is new again', async () => {
    const { create, add } = setUp();
    const { policy } = await create('command-1');
    const first = await add(policy, 'command-2', OTHER_SOURCE);
    expect(await add(policy, 'command-2', OTHER_SOURCE)).toEqual(first);
  });

  it('of 20 racing commands with the same content one adds it', async () => {
    const { create, add } = setUp();
    const { policy } = await create('command-1');
    const added = await Promise.all(
      Array.from({ length: 20 }, (_, index) => add(policy, `race-${index}`, OTHER_SOURCE)),
    );
    expect(added.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(added.map(({ version }) => version.id)).size).toBe(1);
  });

  it('the policy of another organization is not found', async () => {
    const { create, add } = setUp();
    const { policy } = await create('command-1');
    expect((await refusal(add(policy, 'command-2', OTHER_SOURCE, foreignOrg))).code).toBe('not_found');
  });
});

describe('compiled policies: a version is read and compiled once', () => {
  it('asking again gives the same object and asks the store nothing', async () => {
    const { store, create } = setUp();
    const policy = await create('command-1');
    const policies = new CompiledPolicies(new FoldedStreams(store));
    const first = await policies.load(policy.policy, latestVersion(policy).id);
    expect(first).toMatchObject({ isUsable: true, policy: { defaultOutcome: 'deny' } });
    store.heads = () => Promise.reject(new Error('the store was asked'));
    expect(await policies.load(policy.policy, latestVersion(policy).id)).toBe(first);
  });

  it('a version added since is found', async () => {
    const { streams, create, add } = setUp();
    const { policy, ...created } = await create('command-1');
    const policies = new CompiledPolicies(streams);
    await policies.load(policy, latestVersion({ policy, ...created }).id);
    const { version } = await add(policy, 'command-2', OTHER_SOURCE);
    expect(await policies.load(policy, version.id)).toMatchObject({
      isUsable: true,
      policy: { rules: [{ id: 'reads' }] },
    });
  });

  it('a version nobody added is not usable, and is looked for again', async () => {
    const { streams, create, add } = setUp();
    const { policy } = await create('command-1');
    const other = await setUp().create('command-3');
    const policies = new CompiledPolicies(streams);
    expect(await policies.load(policy, latestVersion(other).id)).toEqual({
      isUsable: false,
      reason: 'version not found',
    });
    expect(await policies.load(other.policy, latestVersion(other).id)).toEqual({
      isUsable: false,
      reason: 'version not found',
    });
    const { version } = await add(policy, 'command-2', OTHER_SOURCE);
    expect(await policies.load(policy, version.id)).toMatchObject({ isUsable: true });
  });

  it('a version that this build refuses is not usable, and no exception', async () => {
    const { store, streams, create } = setUp();
    const { policy } = await create('command-1');
    const id = 'pv_00000000000000000000000009' as never;
    const event: PolicyEvent = {
      type: 'PolicyVersionAdded',
      data: {
        org,
        policy,
        version_id: id,
        version: 2,
        source: 'version: 1\ndefault: deny\nfrom_another_build: true\n',
        source_hash: 'sha256:0' as never,
        version_hash: 'sha256:0' as never,
        notes: null,
        author: { type: 'system', id: null },
        origin: 'user',
        at: '2026-10-01T12:00:00.000Z',
      },
    };
    await appendEvents(store, `policy-${policy}`, 1, [event], metadata('another-build'));
    expect(await new CompiledPolicies(streams).load(policy, id)).toEqual({
      isUsable: false,
      reason: 'version does not compile',
    });
  });

  it('the least recently used is dropped first, and compiled again when asked', async () => {
    const { streams, create } = setUp();
    const made = [await create('command-1'), await create('command-2'), await create('command-3')];
    const policies = new CompiledPolicies(streams, NO_METER, 2);
    const load = (index: number) => policies.load(made[index]!.policy, latestVersion(made[index]!).id);
    const first = await load(0);
    const second = await load(1);
    expect(await load(0)).toBe(first);
    await load(2);
    expect(await load(0)).toBe(first);
    expect(await load(1)).not.toBe(second);
  });
});
