import type { Digest } from '#libs/crypto';
import { agentDecider, stopCodeOf, type LivingAgent } from '../../agents/index.js';
import { NO_PREVIEW, type ConnectorState, type RequestFacts, type RequestPreview } from '../../connectors/index.js';
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
import {
  actionDecider,
  type Decision,
  type Submission,
  type Action,
  type Approval,
  type LivingAction,
  actionOfApproval,
  parseToolName,
  connectorRefOf,
  courseOf,
  isLiving,
} from '../action/index.js';
import { contextDocument, contextOf, type ApprovalContext } from './approval-context.js';
import { calledFor } from './called-for.js';
import { obstacleOf, type ApprovalReview, type Obstacle, type ServedDefinition } from './approval-review.js';
import { expectedWitness } from './expected-witness.js';
import { type ReviewedTerms, signedTerms } from './approvers.js';
import type { GateKernel } from '../kernel/index.js';
import {
  heldSentence,
  needsReadFacts,
  type PolicyJudge,
  recordedInput,
  resolveTool,
  type ResolvedTool,
  edgeOf,
  executionOf,
  withReadFacts,
} from '../judgement/index.js';

/** A review with the revisions it was made from, for a caller that appends a decision. */
export interface ReviewToActBy extends ApprovalReview {
  readonly folded: Folded<Action>;
  /** The revisions of organization, agent and, if there is one, connector, by stream. */
  readonly requires: ReadonlyMap<string, number>;
}

const TOOL_GONE =
  'The connector of this call was removed, disabled or has this tool no more, so the call could not run. Deny it, or ask an admin to bring the connector back.';
/** Not told with the error code of a revoked key, because the approver's own key or session is valid. */
const KEY_REVOKED =
  'The API key that submitted this call was revoked, so the call may not run. Deny it, and let the agent submit it again with a key that is good.';
const UNSENDABLE = 'So nothing could be sent. Deny this call, and let the agent submit it again with other arguments.';
const ARGUMENTS_GONE =
  'The arguments of this call are no longer stored as they were judged, so nobody can say what would run. Deny it, and let the agent submit it again.';

/**
 * Computes what an approver is shown. It is computed anew each time, from the recorded policy input, the connector as
 * it is now, and the decision of the currently enforced policy about that input. So a tightened policy also holds for
 * calls that already wait, and a changed tool changes the context's digest.
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
    const { currentStates, requires } = await this.currentStates(action);
    const runsFor = await calledFor(this.gate.people, action.submission.on_behalf_of);
    const known = {
      folded,
      requires,
      action,
      approval: action.approval,
      org: currentStates.org,
      calledFor: runsFor,
      at,
    };
    const askedContext = await this.reviewed(id, action.approval.terms.context_digest);
    if (action.approval.status !== 'pending') return { ...known, askedContext, ...(await this.decided(action)) };
    return { ...known, askedContext, ...(await this.pending(action, currentStates, at)) };
  }

  private async currentStates(
    action: LivingAction,
  ): Promise<{ readonly currentStates: CurrentStates; readonly requires: ReadonlyMap<string, number> }> {
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
    return { currentStates: { org: org.state, agent: agent.state, connector: connector?.state ?? null }, requires };
  }

  /** The review of an approval that is no longer pending: it shows the last context that was decided or signed on. */
  private async decided({ submission, approval, decision }: LivingAction): Promise<ShownReview> {
    const { terms, signatures, decidedUnder } = approval as Approval;
    const digest = decidedUnder ?? signatures.at(-1)?.context_digest ?? terms.context_digest;
    const context = await this.reviewed(submission.action, digest);
    const toolDigest = context?.tool_digest ?? null;
    const definition = namedDefinition(context);
    // The policy version whose rule was shown is recorded nowhere. The version of the decision is shown instead,
    // because most versions have the rule in the same words.
    const over = { run: null, sends: null, verify: null, rule: ruleOf(context ?? terms, decision), obstacle: null };
    return { terms: context ?? terms, context, digest, toolDigest, definition, ...over };
  }

  private async pending(action: LivingAction, currentStates: CurrentStates, at: Timestamp): Promise<ShownReview> {
    const approval = action.approval as Approval;
    const recorded = await this.inputOf(action);
    if (recorded === null) {
      const shown = { context: null, digest: null, toolDigest: null, definition: null };
      const gone = { ...shown, run: null, sends: null, verify: null };
      const rule = ruleOf(approval.terms, action.decision);
      return { ...gone, rule, terms: approval.terms, obstacle: obstacleOf('conflict', ARGUMENTS_GONE) };
    }
    const resolved = await this.withFacts(action, recorded, this.toolNow(action, recorded, currentStates));
    const input = inputNow(action, recorded, resolved);
    const isProvided = resolved !== null || action.submission.connector === null;
    const asked = isProvided ? await this.currentTerms(action, currentStates.org, input) : recordedTerms(action);
    const preview = this.previewOf(resolved, input);
    const { submission } = action;
    const parts = { action: submission.action, input, terms: asked.terms, expiresAt: approval.terms.expires_at };
    const context = contextOf({ ...parts, tool: resolved?.tool ?? null });
    return {
      terms: asked.terms,
      context,
      digest: contextDocument(context).digest,
      toolDigest: resolved?.tool.digest ?? null,
      definition: servedDefinition(resolved),
      run: this.runOf(action, resolved, at),
      sends: preview.request,
      verify: expectedWitness(action, resolved),
      rule: asked.rule,
      obstacle:
        stopOf(currentStates, submission) ??
        (isProvided ? null : obstacleOf('conflict', TOOL_GONE)) ??
        heldObstacle(resolved) ??
        asked.obstacle ??
        unsendable(preview, input),
    };
  }

  private async currentTerms(action: LivingAction, org: LivingOrganization, input: PolicyInput): Promise<CurrentTerms> {
    const { terms } = action.approval as Approval;
    const { decision, approval } = await this.policy.judge(org.org, org.enforced, input);
    if (approval !== null) {
      const { approvers } = approval;
      // Not fewer than at first: a reader of the log knows only the first number, and must come to the same end.
      const required = Math.max(approval.required, terms.required);
      const asked = { rule_id: decision.rule_id, approvers, required };
      return { terms: signedTerms(asked, terms.signed ?? approval.signed ?? org.approvals.signed), rule: decision };
    }
    const recorded = recordedTerms(action);
    const known = { ...recorded, terms: signedTerms(recorded.terms, terms.signed ?? org.approvals.signed) };
    if (courseOf(decision) !== 'ends') return known;
    return {
      ...known,
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

  private previewOf(resolved: ResolvedTool | null, { args }: PolicyInput): RequestPreview {
    if (resolved === null) return NO_PREVIEW;
    const { connector, tool, facts } = resolved;
    return this.gate.registry.driverOf(connector.type)?.previewOf(connector, tool.name, args, facts) ?? NO_PREVIEW;
  }

  /** The tool as it is now. Null if the connector under this name is another one than at submission. */
  private toolNow(
    { submission }: LivingAction,
    { args }: PolicyInput,
    { connector }: CurrentStates,
  ): ResolvedTool | null {
    if (connector === null) return null;
    const resolved = resolveTool({ name: parseToolName(submission.tool), args }, connector, this.gate.registry);
    return resolved?.connector.id === submission.connector ? resolved : null;
  }

  /** A system that cannot be read leaves what the decision was made by: nobody is kept from deciding. */
  private async withFacts(
    { submission }: LivingAction,
    { args, request: recorded }: PolicyInput,
    resolved: ResolvedTool | null,
  ): Promise<ResolvedTool | null> {
    if (!needsReadFacts(resolved)) return resolved;
    const of = { org: submission.org, agent: null, args, recorded: recorded as RequestFacts, mayBeRemembered: false };
    return (await withReadFacts(this.gate, resolved, of)).resolved;
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

interface CurrentStates {
  readonly org: LivingOrganization;
  readonly agent: LivingAgent;
  /** Null if the call names no registered connector. */
  readonly connector: ConnectorState | null;
}

type ShownReview = Pick<
  ApprovalReview,
  'terms' | 'context' | 'digest' | 'toolDigest' | 'definition' | 'run' | 'sends' | 'verify' | 'rule' | 'obstacle'
>;

/** Whom the current policy asks and by which rule, and the obstacle if it denies the call. */
type CurrentTerms = Pick<ApprovalReview, 'terms' | 'rule'> & { readonly obstacle?: Obstacle };

const recordedTerms = ({ approval, decision }: LivingAction): CurrentTerms => {
  const { terms } = approval as Approval;
  return { terms, rule: ruleOf(terms, decision) };
};

/** The rule in the policy version that decided at submission. */
const ruleOf = ({ rule_id }: Pick<ReviewedTerms, 'rule_id'>, decision: Decision | null): ApprovalReview['rule'] =>
  decision && { rule_id, policy: decision.policy, policy_version: decision.policy_version };

/**
 * Why the call may not run at all: a Stop, or a revoked key. A rolled key is no obstacle, because its agent continues
 * with the new key.
 */
const stopOf = ({ agent, org }: CurrentStates, { key }: Submission): Obstacle | null => {
  const stopped = stopCodeOf(agent.status, org.status);
  if (stopped !== null) return obstacleOf(stopped);
  const isRevoked = (agent.keys.get(key)?.revokedAt ?? null) !== null;
  return isRevoked ? obstacleOf('conflict', KEY_REVOKED) : null;
};

/** An agent that runs the tool itself builds the request, too. */
const unsendable = ({ fault }: RequestPreview, { mode }: PolicyInput): Obstacle | null =>
  fault === null || mode === 'proxy' ? null : obstacleOf('conflict', `${fault} ${UNSENDABLE}`);

/** A tool that its server changed is shown as it is, and cannot be approved before somebody has accepted it. */
const heldObstacle = (resolved: ResolvedTool | null): Obstacle | null => {
  const held = resolved?.tool.held;
  if (resolved === null || held === undefined) return null;
  return obstacleOf('conflict', heldSentence(resolved.connector.name, resolved.tool.name, held));
};

/** Of a held tool what was accepted: nobody is shown words to decide by that no admin has looked at. */
const servedDefinition = (resolved: ResolvedTool | null): ServedDefinition | null => {
  const { definition, held } = resolved?.tool ?? {};
  if (definition === undefined) return null;
  return held === undefined ? { digest: definition, isHeld: false } : { digest: held.accepted, isHeld: true };
};

const namedDefinition = (context: ApprovalContext | null): ServedDefinition | null => {
  const digest = context?.request.mcp?.definition;
  return digest === undefined ? null : { digest: digest as Digest, isHeld: false };
};

/** The recorded policy input, with side effect and request facts of the tool as it is now. */
const inputNow = ({ submission }: LivingAction, recorded: PolicyInput, resolved: ResolvedTool | null): PolicyInput => {
  if (submission.connector === null) return recorded;
  return { ...recorded, request: resolved?.facts ?? {}, side_effect: resolved?.sideEffect ?? 'unknown' };
};
