import { describe, expect, it } from 'vitest';

import {
  bytesOf,
  checkpointOf,
  hexOf,
  leaves,
  logKey,
  noteOf,
  reasonOf,
  vkeyText,
  witness,
} from '../testing/given-witnessed.js';
import { hashesInMemory, inclusionProof } from './merkle-proof.js';
import { formatNote, parseSignedNote } from './signed-note.js';
import { parsePolicy } from './tlog-policy.js';
import {
  encodeTlogProof,
  judgeTlogProof,
  MAX_EXTRA_BYTES,
  MAX_TLOG_PROOF_BYTES,
  parseTlogProof,
  type ProofFacts,
  TlogProofError,
} from './tlog-proof.js';

const [log, w1] = [logKey(), witness('w1.example')];
const policy = parsePolicy(bytesOf(`log ${vkeyText(log)}\nwitness a ${vkeyText(w1)}\nquorum a\n`));
const source = hashesInMemory(leaves);

// The example of tlog-proof, byte for byte but for the signatures, which the text leaves out.
const HEAD = `c2sp.org/tlog-proof@v1
extra YWdlLXYxLjIuMS1kYXJ3aW4tYXJtNjQudGFyLmd6kYXJ3aW4tYXJ
index 73894
gSKyXoYZUgZ6jduWYrkDOARinOMGJveXjgMkBTcdPlQ=
B95lDa8R83lS8n0eG+o0buTxRKQTYFi//1U8anccXmA=
EKNzoDWG8LGC0Yp9o+sv3qllpMP9uHQ9B20KNL+Q1zs=
RoopEkOdqkYqMB4MJXrbt/hMjOxsVn0IrWjpz1ZMMes=
AHCioX9nLjsrse6YhjRRmk1WUEirVOLLRoOQ6vfO5vk=

`;
const CHECKPOINT = 'example.com/fancylog\n109482\nsFodV/vSp5O8n9a8QpW6PRY97tfOSW5bsc2Xl/EQi08=\n';
const EXAMPLE = `${HEAD}${formatNote(parseSignedNote(noteOf(CHECKPOINT, logKey('example.com/fancylog'))))}`;

const refusal = (text: string | Uint8Array): string =>
  reasonOf(TlogProofError, () => parseTlogProof(typeof text === 'string' ? bytesOf(text) : text));

const given = async (index: number, size: number, extra: Uint8Array | null = null) => ({
  extra,
  index,
  proof: await inclusionProof(source, index, size),
  note: parseSignedNote(noteOf(checkpointOf(size), log, w1)),
});

describe('the form of a proof', () => {
  it('is that of the text: what was read comes out byte for byte', () => {
    const proof = parseTlogProof(bytesOf(EXAMPLE));
    expect(proof).toMatchObject({ index: 73_894, checkpoint: { origin: 'example.com/fancylog', size: 109_482 } });
    expect(proof.proof).toHaveLength(5);
    expect(new TextDecoder().decode(proof.extra).slice(0, 15)).toBe('age-v1.2.1-darw');
    expect(encodeTlogProof(proof)).toBe(EXAMPLE);
  });

  it('of one leaf: no extra line, no hash', async () => {
    const text = encodeTlogProof(await given(0, 1));
    expect(text.startsWith('c2sp.org/tlog-proof@v1\nindex 0\n\ngovernance.example/')).toBe(true);
    expect(parseTlogProof(bytesOf(text))).toMatchObject({ extra: null, index: 0, proof: [] });
  });

  it.each([
    ['nothing', '', 'no_blank_line'],
    ['no blank line', EXAMPLE.replaceAll('\n\n', '\n'), 'no_blank_line'],
    ['another version', EXAMPLE.replace('@v1', '@v2'), 'version'],
    ['a line before the first', `\n${EXAMPLE}`, 'version'],
    ['a space behind the version', EXAMPLE.replace('@v1', '@v1 '), 'version'],
    ['no index', EXAMPLE.replace('index 73894\n', ''), 'index'],
    ['an index with a leading zero', EXAMPLE.replace('index 7', 'index 07'), 'index'],
    ['an index below 0', EXAMPLE.replace('index 7', 'index -7'), 'index'],
    ['an index of 2^53', EXAMPLE.replace('73894', '9007199254740992'), 'index'],
    ['an index without a number', EXAMPLE.replace(' 73894', ''), 'index'],
    ['two indexes', EXAMPLE.replace('index 73894\n', 'index 73894\nindex 73894\n'), 'proof_line'],
    ['extra behind the index', EXAMPLE.replace(/(extra .*\n)(index .*\n)/, '$2$1'), 'proof_line'],
    ['two extra lines', EXAMPLE.replace(/(extra .*\n)/, '$1$1'), 'index'],
    ['extra without data', EXAMPLE.replace(/extra .*\n/, 'extra \n'), 'extra'],
    ['extra in a second spelling', EXAMPLE.replace(/extra .*\n/, 'extra Zh==\n'), 'extra'],
    ['extra without padding', EXAMPLE.replace(/extra .*\n/, 'extra Zg\n'), 'extra'],
    ['a hash in a second spelling', EXAMPLE.replace('PlQ=', 'PlR='), 'proof_line'],
    ['a hash of 30 bytes', EXAMPLE.replace('dPlQ=', ''), 'proof_line'],
    ['carriage returns', EXAMPLE.replaceAll('\n', '\r\n'), 'control_character'],
    ['NUL', EXAMPLE.replace('fancy', 'fan\0cy'), 'control_character'],
    ['no signature', `${HEAD}${CHECKPOINT}\n`, 'note'],
    ['no newline at the end', EXAMPLE.slice(0, -1), 'note'],
    ['a note that is no checkpoint', EXAMPLE.replace('\n109482', '\n0109482'), 'checkpoint'],
    ['two blank lines', EXAMPLE.replace('\n\n', '\n\n\n'), 'checkpoint'],
  ])('%s: refused', (_, text, reason) => {
    expect(refusal(text)).toBe(reason);
  });

  it('every truncation is refused', () => {
    const bytes = bytesOf(EXAMPLE);
    for (let end = 0; end < bytes.byteLength; end += 1) expect(refusal(bytes.subarray(0, end))).not.toBe('accepted');
  });

  it('63 hashes and 64 KiB of extra data, and no more', () => {
    const line = EXAMPLE.split('\n')[3]!;
    const withHashes = (count: number): string =>
      EXAMPLE.replace(/(index .*\n)[^]*?\n\n/, (_, index: string) => `${index}${`${line}\n`.repeat(count)}\n`);
    expect(parseTlogProof(bytesOf(withHashes(63))).proof).toHaveLength(63);
    expect(refusal(withHashes(64))).toBe('too_many_proof_lines');
    const proof = parseTlogProof(bytesOf(EXAMPLE));
    const large = encodeTlogProof({ ...proof, extra: new Uint8Array(MAX_EXTRA_BYTES) });
    expect(parseTlogProof(bytesOf(large)).extra).toHaveLength(MAX_EXTRA_BYTES);
    expect(refusal(large.replace('extra A', 'extra AAAAA'))).toBe('extra');
    expect(refusal(new Uint8Array(MAX_TLOG_PROOF_BYTES + 1))).toBe('too_large');
    expect(refusal(bytesOf(EXAMPLE).with(5, 0xff))).toBe('utf8');
  });

  it('what would not be read is not written', () => {
    const proof = parseTlogProof(bytesOf(EXAMPLE));
    const writing = (change: object): string =>
      reasonOf(TlogProofError, () => encodeTlogProof({ ...proof, ...change }));
    expect(writing({ extra: new Uint8Array(0) })).toBe('extra');
    expect(writing({ extra: new Uint8Array(MAX_EXTRA_BYTES + 1) })).toBe('extra');
    expect(writing({ index: 1.5 })).toBe('index');
    expect(writing({ proof: [new Uint8Array(31)] })).toBe('proof_line');
    expect(writing({ proof: Array.from({ length: 64 }, () => leaves[0]) })).toBe('too_many_proof_lines');
    expect(writing({ note: { ...proof.note, text: 'text\n' } })).toBe('checkpoint');
  });
});

describe('verifying a proof', () => {
  const judge = (text: string, leaf: Uint8Array, change: Partial<ProofFacts> = {}): string => {
    const judgement = judgeTlogProof(parseTlogProof(bytesOf(text)), { leafHash: leaf, policy, ...change });
    return judgement.result === 'refused' ? judgement.reason : judgement.result;
  };

  it('every leaf of every tree is included, and no other leaf in its place', async () => {
    for (let size = 1; size <= 20; size += 3) {
      for (let index = 0; index < size; index += 1) {
        const text = encodeTlogProof(await given(index, size));
        expect(judge(text, leaves[index]!)).toBe('included');
        expect(judge(text, leaves[(index + 1) % 20]!)).toBe('not_included');
      }
    }
  });

  it('tells the checkpoint, who cosigned it and when', async () => {
    const text = encodeTlogProof(await given(3, 7, bytesOf('extra')));
    const read = parseTlogProof(bytesOf(text));
    const judgement = judgeTlogProof(read, { leafHash: leaves[3]!, policy });
    expect(judgement).toMatchObject({
      index: 3,
      signed: { quorum: 'met', witnesses: [{ name: 'a' }], checkpoint: { size: 7 } },
    });
    expect(hexOf(read.extra!)).toBe(hexOf(bytesOf('extra')));
  });

  it('an index beyond the tree, another index, a proof of another tree', async () => {
    const proof = await given(3, 7);
    expect(judge(encodeTlogProof({ ...proof, index: 7 }), leaves[3]!)).toBe('not_included');
    expect(judge(encodeTlogProof({ ...proof, index: 2 }), leaves[3]!)).toBe('not_included');
    expect(judge(encodeTlogProof({ ...proof, proof: proof.proof.slice(1) }), leaves[3]!)).toBe('not_included');
    expect(judge(encodeTlogProof({ ...proof, note: (await given(3, 8)).note }), leaves[3]!)).toBe('not_included');
  });

  it('a checkpoint that is not signed, not witnessed or of another log', async () => {
    const proof = await given(3, 7);
    const withNote = (...signers: Parameters<typeof noteOf>[1][]): string =>
      encodeTlogProof({ ...proof, note: parseSignedNote(noteOf(checkpointOf(7), ...signers)) });
    expect(judge(withNote(log), leaves[3]!)).toBe('not_witnessed');
    expect(judge(withNote(w1), leaves[3]!)).toBe('checkpoint_not_signed');
    expect(judge(withNote(log, w1), leaves[3]!, { logs: [] })).toBe('wrong_origin');
    expect(judge(withNote(log, { ...w1, sign: () => new Uint8Array(72) }), leaves[3]!)).toBe('bad_cosignature');
    const none = parsePolicy(bytesOf('quorum none\n'));
    expect(judge(withNote(log), leaves[3]!, { policy: none, logs: [log.vkey] })).toBe('included');
  });
});
