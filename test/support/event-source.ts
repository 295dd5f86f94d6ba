interface HeardEvent {
  readonly data: string;
  readonly lastEventId: string;
}

/** What these tests use of the browser's interface. */
interface EventSourceLike {
  addEventListener(type: string, listener: (event: HeardEvent) => void): void;
  close(): void;
}

type Fetch = (url: string | URL, init: { readonly headers: Record<string, string> }) => Promise<Response>;

/** By name alone: under our own import condition its types are sources that our compiler would judge. */
const PACKAGE: string = 'eventsource';
const { EventSource } = (await import(PACKAGE)) as {
  readonly EventSource: new (url: string, init: { readonly fetch: Fetch }) => EventSourceLike;
};

/** The client that most programs use, with a key. */
export const openEventSource = (url: string, headers: Readonly<Record<string, string>>): EventSourceLike =>
  new EventSource(url, {
    fetch: (target, init) => fetch(target, { ...init, headers: { ...init.headers, ...headers } }),
  });
