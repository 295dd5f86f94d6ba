import { Injectable } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import type { JsonObject, JsonValue } from '#libs/crypto';
import { Clock, type EventEnvelope } from '#libs/domain/kernel';
import type { Exchange } from '../http/exchange.js';
import { NamedKeys } from '../agents/named-keys.js';
import { Site } from '../http/site.js';
import { deedSummary } from '../ledger/deed.view.js';
import { FindActionDeeds, type SealedDeed } from '../ledger/find-action-deeds.query-handler.js';
import { ActionReader, type ReadAction } from './action-reader.js';
import { actionView, readWhenWritten } from './action.view.js';
import { redactedPaths } from './redacted-paths.js';
import { JudgedAmounts } from './judged-amounts.js';
import { RuleDescriptions } from './rule-descriptions.js';

/**
 * Details for people that an action's own record does not hold: rule descriptions, amounts of money, and key prefixes.
 */
@Injectable()
export class ActionWords {
  constructor(
    readonly rules: RuleDescriptions,
    readonly amounts: JudgedAmounts,
    readonly keys: NamedKeys,
  ) {}
}

/** The answer to GET /v1/actions/{id}: the action with all its details. */
@Injectable()
export class ActionDetail {
  constructor(
    private readonly reader: ActionReader,
    private readonly queries: QueryBus,
    private readonly site: Site,
    private readonly words: ActionWords,
    private readonly clock: Clock,
  ) {}

  async of(read: ReadAction, caller: Exchange['caller']): Promise<JsonObject> {
    const { agent, key } = read.action.submission;
    const [{ request, sent }, result, evidence, deeds, rule, prefix] = await Promise.all([
      this.reader.requestOf(read),
      this.reader.detailedResultOf(read),
      this.reader.evidenceOf(read),
      this.deedsOf(read),
      this.words.rules.ofDecision(read.action.decision),
      this.words.keys.prefixOf(agent, key),
    ]);
    const amounts = await this.words.amounts.of(read.action, request);
    const view = actionView(read, { baseUrl: this.site.baseUrl, clock: this.clock }, { result });
    const decision = view['decision'] as JsonObject | null;
    const witness = view['witness'] as JsonObject | null;
    return {
      ...view,
      key: { id: key, prefix },
      decision: decision && { ...decision, rule: rule && { ...rule } },
      witness: witness && { ...witness, detail: readWhenWritten(() => shownTo(caller, evidence())) },
      request,
      amounts,
      sent,
      result: readWhenWritten(result),
      redactions: readWhenWritten(() => redactedPaths(result())),
      events: read.events.map(lifecycleEvent),
      deeds: deeds.map(deedSummary),
    };
  }

  private async deedsOf({ action, deeds }: ReadAction): Promise<readonly SealedDeed[]> {
    const { org, action: id } = action.submission;
    return deeds.length === 0 ? [] : this.queries.execute(new FindActionDeeds(org, id, deeds));
  }
}

/**
 * The evidence of a read-back or a change log. An agent is shown neither the upstream's full answer nor changed rows,
 * because the service has read them: the agent's policy may deny the agent that tool, and its role those columns.
 */
const shownTo = ({ kind }: Exchange['caller'], evidence: JsonValue): JsonValue => {
  if (kind !== 'agent' || evidence === null || typeof evidence !== 'object' || Array.isArray(evidence)) return evidence;
  return withoutContents(evidence);
};

const withoutContents = ({ answer: _, rows: __, ...compared }: JsonObject): JsonObject => compared;

/** One event of the action: its type, time, id and revision. */
const lifecycleEvent = ({ event, metadata, recorded }: EventEnvelope): JsonObject => ({
  type: event.type,
  at: metadata.at,
  id: recorded.id,
  revision: recorded.revision,
});
