import { digestOf } from '#libs/crypto';
import { describe, expect, it } from 'vitest';

import {
  APPEND_LIMIT_BYTES,
  type CommandMetadata,
  DomainError,
  encodeEvents,
  eventMetadata,
  type OrgId,
  type PolicyId,
  type PolicyVersionId,
} from '../kernel/index.js';
import type { CheckedVersion, PolicyCommand } from './policy.commands.js';
import { policyDecider } from './policy.decider.js';
import type { PolicyEvent } from './policy.events.js';
import { type ExistingPolicy, findVersion, latestVersion } from './policy.state.js';

const org = 'org_00000000000000000000000001' as OrgId;
const foreignOrg = 'org_00000000000000000000000002' as OrgId;
const policy = 'pol_00000000000000000000000001' as PolicyId;
const at = '2026-10-01T12:00:00.000Z';
const actor = { type: 'admin_key', id: 'key_00000000000000000000000001' } as const;
const metadata: CommandMetadata = { org, actor, requestId: null, commandId: 'command-1', now: at };

const versionId = (number: number) => `pv_0000000000000000000000000${number}` as PolicyVersionId;
const checked = (number: number, source: string, notes: string | null = null): CheckedVersion => ({
  versionId: versionId(number),
  source,
  sourceHash: digestOf(source),
  versionHash: digestOf('what every source here means'),
  notes,
  origin: 'user',
});
const create = (name = 'Support', notes: string | null = null): PolicyCommand => ({
  type: 'CreatePolicy',
  data: { ...checked(1, 'first', notes), org, policy, name },
  metadata,
});
const add = (version: CheckedVersion, by = org): PolicyCommand => ({
  type: 'AddPolicyVersion',
  data: { ...version, org: by },
  metadata,
});
const addOnto = (latest: number, version: CheckedVersion): PolicyCommand => ({
  type: 'AddPolicyVersion',
  data: { ...version, org, expectedLatest: versionId(latest) },
  metadata,
});
const created: PolicyEvent = { type: 'PolicyCreated', data: { org, policy, name: 'Support', at } };
const added = (number: number, source: string, notes: string | null = null): PolicyEvent => ({
  type: 'PolicyVersionAdded',
  data: {
    org,
    policy,
    version_id: versionId(number),
    version: number,
    source,
    source_hash: digestOf(source),
    version_hash: digestOf('what every source here means'),
    notes,
    author: actor,
    origin: 'user',
    at,
  },
});

const fold = (events: readonly PolicyEvent[]) => events.reduce(policyDecider.evolve, policyDecider.initialState());
const given = (...events: readonly PolicyEvent[]) => ({
  when: (command: PolicyCommand) => {
    const run = () => policyDecider.decide(command, fold(events));
    return {
      then: (...expected: readonly PolicyEvent[]) => expect(run()).toEqual(expected),
      thenRefuses: (code: string, param: string | null = null) => {
        expect(run).toThrow(DomainError);
        expect(run).toThrow(expect.objectContaining({ code, param }) as Error);
      },
    };
  },
});

describe('policy: creation makes version 1', () => {
  it('a new policy and its first version are one append', () =>
    given().when(create()).then(created, added(1, 'first')));
  it('an id is used once', () => given(created, added(1, 'first')).when(create()).thenRefuses('conflict'));
});

describe('policy: names are one line of 1 to 120 characters', () => {
  it.each(['a', 'x'.repeat(120), '𝒳'.repeat(120), 'Größe: €'])('%j is a name', (name) =>
    given().when(create(name)).then({ type: 'PolicyCreated', data: { org, policy, name, at } }, added(1, 'first')),
  );
  it.each(['', '   ', 'x'.repeat(121), 'two\nlines', 'two\u2028lines', 'tab\there', 'nul\u0000'])(
    '%j is none',
    (name) => given().when(create(name)).thenRefuses('validation_failed', 'name'),
  );
});

describe('policy: notes hold at most 2,000 characters', () => {
  it('2,000 are kept as written', () =>
    given()
      .when(create('Support', 'é'.repeat(2_000)))
      .then(created, added(1, 'first', 'é'.repeat(2_000))));
  it('2,001 are refused at creation', () =>
    given()
      .when(create('Support', 'x'.repeat(2_001)))
      .thenRefuses('validation_failed', 'notes'));
  it('2,001 are refused with a new version', () =>
    given(created, added(1, 'first'))
      .when(add(checked(2, 'second', 'x'.repeat(2_001))))
      .thenRefuses('validation_failed', 'notes'));
  it.each(['\u001b[2J', '\u009b2J', 'a\rb'])('%j is refused: a terminal would obey it', (notes) =>
    given().when(create('Support', notes)).thenRefuses('validation_failed', 'notes'),
  );
});

describe('policy: versions are immutable and numbered without a gap', () => {
  it('other content is the next version', () =>
    given(created, added(1, 'first'))
      .when(add(checked(2, 'second')))
      .then(added(2, 'second')));
  it('a comment is content: the same meaning in other bytes is a new version', () =>
    given(created, added(1, 'first'))
      .when(add(checked(2, 'first # why')))
      .then(added(2, 'first # why')));
  it('the content of the latest version changes nothing', () =>
    given(created, added(1, 'first'))
      .when(add(checked(2, 'first', 'other notes')))
      .then());
  it('the content of an older version changes nothing', () =>
    given(created, added(1, 'first'), added(2, 'second'))
      .when(add(checked(3, 'first')))
      .then());
  it('a policy that does not exist is not found', () =>
    given()
      .when(add(checked(1, 'first')))
      .thenRefuses('not_found'));
  it('the policy of another organization is not found', () =>
    given(created, added(1, 'first'))
      .when(add(checked(2, 'second'), foreignOrg))
      .thenRefuses('not_found'));
});

describe('policy: a version that names the latest is added onto that one alone', () => {
  const history = [created, added(1, 'first'), added(2, 'second')];

  it('onto the latest', () =>
    given(...history)
      .when(addOnto(2, checked(3, 'third')))
      .then(added(3, 'third')));
  it('not onto one that another followed', () =>
    given(...history)
      .when(addOnto(1, checked(3, 'third')))
      .thenRefuses('conflict', 'expected_latest_version'));
  it('content that is there changes nothing, so nothing is in its way', () =>
    given(...history)
      .when(addOnto(1, checked(3, 'second')))
      .then());
});

describe('policy: versions are found by number and by id', () => {
  const state = fold([created, added(1, 'first'), added(2, 'second')]) as ExistingPolicy;

  it('by number', () => expect(findVersion(state, 1)?.source).toBe('first'));
  it('by id', () => expect(findVersion(state, versionId(2))?.source).toBe('second'));
  it('the latest is the last', () => expect(latestVersion(state).version).toBe(2));
  it('none else', () => {
    expect(findVersion(state, 3)).toBeNull();
    expect(findVersion(state, 'pv_00000000000000000000000009')).toBeNull();
  });
});

it('policy: creation with the largest source and notes stays below the limit of an append', () => {
  const source = '"'.repeat(262_144);
  const command: PolicyCommand = {
    type: 'CreatePolicy',
    data: { ...checked(1, source, '🎉'.repeat(2_000)), org, policy, name: '"'.repeat(120) },
    metadata,
  };
  const events = policyDecider.decide(command, policyDecider.initialState());
  const bytes = encodeEvents(events, eventMetadata(metadata), `policy-${policy}`, 0).reduce(
    (sum, { type, data, metadata: meta }) => sum + Buffer.byteLength(type + data + meta),
    0,
  );
  expect(bytes).toBeLessThan(APPEND_LIMIT_BYTES);
});
