/** A live connector, its vault and a driver around a real upstream. */
import { randomBytes } from 'node:crypto';

import type { Digest, JsonObject, JsonValue } from '#libs/crypto';
import {
  type CallOutcome,
  type ConnectorCall,
  connectorDecider,
  type ConnectorState,
  type CredentialFacts,
  type LiveConnector,
  readConfig,
} from '#libs/domain/connectors';
import { idOf, type Logger } from '#libs/domain/kernel';
import { EgressDoor, type EgressSettings, type Resolve } from '#libs/infra/egress';
import { SystemClock, SystemRandomness } from '#libs/infra/runtime';

import { silentLogger } from '../../../../../../test/support/silent-logger.js';
import { OpenVault } from '../../testing/open-vault.js';
import { RestDriver } from '../rest-driver.js';

const ORG = idOf('org', randomBytes(16));
export const ACTION = idOf('act', randomBytes(16));
const AGENT = idOf('agt', randomBytes(16));
const CONNECTOR = idOf('con', randomBytes(16));
const AT = '2026-10-01T12:00:00.000Z';

/** A REST config names its tools. */
const NO_RECORDER = { record: () => Promise.reject(new Error('nothing to record')) };

export interface GivenCredential {
  readonly kind: CredentialFacts['kind'];
  readonly values: Readonly<Record<string, string>>;
}

export interface GivenCall {
  readonly config: JsonObject;
  readonly credential?: GivenCredential;
  readonly settings?: Partial<EgressSettings>;
  readonly resolve?: Resolve;
  readonly logger?: Logger;
}

/** An outcome whose result was read from its text. */
export type ReadOutcome = Omit<CallOutcome, 'result'> & { readonly result: JsonValue | null };

export interface CallHarness {
  readonly driver: RestDriver;
  readonly vault: OpenVault;
  readonly connector: LiveConnector;
  send(toolName: string, args?: JsonObject, changes?: Partial<ConnectorCall>): Promise<ReadOutcome>;
  close(): void;
}

export const givenCall = async ({
  config,
  credential,
  settings,
  resolve = () => Promise.resolve(['127.0.0.1']),
  logger = silentLogger,
}: GivenCall): Promise<CallHarness> => {
  const vault = new OpenVault();
  const clock = new SystemClock();
  const door = new EgressDoor({
    settings: { allowPrivate: true, allowPlainText: true, allow: [], ownEndpoints: () => [], ...settings },
    resolve,
  });
  const driver = new RestDriver({
    door,
    vault,
    clock,
    randomness: new SystemRandomness(),
    logger,
    recorder: NO_RECORDER,
  });
  const stored = readConfig('rest', config, { isProduction: false });
  const connector = live(stored.config, stored.configHash, credential);
  if (credential !== undefined) {
    const fields = new Map(Object.entries(credential.values).map(([field, value]) => [field, Buffer.from(value)]));
    await vault.put({ org: ORG, object: CONNECTOR, version: 'v1', stream: '' }, fields);
  }
  const send = async (toolName: string, args: JsonObject = {}, changes: Partial<ConnectorCall> = {}) => {
    const outcome = await driver.send({
      org: ORG,
      action: ACTION,
      agent: AGENT,
      connector,
      toolName,
      args,
      attempt: 1,
      traceparent: null,
      deadlineMonotonicMs: clock.monotonicMs() + 10_000,
      mayStillSend: () => Promise.resolve(null),
      recordProgress: () => Promise.resolve(null),
      ...changes,
    });
    return { ...outcome, result: outcome.result === null ? null : (JSON.parse(outcome.result) as JsonValue) };
  };
  return {
    driver,
    vault,
    connector,
    send,
    close: () => {
      door.close();
    },
  };
};

/** As the log would fold it. */
const live = (config: JsonObject, configHash: Digest, credential: GivenCredential | undefined): LiveConnector => {
  const of = { org: ORG, connector: CONNECTOR, name: 'crm', at: AT };
  let state: ConnectorState = connectorDecider.evolve(connectorDecider.initialState(), {
    type: 'ConnectorCreated',
    data: { ...of, type: 'rest', description: null, config, config_hash: configHash },
  });
  if (credential !== undefined) {
    const facts = { kind: credential.kind, fields: Object.keys(credential.values), hint: null, version: 'v1' };
    state = connectorDecider.evolve(state, { type: 'ConnectorCredentialsUpdated', data: { ...of, ...facts } });
  }
  return state as LiveConnector;
};
