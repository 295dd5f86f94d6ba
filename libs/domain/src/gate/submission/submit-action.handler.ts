import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Digest, INTENT_REPLAY, newSalt, StrictJsonError } from '#libs/crypto';
import { agentDecider } from '../../agents/index.js';
import {
  derivedId,
  DomainError,
  failpoint,
  PayloadStore,
  RequirementMoved,
  streamRef,
  type ActionId,
} from '../../kernel/index.js';
import type { PolicyBudget, PolicyInput } from '../../policies/index.js';
import { courseOf, type Decision, type ShadowDecision, IdempotentIds, lastGeneration } from '../action/index.js';
import { boundsOf } from '../budgets/index.js';
import { AdmissionKernel } from './admission-kernel.js';
import { intentRefused, IntentRefused } from './intent-refusal.js';
import { judgeIntent } from './judge-intent.js';
import {
  PolicyJudge,
  canonicalRequest,
  inputDocument,
  type CanonicalRequest,
  edgeOf,
  executionOf,
} from '../judgement/index.js';
import { askServer, mayBeNamedSince } from './ask-server.js';
import { actionBefore, askedCall, rememberedCall, type CallAtGate } from './call-at-gate.js';
import { chargedCall, freeUnlessShared, withoutCharges, type ChargedCall } from './charge-call.js';
import { ExecutionStarter } from '../execution/index.js';
import { heldCall, withoutApproval, type HeldCall } from './hold-call.js';
import { calledWithFacts, mayReadFacts } from './call-with-facts.js';
import { judgedByPolicy, judgedInShadow, judgedInput, refusedByGate } from './judge-call.js';
import { record, submissionOfCall } from './record-call.js';
import { reserveNonce } from './reserve-nonce.js';
import { start, takeBack } from './start-call.js';
import { MustAsk, SubmitAction, type SubmittedAction } from './submit-action.command.js';
import { repeatOf, requireAnIdToJoin, WouldWait } from './repeated-call.js';
import { KeyIsUsed, originalOf, replay, requireUnusedKey, usedKeyOr } from './used-key.js';

/**
 * A call that loses to a racing duplicate looks again and finds the winner. There is no other reason for a second look.
 */
const MAX_LOOKS = 4;

/**
 * The gate (rule GATE-1): signed intent → idempotency → Stop → request facts → policy → nonce → budgets → one append. A
 * call that cannot be recorded is not executed. Each step is a function in a file of its own; this class holds their
 * order.
 */
@CommandHandler(SubmitAction)
export class SubmitActionHandler implements ICommandHandler<SubmitAction> {
  constructor(
    private readonly gate: AdmissionKernel,
    private readonly ids: IdempotentIds,
    private readonly payloads: PayloadStore,
    private readonly policy: PolicyJudge,
    private readonly starter: ExecutionStarter,
  ) {}

  async execute(command: SubmitAction): Promise<SubmittedAction> {
    await failpoint('gate.received');
    const request = await this.canonical(command);
    const key = request.idempotencyKey;
    const idOfGeneration = (generation: number): ActionId =>
      key === null ? this.newId(command) : this.ids.actionId(command.org, command.agent, key, generation);
    if (command.since === 'remembered') return this.acceptRemembered(command, request, idOfGeneration(0));
    if (key === null) return this.acceptKeyless(command, request, idOfGeneration(0));
    for (let look = 1, generation = 0; look <= MAX_LOOKS; look += 1) {
      const id = idOfGeneration(generation);
      const accepted = await this.acceptAsked(command, request, id).catch(onlyUsedKey);
      if (!(accepted instanceof KeyIsUsed)) return accepted;
      const latest = await lastGeneration(this.gate.store, idOfGeneration);
      const original = await originalOf(this.gate, idOfGeneration(latest), command.metadata.now);
      if (original) return replay(original, accepted.request);
      generation = latest + 1;
    }
    throw new DomainError('service_unavailable');
  }

  /**
   * Arguments without a canonical form are refused with StrictJsonError. If there is a signed intent, its checks 1 to
   * 10 come first, because the arguments are check 11 (rule INTENT-6).
   * @throws {StrictJsonError}
   * @throws {IntentRefused}
   */
  private async canonical({ request, agent, metadata }: SubmitAction): Promise<CanonicalRequest> {
    try {
      return canonicalRequest(request);
    } catch (error) {
      if (!(error instanceof StrictJsonError)) throw error;
      const { state } = await this.gate.streams.load(streamRef(agentDecider, agent));
      if (state.status !== 'none') judgeIntent({ ...request, args: error }, state, metadata.now);
      throw error;
    }
  }

  /**
   * Derived from the command id, so that every try of one request has the same action id: nonce and budgets are
   * reserved for that id, and a second try must find its reservations.
   */
  private newId({ metadata }: SubmitAction): ActionId {
    return derivedId('act', metadata.commandId);
  }

  private async acceptKeyless(
    command: SubmitAction,
    request: CanonicalRequest,
    id: ActionId,
  ): Promise<SubmittedAction> {
    const accepted = await this.acceptAsked(command, request, id).catch(onlyWouldWait).catch(onlyUsedKey);
    if (accepted instanceof WouldWait) return this.acceptRepeatable(command, request, accepted);
    if (!(accepted instanceof KeyIsUsed)) return accepted;
    // The id is derived from this command, so only two others can have used it: a call that took over its nonce, or a
    // sweeper that freed its reservations. Both abandon the id, because this append came so late.
    throw request.intent.length > 0 ? intentRefused(INTENT_REPLAY) : new DomainError('service_unavailable');
  }

  /**
   * A call that its caller may repeat without a key (rule MCP-3): its id comes from what is asked, so a repeat finds the
   * action that still waits. An action that has ended is never the answer to a repeat: the next generation is another
   * question to people.
   */
  private async acceptRepeatable(
    command: SubmitAction,
    request: CanonicalRequest,
    first: WouldWait,
  ): Promise<SubmittedAction> {
    let { comparison } = first;
    const idOfGeneration = (generation: number): ActionId =>
      this.ids.actionId(command.org, command.agent, `\0mcp\0${comparison}`, generation);
    for (let look = 1; look <= MAX_LOOKS; look += 1) {
      const latest = await lastGeneration(this.gate.store, idOfGeneration);
      const repeated = latest < 0 ? null : await repeatOf(this.gate, idOfGeneration(latest));
      if (repeated !== null) return repeated;
      const accepted = await this.acceptAsked(command, request, idOfGeneration(latest + 1), comparison)
        .catch(onlyWouldWait)
        .catch(onlyUsedKey);
      if (accepted instanceof WouldWait) ({ comparison } = accepted);
      else if (!(accepted instanceof KeyIsUsed)) return accepted;
    }
    throw new DomainError('service_unavailable');
  }

  /** @param joins of a repeatable call: the comparison digest that its id comes from */
  private async acceptAsked(
    command: SubmitAction,
    request: CanonicalRequest,
    id: ActionId,
    joins: Digest | null = null,
  ): Promise<SubmittedAction> {
    const ask = (): Promise<CallAtGate> => askedCall(this.gate, command, request, id);
    let call = await ask();
    if (mayBeNamedSince(call)) {
      await askServer(this.gate, call.connector);
      call = await ask();
    }
    const isDenied = (read: CallAtGate): Promise<boolean> => this.isDenied(read);
    if (mayReadFacts(call)) call = await calledWithFacts(this.gate, call, { ask, isDenied });
    return this.accept(call, joins);
  }

  /**
   * Decides by cached streams. The append requires their revisions, so the commit proves that the cache was current
   * (docs/adr/0016).
   * @throws {MustAsk} if a stream is not cached, or has a newer revision; nothing was written
   */
  private async acceptRemembered(
    command: SubmitAction,
    request: CanonicalRequest,
    id: ActionId,
  ): Promise<SubmittedAction> {
    try {
      const call = rememberedCall(this.gate, command, request, id, await actionBefore(this.gate, request, id));
      if (call === null || mayBeNamedSince(call) || mayReadFacts(call)) throw new MustAsk();
      return await this.accept(call);
    } catch (error) {
      throw mayBeOtherwise(error) ? new MustAsk() : error;
    }
  }

  private async accept(call: CallAtGate, joins: Digest | null = null): Promise<SubmittedAction> {
    const { org, metadata } = call.command;
    requireUnusedKey(call);
    this.gate.requireSealingKeepsUp(org);
    const input = judgedInput(call);
    const { body, digest } = inputDocument(input);
    const document = { body, digest, salt: newSalt() };
    const { decision, approval, context, shadow, charges } = await this.judged(call, input, joins);
    const submission = submissionOfCall(this.ids, call, document);
    if (context !== null) await this.payloads.put(context);
    const { startTimeoutMs, edgeResultTimeoutMs } = this.gate.settings;
    const isAllowed = courseOf(decision) === 'runs';
    const isAtTheEdge = isAllowed && submission.mode === 'proxy';
    const runs = isAllowed && !isAtTheEdge ? call.resolved : null;
    const claimant = runs ? this.starter.claimant(submission) : null;
    const execution = runs && executionOf(runs, metadata.now, startTimeoutMs);
    const ofGateway = { submission, decision, shadow, execution, claimant, charges };
    const asked = approval === null ? ofGateway : { approval, ...ofGateway };
    const data = isAtTheEdge ? { edge: edgeOf(metadata.now, edgeResultTimeoutMs), ...ofGateway } : asked;
    const askedAtMs = this.gate.clock.monotonicMs();
    const { folded } = await record(this.gate, call, document, data).catch(async (error: unknown) => {
      takeBack(this.starter, claimant, error);
      const ended = usedKeyOr(call, error);
      if (charges.length > 0 && ended instanceof KeyIsUsed) await freeUnlessShared(this.gate, call);
      throw ended;
    });
    if (runs) await start(this.starter, call, folded, claimant, askedAtMs);
    if (isAtTheEdge) await failpoint('proxy.authorized');
    return { action: call.id, isReplay: false, isRefused: courseOf(decision) === 'ends', isExecuting: runs !== null };
  }

  /** Judges the call, makes it wait if people are to be asked, and reserves its nonce and its budget charges. */
  private async judged(call: CallAtGate, input: PolicyInput, joins: Digest | null): Promise<JudgedCall> {
    const refused = refusedByGate(call);
    const judgement = refused ? null : await judgedByPolicy(this.policy, call, input);
    if (judgement) requireAnIdToJoin(call, judgement, joins);
    const shadow = judgement && judgedInShadow(this.policy, call, input, judgement);
    const held = judgement ? await heldCall(this.gate, call, input, judgement) : withoutApproval(refused as Decision);
    const { signed } = call.request;
    if (signed !== null) await reserveNonce(this.gate, call, signed);
    const budgets = judgement?.budgets ?? [];
    return { shadow, ...(await this.charged(call, held, budgets)) };
  }

  private async isDenied(call: CallAtGate): Promise<boolean> {
    if (refusedByGate(call) !== null) return true;
    return courseOf((await judgedByPolicy(this.policy, call, judgedInput(call))).decision) === 'ends';
  }

  private charged(
    call: CallAtGate,
    held: HeldCall,
    budgets: readonly PolicyBudget[],
  ): Promise<ChargedCall> | ChargedCall {
    if (courseOf(held.decision) === 'ends') return withoutCharges(held);
    const bounds = boundsOf(call.agent, call.org.enforced?.policy ?? null, budgets);
    return bounds.length === 0 ? withoutCharges(held) : chargedCall(this.gate, call, held, bounds);
  }
}

interface JudgedCall extends ChargedCall {
  readonly shadow: ShadowDecision | null;
}

/** Refusals by cached state that the current state might not give. */
const mayBeOtherwise = (error: unknown): boolean =>
  error instanceof RequirementMoved ||
  error instanceof KeyIsUsed ||
  error instanceof WouldWait ||
  error instanceof IntentRefused;

const onlyUsedKey = (error: unknown): KeyIsUsed => {
  if (error instanceof KeyIsUsed) return error;
  throw error;
};

const onlyWouldWait = (error: unknown): WouldWait => {
  if (error instanceof WouldWait) return error;
  throw error;
};
