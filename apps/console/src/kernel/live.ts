import { learnFromStream } from './clock.ts';
import { EVENT_TYPES, type LiveEvent, readEvent } from './live-events.ts';

/**
 * `live`: the event stream is open, in this tab or in another. `polling`: there is no stream, so visible data is asked
 * for again at intervals.
 */
export type LiveStatus = 'connecting' | 'live' | 'polling';

export interface LiveListener {
  readonly onStatus: (status: LiveStatus) => void;
  readonly onEvent: (event: LiveEvent) => void;
  /** Called if events may have been missed. */
  readonly onGap: () => void;
  /** Called if the stream was closed for good. Resolves once it is known that the session still holds. */
  readonly stillSignedIn: () => Promise<unknown>;
}

/** A message from the tab that holds the stream to the other tabs. */
type Relayed =
  | { readonly kind: 'event'; readonly text: string; readonly cursor: string }
  /** The cursor from which a new stream has to go on. */
  | { readonly kind: 'place'; readonly cursor: string }
  | { readonly kind: 'status'; readonly status: LiveStatus }
  | { readonly kind: 'gap' };

const NAME = 'service-stream';
const BACK_OFF_MIN_MS = 1_000;
const BACK_OFF_MAX_MS = 30_000;
const LOOK_AFTER_MS = 5_000;
/**
 * A connection that broke without notice (another network, a sleeping device, a proxy that dropped it) looks like a
 * quiet one, because an EventSource does not pass pings on to scripts. So a stream without an event for this long is
 * opened anew from its cursor, which costs one request.
 */
const QUIET_MAX_MS = 45_000;
/** A connection attempt without a `hello` for this long is given up. */
const HELLO_MAX_MS = 10_000;
/**
 * How long a tab that takes the stream over waits for the cursor of the tab before, which may be frozen and not answer.
 */
const PLACE_MAX_MS = 300;

const isHeld = async (): Promise<boolean> => {
  const { held } = await navigator.locks.query();
  return held?.some(({ name }) => name === NAME) === true;
};

/**
 * One event stream for all tabs of a browser, because HTTP/1.1 gives an origin only six connections. The tab that was
 * looked at last holds a lock and the stream, and relays events to the others. If the browser offers no locks (plain
 * http other than localhost), each tab has a stream of its own while it is visible.
 */
export class LiveStream {
  private source: EventSource | null = null;
  private cursor = '';
  private backOffMs = BACK_OFF_MIN_MS;
  /** Milliseconds of `Date.now()`, which unlike `performance.now()` goes on while the machine sleeps. */
  private heardAtMs = 0;
  private isGreeted = false;
  private release: (() => void) | null = null;
  /** Called if another tab tells its cursor; set while this tab waits for it. */
  private onPlace: () => void = () => undefined;
  private readonly channel: BroadcastChannel | null;

  constructor(private readonly listener: LiveListener) {
    this.channel = 'locks' in navigator && 'BroadcastChannel' in window ? new BroadcastChannel(NAME) : null;
  }

  start(): void {
    if (this.channel !== null) this.channel.onmessage = ({ data }) => this.hear(data as Relayed);
    document.addEventListener('visibilitychange', () => this.look());
    addEventListener('online', () => this.reopen());
    setInterval(() => this.lookAfter(), LOOK_AFTER_MS);
    if (document.visibilityState === 'visible') this.look();
    else void this.hold(false);
  }

  private lookAfter(): void {
    if (this.source === null) return;
    const quietMs = Date.now() - this.heardAtMs;
    if (!this.isGreeted && quietMs > HELLO_MAX_MS) this.lose();
    else if (quietMs > QUIET_MAX_MS) this.reopen();
  }

  /** Replaces an open connection without a change of status: the stream is not known to be lost. */
  private reopen(): void {
    if (this.source !== null) this.connect();
  }

  private look(): void {
    const isVisible = document.visibilityState === 'visible';
    if (this.channel !== null) {
      if (isVisible && this.release === null) void this.hold(true);
      return;
    }
    if (isVisible) this.open();
    else this.close();
  }

  /**
   * Waits for the lock, or takes it from another tab if `steal`, and keeps the stream open until another tab takes the
   * lock.
   */
  private async hold(steal: boolean): Promise<void> {
    try {
      const goesOn = steal && this.cursor === '' && (await isHeld());
      await navigator.locks.request(NAME, steal ? { steal } : {}, async () => {
        const held = new Promise<void>((resolve) => {
          this.release = resolve;
        });
        if (goesOn) await this.placed();
        // A third tab took the lock while this one waited for the cursor.
        if (this.release === null) return;
        this.open();
        await held;
      });
    } catch (error) {
      if (!(error instanceof DOMException && error.name === 'AbortError')) throw error;
    }
    this.release = null;
    this.close();
    if (this.cursor !== '') this.channel?.postMessage({ kind: 'place', cursor: this.cursor } satisfies Relayed);
    // Queues for the lock again: this tab gets the stream back if the tab that took it is closed.
    void this.hold(false);
  }

  /**
   * Waits for the cursor of the tab that held the stream before. Going on from it leaves no gap for this tab, nor for
   * those it relays to.
   */
  private placed(): Promise<void> {
    return new Promise((resolve) => {
      this.onPlace = resolve;
      setTimeout(resolve, PLACE_MAX_MS);
    });
  }

  private open(): void {
    this.say('connecting');
    this.connect();
  }

  private connect(): void {
    this.close();
    this.isGreeted = false;
    this.heardAtMs = Date.now();
    const query = this.cursor === '' ? '' : `?last_event_id=${encodeURIComponent(this.cursor)}`;
    const source = new EventSource(`/v1/events${query}`);
    this.source = source;
    source.addEventListener('hello', ({ data, lastEventId }: MessageEvent<string>) => this.greet(data, lastEventId));
    source.addEventListener('resync', () => this.tellGap());
    source.addEventListener('session_ended', () => this.lose());
    for (const type of EVENT_TYPES) {
      source.addEventListener(type, ({ data, lastEventId }: MessageEvent<string>) => {
        this.heardAtMs = Date.now();
        this.hear({ kind: 'event', text: data, cursor: lastEventId }, true);
      });
    }
    source.onerror = () => {
      this.isGreeted = false;
      this.heardAtMs = Date.now();
      if (source.readyState === EventSource.CLOSED) this.lose();
      else this.say('connecting');
    };
  }

  private greet(text: string, cursor: string): void {
    const { server_time: serverTime, resumed } = JSON.parse(text) as { server_time?: string; resumed?: boolean };
    if (serverTime !== undefined) learnFromStream(serverTime);
    this.backOffMs = BACK_OFF_MIN_MS;
    this.isGreeted = true;
    this.heardAtMs = Date.now();
    this.say('live');
    if (this.cursor !== '' && resumed !== true) this.tellGap();
    this.hear({ kind: 'place', cursor }, true);
  }

  /**
   * Gives up the stream and polls. An EventSource does not say why it was closed, so the session is checked before the
   * next attempt, which waits longer each time.
   */
  private lose(): void {
    this.close();
    this.say('polling');
    const waitMs = this.backOffMs;
    this.backOffMs = Math.min(2 * waitMs, BACK_OFF_MAX_MS);
    const again = (): void => {
      setTimeout(() => {
        if (this.source === null && (this.release !== null || this.channel === null)) this.open();
      }, waitMs);
    };
    void this.listener.stillSignedIn().then(again, again);
  }

  private close(): void {
    this.source?.close();
    this.source = null;
  }

  private hear(relayed: Relayed, isOwn = false): void {
    if (isOwn) this.channel?.postMessage(relayed);
    else if (this.source !== null) return;
    switch (relayed.kind) {
      case 'place':
        this.cursor = relayed.cursor;
        return this.onPlace();
      case 'status':
        return this.listener.onStatus(relayed.status);
      case 'gap':
        return this.listener.onGap();
      case 'event': {
        this.cursor = relayed.cursor;
        const event = readEvent(relayed.text);
        if (event !== null) this.listener.onEvent(event);
      }
    }
  }

  private say(status: LiveStatus): void {
    this.hear({ kind: 'status', status }, true);
  }

  private tellGap(): void {
    this.hear({ kind: 'gap' }, true);
  }
}
