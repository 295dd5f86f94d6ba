import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { canonical, type Check, checkDeed, type GivenDeed, type SealKey } from './check-deed.ts';
import type { Shown } from './this-page.ts';

const ORG = 'org_01j9z3k4m5n6p7q8r9s0t1v2w3';
const AT = '2026-10-01T12:00:00.000Z';
const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const digestOf = (value: unknown): string => `sha256:${sha256(canonical(value))}`;

const pair = generateKeyPairSync('ed25519');
const PUBLIC = Buffer.from(pair.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
const KEY: SealKey = {
  kid: sha256(PUBLIC).slice(0, 32),
  public_key: `ed25519:${PUBLIC.toString('base64url')}`,
  activated_at: AT,
  retired_at: null,
  revoked_at: null,
};

const deedId = (eventId: string): string => {
  const number = BigInt(`0x${sha256(`service/deed-id/v1\n${ORG}\n${eventId}`).slice(0, 32)}`);
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
  const digit = (place: number): string => alphabet[Number((number >> BigInt(5 * place)) % 32n)] ?? '';
  return `deed_${Array.from({ length: 26 }, (_, index) => digit(25 - index)).join('')}`;
};

/** A genuine deed, signed as the service would sign it. */
const sealed = (seq: number, sections: object): GivenDeed => {
  const source = {
    event_id: `0198f3b1-7d4a-7c3a-9b1e-${String(seq).padStart(12, '0')}`,
    revision: 3,
    stream: 'action',
  };
  const chain = { kid: KEY.kid, prev_hash: seq === 1 ? null : `sha256:${'1'.repeat(64)}` };
  const id = deedId(source.event_id);
  const body = canonical({ id, org: ORG, seq, issued_at: AT, source, chain, kind: 'action', ...NOTHING, ...sections });
  const hash = `sha256:${sha256(body)}`;
  const signature = sign(null, Buffer.from(`service/deed/v1\n${hash}`), pair.privateKey).toString('base64url');
  const envelope = { id, seq, kid: KEY.kid, signature, body_hash: hash, prev_hash: chain.prev_hash, issued_at: AT };
  const before = { ...envelope, seq: seq - 1, body_hash: chain.prev_hash ?? '' };
  return { id, bytes: new TextEncoder().encode(body), envelope, before, after: null };
};

const NOTHING = { admin: null, approval: null, cost: null, execution: null, witness: null, policy: null };
const ARGS = { id: '7' };
const RESULT = { status: 200, body: { name: 'Ada' } };
const EVIDENCE = { expected: { price: 1 }, observed: { price: 1 }, differs: [] };

const who = { agent: 'agt_1', on_behalf_of: 'usr:7', session: null };
const action = (id: string) => ({
  ...{ id, tool: 'crm.get_customer', livemode: true, mode: 'gateway', created_at: AT },
  ...{ args_digest: digestOf(ARGS), request_digest: digestOf('request') },
});
const policy = { outcome: 'allow', code: null, source: 'rule', rule_id: 'crm', message: null, policy: 'pol_1' };
const execution = { status: 'succeeded', attempts: 1, error_code: null, started_at: AT, finished_at: AT };
const ran = { ...execution, result_digest: digestOf(RESULT) };
const known = { level: 'L1', verdict: 'VERIFIED', method: 'read_back', evidence_digest: digestOf(EVIDENCE) };

const DEED = sealed(2, { who, action: action('act_a'), policy, execution: ran, witness: known });
const PAGE: Shown = {
  ...{ id: 'act_a', action: 'act_a', tool: 'crm.get_customer', agent: 'agt_1', on_behalf_of: 'usr:7', session: null },
  ...{ livemode: true, mode: 'gateway', created_at: AT, request_digest: digestOf('request'), status: 'executed' },
  ...{ decision: policy, approval: null, people: null, execution, witness: known },
  ...{ args: { value: ARGS }, result: { value: RESULT }, evidence: { value: EVIDENCE } },
};

const check = (page: Shown, deed = DEED, amendment?: GivenDeed): Promise<readonly Check[]> =>
  checkDeed({ ...deed, org: ORG, keys: [KEY], page, ...(amendment === undefined ? {} : { amendment }) });
const saysNo = async (page: Shown, deed = DEED, amendment?: GivenDeed): Promise<readonly string[]> =>
  (await check(page, deed, amendment)).filter(({ holds }) => holds === false).map(({ name }) => name);
const found = async (name: string, page: Shown, deed = DEED): Promise<Check | undefined> =>
  (await check(page, deed)).find((one) => one.name === name);

describe('the page of an action', () => {
  it('passes if everything is as it was sealed', async () => {
    const checks = await check(PAGE);
    expect(checks.filter(({ holds }) => holds !== true).map(({ name }) => name)).toEqual(['Followed']);
    expect(checks.map(({ name }) => name).slice(-5)).toEqual([
      ...['This action', 'This page', 'These arguments', 'This result', 'This evidence'],
    ]);
  });

  it('fails with the genuine deed of another call, even with the same arguments and result', async () => {
    const other = sealed(3, { who, action: action('act_b'), policy, execution: ran, witness: known });
    expect(await saysNo(PAGE, { ...other, id: DEED.id })).toEqual(['This deed', 'This action']);
    // The same holds if the service names the other deed as the action's, or answers with another action than the
    // requested one.
    expect(await saysNo(PAGE, other)).toEqual(['This action']);
    expect(await saysNo({ ...PAGE, action: 'act_b' }, other)).toEqual(['This action']);
    expect(await saysNo({ ...PAGE, id: 'act_b' }, DEED)).toEqual(['This action']);
  });

  it('fails with an admin deed', async () => {
    const change = sealed(3, { who, action: null, kind: 'admin', admin: { action: 'org.stopped' } });
    expect(await saysNo(PAGE, change)).toContain('This action');
  });

  it.each<[word: string, change: Partial<Shown>]>([
    ['the tool', { tool: 'crm.close_account' }],
    ['the agent', { agent: 'agt_2' }],
    ['on behalf of', { on_behalf_of: 'usr:ceo' }],
    ['the session', { session: 'shift:7' }],
    ['live or test', { livemode: false }],
    ['mode', { mode: 'proxy' }],
    ['submission time', { created_at: '2026-10-01T12:00:01.000Z' }],
    ['the request', { request_digest: digestOf('another') }],
    ['the status', { status: 'failed' }],
    ['the decision', { decision: { ...policy, rule_id: 'another' } }],
    ['the approval', { approval: { id: 'apr_1', status: 'approved' } }],
    ['what ran', { execution: { ...execution, status: 'unknown' } }],
    ['the evidence', { witness: { ...known, level: 'L2' } }],
    ['the evidence', { witness: null }],
  ])('names the part that differs: %s', async (word, change) => {
    const no = await found('This page', { ...PAGE, ...change });
    expect(no).toMatchObject({ holds: false, says: `Differs from what was sealed: ${word}` });
  });
});

describe('a value on the page', () => {
  const denied = sealed(4, { who, action: action('act_a'), policy: { ...policy, outcome: 'deny' } });
  const DENIED: Shown = {
    ...{ ...PAGE, status: 'denied', decision: { ...policy, outcome: 'deny' }, execution: null, witness: null },
    ...{ result: { absent: 'none' }, evidence: { absent: 'none' } },
  };

  it('fails if it was never sealed', async () => {
    expect(await saysNo(DENIED, denied)).toEqual([]);
    expect(await saysNo({ ...DENIED, result: { value: RESULT } }, denied)).toEqual(['This result']);
    expect(await saysNo({ ...DENIED, result: { absent: 'removed' } }, denied)).toEqual(['This result']);
    expect(await saysNo({ ...DENIED, evidence: { value: EVIDENCE } }, denied)).toEqual(['This evidence']);
    const executed = { ...PAGE, evidence: { absent: 'none' } } as const;
    expect(await saysNo(executed, denied)).toEqual(['This page', 'This result']);
  });

  it.each(['args', 'result', 'evidence'] as const)('is compared: %s', async (name) => {
    expect(await saysNo({ ...PAGE, [name]: { value: { other: 1 } } })).toHaveLength(1);
  });

  it('is reported with the reason, if it was sealed and is not shown', async () => {
    const removed = await found('This result', { ...PAGE, result: { absent: 'removed' } });
    expect(removed).toMatchObject({ holds: null, says: expect.stringContaining('the end of the retention period') });
    const hidden = await found('This result', { ...PAGE, result: { absent: 'none' } });
    expect(hidden).toMatchObject({ holds: null, says: expect.stringContaining('Not shown') });
    const nothing = sealed(5, {
      who,
      action: action('act_a'),
      policy,
      execution: { ...ran, result_digest: digestOf(null) },
    });
    expect(await found('This result', { ...PAGE, result: { absent: 'none' } }, nothing)).toMatchObject({ holds: true });
  });
});

describe('a result that equals the mark of a removed body', () => {
  it('is the result if its digest was sealed, so that an agent cannot pass a report off as removed', async () => {
    const reported = sealed(7, {
      ...{ who, action: action('act_a'), policy, witness: known },
      execution: { ...ran, result_digest: digestOf({ removed: true }) },
    });
    expect(await found('This result', { ...PAGE, result: { absent: 'removed' } }, reported)).toMatchObject({
      holds: true,
      says: expect.stringContaining('Not removed'),
    });
  });
});

describe('the people of an approval', () => {
  const decided = { decided_at: AT, decided_by: { type: 'user', id: 'usr_2' } };
  const countersigned = ['usr_1', 'usr_2'].map((by) => ({ by, at: AT }));
  const approval = { id: 'apr_1', status: 'approved', ...decided, countersigned };
  const deed = sealed(6, { who, action: action('act_a'), policy, execution: ran, witness: known, approval });
  const people = { ...decided, signed: countersigned.toReversed() };
  const page: Shown = { ...PAGE, approval: { id: 'apr_1', status: 'approved' }, people };

  it('pass if signatures and decision are as they were sealed', async () => {
    expect(await saysNo(page, deed)).toEqual([]);
    expect(await saysNo({ ...page, people: null }, deed)).toEqual([]);
  });

  it.each([
    ['somebody else', { ...people, decided_by: { type: 'user', id: 'usr_9' } }],
    ['another time', { ...people, decided_at: '2026-10-01T12:00:01.000Z' }],
    ['a signature that nobody gave', { ...people, signed: [...people.signed, { by: 'usr_9', at: AT }] }],
    ['a signature left out', { ...people, signed: people.signed.slice(1) }],
  ])('fail with %s', async (_title, shown) => {
    expect(await found('This page', { ...page, people: shown }, deed)).toMatchObject({
      holds: false,
      says: 'Differs from what was sealed: who decided',
    });
  });
});

describe('a later verdict', () => {
  const later = { level: 'L1', verdict: 'MISMATCH', method: 'read_back', evidence_digest: digestOf({ found: 2 }) };
  const amendmentOf = (id: string) =>
    sealed(9, { kind: 'amendment', who: { ...who, on_behalf_of: null }, action: action(id), witness: later });
  const page: Shown = { ...PAGE, witness: later, evidence: { value: { found: 2 } } };

  it('is compared with the newest amendment, which is checked as a whole', async () => {
    expect(await saysNo(page, DEED, amendmentOf('act_a'))).toEqual([]);
    expect(await saysNo(PAGE, DEED, amendmentOf('act_a'))).toEqual(['This page', 'This evidence']);
  });

  it('fails if the amendment is of another action, no amendment, or altered', async () => {
    expect(await saysNo(page, DEED, amendmentOf('act_b'))).toEqual(['Amended']);
    expect(await saysNo(PAGE, DEED, DEED)).toEqual(['Amended']);
    const { bytes, ...genuine } = amendmentOf('act_a');
    const altered = new TextEncoder().encode(new TextDecoder().decode(bytes).replace('MISMATCH', 'VERIFIED'));
    const shown = { ...page, witness: { ...later, verdict: 'VERIFIED' } };
    expect(await saysNo(shown, DEED, { ...genuine, bytes: altered })).toEqual(['Amended']);
  });
});

describe('a deed that holds commitments', () => {
  const SALTS = Object.fromEntries(
    ['action.args_digest', 'action.request_digest', 'execution.result_digest', 'witness.evidence_digest'].map(
      (member, index) => [member, Buffer.alloc(32, index + 1).toString('base64url')],
    ),
  );
  const held = (member: string, value: unknown): string => {
    const salt = Buffer.from(SALTS[member] ?? '', 'base64url');
    return `sha256:${sha256(Buffer.concat([Buffer.from('service/commit/v1\n'), salt, Buffer.from(`\n${canonical(value)}`)]))}`;
  };
  const request = { args: ARGS, mode: 'gateway', tool: 'crm.get_customer', tool_digest: 'sha256:t' };
  const salted = {
    ...sealed(2, {
      ...{ v: 'service.deed/2', who, policy },
      action: {
        ...{ ...action('act_a'), tool_digest: 'sha256:t', tool_truncated: false },
        args_digest: held('action.args_digest', ARGS),
        request_digest: held('action.request_digest', request),
      },
      execution: { ...execution, result_digest: held('execution.result_digest', RESULT) },
      witness: { ...known, evidence_digest: held('witness.evidence_digest', EVIDENCE) },
    }),
    salts: SALTS,
  };

  it('passes if everything is as it was sealed', async () => {
    const checks = await check(PAGE, salted);
    expect(checks.filter(({ holds }) => holds !== true).map(({ name }) => name)).toEqual(['Followed']);
    expect(checks.map(({ name }) => name).slice(-4)).toEqual([
      ...['These arguments', 'This request', 'This result', 'This evidence'],
    ]);
  });

  it('names what differs, of the request also the name of the tool', async () => {
    expect(await saysNo({ ...PAGE, args: { value: { id: '8' } } }, salted)).toEqual([
      'These arguments',
      'This request',
    ]);
    expect(await saysNo({ ...PAGE, result: { value: {} } }, salted)).toEqual(['This result']);
    expect(await saysNo({ ...PAGE, evidence: { value: {} } }, salted)).toEqual(['This evidence']);
    expect(await saysNo({ ...PAGE, tool: 'crm.get' }, salted)).toEqual(['This page', 'This request']);
    const { 'action.args_digest': one } = SALTS;
    const swapped = { ...salted, salts: { ...SALTS, 'execution.result_digest': one ?? null } };
    expect(await saysNo(PAGE, swapped)).toEqual(['This result']);
  });

  it('leaves open what it has no salt for, and what is removed', async () => {
    const unsalted = { ...salted, salts: { ...SALTS, 'execution.result_digest': null } };
    expect(await found('This result', PAGE, unsalted)).toMatchObject({ holds: null });
    const removed = await found('This result', { ...PAGE, result: { absent: 'removed' } }, unsalted);
    expect(removed).toMatchObject({ holds: null, says: expect.stringContaining('the end of the retention period') });
  });
});
