import {
  CanonicalizationError,
  canonicalize,
  commitmentOf,
  type CommittedMember,
  committedMembers,
  type CommittedValue,
  DEED_VERSION,
  type DeedBody,
  type Digest,
  digestOf,
  type JsonObject,
  type JsonValue,
  type Salt,
  saltFor,
} from '#libs/crypto';
import { type ActionEvent, type PayloadName, payloadsNamedBy, requestTextOf } from '../gate/index.js';
import {
  type CallMode,
  DamagedEvent,
  DamagedPayload,
  decodeEvent,
  type EventEnvelope,
  type EventStore,
  type OrgId,
  type PayloadKind,
  type PayloadStore,
  streamOf,
} from '../kernel/index.js';
import { adminActOf } from './admin-deed.js';
import type { LedgerEvent } from './deed.events.js';
import type { RetentionReach } from './retention-reach.js';
import { revocationAct } from './revocation.js';
import type { SealKeyEvent } from './seal-key.events.js';

/**
 * What a member of a deed stands for: the value, with the salt under which the deed commits to it; null in the first
 * format. `removed`: retention has taken it. `missing`: the service should have it and has not.
 */
export type Opening = Pick<CommittedMember, 'member' | 'commitment'> &
  (
    | {
        readonly salt: Salt | null;
        readonly value: JsonValue;
        /** Of an intent: the signature in base64url, over `service/intent/v1`, LF and the member's digest. */
        readonly signature?: string;
      }
    | { readonly absent: 'removed' | 'missing' }
  );

/** A value that a deed may stand for, and a root of the salts that it may have been committed under. */
interface Candidate {
  readonly value: CommittedValue;
  /** RFC 8785 text. */
  readonly text: string;
  readonly root: Salt | null;
}

const PAGE = 128;

/** Finds for each member of a deed the value that it stands for, among what the log and the payloads hold. */
export class DeedEvidence {
  constructor(
    private readonly store: EventStore,
    private readonly payloads: PayloadStore,
    private readonly retention: Pick<RetentionReach, 'hasPassedAction'>,
  ) {}

  /**
   * Every member that stands for a value, in the order of the format page.
   * @throws {StoreUnavailable}
   */
  async of(body: DeedBody): Promise<readonly Opening[]> {
    const members = committedMembers(body);
    if (members.length === 0) return [];
    const { stream, revision } = body.source;
    // A change is one event; of an action all events before the deed's own may have named what it commits to.
    const place = body.kind === 'admin' ? { from: revision, limit: 1 } : { limit: revision + 1 };
    const recorded = await this.store.readStream(stream, place);
    // What cannot be read is missing, and hides nothing of what can.
    const events = recorded.flatMap((event) => readable(() => [decodeEvent(event)]) ?? []);
    const openings = await this.opened(body, members, events);
    const intent = intentOpening(body, events, openings, events.length < recorded.length);
    return intent === null ? openings : [intent, ...openings];
  }

  private async opened(
    body: DeedBody,
    members: readonly CommittedMember[],
    events: readonly EventEnvelope[],
  ): Promise<readonly Opening[]> {
    const candidates = body.kind === 'admin' ? await this.ofAdmin(body, events) : await this.ofAction(events);
    const opened = members.map((member) => openingOf(member, candidates, body.v === DEED_VERSION));
    if (opened.every((opening) => opening !== null)) return opened;
    // Retention goes by the action's first deed, also where this one is an amendment that came later.
    const isRemoved =
      body.kind !== 'admin' && (await this.retention.hasPassedAction(body.org as OrgId, body.source.stream));
    const absent = isRemoved ? 'removed' : 'missing';
    return members.map(({ member, commitment }, index) => opened[index] ?? { member, commitment, absent });
  }

  private async ofAdmin({ org, seq, source }: DeedBody, events: readonly EventEnvelope[]): Promise<Candidate[]> {
    const envelope = events.find(({ recorded }) => recorded.revision === source.revision);
    if (envelope === undefined) return [];
    const { event, metadata } = envelope as EventEnvelope<SealKeyEvent>;
    const revoked = event.type === 'SealKeyRevoked' ? await this.revocation(org as OrgId, seq, event.data) : null;
    const text = readable(() => {
      const act = event.type === 'SealKeyRevoked' ? revoked : adminActOf(envelope);
      return act && canonicalize(act.data);
    });
    return text === null ? [] : [{ value: 'data', text, root: metadata.salt ?? null }];
  }

  /** A revocation names the last deed under its key, which is the nearest one before the deed of the revocation. */
  private async revocation(org: OrgId, seq: number, { kid, reason }: { kid: string; reason: string | null }) {
    for (let last = seq - 2; last >= 0; last -= PAGE) {
      const page = await this.store.readStream(streamOf('ledger', org), {
        ...{ direction: 'backwards', from: last, limit: PAGE },
      });
      const found = page
        .map((deed) => readable(() => decodeEvent<LedgerEvent>(deed).event.data))
        .find((deed) => deed?.kid === kid);
      if (found) return revocationAct(kid, reason, found);
    }
    return null;
  }

  private async ofAction(events: readonly EventEnvelope[]): Promise<Candidate[]> {
    const found: Candidate[] = [];
    const seen = new Set<string>();
    for (const envelope of events as readonly EventEnvelope<ActionEvent>[]) {
      found.push(...(readable(() => wordsIn(envelope)) ?? []));
      for (const name of readable(() => payloadsNamedBy(envelope.event)) ?? []) {
        if (seen.has(`${name.kind} ${name.digest}`)) continue;
        seen.add(`${name.kind} ${name.digest}`);
        found.push(...(await this.storedUnder(name, envelope.event.data.action, events)));
      }
    }
    return found;
  }

  private async storedUnder(
    { kind, digest }: PayloadName,
    owner: string,
    events: readonly EventEnvelope[],
  ): Promise<readonly Candidate[]> {
    const stored = await this.payloads.salted(owner, kind, digest).catch(onlyDamaged);
    if (stored === null) return [];
    const texts = textsIn(kind, stored.body, events);
    return [...stored.salts, null].flatMap((root) => texts.map(({ value, text }) => ({ value, text, root })));
  }
}

/**
 * What this gives; null where it stumbles over an event that is not as it was written. Of evidence that is no reason to give
 * none: each value is held against its deed, and what is left out is listed.
 */
export const readable = <Result>(read: () => Result): Result | null => {
  try {
    return read();
  } catch (error) {
    if (UNREADABLE.some((kind) => error instanceof kind)) return null;
    throw error;
  }
};

const UNREADABLE = [DamagedEvent, TypeError, CanonicalizationError];

/** It names the digest of the arguments, so it is given and taken with them. Null where the call had none. */
const intentOpening = (
  body: DeedBody,
  events: readonly EventEnvelope[],
  [args]: readonly Opening[],
  isDamaged: boolean,
): Opening | null => {
  const intent = readable(() => intentIn(body, events));
  if (args === undefined) return null;
  if (intent !== null && 'value' in args) return intent;
  const { kind, who } = body;
  if (intent === null && !(isDamaged && kind === 'action')) return null;
  if (who.intent_hash === null) return null;
  return { member: 'who.intent_hash', commitment: who.intent_hash, absent: 'absent' in args ? args.absent : 'missing' };
};

/** The signed intent that came with the call; null if there was none, or a version recorded it that kept its hash alone. */
const intentIn = ({ kind, who }: DeedBody, [first]: readonly EventEnvelope[]): Opening | null => {
  const { event } = (first ?? { event: null }) as { readonly event: ActionEvent | null };
  if (kind !== 'action' || who.intent_hash === null || event?.type !== 'ActionSubmitted') return null;
  const [bytes, signature] = (event.data.intent?.header ?? '').split('.');
  if (!bytes || !signature) return null;
  const text = Buffer.from(bytes, 'base64url').toString();
  if (digestOf(text) !== who.intent_hash) return null;
  const value = JSON.parse(text) as JsonValue;
  return { member: 'who.intent_hash', commitment: who.intent_hash, salt: null, value, signature };
};

const onlyDamaged = (error: unknown): null => {
  if (error instanceof DamagedPayload) return null;
  throw error;
};

const openingOf = (
  { member, values, commitment }: CommittedMember,
  candidates: readonly Candidate[],
  isSalted: boolean,
): Opening | null => {
  for (const { value, text, root } of candidates) {
    if (!values.includes(value)) continue;
    const salt = isSalted && root !== null ? saltFor(root, value) : null;
    if (isSalted && salt === null) continue;
    if (heldIn(text, salt) === commitment) return { member, commitment, salt, value: JSON.parse(text) as JsonValue };
  }
  return null;
};

const heldIn = (text: string, salt: Salt | null): Digest => (salt === null ? digestOf(text) : commitmentOf(salt, text));

/** What the event itself says: reasons, messages, and the digest of a result that an agent keeps. */
const wordsIn = ({ event, metadata }: EventEnvelope<ActionEvent>): readonly Candidate[] => {
  const root = metadata.salt ?? null;
  const said = (value: CommittedValue, text: string | null): readonly Candidate[] =>
    text === null ? [] : [{ value, text: canonicalize(text), root }];
  switch (event.type) {
    case 'ApprovalCountersigned':
    case 'ApprovalDecided':
      return said('reason', event.data.reason);
    case 'ExecutionFinished':
    case 'LateReport':
      return said('message', event.data.error_message);
    case 'EdgeReported': {
      const { error_message, has_result, result_digest } = event.data;
      return [...said('message', error_message), ...(has_result ? [] : said('result', result_digest))];
    }
    default:
      return [];
  }
};

/** What a payload gives to commit to. The policy input holds the arguments and the request besides. */
const textsIn = (
  kind: PayloadKind,
  body: string,
  events: readonly EventEnvelope[],
): readonly Pick<Candidate, 'value' | 'text'>[] => {
  if (kind !== 'policy_input') return [{ value: VALUE_OF[kind], text: body }];
  const input = JSON.parse(body) as {
    readonly args: JsonObject;
    readonly mode: CallMode;
    readonly tool: string;
  };
  const args = canonicalize(input.args);
  const { event } = events[0] as EventEnvelope<ActionEvent>;
  const toolDigest = event.type === 'ActionSubmitted' ? event.data.tool_digest : null;
  const request = requestTextOf({ tool: input.tool, canonicalArgs: args, mode: input.mode }, toolDigest);
  return [
    { value: 'input', text: body },
    { value: 'args', text: args },
    { value: 'request', text: request },
  ];
};

const VALUE_OF = {
  approval_context: 'context',
  assertion: 'assertion',
  observation: 'evidence',
  result: 'result',
} as const;
