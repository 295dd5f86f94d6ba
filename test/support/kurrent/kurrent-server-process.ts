import { startSource, type SourceProcess } from '../source-process.js';
import type { DeniedRight } from './streams-service.js';

const CHILD = new URL('./kurrent-server.child.ts', import.meta.url);

/** What the process is told, a line of JSON each. */
export type KurrentCall =
  | { readonly call: 'kill' | 'start' }
  | { readonly call: 'deny' | 'allow'; readonly right: DeniedRight }
  | { readonly call: 'rewind'; readonly position: string };

/**
 * The test server in a process of its own, as a real one is: it answers while the tests are busy, and takes none of their
 * time.
 */
export class KurrentServerProcess {
  private constructor(
    private readonly process: SourceProcess,
    readonly url: string,
  ) {}

  static async start(): Promise<KurrentServerProcess> {
    const child = startSource(CHILD);
    const { url } = await child.nextLine();
    return new KurrentServerProcess(child, url as string);
  }

  /** What is connected ends without an answer. The log is kept for `start`. */
  kill(): Promise<void> {
    // One that stands still hears nothing else; what was said to it meanwhile may be answered first.
    this.resume();
    return this.tell({ call: 'kill' });
  }

  /** On the same port. */
  start(): Promise<void> {
    return this.tell({ call: 'start' });
  }

  hang(): void {
    this.process.child.kill('SIGSTOP');
  }

  resume(): void {
    this.process.child.kill('SIGCONT');
  }

  /** From now on, of everybody. */
  deny(right: DeniedRight): Promise<void> {
    return this.tell({ call: 'deny', right });
  }

  allow(right: DeniedRight): Promise<void> {
    return this.tell({ call: 'allow', right });
  }

  /** Runs again with what stood up to the position, and nothing after it. */
  rewind(position: bigint): Promise<void> {
    return this.tell({ call: 'rewind', position: String(position) });
  }

  /** For good. */
  close(): Promise<void> {
    return this.process.kill('SIGKILL');
  }

  private async tell(call: KurrentCall): Promise<void> {
    this.process.write(JSON.stringify(call));
    await this.process.nextLine();
  }
}
