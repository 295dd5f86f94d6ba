import { randomUUID } from 'node:crypto';
import { type Bus, LOG_CHANNEL } from '#libs/domain/kernel';

/**
 * The shortest time between two messages of a process. The receiver reads all that was appended since, so more are
 * useless.
 */
const PAUSE_MS = 10;

/** Tells the other processes of a deployment through the bus that this one has appended. */
export class SharedBell {
  private readonly id = randomUUID();
  private readonly leave: () => void;
  private pause: NodeJS.Timeout | null = null;
  private isDue = false;

  /** @param onRung called when another process has appended */
  constructor(
    private readonly bus: Bus,
    onRung: () => void,
  ) {
    this.leave = bus.subscribe(LOG_CHANNEL, (from) => {
      if (from !== this.id) onRung();
    });
  }

  /** Tells the others that this process has appended. */
  ring(): void {
    if (this.pause !== null) {
      this.isDue = true;
      return;
    }
    this.bus.publish(LOG_CHANNEL, this.id);
    this.isDue = false;
    this.pause = setTimeout(() => {
      this.pause = null;
      if (this.isDue) this.ring();
    }, PAUSE_MS);
    this.pause.unref();
  }

  close(): void {
    this.leave();
    if (this.pause !== null) clearTimeout(this.pause);
    this.pause = null;
  }
}
