import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { connectorDecider, connectorStreamId, type ConnectorState } from '../../connectors/index.js';
import { agentDecider, type LivingAgent } from '../../agents/index.js';
import {
  DomainError,
  failpoint,
  idOf,
  PayloadStore,
  StoreUnavailable,
  streamRef,
  timestampOf,
  unbegun,
  type ActionId,
  type Append,
  type AppendResult,
  type Folded,
  type Payload,
} from '../../kernel/index.js';
import { organizationDecider, type LivingOrganization } from '../../people/index.js';
import { actionDecider } from '../action.decider.js';
import type { Action, LivingAction } from '../action.state.js';
import { GateKernel } from '../gate-kernel.js';
import { IDEMPOTENCY_WINDOW_MS, IdempotentIds, lastGeneration } from '../idempotent-id.js';
import { PolicyJudge } from '../policy-judge.js';
import {
  builtinDecision,
  canonicalRequest,
  comparisonOf,
  inputDocument,
  policyInputOf,
  resolveTool,
  submissionOf,
  whyToolUnknown,
  type CanonicalRequest,
  type ResolvedTool,
} from '../submission.js';
import { ExecutionStarter } from './execution-starter.js';
import { SubmitAction, type SubmittedAction } from './submit-action.command.js';

/** A racing duplicate that loses looks again and finds the winner; nothing else makes it look twice. */
const MAX_LOOKS = 4;

interface Surroundings {
  readonly agent: LivingAgent;
  readonly org: LivingOrganization;
  readonly connector: ConnectorState | null;
  readonly resolved: ResolvedTool | null;
  readonly action: Folded<Action>;
}

/**
 * The gate (architecture, 'The life of an action', step 1): idempotency → Stop → request facts → policy → one append.
 * If it cannot be recorded, it is not executed.
 */
@CommandHandler(SubmitAction)
export class SubmitActionHandler implements ICommandHandler<SubmitAction> {
  constructor(
    private readonly gate: GateKernel,
    private readonly ids: IdempotentIds,
    private readonly payloads: PayloadStore,
    private readonly policy: PolicyJudge,
    private readonly starter: ExecutionStarter,
  ) {}

  async execute(command: SubmitAction): Promise<SubmittedAction> {
    await failpoint('gate.received');
    const request = canonicalRequest(command.request);
    const key = request.idempotencyKey;
    if (key === null) return this.accept(command, request, idOf('act', this.gate.randomness.bytes(16)));
    const idOfGeneration = (generation: number): ActionId =>
      this.ids.actionId(command.org, command.agent, key, generation);
    for (let look = 1, generation = 0; look <= MAX_LOOKS; look += 1) {
      const id = idOfGeneration(generation);
      try {
        return await this.accept(command, request, id);
      } catch (error) {
        if (!(error instanceof KeyIsUsed)) throw error;
      }
      const latest = await lastGeneration(this.gate.store, idOfGeneration);
      const original = await this.original(idOfGeneration(latest), command.metadata.now);
      if (original) return replay(original, request);
      generation = latest + 1;
    }
    throw new DomainError('service_unavailable');
  }

  /** The action a key names, or null when the key is free for a new one: abandoned, or older than 24 hours. */
  private async original(id: ActionId, now: string): Promise<LivingAction | null> {
    const { state } = await this.gate.streams.load(streamRef(actionDecider, id));
    if (state.state === 'none' || state.state === 'abandoned') return null;
    return Date.parse(now) - Date.parse(state.createdAt) < IDEMPOTENCY_WINDOW_MS ? state : null;
  }

  private async accept(command: SubmitAction, request: CanonicalRequest, id: ActionId): Promise<SubmittedAction> {
    const around = await this.look(command, request, id);
    if (around.action.state.state !== 'none') throw new KeyIsUsed();
    this.gate.requireSealingKeepsUp(command.org);
    const now = command.metadata.now;
    const input = policyInputOf(request, around.agent, around.resolved, now);
    const document = inputDocument(input);
    const decision =
      builtinDecision(around.agent, around.org, around.resolved, () => whyToolUnknown(request, around.connector)) ??
      (await this.policy.judge(command.org, around.org.enforced, input));
    const idempotencyKeyHash =
      request.idempotencyKey === null ? null : this.ids.keyHash(command.org, command.agent, request.idempotencyKey);
    const submission = submissionOf(request, id, around.agent, around.resolved, {
      digest: document.digest,
      idempotencyKeyHash,
    });
    const runs = decision.outcome === 'allow' ? around.resolved : null;
    const claimant = runs ? this.starter.claimant(submission) : null;
    const execution = runs && {
      class: runs.tool.isRepeatable ? ('repeatable' as const) : ('once' as const),
      timeoutMs: runs.tool.timeoutMs,
      startBy: timestampOf(Date.parse(now) + this.gate.settings.startTimeoutMs),
    };
    const data = { submission, decision, execution, claimant };
    const metadata = { ...command.metadata, correlation: id };
    const payload: Payload = { owner: id, org: command.org, kind: 'policy_input', ...document };
    const append = (events: Append): Promise<AppendResult> => this.payloads.append(this.gate.store, events, payload);
    const accepted = await this.gate.runner
      .run(actionDecider, id, { type: 'SubmitAction', data, metadata }, metadata, { known: around.action, append })
      .catch((error: unknown) => {
        if (claimant) this.starter.withdraw(claimant, error instanceof StoreUnavailable);
        throw error instanceof DomainError && error.code === 'conflict' ? new KeyIsUsed() : error;
      });
    if (runs) await this.starter.start(id, accepted.folded, claimant, request.args);
    return { action: id, isReplay: false, isRefused: decision.outcome === 'deny' };
  }

  /** All that the decision reads, none of it older than the call (architecture, 'What a decision reads'). */
  private async look(command: SubmitAction, request: CanonicalRequest, id: ActionId): Promise<Surroundings> {
    const { since } = command;
    const refs = { agent: streamRef(agentDecider, command.agent), org: streamRef(organizationDecider, command.org) };
    const connectorRef = request.name
      ? streamRef(connectorDecider, connectorStreamId(command.org, request.name.connector))
      : null;
    const [loaded, action] = await Promise.all([
      connectorRef
        ? this.gate.streams.loadAll({ ...refs, connector: connectorRef }, { since })
        : { ...(await this.gate.streams.loadAll(refs, { since })), connector: null },
      this.actionBefore(request, id),
    ]);
    const [agent, org] = [loaded.agent.state, loaded.org.state];
    if (agent.status === 'none' || org.status === 'none') throw new DomainError('invalid_api_key');
    const connector = loaded.connector?.state ?? null;
    const resolved = connector ? resolveTool(request, connector, this.gate.registry) : null;
    return { agent, org, connector, resolved, action };
  }

  /** An id that was drawn a moment ago names nothing yet; were it otherwise, the append would say so. */
  private actionBefore({ idempotencyKey }: CanonicalRequest, id: ActionId): Promise<Folded<Action>> | Folded<Action> {
    const ref = streamRef(actionDecider, id);
    return idempotencyKey === null ? unbegun(ref) : this.gate.streams.load(ref);
  }
}

/** The id of this generation exists. Not an answer: look at what it holds. */
class KeyIsUsed extends Error {
  override readonly name = 'KeyIsUsed';
}

/** Document 1, idempotency rules 2, 3 and 5. */
const replay = (original: LivingAction, request: CanonicalRequest): SubmittedAction => {
  const { submission } = original;
  if (comparisonOf(request, submission.tool_digest).comparison !== submission.comparison_digest) {
    throw new DomainError('idempotency_conflict', { param: 'Idempotency-Key' });
  }
  return { action: submission.action, isReplay: true, isRefused: false };
};
