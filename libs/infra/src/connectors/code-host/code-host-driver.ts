import { setTimeout as sleep } from 'node:timers/promises';

import { digestOfJson, type JsonObject } from '#libs/crypto';
import {
  type CallOutcome,
  type ConnectorCall,
  type ConnectorCheck,
  ConnectorDriver,
  failedOutcome,
  type FixedTool,
  inputSchemaOfFixed,
  type LiveConnector,
  nothingToRead,
  type Observation,
  type ReadBackCall,
  type RequestFacts,
  type RequestPreview,
  type ToolDescription,
} from '#libs/domain/connectors';
import {
  absent,
  CODE_HOST_TOOLS,
  codeHostConfigOf,
  codeHostToolNamed,
  type ConfirmingRead,
  isAnswer,
  type JudgedConfirmation,
  judgeConfirmation,
  type Parameter,
  planCodeHost,
  planCodeHostRead,
  planConfirmation,
  readBackTermsOf,
  unverifiable,
} from '#libs/domain/connectors/code-host';
import type { Clock } from '#libs/domain/kernel';

import type { DriverTools } from '../driver-tools.js';
import { HttpCaller } from '../http-caller.js';
import { evidenceOf } from '../read-evidence.js';
import { codeHostChecks } from './code-host-checks.js';
import { CodeHostLooks, type Reader } from './code-host-looks.js';
import { CODE_HOST_TIMEOUT_MS, CodeHostLine, type CodeHostWork, type EndedCodeHostCall } from './code-host-line.js';

/** A read that nobody repeats. */
const ONCE = 3;

/** Runs the tools of connectors of type `code_host` (docs/connectors-code-host.md). */
export class CodeHostDriver extends ConnectorDriver {
  override readonly type = 'code_host';
  /** A folded config is one object until it changes, and its descriptions go with it. */
  private readonly described = new WeakMap<JsonObject, ReadonlyMap<string, ToolDescription>>();
  private readonly line: CodeHostLine;
  private readonly clock: Clock;
  private readonly looks = new CodeHostLooks((reader, path, query) => this.read(reader, path, query));

  constructor({ door, vault, clock, randomness, logger }: Omit<DriverTools, 'sql'>) {
    super();
    this.line = new CodeHostLine(new HttpCaller({ door, vault, clock, randomness, logger }));
    this.clock = clock;
  }

  override toolOf(connector: LiveConnector, toolName: string): ToolDescription | null {
    return this.describedOf(connector).get(toolName) ?? null;
  }

  override toolsOf(connector: LiveConnector): readonly ToolDescription[] {
    return [...this.describedOf(connector).values()];
  }

  private describedOf({ config }: LiveConnector): ReadonlyMap<string, ToolDescription> {
    const known = this.described.get(config);
    if (known !== undefined) return known;
    const described = new Map(CODE_HOST_TOOLS.map((tool) => [tool.name, describe(config, tool)]));
    this.described.set(config, described);
    return described;
  }

  override requestFacts({ config }: LiveConnector, toolName: string, args: JsonObject): RequestFacts {
    const plan = planCodeHost(codeHostConfigOf(config), toolName, args, null);
    if (!plan.ok) return {};
    const { method, path, origin } = plan.request;
    return { http: { method, path, host: new URL(origin).host } };
  }

  override previewOf({ config }: LiveConnector, toolName: string, args: JsonObject): RequestPreview {
    const plan = planCodeHost(codeHostConfigOf(config), toolName, args, null);
    if (!plan.ok) return { request: null, fault: plan.fault.message };
    const { method, origin, path, query } = plan.request;
    return { request: { method, url: `${origin}${path}${query === '' ? '' : `?${query}`}` }, fault: null };
  }

  override async send(call: ConnectorCall): Promise<CallOutcome> {
    const { connector, toolName, args, action } = call;
    const plan = planCodeHost(codeHostConfigOf(connector.config), toolName, args, action);
    if (!plan.ok) return failedOutcome('validation_failed', `${plan.fault.message} Nothing was sent.`);
    const refused = await this.looks.refusalOf(call);
    if (refused !== null) return refused;
    const isRead = codeHostToolNamed(toolName)?.sideEffect === 'read';
    const { outcome } = await this.line.send({ call, toolName, isRead, request: plan.request });
    return outcome;
  }

  /** Beside the calls: it is no action's, and is made once. */
  private read(
    { org, connector, deadlineMonotonicMs, mayStillSend }: Reader,
    path: string,
    query: readonly Parameter[] = [],
  ): Promise<EndedCodeHostCall> {
    const call = { org, connector, deadlineMonotonicMs, mayStillSend, action: null, attempt: ONCE } as const;
    const request = planCodeHostRead(codeHostConfigOf(connector.config), path, query);
    return this.line.send({ call, toolName: path, isRead: true, request });
  }

  override async observe(write: ReadBackCall): Promise<Observation> {
    const plan = planConfirmation(write, this.clock.nowMs());
    if (typeof plan === 'string') return nothingToRead(plan);
    const request = planCodeHostRead(codeHostConfigOf(write.connector.config), plan.path, plan.query);
    const call = { ...write, attempt: 1 } as const;
    const ended = await this.readPatiently({ call, toolName: write.toolName, isRead: true, request });
    const judged = await this.judged(plan, write, ended);
    const { verdict, reasons } = judged;
    const { outcome, answer } = ended;
    return {
      verdict,
      reasons,
      evidence: answer === null || outcome.result === null ? null : evidenceOf(outcome.result, judged, answer.redactor),
      hasAnswer: isAnswer(judged),
      // The host shuts out who goes on asking.
      mayChange: verdict !== 'VERIFIED' && reasons[0] !== 'upstream_rate_limited',
    };
  }

  private async judged(
    plan: ConfirmingRead,
    write: ReadBackCall,
    { outcome, body }: EndedCodeHostCall,
  ): Promise<JudgedConfirmation> {
    if (outcome.status === 'succeeded') return judgeConfirmation(plan, write, body);
    if (outcome.errorCode !== 'upstream_not_found') return unverifiable(outcome.errorCode ?? 'internal_error');
    if (plan.kind !== 'absence' || plan.control === undefined) return unverifiable('not_found');
    const reader = { ...write, mayStillSend: () => write.mayStillSend(true) };
    const control = await this.read(reader, plan.control);
    if (control.outcome.status === 'succeeded') return absent();
    const isLimited = control.outcome.errorCode === 'upstream_rate_limited';
    return unverifiable(isLimited ? 'upstream_rate_limited' : 'not_found');
  }

  private async readPatiently(work: CodeHostWork): Promise<EndedCodeHostCall> {
    const first = await this.line.send(work);
    const { retryAfterMs } = first.outcome;
    if (retryAfterMs === null) return first;
    await sleep(retryAfterMs);
    return this.line.send({ ...work, call: { ...work.call, attempt: 2 } });
  }

  override checks(): readonly ConnectorCheck[] {
    return codeHostChecks((tested, path, query) => this.read({ ...tested, org: tested.connector.org }, path, query));
  }
}

const describe = (config: JsonObject, tool: FixedTool): ToolDescription => {
  const readBack = readBackTermsOf(tool.name);
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    sideEffect: tool.sideEffect,
    isRepeatable: tool.sideEffect === 'read',
    digest: digestOfJson({ config, tool: tool.name }),
    timeoutMs: CODE_HOST_TIMEOUT_MS,
    inputSchema: inputSchemaOfFixed(tool),
    ...(readBack === null ? {} : { readBack }),
  };
};
