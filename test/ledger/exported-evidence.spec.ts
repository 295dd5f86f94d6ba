/** A bundle with evidence, made of real calls: what an auditor reads from it, and what nobody reads from one without. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type BundleRange,
  canonicalize,
  createSignedIntent,
  type DeedBodyInput,
  digestOf,
  digestOfJson,
  fingerprintOf,
  type JsonObject,
  parseDeedBody,
  type PayloadLine,
  payloadValue,
  readBundle,
  type SealedDeed,
  SigningKey,
  verifyBundle,
  writeBundle,
} from '#libs/crypto';
import { AddIntentKey, ChangeAgent } from '#libs/domain/agents/handlers';
import { decodeEvent, type ActionId, type EventStore, type RecordedEvent, type UserId } from '#libs/domain/kernel';
import {
  DeedEvidence,
  ExportedEvidence,
  type LedgerEvent,
  SealKeyAdministration,
  sealKeyEntries,
} from '#libs/domain/ledger';
import { MemoryEventStore } from '#libs/infra/event-store';
import { bundleOf, collect, contentOf, givenChain, streamOf } from '../../libs/crypto/src/testing/given-chain.js';
import { ApprovalScene, type Member } from '../support/approval-scene.js';
import { GateBench } from '../support/gate-bench.js';
import { LedgerBench } from '../support/ledger-fixtures.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const IN_BODY = { in: 'body' };
const ARGUMENTS = {
  name: { ...IN_BODY, type: 'string' },
  half: { ...IN_BODY, type: 'number' },
  large: { ...IN_BODY, type: 'number' },
};
const TOOLS = [{ name: 'update', method: 'POST', path: '/v1/customers', args: ARGUMENTS }];
const ARGS = { name: 'Ada “Zoë” \u0001', half: 0.5, large: 1e21 };
const PYTHON_VERIFIER = fileURLToPath(new URL('../python/verify_bundle.py', import.meta.url));
const hasPython = spawnSync('python3', ['-c', 'import cryptography']).status === 0;

let upstream: Upstream;
let bench: GateBench;
let ledger: LedgerBench;
let scene: ApprovalScene;
let anna: Member;
let isPassed: boolean;
beforeAll(async () => {
  upstream = await startUpstream((_, response: ServerResponse) =>
    response.setHeader('Content-Type', 'application/json').end('{}'),
  );
});
afterAll(() => upstream.close());
beforeEach(async () => {
  isPassed = false;
  bench = await new GateBench(new MemoryEventStore()).prepare(upstream.baseUrl, TOOLS);
  ledger = new LedgerBench(bench.store);
  await ledger.activateKey();
  scene = new ApprovalScene(bench);
  anna = await scene.member('admin');
});
afterEach(() => bench.close());

/** One call that a person allowed, and that was made. */
const allowedCall = async (intent?: readonly string[]): Promise<ActionId> => {
  const { action } = await bench.submit({ tool: 'crm.update', args: ARGS, ...(intent && { intent }) });
  await scene.approve(action, anna, { reason: 'The customer asked for it.' });
  await bench.action(action, ({ state }) => state === 'recorded');
  return action;
};

const sealed = async (): Promise<readonly SealedDeed[]> => {
  await ledger.feed(ledger.sealer(), await ledger.log());
  return (await ledger.ledgerOf(bench.org)).map((recorded) => {
    const { seq, body, body_hash: bodyHash, kid, signature } = decodeEvent<LedgerEvent>(recorded).event.data;
    return { seq, body: Buffer.from(body), seal: { bodyHash, kid, signature } };
  });
};

const evidenceOf = (store: EventStore): ExportedEvidence => {
  const retention = { hasPassedAction: () => Promise.resolve(isPassed) };
  const people = {
    of: (_: unknown, users: readonly UserId[]) =>
      Promise.resolve(new Map(users.map((user) => [user, `${user}@example`]))),
  };
  return new ExportedEvidence(bench.org, new DeedEvidence(store, bench.payloads, retention), store, people);
};

/** The bundle of the deeds from one on. */
const exported = async (first: number, hasEvidence = true, store: EventStore = bench.store): Promise<Buffer> => {
  const deeds = await sealed();
  const held = deeds.slice(first - 1);
  const last = deeds.at(-1);
  if (last === undefined) throw new Error('no deeds');
  const range: BundleRange = {
    ...{ org: bench.org, from: '2020-01-01T00:00:00.000Z', to: null, first_seq: first, last_seq: last.seq },
    ...{ prev_hash: deeds[first - 2]?.seal.bodyHash ?? null, head: { seq: last.seq, body_hash: last.seal.bodyHash } },
    ...{ created_at: '2030-01-01T00:00:00.000Z', service_version: '0' },
  };
  const evidence = hasEvidence ? evidenceOf(store) : null;
  const content = { range, keys: await keys(), deeds: () => streamOf(held), additions: { checkpoint: null, evidence } };
  return collect(writeBundle(content));
};

const keys = async () =>
  sealKeyEntries(await new SealKeyAdministration(ledger.runner, ledger.streams, ledger.keys).list());
const verdictOn = async (bytes: Buffer) =>
  verifyBundle(streamOf([bytes]), { org: bench.org, pins: (await keys()).map(fingerprintOf) });

const linesIn = async (bytes: Buffer): Promise<readonly PayloadLine[]> => {
  const lines: PayloadLine[] = [];
  for await (const part of readBundle(streamOf([bytes]))) if (part.part === 'payload') lines.push(part.line);
  return lines;
};

const seqOf = async (action: ActionId): Promise<number> => {
  const deed = (await sealed()).find(({ body }) => parseDeedBody(body).action?.id === action);
  return deed?.seq ?? 0;
};
const lineOf = (lines: readonly PayloadLine[], member: string, seq: number) =>
  lines.find((line) => line.kind === 'opened' && line.member === member && line.seq === seq);
const valueOf = (line: PayloadLine | undefined): unknown =>
  line !== undefined && 'value' in line ? payloadValue(line.value) : undefined;

describe('a bundle with evidence', () => {
  it('gives everything that the whole chain stands for, and the verifier finds each line right', async () => {
    await scene.enforce();
    const seq = await seqOf(await allowedCall());
    const bytes = await exported(1);
    const lines = await linesIn(bytes);
    const given = lines.filter(({ kind }) => kind === 'opened' || kind === 'document').length;
    const unproven = lines.filter(({ kind }) => kind === 'told' || kind === 'name').length;
    expect(await verdictOn(bytes)).toMatchObject({
      result: 'intact',
      evidence: { given, removed: 0, missing: 0, unproven, not_given: 0 },
    });
    expect(valueOf(lineOf(lines, 'action.args_digest', seq))).toEqual(ARGS);
    expect(valueOf(lineOf(lines, 'approval.countersigned.0.reason', seq))).toBe('The customer asked for it.');
    expect(valueOf(lineOf(lines, 'approval.countersigned.0.context', seq))).toMatchObject({ args: ARGS });
    expect(new Set(lines.flatMap((line) => (line.kind === 'document' ? line.document : [])))).toEqual(
      new Set(['policy_source', 'connector_config']),
    );
    expect(lines.filter(({ kind }) => kind === 'told')).toEqual([]);
  });

  it.skipIf(!hasPython)('is judged alike by the verifier in Python', async () => {
    await scene.enforce();
    await allowedCall();
    const bytes = await exported(2);
    const folder = mkdtempSync(join(tmpdir(), 'evidence-'));
    const path = join(folder, 'evidence.tar.gz');
    writeFileSync(path, bytes);
    const pins = (await keys()).flatMap((key) => ['--pin', fingerprintOf(key)]);
    const { status, stdout } = spawnSync('python3', ['-B', PYTHON_VERIFIER, path, '--org', bench.org, ...pins], {
      encoding: 'utf8',
    });
    rmSync(folder, { recursive: true });
    expect(JSON.parse(stdout)).toEqual(await verdictOn(bytes));
    expect(status).toBe(0);
  });

  it('tells an auditor with a part of the chain which rules applied, and who everybody is', async () => {
    await scene.enforce();
    const key = SigningKey.generate();
    await bench.commands.execute(new AddIntentKey(bench.org, bench.agent, key.publicKey.text, bench.metadata()));
    await bench.commands.execute(new ChangeAgent(bench.org, bench.agent, { intentMode: 'required' }, bench.metadata()));
    const [iat, tool, org, agent] = [bench.clock.nowMs(), 'crm.update', bench.org, bench.agent];
    const claims = { org, agent, tool, args_digest: digestOfJson(ARGS), iat, exp: iat + 60_000 };
    const seq = await seqOf(await allowedCall([createSignedIntent(claims, key).header]));
    const bytes = await exported(seq);
    const lines = await linesIn(bytes);
    expect(await verdictOn(bytes)).toMatchObject({ result: 'intact', first_seq: seq, evidence: { missing: 0 } });
    const told = lines.flatMap((line) => (line.kind === 'told' ? [[line.document, line.id]] : []));
    const { policy } = parseDeedBody((await sealed())[seq - 1]?.body ?? Buffer.alloc(0));
    expect(told).toEqual([
      ['intent_key', key.publicKey.kid],
      ['policy_source', policy?.policy_version],
    ]);
    expect(valueOf(lines.find((line) => line.kind === 'told' && line.document === 'intent_key'))).toEqual({
      agent,
      public_key: key.publicKey.text,
    });
    expect(valueOf(lines.find((line) => line.kind === 'document'))).toMatchObject({ kid: key.publicKey.kid });
    const names = lines.flatMap((line) => (line.kind === 'name' ? [`${line.type} ${line.name}`] : []));
    expect(names).toEqual(expect.arrayContaining([`user ${anna.user}@example`, 'connector crm']));
  });

  it('says what retention has taken, and what is missing without it', async () => {
    await scene.enforce();
    const seq = await seqOf(await allowedCall());
    bench.payloads.rows.clear();
    // The person's reason stands in an event, and is given as ever: once where it was signed, once where that decided it.
    const countsOf = async () => (await verdictOn(await exported(seq))).evidence;
    expect(await countsOf()).toMatchObject({ removed: 0, given: 2 });
    isPassed = true;
    expect(await countsOf()).toMatchObject({ missing: 0, given: 2 });
  });
});

describe('a damaged event', () => {
  /** The log as it is read where this event of it was damaged. */
  const damagedAt = (at: RecordedEvent, data: string): EventStore => {
    const readStream: EventStore['readStream'] = async (...asked) =>
      (await bench.store.readStream(...asked)).map((event) =>
        event.stream === at.stream && event.revision === at.revision ? { ...event, data } : event,
      );
    return Object.create(bench.store, { readStream: { value: readStream } }) as EventStore;
  };

  it('hides what it says, and ends no export: what it was is listed as missing', async () => {
    await scene.enforce();
    const action = await allowedCall();
    const seq = await seqOf(action);
    const whole = (await verdictOn(await exported(1))).evidence;
    const [submitted] = await bench.store.readStream(`action-${action}`);
    if (submitted === undefined) throw new Error('no action');
    const bytes = await exported(1, true, damagedAt(submitted, '{'));
    const verdict = await verdictOn(bytes);
    expect(verdict).toMatchObject({ result: 'intact', evidence: { removed: 0 } });
    expect(verdict.evidence?.missing).toBeGreaterThan(0);
    expect((verdict.evidence?.given ?? 0) + (verdict.evidence?.missing ?? 0)).toBe(whole?.given);
    // The person's reason stands in another event.
    const reason = lineOf(await linesIn(bytes), 'approval.countersigned.0.reason', seq);
    expect(valueOf(reason)).toBe('The customer asked for it.');
  });

  it.each(['{', '{}', '[]', 'null'])('ends no export, whichever it is: %s', async (data) => {
    await scene.enforce();
    const key = SigningKey.generate();
    await bench.commands.execute(new AddIntentKey(bench.org, bench.agent, key.publicKey.text, bench.metadata()));
    const seq = await seqOf(await allowedCall());
    const events = (await ledger.log()).filter(({ stream }) => !stream.startsWith('ledger-'));
    for (const event of events) {
      for (const first of [1, seq]) {
        const verdict = await verdictOn(await exported(first, true, damagedAt(event, data)));
        expect([event.stream, event.type, verdict.result, verdict.reason]).toEqual([
          ...[event.stream, event.type],
          ...['intact', null],
        ]);
      }
    }
  });
});

/** How often a guesser tries. Enough for every refund of up to 1,000.00 of a shop with 10 customers. */
const GUESSES = 100_000;

describe('a guesser, who knows the shape of the arguments', () => {
  /** Looks for a digest of one of many arguments in what a bundle holds. */
  const guessed = async (bytes: Buffer): Promise<string | null> => {
    const bodies: string[] = [];
    for await (const part of readBundle(streamOf([bytes]))) {
      if (part.part === 'deed') bodies.push(Buffer.from(part.deed.body).toString());
    }
    const digests = new Set(bodies.join('\n').match(/sha256:[0-9a-f]{64}/g));
    for (let number = 0; number < GUESSES; number += 1) {
      const args = canonicalize({ name: `customer ${number}` });
      if (digests.has(digestOf(args))) return args;
    }
    return null;
  };

  it('finds nothing in a bundle without evidence', async () => {
    await scene.enforce();
    await bench.submit({ tool: 'crm.update', args: { name: 'customer 4711' } });
    expect(await guessed(await exported(1, false))).toBeNull();
  });

  it('would find it in a deed of the first format, which holds plain digests', async () => {
    const args = { name: 'customer 4711' };
    const [, , , , plain] = givenChain(5, { changeAt: (seq) => (seq === 5 ? withArgs(5, args) : {}) });
    if (plain === undefined) throw new Error('no deed');
    const content = contentOf([plain], { prev_hash: digestOf('before') });
    expect(await guessed(await bundleOf(content))).toBe(canonicalize(args));
  });
});

/** The action of a deed of the chains of other tests, with other arguments. */
const withArgs = (seq: number, args: JsonObject) => {
  const { action } = parseDeedBody(givenChain(seq).at(-1)?.body ?? Buffer.alloc(0));
  if (action === null) throw new Error('the deed is of no action');
  return { action: { ...action, args_digest: digestOfJson(args) } } as Partial<DeedBodyInput>;
};
