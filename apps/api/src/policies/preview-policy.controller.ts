import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import type { JsonObject } from '#libs/crypto';
import {
  type ComparedOutcomes,
  PolicyPreview,
  policyOutcomeOf,
  type LivingAction,
  type Unjudged,
} from '#libs/domain/gate';
import { Clock, Turns } from '#libs/domain/kernel';
import { compiledOrRefused, evaluatePolicy, type CompiledPolicy, type PolicyInput } from '#libs/domain/policies';
import { comparedWith } from '#libs/domain/replays';
import { ListActions } from '../gate/list-actions.query-handler.js';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { WindowLimit } from '../http/window-limit.js';
import { filtersIn } from '../lists/filters.js';
import { type TimePosition, timePositionOf } from '../lists/listed.js';
import { PolicyInForce } from './policy-in-force.js';
import { TRIAL_BODY } from './policy-routes.js';
import { RecordedCalls } from './recorded-calls.js';
import { PREVIEWED_ACTIONS, PreviewPolicyBody } from './try-policy.dto.js';

/** Of one caller, in this process. */
const PREVIEWS_A_MINUTE = 20;
const MINUTE_MS = 60_000;
/** Then there is what there is. */
const PREVIEW_MS = 3_000;
/** Rows read at once, and their inputs. */
const SLICE = 50;

@Controller()
export class PreviewPolicyController {
  private readonly limit: WindowLimit;
  private readonly turns = new Turns();

  constructor(
    private readonly queries: QueryBus,
    private readonly recorded: RecordedCalls,
    private readonly inForce: PolicyInForce,
    private readonly clock: Clock,
  ) {
    this.limit = new WindowLimit(clock, PREVIEWS_A_MINUTE, MINUTE_MS);
  }

  /**
   * What a draft would change of the newest actions, beside the version in force; where none is, beside what was decided
   * then. Nothing is stored.
   */
  @Post('/v1/policies/preview')
  @HttpCode(200)
  @Route(TRIAL_BODY)
  async preview(@Body() body: PreviewPolicyBody, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const { actor } = exchange.commandMetadata();
    this.limit.take(`${actor.type} ${actor.id ?? ''}`);
    const endsAtMs = this.clock.monotonicMs() + PREVIEW_MS;
    const { policy } = await compiledOrRefused(body.source);
    const { agent, tool, actions = PREVIEWED_ACTIONS.default } = body;
    const filters = filtersIn('listActions', {
      ...(agent === undefined ? {} : { agent }),
      ...(tool === undefined ? {} : { tool }),
    });
    const preview = new PolicyPreview();
    const { org } = exchange.caller;
    const inForce = await this.inForce.of(org);
    const judges = { draft: policy, inForce: (input: PolicyInput) => inForce?.judge(input) ?? null };
    const isComplete = await this.judge(judges, preview, { org, filters, actions, endsAtMs });
    const compared = { compared_with: comparedWith(inForce?.slot ?? null) };
    return { object: 'policy_preview', ...compared, ...preview.result(), complete: isComplete };
  }

  /** Whether all that was asked for was looked at within the time. */
  private async judge(
    { draft, inForce }: Judges,
    preview: PolicyPreview,
    { org, filters, actions, endsAtMs }: Asked,
  ): Promise<boolean> {
    let after: TimePosition | null = null;
    for (let left = actions; left > 0; left -= SLICE) {
      const query: ListActions = new ListActions(org, filters, { limit: Math.min(left, SLICE), after }, null);
      const { rows, hasMore } = await this.queries.execute(query);
      const inputs = await Promise.all(rows.map(({ folded }) => this.inputOf(folded)));
      for (const [index, { folded }] of rows.entries()) {
        await this.turns.next();
        if (this.clock.monotonicMs() >= endsAtMs) return false;
        const recorded = policyOutcomeOf(folded);
        const input = inputs[index] ?? 'not_asked';
        if (recorded === null || typeof input === 'string')
          preview.skip(folded, typeof input === 'string' ? input : 'not_asked');
        else preview.add(folded, { recorded, inForce: inForce(input) }, evaluatePolicy(draft, input));
      }
      const last = rows.at(-1);
      if (!hasMore || !last) return true;
      after = timePositionOf(last);
    }
    return true;
  }

  private async inputOf(action: LivingAction): Promise<PolicyInput | Unjudged> {
    return policyOutcomeOf(action) === null ? 'not_asked' : this.recorded.inputOf(action);
  }
}

interface Judges {
  readonly draft: CompiledPolicy;
  readonly inForce: (input: PolicyInput) => ComparedOutcomes['inForce'];
}

interface Asked {
  readonly org: Exchange['caller']['org'];
  readonly filters: ListActions['filters'];
  readonly actions: number;
  readonly endsAtMs: number;
}
