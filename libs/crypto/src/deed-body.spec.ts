import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { buildDeedBody, DeedBodyError, type DeedBodyInput, encodeDeedBody, parseDeedBody } from './deed-body.js';
import { startOfChain } from './deed-chain.js';
import {
  type DeedBody,
  MAX_DEED_BYTES,
  MAX_SENTENCE_BYTES,
  MAX_SIGNATURES,
  MAX_WITNESS_REASONS,
  MAX_WORD_BYTES,
} from './deed-schema.js';
import { digestOf } from './digest.js';
import { canonicalize } from './jcs.js';
import type { JsonObject, JsonValue } from './strict-json.js';
import { approvalAt, at, bodyAfter, givenChain, KEY, ORG, PEOPLE } from './testing/given-chain.js';

const positionOf = (seq: number) =>
  seq === 1 ? startOfChain(ORG) : { org: ORG, seq: seq - 1, bodyHash: digestOf('before'), issuedAt: null };
const bodyAt = (seq: number, change: Partial<DeedBodyInput> = {}) =>
  bodyAfter(positionOf(seq), KEY.publicKey.kid, change);

const [DENIED, EXECUTED, ADMIN, FIRST_EXECUTED] = [1, 2, 3, 5];

const refusal = (action: () => unknown): string => {
  try {
    action();
  } catch (error) {
    if (error instanceof DeedBodyError) return `${error.reason} ${error.path}`.trim();
    throw error;
  }
  throw new Error('the body was accepted');
};

/** The bytes of a body with one member replaced, by its dotted path; undefined removes it. */
const bytesWith = (seq: number, path: string, value: JsonValue | undefined): Uint8Array =>
  changedAt(bodyAt(seq), path, value);

const changedAt = (original: DeedBody, path: string, value: JsonValue | undefined): Uint8Array => {
  const body = structuredClone(original) as JsonObject;
  const names = path.split('.');
  const last = names.pop() ?? '';
  const owner = names.reduce((object, name) => object[name] as JsonObject, body);
  if (value === undefined) delete owner[last];
  else owner[last] = value;
  return Buffer.from(canonicalize(body));
};

describe('deed body', () => {
  it.each([DENIED, EXECUTED, ADMIN])('reads back as it was written: deed %i', (seq) => {
    const body = bodyAt(seq);
    expect(parseDeedBody(encodeDeedBody(body))).toEqual(body);
  });

  it('reads back whatever texts people and tools put in (property)', () => {
    const words = fc.string({ unit: 'binary', maxLength: 60 });
    const body = bodyAt(DENIED);
    fc.assert(
      fc.property(words, words, words, (tool, message, reason) => {
        const action = body.action === null ? null : { ...body.action, tool: tool.slice(0, 40) };
        const policy = body.policy === null ? null : { ...body.policy, message, reason };
        fc.pre(action !== null && Buffer.byteLength(action.tool) <= 200);
        const changed = buildDeedBody({ ...body, action, policy });
        expect(parseDeedBody(encodeDeedBody(changed))).toEqual(changed);
      }),
    );
  });

  it('stays below its limit with every text at its own', () => {
    const body = bodyAt(EXECUTED);
    const widest = (bytes: number): string => '\u0001'.repeat(bytes);
    const sentence = widest(MAX_SENTENCE_BYTES);
    const word = widest(MAX_WORD_BYTES);
    const digest = digestOf('a value');
    const full = buildDeedBody({
      ...body,
      action: body.action && { ...body.action, tool: widest(200) },
      policy: body.policy && { ...body.policy, code: word, rule_id: word, reason: sentence, message: sentence },
      witness: body.witness && {
        ...body.witness,
        method: word,
        reasons: Array<string>(MAX_WITNESS_REASONS).fill(word),
      },
      execution: body.execution && { ...body.execution, error_code: word },
    });
    const { approval } = bodyAt(EXECUTED, approvalAt(EXECUTED, 'cancelled'));
    const signer = (index: number) => `usr_${String(index).padStart(26, '0')}`;
    const widestApproval = approval && {
      ...approval,
      countersigned: Array.from({ length: MAX_SIGNATURES }, (_, index) => ({
        ...{ at: at(1), by: signer(index), context: digest, reason: digest, assertion: digest },
      })),
      decided_by: { type: 'operator' as const, id: word, reason: null, assertion: null },
    };
    const cancelled = buildDeedBody({
      ...full,
      execution: null,
      policy: full.policy && { ...full.policy, outcome: 'require_approval' },
      approval: widestApproval,
    });
    expect(encodeDeedBody(cancelled).byteLength).toBeLessThan(MAX_DEED_BYTES);
    expect(encodeDeedBody(full).byteLength).toBeLessThan(MAX_DEED_BYTES);
  });

  it('is not written when a second writer does not write the same', () => {
    const body = bodyAt(DENIED);
    const policy = body.policy && { ...body.policy };
    let reads = 0;
    Object.defineProperty(policy, 'reason', { enumerable: true, get: () => `said ${(reads += 1)} times` });
    expect(refusal(() => encodeDeedBody({ ...body, policy }))).toBe('not_canonical');
  });

  it('is not written around a lone surrogate', () => {
    const body = bodyAt(DENIED);
    const policy = body.policy && { ...body.policy, message: '\ud800' };
    expect(refusal(() => encodeDeedBody(buildDeedBody({ ...body, policy })))).toBe('not_canonical');
  });
});

describe('deed body: other spellings of the same value', () => {
  const text = Buffer.from(encodeDeedBody(bodyAt(EXECUTED))).toString();
  it.each([
    ['a space', text.replace(',', ', ')],
    ['a trailing line feed', `${text}\n`],
    ['another order of members', text.replace(/^\{(.*?),"admin":null/, '{"admin":null,$1')],
    ['a fraction', text.replace('"seq":2', '"seq":2.0')],
    ['an exponent', text.replace('"attempts":1', '"attempts":1e0')],
    ['an escape', text.replace('gateway', 'g\\u0061teway')],
    ['a repeated member', text.replace('"seq":2', '"seq":2,"seq":2')],
    ['a byte order mark', `\uFEFF${text}`],
    ['no JSON', 'deed'],
  ])('%s', (_name, twin) => {
    expect(twin).not.toBe(text);
    expect(refusal(() => parseDeedBody(Buffer.from(twin)))).toBe('not_canonical');
  });

  it('a body beyond the limit', () => {
    expect(refusal(() => parseDeedBody(Buffer.alloc(MAX_DEED_BYTES + 1, 0x20)))).toBe('not_canonical');
  });
});

describe('deed body: the closed schema', () => {
  it.each<[number, string, JsonValue | undefined, string]>([
    [EXECUTED, 'extra', 1, 'extra'],
    [EXECUTED, 'action.extra', 1, 'action.extra'],
    [EXECUTED, 'action.__proto__x', 1, 'action.__proto__x'],
    [EXECUTED, 'cost', undefined, 'cost'],
    [EXECUTED, 'who.actor.id', undefined, 'who.actor.id'],
    [EXECUTED, 'v', 'service.deed/3', 'v'],
    [EXECUTED, 'v', 'service.deed/1', 'action.undo_of'],
    [FIRST_EXECUTED, 'v', 'service.deed/2', 'action.undo_of'],
    [EXECUTED, 'execution.message', 'said', 'execution.message'],
    [EXECUTED, 'execution.first_sent_at', undefined, 'execution.first_sent_at'],
    [EXECUTED, 'id', 'deed_00000000000000000000000000', 'id'],
    [EXECUTED, 'org', 'org_1', 'org'],
    [EXECUTED, 'seq', 0, 'seq'],
    [EXECUTED, 'seq', '2', 'seq'],
    [EXECUTED, 'kind', 'other', 'kind'],
    [EXECUTED, 'issued_at', '2026-10-01T12:00:00Z', 'issued_at'],
    [EXECUTED, 'issued_at', '2026-02-30T12:00:00.000Z', 'issued_at'],
    [EXECUTED, 'issued_at', '2026-10-01T12:00:60.000Z', 'issued_at'],
    [EXECUTED, 'issued_at', '2026-10-01T12:00:00.000+00:00', 'issued_at'],
    [EXECUTED, 'source.event_id', 'F0000000-0000-0000-0000-000000000000', 'source.event_id'],
    [EXECUTED, 'chain.prev_hash', 'sha256:0', 'chain.prev_hash'],
    [EXECUTED, 'chain.kid', 'A'.repeat(32), 'chain.kid'],
    [EXECUTED, 'who.on_behalf_of', 'a b', 'who.on_behalf_of'],
    [EXECUTED, 'who.on_behalf_of', '', 'who.on_behalf_of'],
    [EXECUTED, 'action.tool', 'x'.repeat(201), 'action.tool'],
    [EXECUTED, 'action.tool', 'é'.repeat(101), 'action.tool'],
    [EXECUTED, 'action.mode', 'edge', 'action.mode'],
    [EXECUTED, 'policy.message', 'm'.repeat(MAX_SENTENCE_BYTES + 1), 'policy.message'],
    [EXECUTED, 'execution.attempts', -1, 'execution.attempts'],
    [EXECUTED, 'witness.reasons', ['ok', 7], 'witness.reasons.1'],
    [EXECUTED, 'cost.currency', 'USD', 'cost.currency'],
    [ADMIN, 'admin.action', 'agent', 'admin.action'],
    [EXECUTED, 'who', [], 'who'],
  ])('deed %i, %s = %j is refused at %s', (seq, path, value, at) => {
    expect(refusal(() => parseDeedBody(bytesWith(seq, path, value)))).toBe(`schema ${at}`);
  });

  it('names an unknown member before a missing one, and that before a wrong value', () => {
    const body = { ...bodyAt(EXECUTED), zebra: 1, apple: 2, seq: 'x' } as unknown as JsonObject;
    delete body['cost'];
    const read = (value: JsonObject): string => refusal(() => parseDeedBody(Buffer.from(canonicalize(value))));
    expect(read(body)).toBe('schema apple');
    delete body['apple'];
    delete body['zebra'];
    expect(read(body)).toBe('schema cost');
    body['cost'] = null;
    expect(read(body)).toBe('schema seq');
  });
});

const [COUNTERSIGNED, DECIDED_BY] = ['approval.countersigned', 'approval.decided_by'];
const ASSERTED = 'approval.decided_by.assertion';
/** What stands in the newest format where nobody gave a reason. */
const WORDLESS = { reason: null, assertion: null };

describe('deed body: rules between members', () => {
  const policy = bodyAt(EXECUTED).policy as JsonValue;
  const agent = bodyAt(EXECUTED).who.agent as string;
  it.each<[string, number, string, JsonValue, string]>([
    ['the id follows from the organization and the source event', EXECUTED, 'id', bodyAt(DENIED).id, 'id'],
    ['only the first deed has no link', EXECUTED, 'chain.prev_hash', null, 'chain.prev_hash'],
    ['the first deed has no link', DENIED, 'chain.prev_hash', digestOf('x'), 'chain.prev_hash'],
    ['an agent acts as itself', EXECUTED, 'who.agent', agent.replace(/.$/, '0'), 'who.actor.id'],
    ['a signed intent has a hash', EXECUTED, 'who.intent_hash', null, 'who.intent_hash'],
    ['an unsigned intent has none', EXECUTED, 'who.intent_signed', false, 'who.intent_hash'],
    ['an action deed has an action', EXECUTED, 'action', null, 'action'],
    ['an action deed has a decision', EXECUTED, 'policy', null, 'policy'],
    ['an action deed has no admin section', EXECUTED, 'admin', bodyAt(ADMIN).admin, 'admin'],
    ['an admin deed has no decision', ADMIN, 'policy', policy, 'policy'],
    ['an admin deed has an admin section', ADMIN, 'admin', null, 'admin'],
    ['an admin deed has no cost', ADMIN, 'cost', { amount: 1, currency: 'usd' }, 'cost'],
    ['an amendment has an action', ADMIN, 'kind', 'amendment', 'action'],
    ['an amendment has a witness', DENIED, 'kind', 'amendment', 'witness'],
  ])('%s', (_rule, seq, path, value, at) => {
    expect(refusal(() => parseDeedBody(bytesWith(seq, path, value)))).toBe(`schema ${at}`);
  });

  const STATUSES = ['approved', 'denied', 'expired', 'cancelled'] as const;
  const approvalBody = (status: (typeof STATUSES)[number]) => bodyAt(EXECUTED, approvalAt(EXECUTED, status));

  it.each(STATUSES)('an action whose approval is %s reads back as it was written', (status) => {
    const body = approvalBody(status);
    expect(parseDeedBody(encodeDeedBody(body))).toEqual(body);
  });

  it.each([
    { type: 'user', id: PEOPLE[0] as string },
    { type: 'admin_key', id: `key_${(PEOPLE[0] as string).slice(4)}` },
    { type: 'agent', id: agent },
    { type: 'operator', id: null },
    { type: 'system', id: null },
  ])('anybody may have cancelled: $type', (by) =>
    expect(() =>
      parseDeedBody(changedAt(approvalBody('cancelled'), 'approval.decided_by', { ...by, ...WORDLESS })),
    ).not.toThrow(),
  );

  const [anna = '', ben = ''] = PEOPLE;
  const signed = (...people: readonly string[]) =>
    people.map((by) => ({ at: at(1), by, context: digestOf('context'), ...WORDLESS }));
  const execution = bodyAt(EXECUTED).execution as JsonValue;
  const byAgent = { id: agent, type: 'agent', ...WORDLESS };
  it.each<[string, (typeof STATUSES)[number], string, JsonValue, string]>([
    ['what nobody asked people about has none', 'approved', 'policy.outcome', 'allow', 'approval'],
    ['what people were asked about has one', 'denied', 'approval', null, 'approval'],
    ['a yes has as many signatures as it needs', 'approved', 'approval.countersigned', signed(anna), COUNTERSIGNED],
    ['nobody signs twice', 'approved', 'approval.countersigned', signed(anna, ben, anna), COUNTERSIGNED],
    ['nobody signs twice what is denied', 'denied', 'approval.countersigned', signed(anna, anna), COUNTERSIGNED],
    ['a person says yes', 'approved', 'approval.decided_by', null, DECIDED_BY],
    [
      'only a person says yes',
      'approved',
      'approval.decided_by',
      { id: agent, type: 'agent', ...WORDLESS },
      DECIDED_BY,
    ],
    ['a person says no', 'denied', 'approval.decided_by', { id: null, type: 'system', ...WORDLESS }, DECIDED_BY],
    ['a person has an id', 'denied', 'approval.decided_by', { id: agent, type: 'user', ...WORDLESS }, DECIDED_BY],
    ['nobody lets it expire', 'expired', 'approval.decided_by', { id: anna, type: 'user', ...WORDLESS }, DECIDED_BY],
    ['somebody cancels', 'cancelled', 'approval.decided_by', null, DECIDED_BY],
    [
      'another agent cannot cancel',
      'cancelled',
      'approval.decided_by',
      { id: anna, type: 'agent', ...WORDLESS },
      DECIDED_BY,
    ],
    [
      'only a person gives a reason',
      'cancelled',
      'approval.decided_by',
      { ...byAgent, reason: digestOf('a') },
      ASSERTED,
    ],
    ['only a person asserts', 'cancelled', 'approval.decided_by', { ...byAgent, assertion: digestOf('a') }, ASSERTED],
    ['it has its time, whatever came of it', 'expired', 'approval.decided_at', null, 'approval.decided_at'],
    ['what is denied does not run', 'denied', 'execution', execution, 'execution'],
    ['what expires does not run', 'expired', 'execution', execution, 'execution'],
    ['what is cancelled does not run', 'cancelled', 'execution', execution, 'execution'],
  ])('of an approval: %s', (_rule, status, path, value, where) =>
    expect(refusal(() => parseDeedBody(changedAt(approvalBody(status), path, value)))).toBe(`schema ${where}`),
  );

  it('an admin deed has no approval', () =>
    expect(
      refusal(() => parseDeedBody(bytesWith(ADMIN, 'approval', approvalBody('denied').approval as JsonValue))),
    ).toBe('schema approval'));

  it('a revocation names its key', () => {
    const admin = { action: 'seal_key.revoked', reason: null, data_digest: null };
    const target = { type: 'seal_key' };
    const revoking = (id: string) => encodeDeedBody(bodyAt(ADMIN, { admin: { ...admin, target: { ...target, id } } }));
    expect(() => revoking(KEY.publicKey.kid)).not.toThrow();
    expect(refusal(() => revoking('old'))).toBe('schema admin.target');
  });
});

it('a chain of every kind of deed can be given', () => {
  const kinds = givenChain(6).map(({ body }) => parseDeedBody(body).kind);
  expect(kinds).toEqual(['action', 'action', 'admin', 'action', 'action', 'admin']);
});
