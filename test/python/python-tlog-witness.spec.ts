/**
 * A witness that was written from tlog-witness alone, driven by our requests and our proofs: what it answers is what the text
 * says, and what it cosigns counts here.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  consistencyProof,
  EMPTY_ROOT,
  encodeAddCheckpoint,
  encodeCheckpoint,
  encodeVkey,
  hashesInMemory,
  isConsistent,
  judgeNote,
  knownKey,
  type NoteSigner,
  parseAddCheckpoint,
  parseCosignatures,
  parseTreeSize,
  type SignedNote,
  signNote,
  timestampOf,
  TLOG_SIZE_MEDIA_TYPE,
  WitnessMessageError,
} from '#libs/crypto';

import { flipped } from '../../libs/crypto/src/testing/attacked-bundle.js';
import {
  AT,
  bytesOf,
  checkpointOf,
  leaves,
  logKey,
  noteOf,
  ORIGIN,
  pqWitness,
  vkeyText,
  witness,
} from '../../libs/crypto/src/testing/given-witnessed.js';
import { drawer, signer } from './given-tlog.js';
import { HAS_PYTHON, PYTHON_HAS_ML_DSA, TlogProcess } from './tlog-process.js';

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly type: string;
}

describe.skipIf(!HAS_PYTHON)('the Python witness (needs python3 with cryptography)', () => {
  let python: TlogProcess;
  let count = 0;
  beforeAll(() => {
    python = new TlogProcess();
  });
  afterAll(() => python.end());

  const tree = hashesInMemory(leaves);
  const proofOf = (from: number, to: number) => consistencyProof(tree, from, to);
  const noted = (text: string, ...signers: readonly NoteSigner[]): SignedNote => signNote(text, signers);
  const signed = (size: number): SignedNote => noted(checkpointOf(size), logKey());

  /** A witness that has seen nothing, and how it is asked. */
  const given = async ({
    logs = [vkeyText(logKey())],
    signers = [signer('w.example', 'w', 'ed25519Cosignature')],
  } = {}) => {
    count += 1;
    const name = `witness ${count}`;
    await python.ask('open_witness', { witness: name, logs, signers, at: AT });
    const send = async (request: string | Uint8Array): Promise<Answer> => {
      const body = typeof request === 'string' ? bytesOf(request) : request;
      return (await python.ask('add_checkpoint', { witness: name, request: body })) as Answer;
    };
    const add = (oldSize: number, proof: readonly Uint8Array[], note: SignedNote) =>
      send(encodeAddCheckpoint({ oldSize, proof, note }));
    return { send, add, grow: async (from: number, to: number) => add(from, await proofOf(from, to), signed(to)) };
  };

  it('cosigns a first checkpoint; its lines put beside ours count, with their time', async () => {
    const signers = [signer('w.example', 'w', 'ed25519Cosignature')];
    const keys = [witness('w.example', 'w').vkey];
    if (PYTHON_HAS_ML_DSA) {
      signers.push(signer('pq.example', 'pq', 'mlDsa44Cosignature'));
      keys.push(pqWitness('pq.example', 'pq').vkey);
    }
    const { add } = await given({ signers });
    const note = signed(5);
    const { status, body } = await add(0, [], note);
    expect(status).toBe(200);
    const whole = { text: note.text, signatures: [...note.signatures, ...parseCosignatures(bytesOf(body))] };
    const { verified, failed } = judgeNote(whole, keys.map(knownKey));
    expect(failed).toEqual([]);
    expect(verified.map(({ verifier }) => encodeVkey(verifier.vkey))).toEqual(keys.map(encodeVkey));
    expect(verified.map(({ signature }) => timestampOf(signature.signature))).toEqual(keys.map(() => AT));
  });

  it('its lines do not count beside another checkpoint', async () => {
    const { grow } = await given();
    const { body } = await grow(0, 5);
    const whole = { ...signed(6), signatures: parseCosignatures(bytesOf(body)) };
    const { verified, failed } = judgeNote(whole, [knownKey(witness('w.example', 'w').vkey)]);
    expect([verified.length, failed.length]).toEqual([0, 1]);
  });

  it('tells its size when it is asked from another; a proof from there is cosigned', async () => {
    const { grow } = await given();
    await grow(0, 5);
    const answer = await grow(0, 12);
    expect(answer).toEqual({ status: 409, body: '5\n', type: TLOG_SIZE_MEDIA_TYPE });
    const size = parseTreeSize(bytesOf(answer.body));
    expect((await grow(size, 12)).status).toBe(200);
    expect(await grow(5, 20)).toMatchObject({ status: 409, body: '12\n' });
    expect(await grow(13, 20)).toMatchObject({ status: 409, body: '12\n' });
    expect(await grow(5, 5)).toMatchObject({ status: 409, body: '12\n' });
  });

  it('cosigns every growth of 20 deeds that our proofs show', async () => {
    for (let from = 0; from <= 20; from += 1) {
      for (let to = Math.max(from, 1); to <= 20; to += 1) {
        const { grow } = await given();
        if (from > 0) await grow(0, from);
        expect((await grow(from, to)).status, `${from} to ${to}`).toBe(200);
      }
    }
  });

  it('422: a proof with a bit turned, too short or too long, and none at all', async () => {
    const { add, grow } = await given();
    await grow(0, 6);
    const proof = await proofOf(6, 17);
    const turned = proof.map((hash, at) => proof.with(at, Uint8Array.from(flipped(Buffer.from(hash), 77 + at))));
    const wrong = [...turned, [], proof.slice(1), proof.slice(0, -1), [...proof, EMPTY_ROOT], proof.toReversed()];
    for (const other of wrong) expect((await add(6, other, signed(17))).status).toBe(422);
    expect((await add(6, proof, signed(17))).status).toBe(200);
  });

  it('422: the log has forked', async () => {
    const { add, grow } = await given();
    await grow(0, 6);
    const forked = noted(encodeCheckpoint({ origin: ORIGIN, size: 9, root: EMPTY_ROOT }), logKey());
    expect((await add(6, await proofOf(6, 9), forked)).status).toBe(422);
    const rewritten = noted(encodeCheckpoint({ origin: ORIGIN, size: 6, root: EMPTY_ROOT }), logKey());
    expect((await add(6, [], rewritten)).status).toBe(422);
  });

  it('the same size again is cosigned anew with no proof, and 422 with one', async () => {
    const { add, grow } = await given();
    await grow(0, 6);
    expect((await add(6, [EMPTY_ROOT], signed(6))).status).toBe(422);
    expect((await add(6, [], signed(6))).status).toBe(200);
  });

  it('from 0 there is no proof: 422 with one', async () => {
    const { add } = await given();
    expect((await add(0, [EMPTY_ROOT], signed(6))).status).toBe(422);
    expect((await add(0, [], signed(6))).status).toBe(200);
  });

  it('the empty tree has the root of nothing: 422 with another', async () => {
    const { add } = await given();
    const other = encodeCheckpoint({ origin: ORIGIN, size: 0, root: leaves[0] ?? EMPTY_ROOT });
    expect((await add(0, [], noted(other, logKey()))).status).toBe(422);
    expect((await add(0, [], signed(0))).status).toBe(200);
    expect((await add(0, [], signed(3))).status).toBe(200);
  });

  it('404: it does not know the origin', async () => {
    const { add } = await given();
    const origin = 'other.example/ledger/org_1';
    expect((await add(0, [], noted(checkpointOf(3, origin), logKey(origin)))).status).toBe(404);
    expect((await add(0, [], noted(checkpointOf(3, origin), logKey()))).status).toBe(404);
  });

  it('403: no key that it trusts for the origin has signed, or a line of one fails', async () => {
    const { add } = await given();
    const text = checkpointOf(3);
    expect((await add(0, [], noted(text, logKey(ORIGIN, 'stranger')))).status).toBe(403);
    expect((await add(0, [], noted(text, witness(ORIGIN, 'log')))).status).toBe(403);
    const [line] = signed(4).signatures;
    expect((await add(0, [], { text, signatures: [line!] })).status).toBe(403);
    expect((await add(0, [], { text, signatures: [...signed(3).signatures, line!] })).status).toBe(403);
  });

  it('lines of unknown keys beside a known one are ignored; either key of a rotation will do', async () => {
    const [before, after] = [logKey(ORIGIN, 'before'), logKey(ORIGIN, 'after')];
    const { add } = await given({ logs: [before, after].map(vkeyText) });
    const text = checkpointOf(3);
    expect((await add(0, [], noted(text, logKey(ORIGIN, 'stranger'), before))).status).toBe(200);
    expect((await add(3, [], noted(text, before, after, witness('x.example')))).status).toBe(200);
    expect((await add(3, [], noted(text, after))).status).toBe(200);
  });

  it('400: the old size is above the checkpoint', async () => {
    const { add } = await given();
    expect((await add(4, [], signed(3))).status).toBe(400);
  });

  it('400: what is no request, which ours does not read either', async () => {
    const { send } = await given();
    const note = Buffer.from(noteOf(checkpointOf(3), logKey())).toString();
    const hash = Buffer.from(EMPTY_ROOT).toString('base64');
    const wrong = [
      '',
      note,
      `old 0\n${note}`,
      `\n\n${note}`,
      `old\n\n${note}`,
      `old \n\n${note}`,
      `old 00\n\n${note}`,
      `old 01\n\n${note}`,
      `old -1\n\n${note}`,
      `old  0\n\n${note}`,
      `old 0 \n\n${note}`,
      `Old 0\n\n${note}`,
      `old 0\r\n\r\n${note}`,
      `old 0\n${hash.slice(0, -1)}\n\n${note}`,
      `old 0\n${hash} \n\n${note}`,
      `old 0\n${hash.slice(4)}\n\n${note}`,
      `old 0\n${`${hash}\n`.repeat(64)}\n${note}`,
      `old 0\n\n\n${note}`,
      `old 0\n\n${note.slice(0, -1)}`,
      `old 0\n\n${checkpointOf(3)}`,
      `old 0\n\n${checkpointOf(3)}\n`,
      `old 0\n\n${note}\n`,
      `old 0\n\n${Buffer.from(noteOf('no checkpoint\n', logKey())).toString()}`,
    ];
    for (const request of wrong) {
      expect((await send(request)).status, request).toBe(400);
      expect(() => parseAddCheckpoint(bytesOf(request)), request).toThrow(WitnessMessageError);
    }
    // 63 proof lines are a request, if one that proves nothing.
    expect((await send(`old 0\n${`${hash}\n`.repeat(63)}\n${note}`)).status).toBe(422);
  });

  /** The answer that our own judgement of each part gives, in the order of the text. */
  const ourStatus = (request: Uint8Array, seen: number): number => {
    let read;
    try {
      read = parseAddCheckpoint(request);
    } catch (error) {
      if (error instanceof WitnessMessageError) return 400;
      throw error;
    }
    const { oldSize: from, proof, checkpoint, note } = read;
    if (checkpoint.origin !== ORIGIN) return 404;
    const { verified, failed } = judgeNote(note, [knownKey(logKey().vkey)]);
    if (failed.length > 0 || verified.length === 0) return 403;
    if (from > checkpoint.size) return 400;
    if (from !== seen) return 409;
    const { root: fromRoot } = parseAddCheckpoint(bytesOf(requestOf(0, [], seen))).checkpoint;
    return isConsistent({ from, to: checkpoint.size, fromRoot, toRoot: checkpoint.root, proof }) ? 200 : 422;
  };
  const requestOf = (oldSize: number, proof: readonly Uint8Array[], size: number) =>
    encodeAddCheckpoint({ oldSize, proof, note: noted(checkpointOf(size), logKey(), witness('unknown.example')) });

  it('every request with a bit turned, or cut, is answered as our own judgement says', async () => {
    const draw = drawer('requests');
    const seen = 6;
    const whole = Buffer.from(requestOf(seen, await proofOf(seen, 17), 17));
    const requests = [
      ...Array.from({ length: whole.length * 2 }, (_, at) => flipped(whole, (at >> 1) * 8 + draw(8))),
      ...Array.from({ length: whole.length }, (_, end) => whole.subarray(0, end)),
    ];
    const own = signer('w.example', 'w', 'ed25519Cosignature');
    const [log, first] = [vkeyText(logKey()), bytesOf(requestOf(0, [], seen))];
    const theirs = await python.askEach('statuses', { requests, signer: own, log, seen: first });
    const ours = requests.map((request) => ourStatus(request, seen));
    expect(requests.filter((_, at) => ours[at] !== theirs[at]).map(String)).toEqual([]);
    expect(new Set(theirs)).toEqual(new Set([200, 400, 403, 404, 409, 422]));
  });
});
