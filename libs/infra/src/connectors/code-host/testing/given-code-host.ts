/** A code host's connector, its vault and a driver around the tests' GitHub. */
import { randomBytes } from 'node:crypto';

import type { JsonObject, JsonValue } from '#libs/crypto';
import {
  type CallOutcome,
  type ConnectorCall,
  connectorDecider,
  type ConnectorState,
  type LiveConnector,
  type Observation,
  readConfig,
} from '#libs/domain/connectors';
import { idOf } from '#libs/domain/kernel';
import { EgressDoor } from '#libs/infra/egress';
import { SystemClock, SystemRandomness } from '#libs/infra/runtime';

import { CodeHostWire, WIRE_TOKEN } from '../../../../../../test/support/code-host-wire.js';
import { silentLogger } from '../../../../../../test/support/silent-logger.js';
import { OpenVault } from '../../testing/open-vault.js';
import { CodeHostDriver } from '../code-host-driver.js';

const ORG = idOf('org', randomBytes(16));
export const ACTION = idOf('act', randomBytes(16));
const AGENT = idOf('agt', randomBytes(16));
const CONNECTOR = idOf('con', randomBytes(16));
const AT = '2026-10-01T12:00:00.000Z';

/** Nothing names tools but the type. */
const NO_RECORDER = { record: () => Promise.reject(new Error('nothing to record')) };

export type ReadOutcome = Omit<CallOutcome, 'result'> & { readonly result: JsonValue | null };

export class GivenCodeHost {
  readonly clock = new SystemClock();
  private readonly vault = new OpenVault();
  private readonly door = new EgressDoor({
    settings: { allowPrivate: true, allowPlainText: true, allow: [], ownEndpoints: () => [] },
    resolve: () => Promise.resolve(['127.0.0.1']),
  });
  readonly driver: CodeHostDriver;

  private constructor(
    readonly wire: CodeHostWire,
    readonly connector: LiveConnector,
  ) {
    const { door, vault, clock } = this;
    const [randomness, recorder] = [new SystemRandomness(), NO_RECORDER];
    this.driver = new CodeHostDriver({ door, vault, clock, randomness, logger: silentLogger, recorder });
  }

  static async start(config: JsonObject = {}): Promise<GivenCodeHost> {
    const wire = await CodeHostWire.start();
    const host = new GivenCodeHost(wire, live({ repositories: ['acme/shop'], base_url: wire.baseUrl, ...config }));
    await host.storeToken(WIRE_TOKEN);
    return host;
  }

  /** Past the door that judges tokens, as an operator could. */
  storeToken(token: string): Promise<void> {
    const fields = new Map([['token', Buffer.from(token)]]);
    return this.vault.put({ org: ORG, object: CONNECTOR, version: 'v1', stream: '' }, fields);
  }

  private call(toolName: string, args: JsonObject, changes: Partial<ConnectorCall> = {}): ConnectorCall {
    return {
      ...{ org: ORG, action: ACTION, agent: AGENT, connector: this.connector, toolName, attempt: 1 },
      ...{ args: { repository: 'acme/shop', ...args } },
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

  /** A file on a branch of its own. @returns the sha of its content */
  changedFile(): string {
    this.wire.shop.branch('fix');
    return this.wire.shop.write('fix', 'a', 'old');
  }

  /** @returns the number of a pull request into main */
  async pullOf(head: string): Promise<number> {
    const { result } = await this.send('create_pull_request', { head, base: 'main', title: 'T', draft: false });
    return (result as { readonly body: { readonly number: number } }).body.number;
  }

  pull(): Promise<number> {
    this.changedFile();
    return this.pullOf('fix');
  }

  /** The arguments of a merge of what is on the branch now. */
  mergeOf(number: number): JsonObject {
    const head_sha = this.wire.shop.branches.get('fix') as string;
    return { number, head_sha, base: 'main', method: 'squash' };
  }

  /** @param result as `send` gave it */
  observe(toolName: string, args: JsonObject, result: JsonValue | null): Promise<Observation> {
    return this.driver.observe({ ...this.call(toolName, args), result: result as JsonObject | null });
  }

  /** The checks of the type, those of every type left out; of each, whether it passed, failed or warns, and its words. */
  async test(): Promise<Readonly<Record<string, readonly [status: string, detail: string]>>> {
    const mayStillSend = () => Promise.resolve(null);
    const tested = { connector: this.connector, deadlineMonotonicMs: this.clock.monotonicMs() + 10_000, mayStillSend };
    const found: Record<string, readonly [string, string]> = {};
    for (const { name, run } of this.driver.checks()) {
      const { status, detail, onlyWarns } = await run(tested);
      found[name] = [onlyWarns === true ? 'warns' : status, detail];
    }
    return found;
  }

  async close(): Promise<void> {
    this.door.close();
    await this.wire.close();
  }
}

/** As the log would fold it. */
const live = (config: JsonObject): LiveConnector => {
  const stored = readConfig('code_host', config, { isProduction: false });
  const of = { org: ORG, connector: CONNECTOR, name: 'code', at: AT };
  const created = {
    type: 'code_host' as const,
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
