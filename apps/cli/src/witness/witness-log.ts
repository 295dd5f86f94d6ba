/** One JSON object a line, in which nothing secret stands. */
export type LogLine = (text: string) => void;

/** `error`: somebody has to look. */
export type LogLevel = 'info' | 'error';

/** How much is written about requests that anybody may send: a flood fills no disk. */
const LINES_PER_SECOND = 50;
const SECOND_MS = 1_000;

/** What a witness tells its operator. */
export class WitnessLog {
  #second = 0;
  #written = 0;
  #leftOut = 0;

  constructor(
    private readonly line: LogLine,
    private readonly nowMs: () => number,
  ) {}

  /** What happens to the witness itself. */
  say(level: LogLevel, event: string, facts: object = {}): void {
    this.#write(level, event, facts);
  }

  /** What a request causes, which anybody may send as often as he likes. Beyond the bound lines are counted only. */
  tell(level: LogLevel, event: string, facts: object = {}): void {
    const second = Math.floor(this.nowMs() / SECOND_MS);
    if (second !== this.#second) {
      [this.#second, this.#written] = [second, 0];
      this.#tellLeftOut();
    }
    if (this.#written >= LINES_PER_SECOND) {
      this.#leftOut += 1;
      return;
    }
    this.#written += 1;
    this.#write(level, event, facts);
  }

  #tellLeftOut(): void {
    const count = this.#leftOut;
    this.#leftOut = 0;
    if (count > 0) this.#write('info', 'left_out', { count });
  }

  #write(level: LogLevel, event: string, facts: object): void {
    this.line(`${JSON.stringify({ time: new Date(this.nowMs()).toISOString(), level, event, ...facts })}\n`);
  }
}
