import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import type { JsonObject, JsonValue } from '#libs/crypto';
import { Clock, DomainError, timestampOf } from '#libs/domain/kernel';
import {
  compiledOrRefused,
  completedInput,
  evaluatePolicy,
  isFault,
  type PolicyInput,
  readTrialInput,
  tracePolicy,
  versionNamed,
} from '#libs/domain/policies';
import { OrganizationTools, type ToolsNow } from '../connectors/organization-tools.js';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { dryRunView } from './dry-run.view.js';
import { PolicyLinter } from './policy-linter.js';
import { PolicyReader } from './policy-reader.js';
import { DRY_RUN_BODY } from './policy-routes.js';
import { RecordedCalls } from './recorded-calls.js';
import { DryRunPolicyBody } from './try-policy.dto.js';

@Controller()
export class DryRunPolicyController {
  constructor(
    private readonly policies: PolicyReader,
    private readonly tools: OrganizationTools,
    private readonly recorded: RecordedCalls,
    private readonly linter: PolicyLinter,
    private readonly clock: Clock,
  ) {}

  /** What a source or a version says of one call, and why. Nothing is decided, and nothing stored. */
  @Post('/v1/policies/dry-run')
  @HttpCode(200)
  @Route(DRY_RUN_BODY)
  async dryRun(@Body() body: DryRunPolicyBody, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const { org } = exchange.caller;
    const { source, param, as } = await this.sourceOf(org, body);
    const { policy, warnings } = await compiledOrRefused(source, param, as);
    const tools = await this.tools.of(org);
    const { input, recorded } = await this.callOf(org, tools, body);
    const diagnostics = await this.linter.withTools(source, warnings, tools);
    const decision = evaluatePolicy(policy, input);
    return dryRunView({ decision, recorded, trace: tracePolicy(policy, input), diagnostics, input });
  }

  private async sourceOf(org: Exchange['caller']['org'], { source, policy, version }: DryRunPolicyBody) {
    if (source !== undefined) {
      if (policy !== undefined) throw fault('policy', 'is sent instead of source. Leave one of them out.');
      if (version !== undefined)
        throw fault('version', 'goes with policy. Leave it out, or send policy in place of source.');
      return { source, param: 'source', as: 'new' } as const;
    }
    if (policy === undefined) throw fault('source', 'is required, or policy and version instead.');
    const named = versionName(version);
    const stored = versionNamed(await this.policies.policyNamed(org, policy), named);
    return { source: stored.source, param: 'version', as: 'stored' } as const;
  }

  private async callOf(
    org: Exchange['caller']['org'],
    tools: ToolsNow,
    { action, input }: DryRunPolicyBody,
  ): Promise<{ readonly input: PolicyInput; readonly recorded: JsonObject | null }> {
    if (action !== undefined) {
      if (input !== undefined) throw fault('input', 'is sent instead of action. Leave one of them out.');
      return this.recorded.callOf(org, action);
    }
    if (input === undefined) throw fault('action', 'is required, or input instead.');
    const trial = readTrialInput(input);
    if (isFault(trial)) throw new DomainError('validation_failed', { param: trial.path, message: trial.message });
    const now = timestampOf(this.clock.nowMs());
    return { input: completedInput(trial, tools.tried(trial.tool, trial.args), now), recorded: null };
  }
}

/** A number, as lists show it, or a `pv_` id. */
const versionName = (version: JsonValue | undefined): string => {
  if (typeof version === 'number' && Number.isSafeInteger(version) && version > 0) return String(version);
  if (typeof version === 'string' && version !== '') return version;
  throw fault('version', 'must be the number of a version or its pv_ id; it is required with policy.');
};

const fault = (param: string, text: string): DomainError =>
  new DomainError('validation_failed', { param, message: `The field ${param} ${text}` });
