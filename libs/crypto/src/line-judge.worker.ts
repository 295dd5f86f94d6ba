/** A thread that judges lines: it gets blocks, and answers each with its judgements, in order. */
import { parentPort, workerData } from 'node:worker_threads';

import { Keyring } from './keyring.js';
import { judgeLines } from './line-judge.js';
import type { BlockToJudge, ThreadTask } from './line-judge-threads.js';

const { manifest, entries, pins } = workerData as ThreadTask;
const keyring = new Keyring(entries, new Set(pins));

parentPort?.on('message', ({ bytes, firstSeq }: BlockToJudge) => {
  const block = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  parentPort?.postMessage(judgeLines(block, firstSeq, manifest, keyring));
});
