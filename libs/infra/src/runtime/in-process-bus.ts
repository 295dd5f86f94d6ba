import { Bus, type Logger } from '#libs/domain/kernel';

type Listener = (message: string) => void;

/** Wake-ups inside one process, for the embedded profile. Delivered after the publisher's own turn, as a network would. */
export class InProcessBus extends Bus {
  private readonly channels = new Map<string, Set<Listener>>();

  constructor(private readonly log: Logger) {
    super();
  }

  publish(channel: string, message: string): void {
    if (!this.channels.has(channel)) return;
    queueMicrotask(() => this.deliver(channel, message));
  }

  subscribe(channel: string, listener: Listener): () => void {
    // A function of its own for each subscription: the same listener may come twice and leave once.
    const entry: Listener = (message) => listener(message);
    const listeners = this.channels.get(channel) ?? new Set();
    this.channels.set(channel, listeners.add(entry));
    return () => {
      listeners.delete(entry);
      if (listeners.size === 0 && this.channels.get(channel) === listeners) this.channels.delete(channel);
    };
  }

  private deliver(channel: string, message: string): void {
    // A copy: listeners come and go while they are told. Who left meanwhile is not told any more.
    const listeners = this.channels.get(channel);
    for (const listener of [...(listeners ?? [])]) {
      if (!listeners?.has(listener)) continue;
      try {
        listener(message);
      } catch (error) {
        this.log.error('a bus listener failed', { channel, error });
      }
    }
  }
}
