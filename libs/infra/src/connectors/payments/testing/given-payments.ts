/** A payments connector, its vault and a driver around the tests' processor. */
import { randomBytes } from 'node:crypto';

import type { JsonObject, JsonValue } from '#libs/crypto';
import {
  type CallOutcome,
  type ConnectorCall,
  connectorDecider,
  type FactsQuestion,
  type ConnectorState,
  type LiveConnector,
  type Observation,
  type ReadFacts,
  readConfig,
} from '#libs/domain/connectors';
import { idOf } from '#libs/domain/kernel';
import { EgressDoor } from '#libs/infra/egress';
import { SystemClock, SystemRandomness } from '#libs/infra/runtime';

import { PaymentsWire, WIRE_KEY, WIRE_VERSION } from '../../../../../../test/support/payments-wire.js';
import { silentLogger } from '../../../../../../test/support/silent-logger.js';
import { OpenVault } from '../../testing/open-vault.js';
import { PaymentsDriver } from '../payments-driver.js';

const ORG = idOf('org', randomBytes(16));
export const ACTION = idOf('act', randomBytes(16));
const AGENT = idOf('agt', randomBytes(16));
const CONNECTOR = idOf('con', randomBytes(16));
const AT = '2026-10-01T12:00:00.000Z';

/** Nothing names tools but the type. */
const NO_RECORDER = { record: () => Promise.reject(new Error('nothing to record')) };

export type ReadOutcome = Omit<CallOutcome, 'result'> & { readonly result: JsonValue | null };

export class GivenPayments {
  readonly clock = new SystemClock();
  private readonly vault = new OpenVault();
  private readonly door = new EgressDoor({
    settings: { allowPrivate: true, allowPlainText: true, allow: [], ownEndpoints: () => [] },
    resolve: () => Promise.resolve(['127.0.0.1']),
  });
  readonly driver: PaymentsDriver;

  private constructor(
    readonly wire: PaymentsWire,
    readonly connector: LiveConnector,
  ) {
    const { door, vault, clock } = this;
    const [randomness, recorder] = [new SystemRandomness(), NO_RECORDER];
    this.driver = new PaymentsDriver({ door, vault, clock, randomness, logger: silentLogger, recorder });
  }

  static async start(config: JsonObject = {}): Promise<GivenPayments> {
    const wire = await PaymentsWire.start();
    const given = { api_version: WIRE_VERSION, refund_limits: { eur: 10_000, jpy: 900 }, base_url: wire.baseUrl };
    const payments = new GivenPayments(wire, live({ ...given, ...config }));
    await payments.storeKey(WIRE_KEY);
    return payments;
  }

  /** Past the door that judges keys, as an operator could. */
  storeKey(key: string): Promise<void> {
    const fields = new Map([['token', Buffer.from(key)]]);
    return this.vault.put({ org: ORG, object: CONNECTOR, version: 'v1', stream: '' }, fields);
  }

  call(toolName: string, args: JsonObject, changes: Partial<ConnectorCall> = {}): ConnectorCall {
    return {
      ...{ org: ORG, action: ACTION, agent: AGENT, connector: this.connector, toolName, args, attempt: 1 },
      ...{ traceparent: null, deadlineMonotonicMs: this.clock.monotonicMs() + 10_000 },
      mayStillSend: () => Promise.resolve(null),
      recordProgress: () => Promise.resolve(null),
      ...changes,
    };
  }

  async send(toolName: string, args: JsonObject = {}, changes: Partial<ConnectorCall> = {}): Promise<ReadOutcome> {
    const outcome = await this.driver.send(this.call(toolName, args, changes));
    return { ...outcome, result: outcome.result === null ? null : (JSON.parse(outcome.result) as JsonValue) };
  }

  /** @param result as `send` gave it */
  observe(toolName: string, args: JsonObject, result: JsonValue | null): Promise<Observation> {
    return this.driver.observe({ ...this.call(toolName, args), result: result as JsonObject | null });
  }

  facts(toolName: string, args: JsonObject, changes: Partial<FactsQuestion> = {}): Promise<ReadFacts> {
    const mayStillSend = (): Promise<null> => Promise.resolve(null);
    const asked = { mayStillSend, recorded: null, mayBeRemembered: true, ...changes };
    return this.driver.readFacts({ ...this.call(toolName, args), ...asked });
  }

  async close(): Promise<void> {
    this.door.close();
    await this.wire.close();
  }
}

/** As the log would fold it. */
const live = (config: JsonObject): LiveConnector => {
  const stored = readConfig('payments', config, { isProduction: false });
  const of = { org: ORG, connector: CONNECTOR, name: 'pay', at: AT };
  const created = {
    type: 'payments' as const,
    description: null,
    config: stored.config,
    config_hash: stored.configHash,
  };
  const credential = { kind: 'bearer' as const, fields: ['token'], hint: null, version: 'v1' };
  const { evolve, initialState } = connectorDecider;
  const made = evolve(initialState(), { type: 'ConnectorCreated', data: { ...of, ...created } });
  const state: ConnectorState = evolve(made, { type: 'ConnectorCredentialsUpdated', data: { ...of, ...credential } });
  return state as LiveConnector;
};
