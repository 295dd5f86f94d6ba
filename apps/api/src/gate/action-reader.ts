import { Injectable } from '@nestjs/common';
import { deriveDeedId, type Digest, type JsonObject, type JsonValue } from '#libs/crypto';
import { payloadNamedBy, type ActionEvent, type LivingAction } from '#libs/domain/gate';
import {
  decodeEvent,
  EventStore,
  PayloadStore,
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

/** An action as its stream and the ledger tell it now. A single object is never read from a projection. */
export interface ReadAction extends ActionFacts {
  readonly events: readonly EventEnvelope[];
  /** The action's own and those of its amendments, as far as the ledger holds them, in its order. */
  readonly deeds: readonly DeedId[];
}

@Injectable()
export class ActionReader {
  constructor(
    private readonly store: EventStore,
    private readonly tails: LedgerTails,
    private readonly payloads: PayloadStore,
    private readonly retention: RetentionReach,
  ) {}

  /**
   * The action and its deed as of one question to the store. Null when this organization has no such action: never
   * submitted, abandoned, or another's.
   */
  async read(id: ActionId, org: OrgId): Promise<ReadAction | null> {
    return this.readAt(id, org, await this.store.heads(streamsOf(id, org)));
  }

  /**
   * The sealed action where this process has itself seen its deed go into the log; else null. Sealed is for good, so nobody
   * need be asked again.
   */
  async readIfSeenSealed(id: ActionId, org: OrgId): Promise<ReadAction | null> {
    const read = await this.readAt(id, org, this.store.seenHeads(streamsOf(id, org)));
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

  /** Sealed is the ledger's word: its tail has passed the action's sealing event, and those that amend it. */
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
   * What the tool answered, as recorded; null when there is nothing, or when it is stored no more. Read from its text
   * by whoever writes it out, each time anew: a value takes up to thirty times its text, and many may wait to be written.
   */
  async resultOf({ submission, outcome }: LivingAction): Promise<() => JsonValue> {
    const digest = outcome?.result_digest ?? null;
    const document = digest === null ? null : await this.payloads.get(submission.action, 'result', digest);
    return () => valueIn(document);
  }

  /**
   * The same with the word of retention, which has all the time there is for a body that is gone. Null where it is gone and
   * retention did not remove it: a failover may have lost it, and `ags audit` names it.
   */
  async detailedResultOf(read: ReadAction): Promise<() => JsonValue> {
    const { submission, outcome } = read.action;
    const digest = outcome?.result_digest ?? null;
    // A digest alone is what an edge reported of a result that it keeps.
    if (digest === null || !isStored(read, digest)) return () => null;
    const body = await this.bodyOf(read, { owner: submission.action, kind: 'result', digest });
    return () => (typeof body === 'object' && body !== null ? { ...body } : valueIn(body));
  }

  /** What the newest witness rests on; null where that is a word alone. Null as in {@link detailedResultOf} besides. */
  async evidenceOf(read: ReadAction): Promise<() => JsonValue> {
    const { submission, witness } = read.action;
    if (witness?.method !== 'read_back' || witness.evidence_digest === null) return () => null;
    const name = { owner: submission.action, kind: 'observation' as const, digest: witness.evidence_digest };
    const body = await this.bodyOf(read, name);
    return () => (typeof body === 'object' && body !== null ? { ...body } : valueIn(body));
  }

  /**
   * The request as it was judged, which is a part of the policy input, and what was sent of it. Null as in
   * {@link detailedResultOf}.
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
    // Asked after the body was missed: retention moves in the commit that removes.
    if (sealing && (await this.retention.hasPassed(submission.org, sealing.recorded.position))) return REMOVED;
    return null;
  }
}

const isStored = ({ events }: ReadAction, digest: Digest): boolean =>
  events.some(({ event }) => {
    const named = payloadNamedBy(event as ActionEvent);
    return named?.kind === 'result' && named.digest === digest;
  });

const AMENDED: ActionEvent['type'] = 'WitnessAmended';

/** In the place of a body whose days are over. */
const REMOVED = { removed: true } as const;

const streamsOf = (id: ActionId, org: OrgId): readonly [string, string] => [streamOf('action', id), ledgerStream(org)];

/** Canonical texts that the gate itself wrote: no second reading of them is possible, so none is looked for. */
const valueIn = (document: string | null): JsonValue =>
  document === null ? null : (JSON.parse(document) as JsonValue);
