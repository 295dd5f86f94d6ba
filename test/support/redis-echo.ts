import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { Chance } from '../chaos/random.js';

/** Says again what a Redis was told, a number of times and in another order. */
export interface RedisEcho {
  /** How many were repeated, of each kind. */
  readonly heard: { readonly jobs: number; readonly messages: number };
  close(): void;
}

export interface EchoOptions {
  readonly port: number;
  /** How often each is said again. */
  readonly times: number;
  readonly chance: Chance;
}

const LONGEST_DELAY_MS = 60;
/** Of a job that is added: nobody else's command carries what the job holds. */
const JOB_DATA = /^\{"id":"act_/;

/**
 * Listens to every command that a Redis gets, and repeats byte by byte those that hand something on: jobs that are added to
 * a queue, each of which becomes one more job, and messages.
 */
export const startRedisEcho = async ({ port, times, chance }: EchoOptions): Promise<RedisEcho> => {
  const [ear, mouth] = await Promise.all([connected(port), connected(port)]);
  const own = `127.0.0.1:${(mouth.address() as AddressInfo).port}]`;
  const heard = { jobs: 0, messages: 0 };
  const repeat = async (command: Buffer): Promise<void> => {
    await delay(chance.between(0, LONGEST_DELAY_MS));
    mouth.write(command);
  };
  createInterface({ input: ear }).on('line', (line) => {
    if (line.includes(own)) return;
    const words = wordsIn(line);
    const kind = kindOf(words);
    if (kind === null) return;
    heard[kind] += 1;
    const command = commandOf(words);
    for (let time = 0; time < times; time += 1) void repeat(command);
  });
  // Nobody reads what the repetitions are answered with.
  mouth.resume();
  ear.write('MONITOR\r\n');
  return {
    heard,
    close: () => {
      ear.destroy();
      mouth.destroy();
    },
  };
};

const connected = async (port: number): Promise<Socket> => {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  return socket;
};

const kindOf = ([name, ...args]: readonly Buffer[]): 'jobs' | 'messages' | null => {
  const command = name?.toString().toLowerCase() ?? '';
  if (command === 'publish') return 'messages';
  const isScript = command === 'eval' || command === 'evalsha';
  return isScript && args.some((word) => JOB_DATA.test(word.toString())) ? 'jobs' : null;
};

const WORD = /"((?:[^"\\]|\\.)*)"/g;
const ESCAPED = /\\(?:x([0-9a-f]{2})|(.))/g;
const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', a: '\x07', b: '\b' };

/** `<time> [<db> <client>] "<word>" "<word>" ...`, with every byte that is not printable escaped. */
const wordsIn = (line: string): readonly Buffer[] =>
  [...line.matchAll(WORD)].map(([, word = '']) =>
    Buffer.from(
      word.replaceAll(ESCAPED, (_, hex: string | undefined, sign: string) =>
        hex === undefined ? (CONTROLS[sign] ?? sign) : String.fromCharCode(Number.parseInt(hex, 16)),
      ),
      'latin1',
    ),
  );

const commandOf = (words: readonly Buffer[]): Buffer =>
  Buffer.concat([
    Buffer.from(`*${words.length}\r\n`),
    ...words.flatMap((word) => [Buffer.from(`$${word.length}\r\n`), word, Buffer.from('\r\n')]),
  ]);
