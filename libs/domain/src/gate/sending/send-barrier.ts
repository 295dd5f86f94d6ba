import { agentDecider, stopCodeOf } from '../../agents/index.js';
import { isLive } from '../../connectors/index.js';
import { failpoint, streamRef, type ErrorCode, type ExpectedRevision, type Logger } from '../../kernel/index.js';
import { organizationDecider } from '../../people/index.js';
import {
  actionDecider,
  currentAttempt,
  type LivingAction,
  connectorRefOf,
  isLiving,
  type Execution,
} from '../action/index.js';
import type { GateKernel } from '../kernel/index.js';

/** The action that a request is sent for, and who may stop the request. */
export interface Sending extends Pick<Execution, 'id' | 'action' | 'found'> {
  /** Whether this process may still send the request, given the action's current state. */
  readonly isStillOurs: (action: LivingAction) => boolean;
  /**
   * True if the request is sent for the agent: then a Stop of the agent or a revoked key prevents it. False if a person
   * asked for it.
   */
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
 * The check before the first byte of a request (rule GATE-3). The request is not sent if there is a Stop, the agent is
 * suspended, its key is revoked, the connector is disabled, another process has taken over the claim, or the store
 * answers too slowly to be trusted. For the first request of a call, the connector must also be the one that the
 * request was built from. For a short time after the claim's commit, that commit counts as the answer, because it has
 * checked the same streams (docs/adr/0017).
 */
export class SendBarrier {
  #hasOpened = false;

  /** @param connectorRevision revision of the connector that the request was built from */
  constructor(
    private readonly gate: GateKernel,
    private readonly logger: Logger,
    private readonly sending: Sending,
    private readonly connectorRevision: ExpectedRevision,
  ) {}

  /** False means that certainly no byte was sent. */
  get hasOpened(): boolean {
    return this.#hasOpened;
  }

  /**
   * Whether the first byte may be sent now: null if so, otherwise the error code of what prevents it. Called when the
   * connection is up; called again if a kept connection had closed before the answer, because nothing was sent then.
   * @param hasSent whether an earlier request of the call was sent, and this one follows its redirect
   */
  async mayStillSend(hasSent: boolean): Promise<ErrorCode | null> {
    if (this.isTripped()) return 'connector_unavailable';
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
   * Whether the claim's commit can replace the check. It required agent, organization and connector to be unchanged, so
   * it counts if it is recent and the request was built from the same connector revision. Only for the first request: a
   * redirect needs a check of its own.
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

  /** Whether this process has seen, since the request was built, that nothing more may be sent for its connector. */
  private isTripped(): boolean {
    const { connector: id } = this.sending.action.submission;
    return id !== null && this.gate.breakers.isTripped({ id }, this.connectorRevision);
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
