import { randomUUID } from 'node:crypto';
import { type Bus, LOG_CHANNEL } from '#libs/domain/kernel';

/** While one append follows another it is rung no more often: whoever hears it reads all that has come since. */
const PAUSE_MS = 10;

/** Tells the processes of a deployment that one of them has appended. */
export class SharedBell {
  private readonly id = randomUUID();
  private readonly leave: () => void;
  private pause: NodeJS.Timeout | null = null;
  private isDue = false;

  /** @param onRung another process has appended */
  constructor(
    private readonly bus: Bus,
    onRung: () => void,
  ) {
    this.leave = bus.subscribe(LOG_CHANNEL, (from) => {
      if (from !== this.id) onRung();
    });
  }

  /** This process has appended. */
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
