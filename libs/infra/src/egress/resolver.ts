import { lookup } from 'node:dns/promises';

import { RecentlyUsed } from '#libs/domain/kernel';

/** All addresses of a name, in the order to try them. Rejects when there are none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** `getaddrinfo` runs on the process's four pool threads; slow names must leave one to files and hashes. */
const MAX_CONCURRENT_LOOKUPS = 3;
/** Of names that were slow the last time, whoever they belong to: they must leave places to those that are not. */
const MAX_SLOW_LOOKUPS = 1;
export const SLOW_LOOKUP_MS = 1_000;
const MAX_SLOW_NAMES = 10_000;

/** A question that has not been put yet, for all who asked it meanwhile. */
interface Question {
  readonly answer: Promise<readonly string[]>;
  put(): Promise<void>;
}

/**
 * The operating system's view of names, hosts file included. Nothing is cached here: every dial is answered by a lookup
 * that began after it asked. One of a name runs at a time, and whoever asks meanwhile shares the next. A lookup cannot be
 * given up, so a name that nobody answers for would otherwise hold every place for as long as it is asked for.
 */
export const systemResolver = (ask: Resolve = askSystem): Resolve => {
  const lookups = new Lookups(ask);
  return (host) => lookups.of(host);
};

const askSystem: Resolve = async (host) => {
  const found = await lookup(host, { all: true, order: 'verbatim' });
  return found.map(({ address }) => address);
};

class Lookups {
  /** By name, in the order of asking. */
  private readonly waiting = new Map<string, Question>();
  private readonly running = new Set<string>();
  private readonly slow = new RecentlyUsed<true>({ entries: MAX_SLOW_NAMES, weight: Infinity });

  constructor(private readonly ask: Resolve) {}

  of(host: string): Promise<readonly string[]> {
    const shared = this.waiting.get(host);
    if (shared) return shared.answer;
    const question = questionOf(() => this.ask(host));
    this.waiting.set(host, question);
    this.goOn();
    return question.answer;
  }

  private goOn(): void {
    for (const [host, question] of this.waiting) {
      if (this.running.size >= MAX_CONCURRENT_LOOKUPS) return;
      if (this.running.has(host) || (this.isSlow(host) && this.slowRunning >= MAX_SLOW_LOOKUPS)) continue;
      this.waiting.delete(host);
      void this.put(host, question);
    }
  }

  private async put(host: string, question: Question): Promise<void> {
    this.running.add(host);
    let isSlow = false;
    const timer = setTimeout(() => {
      isSlow = true;
      this.slow.set(host, true, 0);
    }, SLOW_LOOKUP_MS);
    // Who waits for the answer keeps the process, not the watch over it.
    timer.unref();
    await question.put();
    clearTimeout(timer);
    if (!isSlow) this.slow.delete(host);
    this.running.delete(host);
    this.goOn();
  }

  private isSlow(host: string): boolean {
    return this.slow.get(host) !== undefined;
  }

  private get slowRunning(): number {
    return [...this.running].filter((host) => this.isSlow(host)).length;
  }
}

const questionOf = (ask: () => Promise<readonly string[]>): Question => {
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const answer = begun.then(ask);
  const over = answer.then(
    () => undefined,
    () => undefined,
  );
  return {
    answer,
    put: () => {
      begin();
      return over;
    },
  };
};
