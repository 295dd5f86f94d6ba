import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import { Clock, DomainError, timestampOf } from '#libs/domain/kernel';
import {
  type CaseResult,
  compiledOrRefused,
  completedInput,
  type PolicyCase,
  policyInvalid,
  readCasesInTurns,
  testPolicyInTurns,
} from '#libs/domain/policies';
import { OrganizationTools } from '../connectors/organization-tools.js';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { WindowLimit } from '../http/window-limit.js';
import { OneAtATime } from './one-at-a-time.js';
import { TRIAL_BODY } from './policy-routes.js';
import { TestPolicyBody } from './try-policy.dto.js';

/** Of one caller, in this process. */
const TESTS_A_MINUTE = 60;
const MINUTE_MS = 60_000;
/** Of all cases together. */
const TESTING_MS = 5_000;

@Controller()
export class TestPolicyController {
  private readonly limit: WindowLimit;
  private readonly queue = new OneAtATime();

  constructor(
    private readonly tools: OrganizationTools,
    private readonly clock: Clock,
  ) {
    this.limit = new WindowLimit(clock, TESTS_A_MINUTE, MINUTE_MS);
  }

  /** What a source says of a file of calls, beside what it should. Nothing is stored. */
  @Post('/v1/policies/test')
  @HttpCode(200)
  @Route(TRIAL_BODY)
  async test(
    @Body() { source, cases: text }: TestPolicyBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    const { actor } = exchange.commandMetadata();
    this.limit.take(`${actor.type} ${actor.id ?? ''}`);
    const { policy } = await compiledOrRefused(source);
    const read = await readCasesInTurns(text);
    if (!read.ok) throw policyInvalid(read.diagnostics, 'cases', CASES_REFUSED);
    const tools = await this.tools.of(exchange.caller.org);
    const now = timestampOf(this.clock.nowMs());
    const results = await this.queue.run(() => {
      const endsAtMs = this.clock.monotonicMs() + TESTING_MS;
      const mayGoOn = () => !exchange.clientGone.aborted && this.clock.monotonicMs() < endsAtMs;
      const inputOf = ({ input }: PolicyCase) => completedInput(input, tools.tried(input.tool, input.args), now);
      return testPolicyInTurns(policy, read.cases, inputOf, mayGoOn);
    });
    if (results.length < read.cases.length) throw tooSlow(results.length, read.cases.length);
    const passed = results.filter(({ isOk }) => isOk).length;
    return { object: 'policy_test', passed, failed: results.length - passed, cases: results.map(caseView) };
  }
}

const CASES_REFUSED = 'The cases cannot be read. Correct what the diagnostics name, by its line, and send them again.';

const tooSlow = (judged: number, all: number): DomainError =>
  new DomainError('validation_failed', {
    param: 'cases',
    message: `After ${TESTING_MS / 1_000} s ${judged} of ${all} cases were judged. Send fewer of them at once.`,
  });

const caseView = ({ case: { name, line, expect }, isOk, decision }: CaseResult): JsonObject => ({
  name,
  line,
  ok: isOk,
  expect: { decision: expect.decision, rule: expect.rule },
  decision: decision.outcome,
  rule_id: decision.ruleId,
  code: decision.code,
  reason: decision.reason,
  message: decision.message,
});
