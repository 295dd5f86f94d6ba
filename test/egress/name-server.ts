import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

import { canonical } from '../../libs/infra/src/egress/testing/canary.js';

/** What a name has. Each answer gives it for the next question, and the last for all that follow. */
export interface ScriptedAnswer {
  /** Names that lead to the addresses, one to the next. */
  readonly aliases?: readonly string[];
  readonly addresses: readonly string[];
}
export type Zone = Readonly<Record<string, readonly ScriptedAnswer[]>>;

const TYPES: Readonly<Record<number, 'A' | 'AAAA'>> = { 1: 'A', 28: 'AAAA' };
const CNAME = 5;
const HEADER_BYTES = 12;
const MAX_UDP_BYTES = 512;
/** RFC 1035, 4.1.1: an authoritative response; truncated; of a name that does not exist. */
const [RESPONSE, TRUNCATED, NO_SUCH_NAME] = [0x8580, 0x0200, 3];

const nameBytes = (name: string): Buffer =>
  Buffer.concat([...name.split('.'), ''].map((label) => Buffer.from([label.length, ...Buffer.from(label)])));

/** Of class IN, and to be asked for again at once. */
const record = (owner: string, type: number, content: Buffer): Buffer => {
  const rest = Buffer.alloc(10);
  rest.writeUInt16BE(type, 0);
  rest.writeUInt16BE(1, 2);
  rest.writeUInt16BE(content.length, 8);
  return Buffer.concat([nameBytes(owner), rest, content]);
};

const addressBytes = (address: string): Buffer => {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail = ''] = canonical(address).slice(1, -1).split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => parseInt(group, 16)));
  const [first, last] = [groups(head), groups(tail)];
  const all = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
};

class NameServer {
  private readonly asked = new Map<string, number>();

  constructor(private readonly zone: Zone) {}

  answer(query: Buffer, maxBytes: number): Buffer {
    let at = HEADER_BYTES;
    const labels: string[] = [];
    for (let length = query[at]!; length > 0; length = query[at]!) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const question = query.subarray(HEADER_BYTES, at + 5);
    const [name, type] = [labels.join('.').toLowerCase(), query.readUInt16BE(at + 1)];
    const records = this.recordsOf(name, type);
    const body = Buffer.concat(records ?? []);
    const isTooLong = HEADER_BYTES + question.length + body.length > maxBytes;
    const header = Buffer.alloc(HEADER_BYTES);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(RESPONSE | (isTooLong ? TRUNCATED : 0) | (records === null ? NO_SUCH_NAME : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(isTooLong ? 0 : (records?.length ?? 0), 6);
    // Counted when it was told: a resolver asks again for what was too long.
    if (!isTooLong) this.asked.set(`${name} ${type}`, this.countOf(name, type) + 1);
    return Buffer.concat([header, question, ...(isTooLong ? [] : [body])]);
  }

  private recordsOf(name: string, type: number): Buffer[] | null {
    const answers = this.zone[name];
    if (answers === undefined) return null;
    const { aliases = [], addresses } = answers[Math.min(this.countOf(name, type), answers.length - 1)]!;
    const chain = [name, ...aliases];
    const family = addresses.filter((address) => TYPES[type] === (address.includes(':') ? 'AAAA' : 'A'));
    return [
      ...aliases.map((alias, index) => record(chain[index]!, CNAME, nameBytes(alias))),
      ...family.map((address) => record(chain.at(-1)!, type, addressBytes(address))),
    ];
  }

  private countOf(name: string, type: number): number {
    return this.asked.get(`${name} ${type}`) ?? 0;
  }
}

/** Answers at 127.0.0.1:53, over UDP and, what does not fit there, over TCP. Returns how many answers TCP carried. */
export const serveNames = async (zone: Zone): Promise<() => number> => {
  const names = new NameServer(zone);
  let longAnswers = 0;
  const datagrams = createSocket('udp4', (query, { port, address }) => {
    datagrams.send(names.answer(query, MAX_UDP_BYTES), port, address);
  });
  const streams = createServer((socket) => {
    let pending = Buffer.alloc(0);
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      pending = Buffer.concat([pending, chunk]);
      while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
        const end = 2 + pending.readUInt16BE(0);
        const answer = names.answer(pending.subarray(2, end), 65_535);
        pending = pending.subarray(end);
        longAnswers += 1;
        const length = Buffer.alloc(2);
        length.writeUInt16BE(answer.length);
        socket.write(Buffer.concat([length, answer]));
      }
    });
  });
  await new Promise<void>((resolve) => datagrams.bind(53, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => streams.listen(53, '127.0.0.1', resolve));
  return () => longAnswers;
};
