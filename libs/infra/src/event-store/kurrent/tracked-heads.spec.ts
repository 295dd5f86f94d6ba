import { describe, expect, it } from 'vitest';
import { recordedAt } from '#libs/domain/kernel';
import { deferred } from '../../../../../test/support/deferred.js';
import { type StreamHead, TrackedHeads } from './tracked-heads.js';

describe('tracked heads', () => {
  let position = 0n;
  /** An event with metadata of its own by default, so that it is an append by itself. */
  const told = (stream: string, revision: number, command = `${stream} ${revision}`) => {
    const event = { id: command, type: 'Happened', data: '{}', metadata: command };
    return recordedAt(event, stream, revision, (position += 1n));
  };
  const seeWhole = (heads: TrackedHeads, ...event: Parameters<typeof told>): void => {
    heads.see(told(...event));
    heads.see(told('another', 0));
  };

  const answering = (answers: Readonly<Record<string, StreamHead>>) => {
    const asked: string[] = [];
    const ask = (stream: string): Promise<StreamHead> => {
      asked.push(stream);
      return Promise.resolve(answers[stream] ?? null);
    };
    return { asked, ask };
  };

  it('are asked for once, and follow the delivered events', async () => {
    const heads = new TrackedHeads();
    const { asked, ask } = answering({ a: 3, b: 0 });
    const first = await heads.learn(['a', 'b', 'none'], ask);
    expect([first('a'), first('b'), first('none')]).toEqual([{ head: 3 }, { head: 0 }, { head: null }]);
    seeWhole(heads, 'a', 4);
    seeWhole(heads, 'none', 0);
    const second = await heads.learn(['a', 'none'], ask);
    expect([second('a'), second('none')]).toEqual([{ head: 4 }, { head: 0 }]);
    expect(asked).toEqual(['a', 'b', 'none']);
  });

  it('miss no event that is delivered while the server is asked', async () => {
    const heads = new TrackedHeads();
    const answer = deferred<StreamHead>();
    const learning = heads.learn(['a'], () => answer.promise);
    seeWhole(heads, 'a', 6);
    answer.resolve(5);
    const learned = await learning;
    expect(learned('a')).toEqual({ head: 6 });
    // An event that arrives late.
    seeWhole(heads, 'a', 5);
    expect(learned('a')).toEqual({ head: 6 });
  });

  it('are known for a stream that this process writes to, by the answer and the events since', async () => {
    const heads = new TrackedHeads();
    const written = heads.writing('a');
    seeWhole(heads, 'a', 1);
    written(0);
    const { asked, ask } = answering({});
    expect((await heads.learn(['a'], ask))('a')).toEqual({ head: 1 });
    expect(asked).toEqual([]);
  });

  it('are not known from delivered events alone', async () => {
    const heads = new TrackedHeads();
    seeWhole(heads, 'a', 6);
    const { asked, ask } = answering({ a: 6 });
    await heads.learn(['a'], ask);
    expect(asked).toEqual(['a']);
  });

  it('are asked for again after a question that failed', async () => {
    const heads = new TrackedHeads();
    await expect(heads.learn(['a'], () => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer');
    const { ask } = answering({ a: 2 });
    expect((await heads.learn(['a'], ask))('a')).toEqual({ head: 2 });
  });

  it('are never between two events of one append', async () => {
    const heads = new TrackedHeads();
    const { ask } = answering({ a: 1, b: 0 });
    const learned = await heads.learn(['a', 'b'], ask);
    const first = told('a', 2, 'one command');
    heads.see(first);
    expect([learned('a'), heads.unsettled]).toEqual([{ head: 1 }, first]);
    heads.see(told('a', 3, 'one command'));
    expect([learned('a'), heads.unsettled]).toEqual([{ head: 1 }, first]);
    const next = told('b', 1);
    heads.see(next);
    expect([learned('a'), learned('b'), heads.unsettled]).toEqual([{ head: 3 }, { head: 0 }, next]);
    heads.read([next, told('b', 2, 'b 1')]);
    expect([learned('b'), heads.unsettled]).toEqual([{ head: 2 }, null]);
  });

  it('need no read if this process appended the delivered events itself', async () => {
    const heads = new TrackedHeads();
    const written = heads.writing('a');
    heads.see(told('a', 0, 'one command'));
    written(1);
    expect(heads.unsettled).toBe(null);
    heads.see(told('a', 1, 'one command'));
    expect(heads.unsettled).toBe(null);
  });

  it('are unknown for a stream that was dropped from the cache meanwhile', async () => {
    const heads = new TrackedHeads();
    const { ask } = answering({ a: 1 });
    const learned = await heads.learn(['a'], ask);
    heads.clear();
    expect(learned('a')).toBe(null);
    const again = await heads.learn(['a'], ask);
    await heads.learn(
      Array.from({ length: 50_000 }, (_, index) => `s-${index}`),
      () => Promise.resolve(0),
    );
    expect(again('a')).toBe(null);
  });
});
