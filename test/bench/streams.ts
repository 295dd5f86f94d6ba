import { get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { runAgs } from '../support/run-ags.js';
import { type RunningService, START_AT_FULL_SIZE, startService } from '../support/service.js';
import { absolute, print, say } from './figure.js';
import { paced, quantile } from './pace.js';
import { busyMsOf, residentBytes } from './processes.js';

/** As many as one organization may have open in a process, eight for each person or key (rule EVENT-4). */
const STREAMS = 200;
const STREAMS_A_CALLER = 8;
/** Each is refused by policy, and told as three events: five hundred a second. */
const CALLS_PER_SECOND = 167;
const EVENTS_A_CALL = 3;

const KIB = 1_024;
const DEED = Buffer.from('\nevent: deed.sealed\n');
const EVENT = Buffer.from('\nid: ');

/** Reads a stream as cheaply as it can: the generator shares the machine with what it loads. */
class CountingStream {
  events = 0;
  deeds = 0;
  onDeed: () => void = () => undefined;
  private rest = Buffer.alloc(0);

  private constructor(private readonly response: IncomingMessage) {
    response.on('data', (chunk: Buffer) => this.count(chunk));
    response.on('error', () => undefined);
  }

  static async open(baseUrl: string, headers: Credential): Promise<CountingStream> {
    const request = get(`${baseUrl}/v1/events`, { headers, agent: false });
    request.on('error', () => undefined);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    if (response.statusCode !== 200) throw new Error(`a stream was answered ${response.statusCode ?? 0}`);
    return new CountingStream(response);
  }

  close(): void {
    this.response.destroy();
  }

  private count(chunk: Buffer): void {
    const text = Buffer.concat([this.rest, chunk]);
    this.events += occurrences(text, EVENT);
    const deeds = occurrences(text, DEED);
    this.deeds += deeds;
    for (let index = 0; index < deeds; index += 1) this.onDeed();
    // Neither needle is in what is kept, and none that is cut is lost.
    this.rest = text.subarray(Math.max(text.lastIndexOf(10), 0));
  }
}

const occurrences = (text: Buffer, needle: Buffer): number => {
  let count = 0;
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) count += 1;
  return count;
};

const processOf = ({ pid }: RunningService) => ({ name: 'standalone', role: 'service' as const, pid });

/** Of the service alone; zero where the system has no /proc. */
const heldBytes = async (service: RunningService): Promise<number> =>
  (await residentBytes([processOf(service)]))?.[0]?.bytes ?? 0;

/** Long enough for V8 to give back what nobody holds. */
const REST_MS = 20_000;
const heldAtRest = async (service: RunningService): Promise<number> => {
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  return heldBytes(service);
};

/** @returns the service's processor time in units of the time that passed */
const load = async (service: RunningService, seconds: number, answered: () => void): Promise<number> => {
  const processes = [processOf(service)];
  const body = { tool: 'nobody.nothing', args: {} };
  const [before, begunMs] = [await busyMsOf(processes), performance.now()];
  await paced(CALLS_PER_SECOND, seconds, async () => {
    const { status } = await service.call('POST', '/v1/actions', { key: service.agentKey, body });
    if (status !== 404) throw new Error(`a call was answered ${status}`);
    answered();
  });
  return ((await busyMsOf(processes)).service - before.service) / (performance.now() - begunMs);
};

type Credential = Readonly<Record<string, string>>;

/** As many as an organization may invite in an hour, each signed in by the link of an invitation. */
const VIEWERS = 20;

const viewersOf = async (service: RunningService, count: number): Promise<readonly Credential[]> => {
  for (let index = 0; index < count; index += 1) {
    const body = { email: `viewer-${index}@example.com`, role: 'viewer' };
    const { status } = await service.call('POST', '/v1/org/members', { key: service.adminKey, body });
    if (status !== 201) throw new Error(`an invitation was answered ${status}`);
  }
  const tokens = await tokensOf(service, count);
  const signedIn: Credential[] = [];
  // One after the other: they all join the same organization.
  for (const token of tokens) {
    const headers = { Origin: service.baseUrl, 'Sec-Fetch-Site': 'same-origin' };
    const answer = await service.call('POST', '/v1/auth/callback', { body: { token }, headers });
    if (answer.status !== 200) throw new Error(`a sign-in was answered ${answer.status}`);
    const cookies = answer.headers.getSetCookie().map((line) => line.split(';', 1)[0]);
    signedIn.push({ Cookie: cookies.join('; ') });
  }
  return signedIn;
};

const keysOf = async (service: RunningService, count: number): Promise<readonly Credential[]> => {
  const keys = [service.adminKey];
  while (keys.length < count) {
    const { object } = await runAgs(['keys', 'create', '--admin', '--json'], { env: service.environment });
    keys.push(String(object['secret']));
  }
  return keys.map((key) => ({ Authorization: `Bearer ${key}` }));
};

const tokensOf = async (service: RunningService, count: number): Promise<readonly string[]> => {
  for (;;) {
    const { objects } = await runAgs(['mail', 'outbox', '--json'], { env: service.environment });
    const tokens = objects.flatMap(({ text }) => /#token=([A-Za-z0-9_-]{43})/.exec(String(text))?.[1] ?? []);
    if (tokens.length >= count) return tokens;
  }
};

/**
 * What 200 open streams that each hear five hundred events a second add to the service, in units of one core and in memory,
 * beside the same load without a stream; and how long after its answer a call's deed is heard of.
 */
export const streamLoad = async (seconds: number): Promise<void> => {
  say('starting a scratch service for streams ...');
  // With room for young objects that does not grow: a load without streams has used all of it before they are weighed.
  const service = await startService({ env: { LOG_LEVEL: 'warn' }, program: START_AT_FULL_SIZE });
  try {
    const callers = [
      ...(await viewersOf(service, VIEWERS)),
      ...(await keysOf(service, STREAMS / STREAMS_A_CALLER - VIEWERS)),
    ];
    await load(service, Math.min(seconds, 10), () => undefined);
    const without = await load(service, seconds, () => undefined);
    const heldBefore = await heldAtRest(service);
    const streams = await Promise.all(
      Array.from({ length: STREAMS }, (_, index) =>
        CountingStream.open(service.baseUrl, callers[Math.floor(index / STREAMS_A_CALLER)] as Credential),
      ),
    );
    const [answeredAtMs, heardMs]: [number[], number[]] = [[], []];
    const [first] = streams as [CountingStream];
    first.onDeed = () => heardMs.push(performance.now() - (answeredAtMs[heardMs.length] ?? performance.now()));
    const beside = await load(service, seconds, () => void answeredAtMs.push(performance.now()));
    const underLoad = (await heldBytes(service)) - heldBefore;
    const atRest = (await heldAtRest(service)) - heldBefore;
    requireAll(streams, answeredAtMs.length * EVENTS_A_CALL);
    say(`${without.toFixed(3)} of a core without streams, ${beside.toFixed(3)} with ${STREAMS}`);
    say(`heard ${quantile(heardMs, 0.5).toFixed(0)} ms after the answer, p99 ${quantile(heardMs, 0.99).toFixed(0)} ms`);
    print(absolute('streams_core_share', beside - without, 'cores'));
    say(`a stream: ${(underLoad / STREAMS / KIB).toFixed(0)} KiB right after the load, with what is garbage by then`);
    print(absolute('stream_memory', atRest / STREAMS / KIB, 'KiB'));
    print(absolute('streams_heard_p99', quantile(heardMs, 0.99), 'ms'));
    for (const stream of streams) stream.close();
  } finally {
    await service.stop();
  }
};

const requireAll = (streams: readonly CountingStream[], events: number): void => {
  const heard = streams.map((stream) => stream.events);
  const least = Math.min(...heard);
  // What was recorded just before they opened may be told, too.
  if (least < events) throw new Error(`a stream heard ${least} of ${events} events`);
};
