export interface GatheredCallsOptions<Item> {
  /** The most items of one call. */
  readonly maxItems: number;
  /**
   * The weight of an item. The items of one call weigh at most `maxWeight` together, except that a single item may
   * weigh more. Default: items weigh nothing.
   */
  readonly weightOf?: (item: Item) => number;
  readonly maxWeight?: number;
}

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Lets callers that wait at the same moment share one call: while a call is under way, the next callers gather for the
 * following one. A shared call begins after each of its callers has asked, so no answer is older than its question. If
 * it fails, it fails for all of them.
 */
export class GatheredCalls<Item, Answer> {
  private waiting: Waiting<Item, Answer>[] = [];
  private isCalling = false;

  /** @param call returns an answer for each item, in the order of the items */
  constructor(
    private readonly call: (items: readonly Item[]) => Promise<readonly Answer[]>,
    private readonly options: GatheredCallsOptions<Item>,
  ) {}

  of(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      if (!this.isCalling) void this.callAll();
    });
  }

  private async callAll(): Promise<void> {
    this.isCalling = true;
    // Items of the same turn of the event loop share a call.
    await Promise.resolve();
    while (this.waiting.length > 0) await this.callWith(this.takeBatch());
    this.isCalling = false;
  }

  private async callWith(batch: readonly Waiting<Item, Answer>[]): Promise<void> {
    try {
      const answers = await this.call(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => resolve(answers[index] as Answer));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  private takeBatch(): readonly Waiting<Item, Answer>[] {
    const { maxItems, weightOf = () => 0, maxWeight = Infinity } = this.options;
    let count = 0;
    for (let weight = 0; count < Math.min(maxItems, this.waiting.length); count += 1) {
      weight += weightOf((this.waiting[count] as Waiting<Item, Answer>).item);
      if (count > 0 && weight > maxWeight) break;
    }
    return this.waiting.splice(0, count);
  }
}
