import { Bus, type Logger } from '#libs/domain/kernel';
import { TransientMap, TransientSet } from './transient.js';

type Listener = (message: string) => void;

/**
 * Wake-ups inside one process, for the embedded profile. Messages are delivered after the publisher's own turn, as over
 * a network.
 */
export class InProcessBus extends Bus {
  private readonly channels = new TransientMap<TransientSet<Listener>>();

  constructor(private readonly log: Logger) {
    super();
  }

  publish(channel: string, message: string): void {
    if (this.channels.get(channel) === undefined) return;
    queueMicrotask(() => this.deliver(channel, message));
  }

  subscribe(channel: string, listener: Listener): () => void {
    const listeners = this.channels.get(channel) ?? new TransientSet<Listener>();
    this.channels.set(channel, listeners);
    const leave = listeners.add(listener);
    return () => {
      leave();
      if (listeners.size === 0 && this.channels.get(channel) === listeners) this.channels.delete(channel);
    };
  }

  private deliver(channel: string, message: string): void {
    this.channels.get(channel)?.forEach((listener) => {
      try {
        listener(message);
      } catch (error) {
        this.log.error('a bus listener failed', { channel, error });
      }
    });
  }
}
