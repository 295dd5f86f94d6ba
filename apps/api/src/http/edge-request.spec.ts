import { once } from 'node:events';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { EdgeRequest } from './edge-request.js';

/** What a reader of the body gets, piece by piece. */
const piecesOf = (request: EdgeRequest): string[] => {
  const pieces: string[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece.toString()));
  return pieces;
};

describe('the body of a request', () => {
  it('waits as one piece where it was read at once as many', async () => {
    const request = new EdgeRequest(new Socket());
    const text = Array.from({ length: 3_000 }, (_, index) => String(index % 10));
    for (const digit of text) request.push(Buffer.from(digit));
    request.push(null);
    const pieces = piecesOf(request);
    await once(request, 'end');
    expect(pieces).toEqual([text.join('')]);
  });

  it('is handed on before its end, and keeps its order beside large pieces', async () => {
    const request = new EdgeRequest(new Socket());
    const pieces = piecesOf(request);
    for (const piece of ['a', 'b']) request.push(Buffer.from(piece));
    await once(request, 'data');
    expect(pieces).toEqual(['ab']);
    const large = 'x'.repeat(1_500);
    for (const piece of ['c', large, 'd', 'e', large]) request.push(Buffer.from(piece));
    request.push(null);
    await once(request, 'end');
    expect(pieces.join('')).toBe(`abc${large}de${large}`);
  });

  it('says when enough of it waits, however small the pieces', () => {
    const request = new EdgeRequest(new Socket());
    const pushed = Array.from({ length: request.readableHighWaterMark }, () => request.push(Buffer.from('a')));
    expect(pushed.indexOf(false)).toBe(pushed.length - 1);
    request.push(null);
  });
});
