import { GatheredCalls } from '../runtime/index.js';

/** The most callers that share one question. */
const MAX_CALLERS = 256;

/** The heads of streams, by one question for all callers of the same moment. */
export class GatheredHeads {
  private readonly calls: GatheredCalls<readonly string[], ReadonlyMap<string, number>>;

  /** @param read the heads of these streams; those that do not exist are absent */
  constructor(read: (streams: readonly string[]) => Promise<ReadonlyMap<string, number>>) {
    const readOnce = async (asked: readonly (readonly string[])[]): Promise<readonly ReadonlyMap<string, number>[]> => {
      const heads = await read([...new Set(asked.flat())]);
      return asked.map(() => heads);
    };
    this.calls = new GatheredCalls(readOnce, { maxItems: MAX_CALLERS });
  }

  async of(streams: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const heads = await this.calls.of(streams);
    return new Map(streams.flatMap((stream) => (heads.has(stream) ? [[stream, heads.get(stream) as number]] : [])));
  }
}
