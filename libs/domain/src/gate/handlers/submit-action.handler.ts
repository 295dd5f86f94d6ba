import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { connectorDecider, connectorStreamId, type ConnectorState } from '../../connectors/index.js';
import { agentDecider, type LivingAgent } from '../../agents/index.js';
import {
  DomainError,
  failpoint,
  idOf,
  PayloadStore,
  RequirementMoved,
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
import { MustAsk, SubmitAction, type SubmittedAction } from './submit-action.command.js';

/** A racing duplicate that loses looks again and finds the winner; nothing else makes it look twice. */
const MAX_LOOKS = 4;

/** All that a decision reads. */
interface Surroundings {
  readonly agent: LivingAgent;
  readonly org: LivingOrganization;
  readonly connector: ConnectorState | null;
  readonly resolved: ResolvedTool | null;
  readonly action: Folded<Action>;
  /** What of it the append must require, since nobody was asked; null where somebody was. */
  readonly requires: ReadonlyMap<string, number> | null;
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
    const idOfGeneration = (generation: number): ActionId =>
      key === null
        ? idOf('act', this.gate.randomness.bytes(16))
        : this.ids.actionId(command.org, command.agent, key, generation);
    if (command.since === 'remembered') return this.acceptRemembered(command, request, idOfGeneration(0));
    if (key === null) return this.acceptAsked(command, request, idOfGeneration(0));
    for (let look = 1, generation = 0; look <= MAX_LOOKS; look += 1) {
      const id = idOfGeneration(generation);
      try {
        return await this.acceptAsked(command, request, id);
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

  private async acceptAsked(command: SubmitAction, request: CanonicalRequest, id: ActionId): Promise<SubmittedAction> {
    return this.accept(command, request, id, await this.look(command, request, id));
  }

  /**
   * Decides by what this process remembers, and lets the log judge it: the append requires all that was read to stand as it
   * was read, which the commit proves and no question before it could (docs/adr/0016).
   * @throws {MustAsk} something is not remembered, or has moved on; nothing was written
   */
  private async acceptRemembered(
    command: SubmitAction,
    request: CanonicalRequest,
    id: ActionId,
  ): Promise<SubmittedAction> {
    const around = this.remember(command, request, await this.actionBefore(request, id));
    if (around === null) throw new MustAsk();
    try {
      return await this.accept(command, request, id, around);
    } catch (error) {
      throw error instanceof RequirementMoved || error instanceof KeyIsUsed ? new MustAsk() : error;
    }
  }

  private async accept(
    command: SubmitAction,
    request: CanonicalRequest,
    id: ActionId,
    around: Surroundings,
  ): Promise<SubmittedAction> {
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
    const { org, actor, requestId, commandId } = command.metadata;
    const metadata = { org, actor, requestId, commandId, correlation: id, now };
    const payload: Payload = { owner: id, org: command.org, kind: 'policy_input', ...document };
    const append = (events: Append): Promise<AppendResult> =>
      this.payloads.append(
        this.gate.store,
        around.requires === null ? events : { requires: around.requires, ...events },
        payload,
      );
    const askedAtMs = this.gate.clock.monotonicMs();
    const accepted = await this.gate.runner
      .run(actionDecider, id, { type: 'SubmitAction', data, metadata }, metadata, { known: around.action, append })
      .catch((error: unknown) => {
        if (claimant) this.starter.withdraw(claimant, error instanceof StoreUnavailable);
        throw error instanceof DomainError && error.code === 'conflict' ? new KeyIsUsed() : error;
      });
    if (runs) {
      const found = around.requires && { askedAtMs, revisions: around.requires };
      await this.starter.start({ id, folded: accepted.folded, args: request.args, found }, claimant);
    }
    return { action: id, isReplay: false, isRefused: decision.outcome === 'deny' };
  }

  /** All that the decision reads, none of it older than the call (architecture, 'What a decision reads'). */
  private async look(command: SubmitAction, request: CanonicalRequest, id: ActionId): Promise<Surroundings> {
    const since = command.since === 'remembered' ? undefined : command.since;
    const { connector: connectorRef, ...refs } = refsOf(command, request);
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
    return { agent, org, connector, resolved, action, requires: null };
  }

  /** Null where something is not remembered, or shuts the caller out, which may long be otherwise. */
  private remember(command: SubmitAction, request: CanonicalRequest, action: Folded<Action>): Surroundings | null {
    const refs = refsOf(command, request);
    const agent = this.gate.streams.known(refs.agent);
    const org = this.gate.streams.known(refs.org);
    const connector = refs.connector && this.gate.streams.known(refs.connector);
    if (agent === null || org === null || (refs.connector !== null && connector === null)) return null;
    if (agent.state.status === 'none' || org.state.status === 'none') return null;
    const key = agent.state.keys.get(request.key);
    // As known now, which may be more than the guard knew.
    if (!key || key.revokedAt !== null) return null;
    if (key.expiresAt !== null && key.expiresAt <= command.metadata.now) return null;
    return {
      agent: agent.state,
      org: org.state,
      connector: connector?.state ?? null,
      resolved: connector ? resolveTool(request, connector.state, this.gate.registry) : null,
      action,
      requires: revisionsOf([agent, org, ...(connector ? [connector] : [])]),
    };
  }

  /** An id that was drawn a moment ago names nothing yet; were it otherwise, the append would say so. */
  private actionBefore({ idempotencyKey }: CanonicalRequest, id: ActionId): Promise<Folded<Action>> | Folded<Action> {
    const ref = streamRef(actionDecider, id);
    return idempotencyKey === null ? unbegun(ref) : this.gate.streams.load(ref);
  }
}

const refsOf = ({ agent, org }: SubmitAction, { name }: CanonicalRequest) => ({
  agent: streamRef(agentDecider, agent),
  org: streamRef(organizationDecider, org),
  connector: name ? streamRef(connectorDecider, connectorStreamId(org, name.connector)) : null,
});

const revisionsOf = (streams: readonly Folded<unknown>[]): ReadonlyMap<string, number> =>
  new Map(streams.map(({ stream, revision }) => [stream, revision as number]));

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
