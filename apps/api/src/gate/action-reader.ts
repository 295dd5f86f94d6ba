import { Injectable } from '@nestjs/common';
import { deriveDeedId, type JsonObject, type JsonValue } from '#libs/crypto';
import type { LivingAction } from '#libs/domain/gate';
import {
  decodeEvent,
  EventStore,
  PayloadStore,
  streamOf,
  type ActionId,
  type DeedId,
  type EventEnvelope,
  type OrgId,
} from '#libs/domain/kernel';
import { foldAction, LedgerTails, ledgerStream } from '#libs/domain/ledger';
import type { ActionFacts } from './action.view.js';

/** An action as its stream and the ledger tell it now. A single object is never read from a projection. */
export interface ReadAction extends ActionFacts {
  readonly events: readonly EventEnvelope[];
}

@Injectable()
export class ActionReader {
  constructor(
    private readonly store: EventStore,
    private readonly tails: LedgerTails,
    private readonly payloads: PayloadStore,
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
    return { action, events, deed: await this.deedOf(action, events, heads.get(ledger)) };
  }

  /** Sealed is the ledger's word: its tail has passed the action's sealing event. */
  private async deedOf(
    action: LivingAction,
    events: readonly EventEnvelope[],
    ledgerRevision: number | undefined,
  ): Promise<DeedId | null> {
    const sealing = action.sealingRevision === null ? undefined : events[action.sealingRevision];
    if (!sealing) return null;
    const { org } = action.submission;
    const { sealedUpTo } = await this.tails.at(org, ledgerRevision);
    return sealing.recorded.position <= sealedUpTo ? (deriveDeedId(org, sealing.recorded.id) as DeedId) : null;
  }

  /**
   * What the tool answered, as recorded; null when there is nothing, or when retention has removed it. Read from its text
   * by whoever writes it out, each time anew: a value takes up to thirty times its text, and many may wait to be written.
   */
  async resultOf({ submission, outcome }: LivingAction): Promise<() => JsonValue> {
    const digest = outcome?.result_digest ?? null;
    const document = digest === null ? null : await this.payloads.get(submission.action, 'result', digest);
    return () => valueIn(document);
  }

  /** The policy input as it was judged: arguments, facts, references. */
  async inputOf({ submission }: LivingAction): Promise<JsonObject | null> {
    const { action, input_digest: digest } = submission;
    return valueIn(await this.payloads.get(action, 'policy_input', digest)) as JsonObject | null;
  }
}

const streamsOf = (id: ActionId, org: OrgId): readonly [string, string] => [streamOf('action', id), ledgerStream(org)];

/** Canonical texts that the gate itself wrote: no second reading of them is possible, so none is looked for. */
const valueIn = (document: string | null): JsonValue =>
  document === null ? null : (JSON.parse(document) as JsonValue);
