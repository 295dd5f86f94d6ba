import { describe, expect, it } from 'vitest';
import { deferred } from '../../../../../test/support/deferred.js';
import { type StreamHead, TrackedHeads } from './tracked-heads.js';

describe('tracked heads', () => {
  const answering = (answers: Readonly<Record<string, StreamHead>>) => {
    const asked: string[] = [];
    const ask = (stream: string): Promise<StreamHead> => {
      asked.push(stream);
      return Promise.resolve(answers[stream] ?? null);
    };
    return { asked, ask };
  };

  it('are asked for once, and follow what is told', async () => {
    const heads = new TrackedHeads();
    const { asked, ask } = answering({ a: 3, b: 0 });
    const first = await heads.learn(['a', 'b', 'none'], ask);
    expect([first('a'), first('b'), first('none')]).toEqual([{ head: 3 }, { head: 0 }, { head: null }]);
    heads.see('a', 4);
    heads.see('none', 0);
    const second = await heads.learn(['a', 'none'], ask);
    expect([second('a'), second('none')]).toEqual([{ head: 4 }, { head: 0 }]);
    expect(asked).toEqual(['a', 'b', 'none']);
  });

  it('lose no event that is told while they are asked for', async () => {
    const heads = new TrackedHeads();
    const answer = deferred<StreamHead>();
    const learning = heads.learn(['a'], () => answer.promise);
    heads.see('a', 6);
    answer.resolve(5);
    const learned = await learning;
    expect(learned('a')).toEqual({ head: 6 });
    // One that is told late.
    heads.see('a', 5);
    expect(learned('a')).toEqual({ head: 6 });
  });

  it('are known of a stream that was written to, by what was answered and told since', async () => {
    const heads = new TrackedHeads();
    const written = heads.writing('a');
    heads.see('a', 1);
    written(0);
    const { asked, ask } = answering({});
    expect((await heads.learn(['a'], ask))('a')).toEqual({ head: 1 });
    expect(asked).toEqual([]);
  });

  it('are not known by what was told alone', async () => {
    const heads = new TrackedHeads();
    heads.see('a', 6);
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

  it('say nothing of a stream that was let go of since', async () => {
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
