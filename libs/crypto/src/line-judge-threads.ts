import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

import type { BundleManifest } from './bundle-format.js';
import type { SealKeyEntry } from './deed-chain.js';
import type { LineJudge, LineJudgement } from './line-judge.js';

/** What a thread is told when it starts. */
export interface ThreadTask {
  readonly manifest: BundleManifest;
  readonly entries: readonly SealKeyEntry[];
  readonly pins: readonly string[];
}

/** What a thread is sent. Its answer is a `LineJudgement[]`. */
export interface BlockToJudge {
  readonly bytes: Uint8Array;
  readonly firstSeq: number;
}

// Beside this file, and with its ending: `.js` as compiled, `.ts` where a loader runs the sources.
const ENTRY = new URL(`./line-judge.worker${extname(import.meta.url)}`, import.meta.url);

/**
 * One that is judged, and enough to go on with until the next has come. Blocks are walked in order, so that a thread which
 * the system lets wait holds the others up as soon as they have judged what they were given: some 6 ms a block.
 */
const BLOCKS_PER_THREAD = 8;

/** Judges on threads of its own, each of which does everything for its lines but read them and walk the chain. */
export class JudgingThreads implements LineJudge {
  private readonly threads: readonly JudgingThread[];

  constructor(count: number, task: ThreadTask) {
    this.threads = Array.from({ length: count }, () => new JudgingThread(task));
  }

  get blocksInFlight(): number {
    return this.threads.length * BLOCKS_PER_THREAD;
  }

  judge(block: Buffer, firstSeq: number): Promise<readonly LineJudgement[]> {
    return this.idlest.judge(block, firstSeq);
  }

  async close(): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.close()));
  }

  private get idlest(): JudgingThread {
    return this.threads.reduce((best, thread) => (thread.load < best.load ? thread : best));
  }
}

interface Waiting {
  readonly resolve: (judgements: readonly LineJudgement[]) => void;
  readonly reject: (error: Error) => void;
}

class JudgingThread {
  private readonly worker: Worker;
  /** A thread answers in the order in which it was asked. */
  private readonly waiting: Waiting[] = [];
  private failure: Error | null = null;

  constructor(task: ThreadTask) {
    this.worker = new Worker(ENTRY, { workerData: task });
    this.worker.on('message', (judgements: readonly LineJudgement[]) => this.waiting.shift()?.resolve(judgements));
    this.worker.on('error', (error) => this.fail(error));
    this.worker.on('messageerror', (error: Error) => this.fail(error));
    this.worker.on('exit', () => this.fail(new Error('a judging thread has ended')));
  }

  /** Blocks that it was given and has not answered. */
  get load(): number {
    return this.waiting.length;
  }

  judge(block: Buffer, firstSeq: number): Promise<readonly LineJudgement[]> {
    return new Promise((resolve, reject) => {
      if (this.failure !== null) return reject(this.failure);
      this.waiting.push({ resolve, reject });
      // A copy, because what is sent is given away, and a block is a part of what was read.
      const bytes = new Uint8Array(block);
      const message: BlockToJudge = { bytes, firstSeq };
      this.worker.postMessage(message, [bytes.buffer]);
    });
  }

  async close(): Promise<void> {
    await this.worker.terminate();
  }

  private fail(error: Error): void {
    this.failure ??= error;
    for (const { reject } of this.waiting.splice(0)) reject(this.failure);
  }
}
