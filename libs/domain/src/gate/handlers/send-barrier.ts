import { agentDecider, stopCodeOf } from '../../agents/index.js';
import { isLive } from '../../connectors/index.js';
import { failpoint, streamRef, type ErrorCode, type ExpectedRevision, type Logger } from '../../kernel/index.js';
import { organizationDecider } from '../../people/index.js';
import { actionDecider } from '../action.decider.js';
import { currentAttempt, type LivingAction } from '../action.state.js';
import type { GateKernel } from '../gate-kernel.js';
import { connectorRefOf, isLiving, type Execution } from './execution.js';

/** What a request is sent for. */
export interface Sending extends Pick<Execution, 'id' | 'action' | 'found'> {
  /** Whether this process is still the one to send it, by the action as it stands. */
  readonly isStillOurs: (action: LivingAction) => boolean;
  /** A Stop of the agent, or the end of its key, holds back what is sent for the agent and not what a person asks. */
  readonly isForAgent: boolean;
}

export const executedBy = ({ id, action, found, attempt }: Execution): Sending => ({
  id,
  action,
  found,
  isStillOurs: (now) => currentAttempt(now)?.claim === attempt.claim,
  isForAgent: true,
});

/**
 * Stands before every first byte of one request (rule GATE-3). A Stop, a suspension, a revoke or a disabled connector
 * ends the execution with nothing sent. So does a claim that another process has taken over, or a store that answers
 * too slowly to be believed. Before the first byte of the whole call, the connector must also be the one that the
 * request was built from. What the claim's own commit found standing counts as the answer for a moment (docs/adr/0017).
 */
export class SendBarrier {
  #hasOpened = false;

  /** @param connectorRevision of the connector that the request was built from */
  constructor(
    private readonly gate: GateKernel,
    private readonly logger: Logger,
    private readonly sending: Sending,
    private readonly connectorRevision: ExpectedRevision,
  ) {}

  /** False as long as certainly no byte was sent. */
  get hasOpened(): boolean {
    return this.#hasOpened;
  }

  /**
   * Null when the first byte may go out now; otherwise the code of what holds it back. Asked when the connection is up.
   * Asked once more if a kept connection had ended by the time of the answer: nothing has been sent then.
   * @param hasSent an earlier request of the call was sent, and this one follows its redirect
   */
  async mayStillSend(hasSent: boolean): Promise<ErrorCode | null> {
    if (!hasSent && this.isFoundByCommit()) {
      await failpoint('exec.before_send');
      return null;
    }
    const askedAtMs = this.gate.clock.monotonicMs();
    try {
      const now = await this.readAll();
      if (this.gate.clock.monotonicMs() - askedAtMs >= this.gate.settings.barrierMaxAgeMs) return 'service_unavailable';
      const refusal = this.refusal(now) ?? (hasSent ? null : this.connectorMoved(now.connector.revision));
      if (refusal === null) await failpoint('exec.before_send');
      return refusal;
    } catch (error) {
      const { id } = this.sending;
      this.logger.warn('the send barrier could not be read; nothing is sent', { action_id: id, error });
      return 'service_unavailable';
    }
  }

  /**
   * Whether the claim's own commit is the answer: a moment ago it required everything to stand as it was judged. So the
   * connection must have been up soon, and the request built from that very connector. It answers for the first request
   * alone, since it said nothing of a redirect.
   */
  private isFoundByCommit(): boolean {
    const { found, action } = this.sending;
    if (found === null) return false;
    if (this.gate.clock.monotonicMs() - found.askedAtMs >= this.gate.settings.commitHoldsMs) return false;
    const connector = found.revisions.get(connectorRefOf(action.submission).stream);
    if (connector === undefined || connector !== this.connectorRevision) return false;
    this.#hasOpened = true;
    return true;
  }

  private readAll() {
    const { id, action } = this.sending;
    return this.gate.streams.loadAll({
      agent: streamRef(agentDecider, action.submission.agent),
      org: streamRef(organizationDecider, action.submission.org),
      connector: connectorRefOf(action.submission),
      action: streamRef(actionDecider, id),
    });
  }

  private refusal(now: Awaited<ReturnType<SendBarrier['readAll']>>): ErrorCode | null {
    const { action: claimed, isForAgent, isStillOurs } = this.sending;
    const [agent, org, connector, action] = [now.agent.state, now.org.state, now.connector.state, now.action.state];
    const stopped = stopCodeOf(isForAgent ? agent.status : 'active', org.status);
    if (stopped) return stopped;
    if (isForAgent && (agent.status === 'none' || agent.keys.get(claimed.submission.key)?.revokedAt)) {
      return 'api_key_revoked';
    }
    if (!isLive(connector) || connector.status !== 'active' || connector.id !== claimed.submission.connector) {
      return 'connector_unavailable';
    }
    return isLiving(action) && isStillOurs(action) ? null : 'service_unavailable';
  }

  private connectorMoved(revision: ExpectedRevision): ErrorCode | null {
    this.#hasOpened = revision === this.connectorRevision;
    return this.#hasOpened ? null : 'connector_unavailable';
  }
}
