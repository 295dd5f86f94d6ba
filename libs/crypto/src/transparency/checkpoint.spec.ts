import { describe, expect, it } from 'vitest';

import { bytesOf, checkpointOf, hexOf, ORIGIN, reasonOf } from '../testing/given-witnessed.js';
import { CheckpointError, encodeCheckpoint, parseCheckpoint } from './checkpoint.js';
import { EMPTY_ROOT } from './merkle-hash.js';
import { formatNote, parseSignedNote } from './signed-note.js';

// The example of tlog-checkpoint, byte for byte.
const EXAMPLE = `example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
`;
const TEXT = EXAMPLE.slice(0, EXAMPLE.indexOf('\n\n') + 1);
const ROOT = 'CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=';
const refusal = (text: string): string => reasonOf(CheckpointError, () => parseCheckpoint(text));

describe('checkpoints', () => {
  it('the example of tlog-checkpoint comes out byte for byte', () => {
    const note = parseSignedNote(bytesOf(EXAMPLE));
    const checkpoint = parseCheckpoint(note.text);
    expect(checkpoint).toMatchObject({ origin: 'example.com/behind-the-sofa', size: 20_852_163, extensionLines: [] });
    expect(hexOf(checkpoint.root).slice(0, 8)).toBe('0ac5186a');
    expect(formatNote({ ...note, text: encodeCheckpoint(checkpoint) })).toBe(EXAMPLE);
  });

  it('of the empty tree has size 0', () => {
    expect(checkpointOf(0)).toBe(`${ORIGIN}\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n`);
    expect(parseCheckpoint(checkpointOf(0))).toEqual({ origin: ORIGIN, size: 0, root: EMPTY_ROOT, extensionLines: [] });
  });

  it('extension lines are read, and none is written', () => {
    const read = parseCheckpoint(`${TEXT}one\ntwo\n`);
    expect(read.extensionLines).toEqual(['one', 'two']);
    expect(encodeCheckpoint(read)).toBe(TEXT);
  });

  it('an origin may hold what a key name may not, for a reader', () => {
    expect(parseCheckpoint(`two words +\n1\n${ROOT}\n`).origin).toBe('two words +');
  });

  it.each([
    ['nothing', '', 'lines'],
    ['two lines', 'a\n1\n', 'lines'],
    ['no newline at the end', TEXT.slice(0, -1), 'lines'],
    ['no origin', `\n1\n${ROOT}\n`, 'lines'],
    ['an empty extension line', `${TEXT}\n`, 'lines'],
    ['an empty line between extension lines', `${TEXT}a\n\nb\n`, 'lines'],
    ['a leading zero', `a\n01\n${ROOT}\n`, 'size'],
    ['two zeroes', `a\n00\n${ROOT}\n`, 'size'],
    ['a sign', `a\n+1\n${ROOT}\n`, 'size'],
    ['less than nothing', `a\n-1\n${ROOT}\n`, 'size'],
    ['an exponent', `a\n1e3\n${ROOT}\n`, 'size'],
    ['a space', `a\n1 \n${ROOT}\n`, 'size'],
    ['2^53', `a\n9007199254740992\n${ROOT}\n`, 'size'],
    ['2^64', `a\n18446744073709551616\n${ROOT}\n`, 'size'],
    ['digits without end', `a\n${'9'.repeat(10_000)}\n${ROOT}\n`, 'size'],
    ['digits of another script', `a\n١\n${ROOT}\n`, 'size'],
    ['a root of 31 bytes', 'a\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxqw==\n', 'root'],
    ['a root of 33 bytes', 'a\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2IA\n', 'root'],
    ['a root without padding', `a\n1\n${ROOT.slice(0, -1)}\n`, 'root'],
    ['a root in a second spelling', `a\n1\n${ROOT.replace('2I=', '2J=')}\n`, 'root'],
    ['a root in hex', `a\n1\n${'0a'.repeat(32)}\n`, 'root'],
  ])('%s is refused', (_, text, reason) => {
    expect(refusal(text)).toBe(reason);
  });

  it('the largest size is 2^53-1', () => {
    expect(parseCheckpoint(`a\n9007199254740991\n${ROOT}\n`).size).toBe(Number.MAX_SAFE_INTEGER);
  });

  it.each([
    [{ origin: 'two words' }, 'origin'],
    [{ origin: '' }, 'origin'],
    [{ origin: 'a+b' }, 'origin'],
    [{ origin: 'a\nb' }, 'origin'],
    [{ size: -1 }, 'size'],
    [{ size: 1.5 }, 'size'],
    [{ size: 2 ** 53 }, 'size'],
    [{ root: new Uint8Array(31) }, 'root'],
  ])('%o is not written', (change, reason) => {
    const checkpoint = { origin: ORIGIN, size: 1, root: EMPTY_ROOT, ...change };
    expect(reasonOf(CheckpointError, () => encodeCheckpoint(checkpoint))).toBe(reason);
  });
});
