import type { FastifyReply } from 'fastify';
import { describe, expect, it } from 'vitest';
import { testId } from '../../../../test/support/given-log.js';
import type { OfferedTool, OrganizationTools, ToolsNow } from '../connectors/organization-tools.js';
import type { ServedWords } from '../connectors/served-words.js';
import type { CursorCodec } from '../http/cursor-codec.js';
import type { Exchange } from '../http/exchange.js';
import { OfferedTools } from './offered-tools.js';

const CONNECTORS = 20;

/** Counts the rounds of the event loop. Other work runs between two rounds. */
class Rounds {
  number = 0;
  private next = setImmediate(() => this.begin());

  end(): void {
    clearImmediate(this.next);
  }

  private begin(): void {
    this.number += 1;
    this.next = setImmediate(() => this.begin());
  }
}

/** The round in which each connector was described, if each connector has so many tools. */
const describedIn = async (toolsEach: number): Promise<readonly number[]> => {
  const rounds = new Rounds();
  const described: number[] = [];
  const now: Pick<ToolsNow, 'has' | 'connectorNames' | 'offeredBy'> = {
    has: () => true,
    connectorNames: () => Array.from({ length: CONNECTORS }, (_, index) => `crm-${index}`),
    offeredBy: (connector) => {
      described.push(rounds.number);
      return Array.from({ length: toolsEach }, (_, index) => ({ connector, name: `get_${index}` }) as OfferedTool);
    },
  };
  const tools = { read: () => Promise.resolve({ tools: now, lagEvents: 0 }) } as unknown as OrganizationTools;
  const cursors = { forList: () => ({ after: null, next: () => 'next' }) } as unknown as CursorCodec;
  const exchange = { caller: { org: testId('org', 1) } } as unknown as Exchange;
  const words = { of: (owned: readonly unknown[]) => Promise.resolve(owned) } as unknown as ServedWords;
  await new OfferedTools(tools, cursors, words).page({}, exchange, {} as FastifyReply);
  rounds.end();
  return described;
};

describe('the tools of many connectors', () => {
  it('are described one connector per round of the event loop, so that other work runs in between', async () => {
    const rounds = await describedIn(1);
    expect(rounds).toHaveLength(CONNECTORS);
    expect(new Set(rounds).size).toBe(CONNECTORS);
  });

  it('are described for no more connectors than a page needs', async () => {
    expect((await describedIn(100)).length).toBeLessThan(CONNECTORS / 2);
  });
});
