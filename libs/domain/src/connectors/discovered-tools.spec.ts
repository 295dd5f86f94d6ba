import { digestOf, digestOfJson, type JsonObject } from '#libs/crypto';
import { describe, expect, it } from 'vitest';

import { type CommandMetadata, type ConnectorId, DomainError, type OrgId, timestampOf } from '../kernel/index.js';
import type { ConnectorCommand } from './connector.commands.js';
import { connectorDecider } from './connector.decider.js';
import type { ConnectorEvent } from './connector.events.js';
import { type ConnectorState, isLive } from './connector.state.js';
import {
  type AcceptanceRule,
  type DiscoveredStatus,
  type DiscoveredTools,
  discoveredStatusOf,
  heldToolsIn,
  type ToolList,
} from './discovered-tools.js';

const org = 'org_00000000000000000000000001' as OrgId;
const connector = 'con_00000000000000000000000001' as ConnectorId;
const START = Date.parse('2026-10-01T12:00:00.000Z');
const MINUTE_MS = 60_000;
const config: JsonObject = { url: 'https://mcp.example.com' };
const configHash = digestOfJson(config);
const hints = { read_only: false, destructive: true, idempotent: false, open_world: true };

/** A list by its tools, each with a word for its definition. */
const listOf = (tools: Readonly<Record<string, string>>): ToolList => ({
  protocol: '2026-07-28',
  listDigest: digestOfJson({ ...tools }),
  tools: Object.entries(tools).map(([name, word]) => ({ name, definition: digestOf(word), hints })),
  leftOut: [],
});

/** One connector, its log, and a clock that the test moves. */
class Log {
  private state: ConnectorState = connectorDecider.initialState();
  private minutes = 0;

  constructor(private readonly rule: AcceptanceRule = 'changed') {
    const about = { org, connector, name: 'srv', at: timestampOf(START) };
    this.state = this.evolve({
      type: 'ConnectorCreated',
      data: { ...about, type: 'mcp_http', description: null, config, config_hash: configHash },
    });
  }

  after(minutes: number): this {
    this.minutes += minutes;
    return this;
  }

  get now(): string {
    return timestampOf(START + this.minutes * MINUTE_MS);
  }

  lists(tools: Readonly<Record<string, string>>, since: Partial<{ listDigest: null; configHash: string }> = {}) {
    const listDigest = this.discovered?.listDigest ?? null;
    const known = { configHash, listDigest, ...since } as {
      configHash: typeof configHash;
      listDigest: typeof listDigest;
    };
    return this.run({ type: 'RecordTools', data: { connector, list: listOf(tools), rule: this.rule, since: known } });
  }

  accepts(...tools: readonly (readonly [name: string, word: string])[]) {
    const asked = tools.map(([name, word]) => ({ name, definition: digestOf(word) }));
    return this.run({ type: 'AcceptTools', data: { connector, tools: asked } });
  }

  get discovered(): DiscoveredTools | undefined {
    return isLive(this.state) ? this.state.discovered : undefined;
  }

  get statuses(): Readonly<Record<string, DiscoveredStatus>> {
    return Object.fromEntries(this.discovered?.tools.map((tool) => [tool.name, discoveredStatusOf(tool)]) ?? []);
  }

  private run(command: Omit<ConnectorCommand, 'metadata'>): readonly ConnectorEvent[] {
    const metadata: CommandMetadata = {
      org,
      actor: { type: 'system', id: null },
      requestId: null,
      commandId: 'c',
      now: this.now,
    };
    const events = connectorDecider.decide({ ...command, metadata } as ConnectorCommand, this.state);
    for (const event of events) this.state = this.evolve(event);
    return events;
  }

  private evolve(event: ConnectorEvent): ConnectorState {
    return connectorDecider.evolve(this.state, event);
  }
}

const refusalOf = (work: () => unknown): Partial<DomainError> => {
  try {
    work();
  } catch (error) {
    if (error instanceof DomainError) return { code: error.code, param: error.param };
    throw error;
  }
  throw new Error('it was not refused');
};

describe('tools that a server names', () => {
  it('are recorded once, and the first definition of a name is accepted by itself', () => {
    const log = new Log();
    expect(log.lists({ a: '1', b: '1' })).toEqual([
      {
        type: 'ConnectorToolsRecorded',
        data: {
          ...{ org, connector, name: 'srv', at: log.now, protocol: '2026-07-28' },
          list_digest: listOf({ a: '1', b: '1' }).listDigest,
          tools: listOf({ a: '1', b: '1' }).tools,
          accepted: ['a', 'b'],
          left_out: [],
        },
      },
    ]);
    expect(log.statuses).toEqual({ a: 'accepted', b: 'accepted' });
    expect(log.after(1).lists({ a: '1', b: '1' })).toEqual([]);
  });

  it('a definition that changed is held, and served again where the server takes it back', () => {
    const log = new Log();
    log.lists({ a: '1' });
    log.after(1).lists({ a: '2' });
    expect(log.statuses).toEqual({ a: 'changed' });
    expect(log.discovered?.tools[0]?.changedAt).toBe(log.now);
    log.after(1).lists({ a: '1' });
    expect(log.statuses).toEqual({ a: 'accepted' });
  });

  it('a tool that is gone keeps its pin: another of its name is held', () => {
    const log = new Log();
    log.lists({ a: '1', b: '1' });
    log.lists({ b: '1' });
    expect(log.statuses).toEqual({ b: 'accepted', a: 'gone' });
    log.lists({ a: '2', b: '1' });
    expect(log.statuses).toEqual({ a: 'changed', b: 'accepted' });
  });

  it('a new name is accepted by itself, and held under the pin `all` but in the first list', () => {
    const log = new Log('all');
    log.lists({ a: '1' });
    log.lists({ a: '1', b: '1' });
    expect(log.statuses).toEqual({ a: 'accepted', b: 'new' });
    log.lists({ a: '1' });
    // Nobody accepted it, so nothing remembers it.
    expect(log.statuses).toEqual({ a: 'accepted' });
  });

  it('that are new or changed wait for an admin, and those that are gone do not', () => {
    const log = new Log('all');
    expect(heldToolsIn(log.discovered)).toBe(0);
    log.lists({ a: '1', b: '1', c: '1' });
    expect(heldToolsIn(log.discovered)).toBe(0);
    log.lists({ a: '2', b: '1', d: '1' });
    expect(log.statuses).toEqual({ a: 'changed', b: 'accepted', c: 'gone', d: 'new' });
    expect(heldToolsIn(log.discovered)).toBe(2);
    log.accepts(['a', '2']);
    expect(heldToolsIn(log.discovered)).toBe(1);
  });

  it('with the pin `none` what changed is recorded and accepted', () => {
    const log = new Log('none');
    log.lists({ a: '1' });
    expect(log.lists({ a: '2', b: '1' })).toMatchObject([{ data: { accepted: ['a', 'b'] } }]);
    expect(log.statuses).toEqual({ a: 'accepted', b: 'accepted' });
  });

  it('names beyond two thousand wait for a person, so that no server fills the log with them', () => {
    const log = new Log();
    const named = (from: number, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`t${from + index}`, '1']));
    for (let from = 0; from < 2_000; from += 500) log.lists(named(from, 500));
    expect(log.lists({ t0: '1', late: '1' })).toMatchObject([{ data: { accepted: [] } }]);
    expect(log.statuses).toMatchObject({ t0: 'accepted', t1: 'gone', late: 'new' });
  });

  it('ten changes are recorded at once, and then one in ten minutes by the times in the log', () => {
    const log = new Log();
    for (let number = 0; number < 10; number += 1) log.lists({ a: `${number}` });
    expect(refusalOf(() => log.lists({ a: 'more' }))).toEqual({ code: 'rate_limited', param: null });
    expect(refusalOf(() => log.after(9).lists({ a: 'more' }))).toMatchObject({ code: 'rate_limited' });
    expect(log.after(1).lists({ a: 'more' })).toHaveLength(1);
    expect(refusalOf(() => log.lists({ a: 'again' }))).toMatchObject({ code: 'rate_limited' });
    // What is there already may be said however often.
    expect(log.lists({ a: 'more' })).toEqual([]);
  });

  it('a list from before another list, or of another config, is refused', () => {
    const log = new Log();
    log.lists({ a: '1' });
    expect(refusalOf(() => log.lists({ a: '2' }, { listDigest: null }))).toMatchObject({ code: 'conflict' });
    expect(refusalOf(() => log.lists({ a: '2' }, { configHash: digestOf('other') }))).toMatchObject({
      code: 'conflict',
    });
    // Two that fetched the same list: the second has nothing to write.
    expect(log.lists({ a: '1' }, { listDigest: null })).toEqual([]);
  });
});

describe('accepting what a server changed', () => {
  it('lets it be called, in the definition that was looked at', () => {
    const log = new Log();
    log.lists({ a: '1', b: '1' });
    log.lists({ a: '2', b: '1' });
    expect(log.after(1).accepts(['a', '2'], ['b', '1'])).toEqual([
      {
        type: 'ConnectorToolsAccepted',
        data: { org, connector, name: 'srv', at: log.now, tools: [{ name: 'a', definition: digestOf('2') }] },
      },
    ]);
    expect(log.statuses).toEqual({ a: 'accepted', b: 'accepted' });
    expect(log.accepts(['a', '2'])).toEqual([]);
  });

  it.each([
    ['another definition', ['a', '1']],
    ['an unknown tool', ['c', '2']],
    ['a tool that is gone', ['b', '1']],
  ] as const)('of %s is a conflict that names it', (_, asked) => {
    const log = new Log();
    log.lists({ a: '1', b: '1' });
    log.lists({ a: '2' });
    expect(refusalOf(() => log.accepts(['a', '2'], asked))).toEqual({
      code: 'conflict',
      param: 'tools[1].definition_digest',
    });
    expect(log.statuses).toMatchObject({ a: 'changed' });
  });

  it('before any list is a conflict', () => {
    expect(refusalOf(() => new Log().accepts(['a', '1']))).toMatchObject({ code: 'conflict' });
  });
});
