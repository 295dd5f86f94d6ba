import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { canonicalize, commitUnder, digestOf, type PasskeyAssertion } from '#libs/crypto';
import { approvalOf, type LivingAction, type PayloadRows, PayloadSweeper, SignedDecisions } from '#libs/domain/gate';
import {
  decodeEvent,
  DomainError,
  EVENT_SCHEMA_VERSION,
  type EventStore,
  FIRST_EVENT_SCHEMA,
  idOf,
  type ActionId,
  type RecordedEvent,
  SIGNED_DECISION_SCHEMA,
  UnknownEventType,
} from '#libs/domain/kernel';
import type { PasskeyId } from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { WebAuthnVerifier } from '#libs/infra/people';
import { SystemRandomness } from '#libs/infra/runtime';
import { ApprovalScene, type Member } from '../support/approval-scene.js';
import { GateBench } from '../support/gate-bench.js';
import { silentLogger } from '../support/silent-logger.js';
import { type Lies, SoftAuthenticator } from '../support/soft-authenticator.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const TOOLS = [{ name: 'update', method: 'POST', path: '/v1/customers', args: {} }];
const ELSEWHERE = [{ name: 'update', method: 'POST', path: '/v1/elsewhere', args: {} }];
const SITE = { rpId: 'ags.example.com', origin: 'https://ags.example.com' };
const PARTY = { id: SITE.rpId, origin: SITE.origin };

let upstream: Upstream;
let bench: GateBench;
let scene: ApprovalScene;
let [anna, ben] = [] as unknown as [Signer, Signer];

interface Signer extends Member {
  readonly device: SoftAuthenticator;
  readonly passkey: PasskeyId;
}

beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.close());
beforeEach(async () => {
  bench = await new GateBench(new MemoryEventStore()).prepare(upstream.baseUrl, TOOLS);
  scene = new ApprovalScene(bench);
  anna = await signer(-7);
  ben = await signer(-8);
  await scene.enforce('signed: true');
});
afterEach(() => bench.close());

const signer = async (alg: -7 | -8): Promise<Signer> => {
  const member = await scene.member('admin');
  const device = new SoftAuthenticator(SITE, alg);
  const passkey = idOf('pky', new SystemRandomness().bytes(16));
  const { credential, spki: publicKey } = device;
  const data = { passkey, credential, alg, publicKey, rpId: SITE.rpId };
  await scene.organization({ type: 'RegisterPasskey', data }, member.user);
  return { ...member, device, passkey };
};

const held = async (): Promise<ActionId> => (await bench.submit({ tool: 'crm.update' })).action;
const action = async (id: ActionId): Promise<LivingAction> => (await bench.action(id)) as LivingAction;
const statusOf = async (id: ActionId) => (await action(id)).approval?.status;
const refusal = (decided: Promise<unknown>): Promise<string> =>
  decided.then(
    () => 'none',
    (error: Error) => (error instanceof DomainError ? error.code : error.message),
  );

/** Of the events that follow the question, by their types. */
const schemasOf = async (id: ActionId): Promise<readonly (readonly [string, number])[]> => {
  const recorded = await bench.store.readStream(`action-${id}`);
  return recorded
    .map((event): readonly [string, number] => [event.type, decodeEvent(event).metadata.schema])
    .filter(([type]) => type.startsWith('Approval'));
};

const signed = () =>
  new SignedDecisions({
    ...{ verifier: new WebAuthnVerifier(), payloads: bench.payloads, clock: bench.clock, logger: silentLogger },
    rows: { used: () => Promise.resolve(false) },
  });

type Decision = 'approve' | 'deny';

/** What the person's browser is asked to have signed. */
const challengeFor = async (id: ActionId, { user: by }: Member, decision: Decision): Promise<string> => {
  const review = await scene.review(id);
  return signed().optionsFor(review, { decision, by, contextDigest: review.digest }, PARTY).challenge;
};
const answered = (by: Signer, challenge: string, lies: Lies = {}) => {
  const { id: credential, ...others } = by.device.sign(challenge, lies);
  const { client_data_json: clientDataJson, authenticator_data: authenticatorData, signature } = others;
  return { answer: { credential, clientDataJson, authenticatorData, signature, userHandle: null }, party: PARTY };
};
const signedBy = async (id: ActionId, by: Signer, decision: Decision = 'approve') =>
  answered(by, await challengeFor(id, by, decision));

describe('an approval that is to be signed', () => {
  it.each(['anna', 'ben'])('is given by a passkey of the person, and runs then: %s', async (name) => {
    const by = name === 'anna' ? anna : ben;
    const id = await held();
    expect((await action(id)).approval?.terms.signed).toBe(true);
    expect((await scene.review(id)).context).toMatchObject({ signed: true });
    const assertion = await signedBy(id, by);
    await scene.approve(id, by, { assertion });
    expect((await bench.action(id, ({ state }) => state === 'recorded')) as LivingAction).toMatchObject({
      outcome: { status: 'succeeded' },
      approval: { status: 'approved', decidedWith: expect.stringContaining('sha256:') as string },
    });
  });

  it('keeps what was signed under a commitment with a salt of its own, named by the event', async () => {
    const id = await held();
    const assertion = await signedBy(id, anna);
    await scene.approve(id, anna, { assertion });
    const { signatures, decidedWith } = (await action(id)).approval!;
    const { authenticatorData, clientDataJson, credential, signature } = assertion.answer;
    const kept: PasskeyAssertion = {
      authenticator_data: authenticatorData,
      client_data_json: clientDataJson,
      credential,
      signature,
    };
    const body = canonicalize({ ...kept });
    expect(signatures.map(({ assertion_digest }) => assertion_digest)).toEqual([digestOf(body)]);
    expect(decidedWith).toBe(digestOf(body));
    const stored = await bench.payloads.salted(id, 'assertion', digestOf(body));
    expect(stored?.body).toBe(body);
    const [salt] = stored?.salts ?? [];
    const { commitments = [] } = await action(id);
    expect(commitments).toContainEqual({
      ...{ value: 'assertion', digest: digestOf(body) },
      commitment: commitUnder(salt ?? '', 'assertion', body),
    });
  });

  it('is recorded in a schema that a program of the version before refuses, and nothing else is', async () => {
    const [one, other] = [await held(), await held()];
    await scene.approve(one, anna, { assertion: await signedBy(one, anna) });
    await scene.deny(other, anna);
    const [first, signedSchema] = [FIRST_EVENT_SCHEMA, SIGNED_DECISION_SCHEMA];
    // Which every reader tells from the metadata alone, before it looks at a member (event-codec.spec.ts).
    expect(signedSchema).toBeGreaterThan(first);
    expect(await schemasOf(one)).toEqual([
      ['ApprovalRequested', first],
      ['ApprovalCountersigned', signedSchema],
      ['ApprovalDecided', signedSchema],
    ]);
    expect(new Set((await schemasOf(other)).map(([, schema]) => schema))).toEqual(new Set([first]));
  });

  it('leaves what was signed alone where a program cannot read by what it is named', async () => {
    const id = await held();
    await scene.approve(id, anna, { assertion: await signedBy(id, anna) });
    const newer = (event: RecordedEvent): RecordedEvent => ({
      ...event,
      metadata: event.metadata.replace(`"schema":${SIGNED_DECISION_SCHEMA}`, `"schema":${EVENT_SCHEMA_VERSION + 1}`),
    });
    const readStream: EventStore['readStream'] = async (...asked) =>
      (await bench.store.readStream(...asked)).map(newer);
    // As the version before sees it: every event of the decision is of a newer schema.
    const store = Object.create(bench.store, { readStream: { value: readStream } }) as EventStore;
    const row = { org: bench.org, owner: id, kind: 'assertion', digest: digestOf('what was signed') } as const;
    const settled: unknown[] = [];
    const rows = {
      next: () => Promise.resolve({ rows: [row], cursor: null }),
      settle: (...page: unknown[]) => Promise.resolve(settled.push(page) > 0),
    } as unknown as PayloadRows;
    await expect(new PayloadSweeper(store, rows, 0).sweepPage()).rejects.toBeInstanceOf(UnknownEventType);
    expect(settled).toEqual([]);
  });

  it('is refused without, and nothing has changed', async () => {
    const id = await held();
    const { revision } = await action(id);
    expect(await refusal(scene.approve(id, anna))).toBe('approval_needs_passkey');
    expect(await refusal(scene.approve(id, anna, { via: 'mail' }))).toBe('approval_needs_passkey');
    expect(await refusal(scene.approve(id, anna, { via: 'chat' }))).toBe('approval_needs_passkey');
    expect(await action(id)).toMatchObject({ revision, approval: { status: 'pending', signatures: [] } });
    expect(upstream.countFor(id)).toBe(0);
  });

  it('is denied without: a lost device hinders no no; what was signed is kept all the same', async () => {
    const [one, other] = [await held(), await held()];
    await scene.deny(one, anna);
    expect(await action(one)).toMatchObject({ approval: { status: 'denied' } });
    await scene.deny(other, ben, { assertion: await signedBy(other, ben, 'deny') });
    expect(await action(other)).toMatchObject({
      approval: { status: 'denied', decidedWith: expect.any(String) as string },
    });
  });

  it('needs as many people, each with a passkey of their own', async () => {
    await scene.enforce('required: 2', 'signed: true');
    const id = await held();
    await scene.approve(id, anna, { assertion: await signedBy(id, anna) });
    expect(await statusOf(id)).toBe('pending');
    expect(await refusal(scene.approve(id, ben))).toBe('approval_needs_passkey');
    await scene.approve(id, ben, { assertion: await signedBy(id, ben) });
    expect(await action(id)).toMatchObject({ approval: { status: 'approved', counted: [anna.user, ben.user] } });
  });

  it('tells who has no passkey what to do', async () => {
    const cara = await scene.member('admin');
    const id = await held();
    await expect(scene.approve(id, cara)).rejects.toThrow('Add one in the Console');
    await expect(challengeFor(id, cara, 'approve')).rejects.toMatchObject({ code: 'approval_needs_passkey' });
  });
});

describe('a signature', () => {
  it.each<readonly [string, Lies]>([
    ['by a device that verified nobody', { flags: 0x01 }],
    ['by a device that nobody touched', { flags: 0x04 }],
    ['for another site', { rpId: 'evil.example.com' }],
    ['on a page of another site', { origin: 'https://evil.example.com' }],
    ['in a frame', { others: { crossOrigin: true } }],
    ['of a registration', { type: 'webauthn.create' }],
    ['of nothing that was asked', { challenge: 'c'.repeat(43) }],
  ])('is refused %s', async (_how, lies) => {
    const id = await held();
    const challenge = await challengeFor(id, anna, 'approve');
    const assertion = answered(anna, challenge, lies);
    expect(await refusal(scene.approve(id, anna, { assertion }))).toBe('passkey_invalid');
    expect(await statusOf(id)).toBe('pending');
  });

  it('is of one approval', async () => {
    const [one, other] = [await held(), await held()];
    const assertion = await signedBy(one, anna);
    expect(await refusal(scene.approve(other, anna, { assertion }))).toBe('passkey_invalid');
    await scene.approve(one, anna, { assertion });
  });

  it('is of one person', async () => {
    const id = await held();
    const assertion = await signedBy(id, anna);
    expect(await refusal(scene.approve(id, ben, { assertion }))).toBe('passkey_invalid');
    // Nor does another person's device do that signs the right challenge.
    const foreign = answered(ben, await challengeFor(id, anna, 'approve'));
    expect(await refusal(scene.approve(id, anna, { assertion: foreign }))).toBe('passkey_invalid');
  });

  it('is of one decision', async () => {
    const id = await held();
    const no = await signedBy(id, anna, 'deny');
    expect(await refusal(scene.approve(id, anna, { assertion: no }))).toBe('passkey_invalid');
    const yes = await signedBy(id, anna);
    expect(await refusal(scene.deny(id, anna, { assertion: yes }))).toBe('passkey_invalid');
    expect(await statusOf(id)).toBe('pending');
  });

  it('is of what was shown: what was changed between the question and the answer is asked anew', async () => {
    const id = await held();
    const { digest } = await scene.review(id);
    const assertion = await signedBy(id, anna);
    await bench.changeElsewhere({ tools: ELSEWHERE });
    expect(await refusal(scene.approve(id, anna, { assertion, contextDigest: digest }))).toBe('context_changed');
    // Nor does it do to name what it is by now.
    expect(await refusal(scene.approve(id, anna, { assertion }))).toBe('passkey_invalid');
    await scene.approve(id, anna, { assertion: await signedBy(id, anna) });
  });

  it('sent again with the same command says the same, once', async () => {
    const id = await held();
    const assertion = await signedBy(id, anna);
    const metadata = { ...bench.metadata(), actor: { type: 'user' as const, id: anna.user } };
    const first = await scene.approve(id, anna, { assertion, metadata });
    const again = await scene.approve(id, anna, { assertion, metadata });
    expect(again.approval.signatures).toEqual(first.approval.signatures);
    expect(await refusal(scene.approve(id, anna, { assertion }))).toBe('approval_decided');
  });

  it('is void once its passkey was removed, or its person', async () => {
    const id = await held();
    const assertion = await signedBy(id, anna);
    await scene.organization({ type: 'RemovePasskey', data: { passkey: anna.passkey } }, anna.user);
    expect(await refusal(scene.approve(id, anna, { assertion }))).toBe('passkey_invalid');
    const others = await signedBy(id, ben);
    await scene.organization({ type: 'RemoveMember', data: { membership: ben.membership } });
    expect(await refusal(scene.approve(id, ben, { assertion: others }))).toBe('approver_not_eligible');
  });

  it('is checked also where none is needed', async () => {
    await scene.enforce();
    const id = await held();
    const challenge = await challengeFor(id, anna, 'approve');
    const assertion = answered(anna, challenge, { flags: 0x01 });
    expect(await refusal(scene.approve(id, anna, { assertion }))).toBe('passkey_invalid');
    await scene.approve(id, anna, { assertion: answered(anna, challenge) });
    expect(await action(id)).toMatchObject({ approval: { decidedWith: expect.any(String) as string } });
  });
});

describe('that a passkey is needed', () => {
  const forAll = (isSigned: boolean) =>
    scene.organization({ type: 'UpdateOrganization', data: { approvals: { signed: isSigned } } });

  it('is kept with the approval: a policy that is edited later does not loosen it', async () => {
    const id = await held();
    await scene.enforce();
    expect((await scene.review(id)).terms.signed).toBe(true);
    expect(await refusal(scene.approve(id, anna))).toBe('approval_needs_passkey');
    expect((await action(await held())).approval?.terms.signed).toBeUndefined();
  });

  it('may be asked for by the organization, whatever the rule says, and that is kept, too', async () => {
    await scene.enforce();
    await forAll(true);
    const id = await held();
    await forAll(false);
    expect(await refusal(scene.approve(id, anna))).toBe('approval_needs_passkey');
  });

  it('holds for what waits already where it is asked for later; who signed without signs again', async () => {
    await scene.enforce('required: 2');
    const id = await held();
    await scene.approve(id, anna);
    await forAll(true);
    expect(await refusal(scene.approve(id, ben))).toBe('approval_needs_passkey');
    await scene.approve(id, ben, { assertion: await signedBy(id, ben) });
    expect(await statusOf(id)).toBe('pending');
    await scene.approve(id, anna, { assertion: await signedBy(id, anna) });
    expect(await statusOf(id)).toBe('approved');
  });

  it('costs an approval that needs none nothing: no payload more, no member more', async () => {
    await scene.enforce();
    const id = await held();
    await scene.approve(id, anna);
    const events = await bench.store.readStream(`action-${id}`);
    const text = events.map(({ data }) => JSON.stringify(data)).join();
    for (const word of ['"signed', 'assertion']) expect(text.replaceAll('\\"', '"')).not.toContain(word);
    expect((await scene.review(id)).context).not.toHaveProperty('signed');
  });
});

describe('what a device is asked', () => {
  it('is the challenge of this decision, for the passkeys of the person alone', async () => {
    const id = await held();
    const review = await scene.review(id);
    const said = { decision: 'approve', by: anna.user, contextDigest: review.digest } as const;
    expect(signed().optionsFor(review, said, PARTY)).toMatchObject({
      rpId: 'ags.example.com',
      userVerification: 'required',
      allowCredentials: [{ type: 'public-key', id: anna.device.credential }],
    });
    expect(await challengeFor(id, anna, 'approve')).toBe(await challengeFor(id, anna, 'approve'));
    expect(await challengeFor(id, anna, 'deny')).not.toBe(await challengeFor(id, anna, 'approve'));
  });

  it('is refused by all that refuses the decision', async () => {
    const id = await held();
    const review = await scene.review(id);
    const asked = (changes: object, party: typeof PARTY | null = PARTY): string => {
      const said = { decision: 'approve' as const, by: anna.user, contextDigest: review.digest, ...changes };
      try {
        return signed().optionsFor(review, said, party).challenge;
      } catch (error) {
        return (error as DomainError).code;
      }
    };
    expect(asked({ contextDigest: digestOf('another') })).toBe('context_changed');
    expect(asked({ by: (await scene.member('viewer')).user })).toBe('approver_not_eligible');
    expect(asked({}, null)).toBe('not_found');
    expect(asked({}, { id: 'other.example.com', origin: 'https://other.example.com' })).toBe('approval_needs_passkey');
    await scene.deny(id, anna);
    const over = await scene.reviews.of(bench.org, approvalOf(id));
    const said = { decision: 'approve', by: anna.user, contextDigest: over.digest } as const;
    expect(() => signed().optionsFor(over, said, PARTY)).toThrow(new DomainError('approval_decided'));
  });
});
