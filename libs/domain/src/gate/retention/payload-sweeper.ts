import { decodeEvent, type EventStore, StoreUnavailable, streamOf, UnknownEventType } from '../../kernel/index.js';
import { organizationDecider } from '../../people/index.js';
import { actionDecider, type ActionEvent } from '../action/index.js';
import { type PayloadName, payloadsNamedBy } from './named-payload.js';
import type { PayloadRow, PayloadRows } from './payload-rows.port.js';

/** How many rows one page has: enough to make one call to the store worth it, and few enough to keep the load low. */
const PAGE_ROWS = 200;

export interface SweptPage {
  readonly removed: number;
  /** Whether another page may be ready. */
  readonly hasMore: boolean;
}

type Heads = ReadonlyMap<string, number>;

/**
 * Removes payloads that no event names: left by a crash between row and append, by a racing duplicate that lost, or by
 * an outcome that was not recorded (docs/architecture.md, Rows beside the log). Looks at each row once.
 */
export class PayloadSweeper {
  /** @param minAgeMs younger rows are left alone, because their append may still be under way */
  constructor(
    private readonly store: EventStore,
    private readonly rows: PayloadRows,
    private readonly minAgeMs: number,
    private readonly pageRows = PAGE_ROWS,
  ) {}

  /**
   * Sweeps one page. Safe to repeat, and to run in several processes at once. If it throws, nothing was removed, and
   * the page is tried again.
   * @throws {StoreUnavailable} if a stream could not be read, because its events may name a row
   * @throws {UnknownEventType} if a stream has an event of a newer version, because it may name a row
   */
  async sweepPage(): Promise<SweptPage> {
    const page = await this.rows.next(this.minAgeMs, this.pageRows);
    if (page.rows.length === 0) return { removed: 0, hasMore: false };
    const orphans = await this.orphansAmong(page.rows);
    // Another process has settled this page and continues. This one stops, because two would only read the same streams
    // twice.
    if (!(await this.rows.settle(page, orphans))) return { removed: 0, hasMore: false };
    return { removed: orphans.length, hasMore: page.rows.length === this.pageRows };
  }

  private async orphansAmong(rows: readonly PayloadRow[]): Promise<readonly PayloadRow[]> {
    const streams = rows.flatMap((row) => [actionStreamOf(row), organizationStreamOf(row)]);
    const heads = await this.store.heads([...new Set(streams)]);
    const named = new Map<string, ReadonlySet<string>>();
    const orphans: PayloadRow[] = [];
    for (const row of rows) {
      // If the event store does not have the organization, it is not the store that this row belongs to.
      if (!heads.has(organizationStreamOf(row))) continue;
      const names = named.get(row.owner) ?? (await this.namesIn(actionStreamOf(row), heads));
      named.set(row.owner, names);
      if (!names.has(keyOf(row))) orphans.push(row);
    }
    return orphans;
  }

  private async namesIn(stream: string, heads: Heads): Promise<ReadonlySet<string>> {
    const head = heads.get(stream);
    if (head === undefined) return new Set();
    const recorded = await this.store.readStream(stream, { from: 0, limit: head + 1 });
    if (recorded.length !== head + 1) {
      throw new StoreUnavailable(`${stream} has ${recorded.length} events, but stands at ${head}`);
    }
    const names = new Set<string>();
    for (const event of recorded) {
      const named = payloadsNamedBy(decodeEvent<ActionEvent>(event).event);
      if (named === undefined) throw new UnknownEventType(stream, event.type);
      for (const name of named) names.add(keyOf(name));
    }
    return names;
  }
}

const actionStreamOf = ({ owner }: PayloadRow): string => streamOf(actionDecider.category, owner);
const organizationStreamOf = ({ org }: PayloadRow): string => streamOf(organizationDecider.category, org);
const keyOf = ({ kind, digest }: PayloadName): string => `${kind} ${digest}`;
