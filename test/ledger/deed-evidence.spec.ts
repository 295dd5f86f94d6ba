import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  canonicalize,
  createSignedIntent,
  digestOf,
  digestOfJson,
  parseDeedBody,
  SigningKey,
  type DeedBody,
  type JsonObject,
} from '#libs/crypto';
import { AddIntentKey, ChangeAgent } from '#libs/domain/agents/handlers';
import { ReportEdgeResult, ReportEdgeResultHandler } from '#libs/domain/gate';
import { decodeEvent, ONLY_STREAM, type ActionId, type RecordedEvent } from '#libs/domain/kernel';
import {
  DeedEvidence,
  LogAudit,
  revocationWork,
  sealKeyDecider,
  type LedgerEvent,
  type Opening,
  type SealKeyEvent,
} from '#libs/domain/ledger';
import { MemoryEventStore } from '#libs/infra/event-store';
import { ApprovalScene, type Member } from '../support/approval-scene.js';
import { GateBench } from '../support/gate-bench.js';
import { after, metadataAt, NOW } from '../support/given.js';
import { LedgerBench } from '../support/ledger-fixtures.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const TOOLS = [
  { name: 'update', method: 'POST', path: '/v1/customers', args: { name: { in: 'body', type: 'string' } } },
];
const ARGS = { name: 'Ada' };

type Revoked = Extract<SealKeyEvent, { type: 'SealKeyRevoked' }>;

let upstream: Upstream;
let bench: GateBench;
let ledger: LedgerBench;
let scene: ApprovalScene;
let [anna, ben] = [] as unknown as [Member, Member];
let isPassed = false;
const ok = (response: ServerResponse): void => void response.setHeader('Content-Type', 'application/json').end('{}');
let answer = ok;

beforeAll(async () => {
  upstream = await startUpstream((_, response) => answer(response));
});
afterAll(() => upstream.close());
beforeEach(async () => {
  [isPassed, answer] = [false, ok];
  bench = await new GateBench(new MemoryEventStore()).prepare(upstream.baseUrl, TOOLS);
  ledger = new LedgerBench(bench.store);
  await ledger.activateKey();
  scene = new ApprovalScene(bench);
  anna = await scene.member('admin');
  ben = await scene.member('admin');
});
afterEach(() => bench.close());

const settled = (id: ActionId) => bench.action(id, ({ state }) => state === 'recorded');

/** Seals what there is, has the log audited, and gives the bodies of the deeds. */
const sealed = async (): Promise<readonly DeedBody[]> => {
  await ledger.feed(ledger.sealer(), await ledger.log());
  const audit = new LogAudit(bench.org, (end, position) => bench.store.isNext(end, position));
  for (const event of await ledger.log()) audit.step(event);
  expect(audit.verdict()).toMatchObject({ unsealed: 0, faults: [] });
  return (await ledger.ledgerOf(bench.org)).map((recorded) =>
    parseDeedBody(Buffer.from(decodeEvent<LedgerEvent>(recorded).event.data.body)),
  );
};
const deedOf = async (id: ActionId): Promise<DeedBody> => {
  const body = (await sealed()).find(({ action }) => action?.id === id);
  if (body === undefined) throw new Error('the action has no deed');
  return body;
};
/** Revokes the seal key, and seals the deed of it under another. */
const revokeKey = async (): Promise<void> => {
  const { kid } = (await ledger.ledgerOf(bench.org)).map((deed) => decodeEvent<LedgerEvent>(deed).event.data).at(-1)!;
  await ledger.activateKey(after(60_000));
  ledger.clock.ms = Date.parse(after(120_000));
  const metadata = { ...metadataAt(after(120_000)), org: null, commandId: 'revoke' };
  const command = { type: 'RevokeSealKey' as const, data: { kid, reason: 'It was copied.' }, metadata };
  await ledger.runner.run(sealKeyDecider, ONLY_STREAM, command, metadata);
  const revoked = (await ledger.log()).find(({ type }) => type === 'SealKeyRevoked') as RecordedEvent;
  for (const [org, { requests }] of await revocationWork(ledger.store, decodeEvent<Revoked>(revoked), NOW)) {
    await ledger.sealer().seal(org, requests);
  }
};
/** Retention has passed actions by their streams, whichever of their deeds is asked about. */
const evidence = () =>
  new DeedEvidence(bench.store, bench.payloads, {
    hasPassedAction: (org, stream) =>
      Promise.resolve(isPassed && org === bench.org && stream.startsWith('action-act_')),
  });

/** As the format page says, and not as the code does. */
const isHeld = (opening: Opening): boolean => {
  if ('absent' in opening || opening.salt === null) return false;
  const salt = Buffer.from(opening.salt, 'base64url');
  const hash = createHash('sha256').update('service/commit/v1\n').update(salt).update('\n');
  return opening.commitment === `sha256:${hash.update(canonicalize(opening.value)).digest('hex')}`;
};
const valueAt = (openings: readonly Opening[], path: string): unknown => {
  const found = openings.find(({ member }) => member === path);
  return found && 'value' in found ? found.value : found;
};
const memberAt = (body: DeedBody, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as JsonObject)[name], body);

describe('the evidence of a deed', () => {
  it('opens every commitment: what was asked, what each person saw and said, what came back', async () => {
    await scene.enforce('required: 2');
    const { action: id } = await bench.submit({ tool: 'crm.update', args: ARGS, onBehalfOf: 'customer_7' });
    await scene.approve(id, anna, { reason: 'The customer asked for it.' });
    await scene.approve(id, ben);
    await settled(id);
    const body = await deedOf(id);
    expect(body.v).toBe('service.deed/2');
    const openings = await evidence().of(body);
    expect(openings.map(({ member }) => member)).toEqual([
      'action.args_digest',
      'action.request_digest',
      'policy.input_digest',
      'approval.context_digest',
      'approval.countersigned.0.context',
      'approval.countersigned.0.reason',
      'approval.countersigned.1.context',
      'execution.result_digest',
    ]);
    expect(openings.filter((opening) => !isHeld(opening))).toEqual([]);
    expect(openings.filter(({ member, commitment }) => memberAt(body, member) !== commitment)).toEqual([]);
    expect(valueAt(openings, 'action.args_digest')).toEqual(ARGS);
    expect(valueAt(openings, 'action.request_digest')).toMatchObject({
      args: ARGS,
      mode: 'gateway',
      tool: 'crm.update',
    });
    expect(valueAt(openings, 'policy.input_digest')).toMatchObject({ user: { ref: 'customer_7' } });
    expect(valueAt(openings, 'approval.countersigned.1.context')).toMatchObject({ action: id, args: ARGS });
    expect(valueAt(openings, 'approval.countersigned.0.reason')).toBe('The customer asked for it.');
    expect(valueAt(openings, 'execution.result_digest')).toMatchObject({ status: 200 });
    expect(body.execution).toMatchObject({ first_sent_at: expect.any(String) as unknown, message: null });
  });

  it('holds no digest that a guesser could try: no value in it has its plain one there', async () => {
    await scene.enforce();
    const { action: id } = await bench.submit({ tool: 'crm.update', args: ARGS });
    await scene.deny(id, anna, { reason: 'No.' });
    const body = await deedOf(id);
    const openings = await evidence().of(body);
    expect(valueAt(openings, 'approval.decided_by.reason')).toBe('No.');
    const plain = openings.map((opening) => ('value' in opening ? digestOfJson(opening.value) : null));
    expect(plain).toHaveLength(5);
    for (const digest of plain) expect(JSON.stringify(body)).not.toContain(digest);
  });

  it('says the sentence on an error that was recorded', async () => {
    await bench.enforce('version: 1\ndefault: allow\n');
    answer = (response) => void response.writeHead(422, { 'Content-Type': 'application/json' }).end('{}');
    const { action: id } = await bench.submit({ tool: 'crm.update', args: ARGS });
    await settled(id);
    const openings = await evidence().of(await deedOf(id));
    expect(openings.filter((opening) => !isHeld(opening))).toEqual([]);
    expect(valueAt(openings, 'execution.message')).toEqual(expect.stringMatching(/./));
  });

  it('of a result that an agent keeps is the digest that the agent reported', async () => {
    await bench.enforce('version: 1\ndefault: allow\n');
    const { action: id } = await bench.submit({ tool: 'crm.update', args: ARGS, mode: 'proxy' });
    const digest = digestOf('kept by the agent');
    const [at, no] = ['2026-01-01T00:00:00.000Z', null];
    const report = { status: 'succeeded' as const, started_at: at, finished_at: at, error_code: no, error_message: no };
    const handler = new ReportEdgeResultHandler(bench.gate, bench.bus);
    await handler.execute(new ReportEdgeResult(id, report, { digest }, bench.metadata()));
    const body = await deedOf(id);
    const openings = await evidence().of(body);
    expect(valueAt(openings, 'execution.result_digest')).toBe(digest);
    expect(JSON.stringify(body)).not.toContain(digest);
  });

  it('has the intent that the agent signed, with its signature, for as long as the arguments', async () => {
    await bench.enforce('version: 1\ndefault: deny\n');
    const key = SigningKey.generate();
    await bench.commands.execute(new AddIntentKey(bench.org, bench.agent, key.publicKey.text, bench.metadata()));
    await bench.commands.execute(new ChangeAgent(bench.org, bench.agent, { intentMode: 'required' }, bench.metadata()));
    const [iat, tool] = [bench.clock.nowMs(), 'crm.update'];
    const claims = {
      org: bench.org,
      agent: bench.agent,
      tool,
      args_digest: digestOfJson(ARGS),
      iat,
      exp: iat + 60_000,
    };
    const { header, intentHash } = createSignedIntent(claims, key);
    const { action: id } = await bench.submit({ tool, args: ARGS, intent: [header] });
    const body = await deedOf(id);
    const [intent] = await evidence().of(body);
    expect(intent).toMatchObject({ member: 'who.intent_hash', commitment: body.who.intent_hash, salt: null });
    expect(intent && 'value' in intent && digestOfJson(intent.value)).toBe(intentHash);
    const signature = Buffer.from((intent && 'signature' in intent && intent.signature) || '', 'base64url');
    expect(key.publicKey.verify(Buffer.from(`service/intent/v1\n${intentHash}`), signature)).toBe(true);
    bench.payloads.rows.clear();
    expect((await evidence().of(body))[0]).toMatchObject({ member: 'who.intent_hash', absent: 'missing' });
  });

  it('says what retention has taken, and what is missing without it', async () => {
    await scene.enforce();
    const { action: id } = await bench.submit({ tool: 'crm.update', args: ARGS });
    await scene.deny(id, anna, { reason: 'No.' });
    const body = await deedOf(id);
    bench.payloads.rows.clear();
    const absent = async () =>
      (await evidence().of(body)).map((opening) => ('absent' in opening ? opening.absent : opening.value));
    expect(await absent()).toEqual(['missing', 'missing', 'missing', 'missing', 'No.']);
    isPassed = true;
    expect(await absent()).toEqual(['removed', 'removed', 'removed', 'removed', 'No.']);
    // The deeds are made from the log alone, so they are the same without the values.
    await sealed();
  });

  it('never gives a value that is not the sealed one', async () => {
    await scene.enforce();
    const { action: id } = await bench.submit({ tool: 'crm.update', args: ARGS });
    await scene.deny(id, anna);
    const body = await deedOf(id);
    for (const name of bench.payloads.rows.keys()) {
      const [owner = '', kind = '', digest = ''] = name.split(' ');
      bench.payloads.damage({ owner, kind, digest } as Parameters<typeof bench.payloads.damage>[0], '{"name":"Eve"}');
    }
    expect((await evidence().of(body)).filter((opening) => 'value' in opening)).toEqual([]);
  });

  it('opens what each change of an administrator was, a revocation of a seal key included', async () => {
    await sealed();
    await revokeKey();
    const deeds = (await sealed()).filter(({ kind }) => kind === 'admin');
    expect(new Set(deeds.map(({ v }) => v))).toEqual(new Set(['service.deed/2']));
    for (const body of deeds) {
      const [opening, ...more] = await evidence().of(body);
      expect([body.admin?.action, opening && isHeld(opening), more]).toEqual([body.admin?.action, true, []]);
    }
    expect(deeds.map(({ admin }) => admin?.action)).toEqual(
      expect.arrayContaining(['member.invited', 'policy.created', 'seal_key.revoked']),
    );
  });
});
