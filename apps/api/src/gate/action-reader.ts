import { Injectable } from '@nestjs/common';
import { deriveDeedId, type Digest, type JsonObject, type JsonValue } from '#libs/crypto';
import { payloadsNamedBy, type ActionEvent, type LivingAction, type WitnessVerdict } from '#libs/domain/gate';
import {
  decodeEvent,
  EventStore,
  PayloadStore,
  SeenHeads,
  streamOf,
  type ActionId,
  type DeedId,
  type EventEnvelope,
  type OrgId,
  type Payload,
} from '#libs/domain/kernel';
import { foldAction, LedgerTails, ledgerStream, RetentionReach } from '#libs/domain/ledger';
import type { ActionFacts } from './action.view.js';
import { sentRequest } from './sent-request.js';

/**
 * An action read from its stream and the ledger. A single action is never read from a projection, because that could
 * lag behind.
 */
export interface ReadAction extends ActionFacts {
  readonly events: readonly EventEnvelope[];
  /**
   * The deed of the action, then those of its amendments, in the order of the ledger; only deeds that are already
   * sealed.
   */
  readonly deeds: readonly DeedId[];
}

@Injectable()
export class ActionReader {
  constructor(
    private readonly store: EventStore,
    private readonly seen: SeenHeads,
    private readonly tails: LedgerTails,
    private readonly payloads: PayloadStore,
    private readonly retention: RetentionReach,
  ) {}

  /**
   * The action and its deeds, as of one reading of the store's heads. Null if the organization has no such action: it
   * was never submitted, was abandoned, or belongs to another organization.
   */
  async read(id: ActionId, org: OrgId): Promise<ReadAction | null> {
    return this.readAt(id, org, await this.store.heads(streamsOf(id, org)));
  }

  /**
   * The action, if this process has itself seen its deed go into the ledger; else null. No reading of the store is
   * needed for that, because a sealed action stays sealed.
   */
  async readIfSeenSealed(id: ActionId, org: OrgId): Promise<ReadAction | null> {
    const read = await this.readAt(id, org, this.seen.seenHeads(streamsOf(id, org)));
    return read === null || read.deed === null ? null : read;
  }

  private async readAt(id: ActionId, org: OrgId, heads: ReadonlyMap<string, number>): Promise<ReadAction | null> {
    const [stream, ledger] = streamsOf(id, org);
    const last = heads.get(stream);
    if (last === undefined) return null;
    const recorded = await this.store.readStream(stream, { limit: last + 1, mayRemember: true });
    const events = recorded.map((event) => decodeEvent(event));
    const action = foldAction(events);
    if (action.state === 'none' || action.state === 'abandoned' || action.submission.org !== org) return null;
    const deeds = await this.deedsOf(action, events, heads.get(ledger));
    return { action, events, deeds, deed: deeds[0] ?? null };
  }

  /**
   * The deeds that the ledger holds: an event has its deed if the ledger's tail has passed the event's position.
   * Counted are the sealing event and each amendment.
   */
  private async deedsOf(
    { sealingRevision, submission: { org } }: LivingAction,
    events: readonly EventEnvelope[],
    ledgerRevision: number | undefined,
  ): Promise<readonly DeedId[]> {
    if (sealingRevision === null) return [];
    const sources = events.filter(
      ({ event, recorded }) => recorded.revision === sealingRevision || event.type === AMENDED,
    );
    const { sealedUpTo } = await this.tails.at(org, ledgerRevision);
    return sources
      .filter(({ recorded }) => recorded.position <= sealedUpTo)
      .map(({ recorded }) => deriveDeedId(org, recorded.id) as DeedId);
  }

  /**
   * The recorded result of the tool, as a function that parses it when the response is written; it gives null if there
   * is no result or it is no longer stored. Parsed late because the parsed value takes up to thirty times the memory of
   * its text, and many responses may wait to be written.
   */
  async resultOf(action: LivingAction): Promise<() => JsonValue> {
    const document = await this.resultTextOf(action);
    return () => valueIn(document);
  }

  /** The recorded result of the tool in RFC 8785 form; null if there is none or it is no longer stored. */
  async resultTextOf({ submission, outcome }: LivingAction): Promise<string | null> {
    const digest = outcome?.result_digest ?? null;
    return digest === null ? null : this.payloads.get(submission.action, 'result', digest);
  }

  /**
   * Like {@link resultOf}, but gives `{removed: true}` if retention has removed the body. Null means that the body is
   * gone for another reason, such as a failover; `ags audit` names such bodies.
   */
  async detailedResultOf(read: ReadAction): Promise<() => JsonValue> {
    const { submission, outcome } = read.action;
    const digest = outcome?.result_digest ?? null;
    // If an edge reported only the digest, it keeps the result itself.
    if (digest === null || !isStored(read, digest)) return () => null;
    const body = await this.bodyOf(read, { owner: submission.action, kind: 'result', digest });
    return () => (typeof body === 'object' && body !== null ? { ...body } : valueIn(body));
  }

  /**
   * The evidence of the newest witness. Null if that is neither a read-back nor of a change log, or has no stored evidence; otherwise as in {@link
   * detailedResultOf}.
   */
  async evidenceOf(read: ReadAction): Promise<() => JsonValue> {
    const { submission, witness } = read.action;
    if (witness === null || !OBSERVED.has(witness.method) || witness.evidence_digest === null) return () => null;
    const name = { owner: submission.action, kind: 'observation' as const, digest: witness.evidence_digest };
    const body = await this.bodyOf(read, name);
    return () => (typeof body === 'object' && body !== null ? { ...body } : valueIn(body));
  }

  /**
   * The request as it was judged, which is part of the policy input, and what was sent of it. Null and `{removed:
   * true}` as in {@link detailedResultOf}.
   */
  async requestOf(
    read: ReadAction,
  ): Promise<{ readonly request: JsonObject | null; readonly sent: JsonObject | null }> {
    const { action: owner, input_digest: digest } = read.action.submission;
    const body = await this.bodyOf(read, { owner, kind: 'policy_input', digest });
    if (typeof body === 'object' && body !== null) return { request: { ...body }, sent: null };
    const input = valueIn(body) as JsonObject | null;
    if (input === null) return { request: null, sent: null };
    const request = { tool: input['tool'] ?? null, args: input['args'] ?? null, mode: input['mode'] ?? null };
    return { request, sent: sentRequest(read.action, input) };
  }

  private async bodyOf(
    read: ReadAction,
    name: Pick<Payload, 'owner' | 'kind' | 'digest'>,
  ): Promise<string | typeof REMOVED | null> {
    const body = await this.payloads.get(name.owner, name.kind, name.digest);
    if (body !== null) return body;
    const { sealingRevision, submission } = read.action;
    const sealing = sealingRevision === null ? undefined : read.events[sealingRevision];
    // Asked only after the body was found missing: retention removes bodies and moves its cursor in one commit, so the
    // cursor then has passed the action.
    if (sealing && (await this.retention.hasPassed(submission.org, sealing.recorded.position))) return REMOVED;
    return null;
  }
}

/** Methods whose evidence is a document of its own. */
const OBSERVED: ReadonlySet<WitnessVerdict['method']> = new Set(['read_back', 'change_log']);

const isStored = ({ events }: ReadAction, digest: Digest): boolean =>
  events.some(({ event }) =>
    (payloadsNamedBy(event as ActionEvent) ?? []).some((named) => named.kind === 'result' && named.digest === digest),
  );

const AMENDED: ActionEvent['type'] = 'WitnessAmended';

/** Shown in place of a body that retention has removed. */
const REMOVED = { removed: true } as const;

const streamsOf = (id: ActionId, org: OrgId): readonly [string, string] => [streamOf('action', id), ledgerStream(org)];

/** `JSON.parse` is strict enough here, because the gate itself wrote these texts in canonical form. */
const valueIn = (document: string | null): JsonValue =>
  document === null ? null : (JSON.parse(document) as JsonValue);
