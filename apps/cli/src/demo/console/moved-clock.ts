/**
 * Preloaded into the service of `npm run demo -- --console`: its time of day is so many milliseconds away from the machine's as its
 * parent says last, and it begins when the parent has said so first. Monotonic time stays as it is. Each word is answered with
 * the same word, once it holds.
 */
import { once } from 'node:events';
import type { ClockMove } from './clock-move.js';

const MachineDate = Date;
let shiftMs = 0;
const now = (): number => MachineDate.now() + shiftMs;

globalThis.Date = new Proxy(MachineDate, {
  construct: (target, given: unknown[], newTarget) =>
    Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget) as Date,
  get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
});

const first = once(process, 'message');
process.on('message', (move: ClockMove) => {
  shiftMs = move.shiftMs;
  process.send?.(move);
});
// A demo that was killed leaves nothing running.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
await first;
// It ends when its work does, whoever still could say something.
process.channel?.unref();
