import { setTimeout as sleep } from 'node:timers/promises';

import { canonicalize, digestOfJson, type JsonObject } from '#libs/crypto';
import {
  argumentsFaultOfFixed,
  type CallOutcome,
  type ConnectorCall,
  ConnectorDriver,
  failedOutcome,
  inputSchemaOfFixed,
  type LiveConnector,
  type RequestFacts,
  type ToolDescription,
} from '#libs/domain/connectors';
import { FAKE_TOOLS, fakeConfigOf } from '#libs/domain/connectors/fake';
import type { Clock } from '#libs/domain/kernel';

import type { DriverTools } from '../driver-tools.js';

const TIMEOUT_MS = 60_000;

/** Runs the tools of connectors of type `fake`, which do nothing (docs/connectors-fake.md). */
export class FakeDriver extends ConnectorDriver {
  override readonly type = 'fake';
  /** A folded config is one object until it changes, and its descriptions go with it. */
  private readonly described = new WeakMap<JsonObject, readonly ToolDescription[]>();
  private readonly clock: Clock;

  constructor({ clock }: Pick<DriverTools, 'clock'>) {
    super();
    this.clock = clock;
  }

  override toolOf(connector: LiveConnector, toolName: string): ToolDescription | null {
    return this.toolsOf(connector).find(({ name }) => name === toolName) ?? null;
  }

  override toolsOf({ config }: LiveConnector): readonly ToolDescription[] {
    const known = this.described.get(config);
    if (known !== undefined) return known;
    const described = FAKE_TOOLS.map((tool): ToolDescription => ({
      name: tool.name,
      title: tool.title,
      description: tool.description,
      sideEffect: tool.sideEffect,
      isRepeatable: false,
      digest: digestOfJson({ config, tool: tool.name }),
      timeoutMs: TIMEOUT_MS,
      inputSchema: inputSchemaOfFixed(tool),
    }));
    this.described.set(config, described);
    return described;
  }

  override requestFacts(): RequestFacts {
    return {};
  }

  override async send(call: ConnectorCall): Promise<CallOutcome> {
    const { connector, toolName, args } = call;
    const tool = FAKE_TOOLS.find(({ name }) => name === toolName);
    const fault = tool === undefined ? null : argumentsFaultOfFixed(tool, args);
    if (fault !== null) return failedOutcome('validation_failed', `${fault.message} Nothing was done.`);
    const withdrawn = await call.mayStillSend(false);
    if (withdrawn !== null) return failedOutcome(withdrawn, 'The call was held back. Nothing was done.');
    const { outcome, delay_ms: delayMs } = fakeConfigOf(connector.config);
    const leftMs = Math.max(0, call.deadlineMonotonicMs - this.clock.monotonicMs());
    await sleep(Math.min(delayMs, leftMs));
    if (delayMs > leftMs) return sent('unknown', 'timeout', 'The call took longer than it may.');
    switch (outcome) {
      case 'succeeded':
        return { ...sent('succeeded', null, null), result: resultOf(toolName, args) };
      case 'failed':
        return sent('failed', 'upstream_error', 'The connector is set to fail.');
      case 'unknown':
        return sent('unknown', 'upstream_error', 'The connector is set to end unknown.');
    }
  }
}

const sent = (
  status: CallOutcome['status'],
  errorCode: CallOutcome['errorCode'],
  errorMessage: string | null,
): CallOutcome => ({ status, errorCode, errorMessage, result: null, hasSent: true, retryAfterMs: null });

const resultOf = (tool: string, { note = null }: JsonObject): string =>
  canonicalize({ status: 200, headers: {}, body: { did: tool, note } });
