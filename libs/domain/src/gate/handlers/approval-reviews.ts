import type { Digest } from '#libs/crypto';
import { agentDecider, stopCodeOf, type LivingAgent } from '../../agents/index.js';
import type { ConnectorState, ShownRequest } from '../../connectors/index.js';
import {
  DamagedPayload,
  DomainError,
  streamRef,
  timestampOf,
  type ActionId,
  type ApprovalId,
  type Folded,
  type OrgId,
  type PayloadStore,
  type Timestamp,
} from '../../kernel/index.js';
import { organizationDecider, type LivingOrganization } from '../../people/index.js';
import type { PolicyInput } from '../../policies/index.js';
import { actionDecider } from '../action.decider.js';
import type { Decision, Submission } from '../action.events.js';
import type { Action, Approval, LivingAction } from '../action.state.js';
import { actionOfApproval } from '../approval-id.js';
import { contextDocument, contextOf, type ApprovalContext } from '../approval-context.js';
import { calledFor } from '../called-for.js';
import { obstacleOf, type ApprovalReview, type Obstacle } from '../approval-review.js';
import { expectedWitness } from '../expected-witness.js';
import type { ReviewedTerms } from '../approvers.js';
import type { GateKernel } from '../gate-kernel.js';
import type { PolicyJudge } from '../policy-judge.js';
import { recordedInput } from '../recorded-input.js';
import { resolveTool, type ResolvedTool } from '../submission.js';
import { parseToolName } from '../tool-name.js';
import { connectorRefOf, isLiving } from './execution.js';
import { edgeOf, executionOf } from './record-call.js';

/** A review and all that it rests on, for whoever is about to act by it. */
export interface ReviewToActBy extends ApprovalReview {
  readonly folded: Folded<Action>;
  /** Organization, agent and, where there is one, connector at these revisions. */
  readonly requires: ReadonlyMap<string, number>;
}

const TOOL_GONE =
  'The connector of this call was removed, disabled or has this tool no more, so the call could not run. Deny it, or ask an admin to bring the connector back.';
/** Not the code of a refused key: whoever decides has another one, or a session, and it is good. */
const KEY_REVOKED =
  'The API key that submitted this call was revoked, so the call may not run. Deny it, and let the agent submit it again with a key that is good.';
const ARGUMENTS_GONE =
  'The arguments of this call are no longer stored as they were judged, so nobody can say what would run. Deny it, and let the agent submit it again.';

/**
 * What a person is shown before a decision, made anew each time: from the recorded input, the connector as it is now, and
 * the enforced policy asked about that input now. So a policy that was tightened holds for what already waits, and a tool
 * that was swapped is looked at again.
 */
export class ApprovalReviews {
  constructor(
    private readonly gate: GateKernel,
    private readonly payloads: PayloadStore,
    private readonly policy: PolicyJudge,
  ) {}

  /** @throws {DomainError} not_found: this organization has no such approval */
  async of(
    org: OrgId,
    approval: ApprovalId,
    at: Timestamp = timestampOf(this.gate.clock.nowMs()),
  ): Promise<ReviewToActBy> {
    const id = actionOfApproval(approval);
    if (id === null) throw new DomainError('not_found');
    const folded = await this.gate.streams.load(streamRef(actionDecider, id));
    const action = folded.state;
    if (!isLiving(action) || action.submission.org !== org || action.approval === null) {
      throw new DomainError('not_found');
    }
    const { standing, requires } = await this.standing(action);
    const runsFor = await calledFor(this.gate.people, action.submission.on_behalf_of);
    const known = { folded, requires, action, approval: action.approval, org: standing.org, calledFor: runsFor, at };
    const askedContext = await this.reviewed(id, action.approval.terms.context_digest);
    if (action.approval.status !== 'pending') return { ...known, askedContext, ...(await this.decided(action)) };
    return { ...known, askedContext, ...(await this.pending(action, standing, at)) };
  }

  private async standing(
    action: LivingAction,
  ): Promise<{ readonly standing: Standing; readonly requires: ReadonlyMap<string, number> }> {
    const { submission } = action;
    const refs = {
      org: streamRef(organizationDecider, submission.org),
      agent: streamRef(agentDecider, submission.agent),
    };
    const connectorRef = submission.connector === null ? null : connectorRefOf(submission);
    const { connector, org, agent } = connectorRef
      ? await this.gate.streams.loadAll({ ...refs, connector: connectorRef })
      : { ...(await this.gate.streams.loadAll(refs)), connector: null };
    if (org.state.status === 'none' || agent.state.status === 'none') throw new DomainError('not_found');
    const streams = [org, agent, ...(connector === null ? [] : [connector])];
    const requires = new Map(streams.map(({ stream, revision }) => [stream, revision as number]));
    return { standing: { org: org.state, agent: agent.state, connector: connector?.state ?? null }, requires };
  }

  /** What is shown of an approval that is over: what was looked at last. */
  private async decided({ submission, approval, decision }: LivingAction): Promise<Shown> {
    const { terms, signatures, decidedUnder } = approval as Approval;
    const digest = decidedUnder ?? signatures.at(-1)?.context_digest ?? terms.context_digest;
    const context = await this.reviewed(submission.action, digest);
    const toolDigest = context?.tool_digest ?? null;
    // By which version its rule was shown stands nowhere: a rule has the same words in most.
    const over = { run: null, sends: null, verify: null, rule: ruleOf(context ?? terms, decision), obstacle: null };
    return { terms: context ?? terms, context, digest, toolDigest, ...over };
  }

  private async pending(action: LivingAction, standing: Standing, at: Timestamp): Promise<Shown> {
    const approval = action.approval as Approval;
    const recorded = await this.inputOf(action);
    if (recorded === null) {
      const gone = { context: null, digest: null, toolDigest: null, run: null, sends: null, verify: null };
      const rule = ruleOf(approval.terms, action.decision);
      return { ...gone, rule, terms: approval.terms, obstacle: obstacleOf('conflict', ARGUMENTS_GONE) };
    }
    const resolved = this.toolNow(action, recorded, standing);
    const input = inputNow(action, recorded, resolved);
    const isProvided = resolved !== null || action.submission.connector === null;
    const asked = isProvided ? await this.askedNow(action, standing.org, input) : recordedTerms(action);
    const { submission } = action;
    const parts = { action: submission.action, input, terms: asked.terms, expiresAt: approval.terms.expires_at };
    const context = contextOf({ ...parts, tool: resolved?.tool ?? null });
    return {
      terms: asked.terms,
      context,
      digest: contextDocument(context).digest,
      toolDigest: resolved?.tool.digest ?? null,
      run: this.runOf(action, resolved, at),
      sends: this.sendsOf(resolved, input),
      verify: expectedWitness(action, resolved),
      rule: asked.rule,
      obstacle:
        stopOf(standing, submission) ??
        (isProvided ? null : obstacleOf('conflict', TOOL_GONE)) ??
        asked.obstacle ??
        null,
    };
  }

  private async askedNow(action: LivingAction, org: LivingOrganization, input: PolicyInput): Promise<AskedNow> {
    const { terms } = action.approval as Approval;
    const { decision, approval } = await this.policy.judge(org.org, org.enforced, input);
    if (approval !== null) {
      const { approvers } = approval;
      // Whoever looks at the log alone sees how many were asked for first, and must come to the same end.
      const required = Math.max(approval.required, terms.required);
      return { terms: { rule_id: decision.rule_id, approvers, required }, rule: decision };
    }
    if (decision.outcome !== 'deny') return recordedTerms(action);
    return {
      ...recordedTerms(action),
      obstacle: obstacleOf(decision.code ?? 'policy_denied', decision.message ?? undefined),
    };
  }

  private runOf(
    { submission }: LivingAction,
    resolved: ResolvedTool | null,
    at: Timestamp,
  ): NonNullable<ApprovalReview['run']> | null {
    const { startTimeoutMs, edgeResultTimeoutMs } = this.gate.settings;
    if (submission.mode === 'proxy') return { edge: edgeOf(at, edgeResultTimeoutMs) };
    return resolved && { execution: executionOf(resolved, at, startTimeoutMs) };
  }

  private sendsOf(resolved: ResolvedTool | null, { args }: PolicyInput): ShownRequest | null {
    if (resolved === null) return null;
    const { connector, tool } = resolved;
    return this.gate.registry.driverOf(connector.type)?.shownRequest(connector.config, tool.name, args) ?? null;
  }

  /** The tool of that very connector, as it is now. */
  private toolNow({ submission }: LivingAction, { args }: PolicyInput, { connector }: Standing): ResolvedTool | null {
    if (connector === null) return null;
    const resolved = resolveTool({ name: parseToolName(submission.tool), args }, connector, this.gate.registry);
    return resolved?.connector.id === submission.connector ? resolved : null;
  }

  private async inputOf({ submission }: LivingAction): Promise<PolicyInput | null> {
    try {
      return await recordedInput(this.payloads, submission);
    } catch (error) {
      if (error instanceof DamagedPayload) return null;
      throw error;
    }
  }

  private async reviewed(action: ActionId, digest: Digest): Promise<ApprovalContext | null> {
    try {
      const body = await this.payloads.get(action, 'approval_context', digest);
      return body === null ? null : (JSON.parse(body) as ApprovalContext);
    } catch (error) {
      if (error instanceof DamagedPayload) return null;
      throw error;
    }
  }
}

interface Standing {
  readonly org: LivingOrganization;
  readonly agent: LivingAgent;
  /** Null where the call is about no connector that is registered. */
  readonly connector: ConnectorState | null;
}

type Shown = Pick<
  ApprovalReview,
  'terms' | 'context' | 'digest' | 'toolDigest' | 'run' | 'sends' | 'verify' | 'rule' | 'obstacle'
>;

/** Whom the policy asks now, by which rule, and what it has against the call. */
type AskedNow = Pick<ApprovalReview, 'terms' | 'rule'> & { readonly obstacle?: Obstacle };

const recordedTerms = ({ approval, decision }: LivingAction): AskedNow => {
  const { terms } = approval as Approval;
  return { terms, rule: ruleOf(terms, decision) };
};

/** A rule as the version has it by which the call was judged when it was submitted. */
const ruleOf = ({ rule_id }: Pick<ReviewedTerms, 'rule_id'>, decision: Decision | null): ApprovalReview['rule'] =>
  decision && { rule_id, policy: decision.policy, policy_version: decision.policy_version };

/** A key that was rolled keeps what it has submitted: its agent goes on with the key that replaced it. */
const stopOf = ({ agent, org }: Standing, { key }: Submission): Obstacle | null => {
  const stopped = stopCodeOf(agent.status, org.status);
  if (stopped !== null) return obstacleOf(stopped);
  const isRevoked = (agent.keys.get(key)?.revokedAt ?? null) !== null;
  return isRevoked ? obstacleOf('conflict', KEY_REVOKED) : null;
};

/** What was judged, with what the tool as it is now says of itself and of the request. */
const inputNow = ({ submission }: LivingAction, recorded: PolicyInput, resolved: ResolvedTool | null): PolicyInput => {
  if (submission.connector === null) return recorded;
  return { ...recorded, request: resolved?.facts ?? {}, side_effect: resolved?.tool.sideEffect ?? 'unknown' };
};
