/**
 * Preloaded into a program: its time of day is CLOCK_SHIFT_MS away from the machine's, or what the file CLOCK_SHIFT_FILE
 * says, which may change while it runs. Monotonic time stays as it is.
 */
import { readFileSync } from 'node:fs';
import { setInterval } from 'node:timers';

const LOOK_AGAIN_MS = 20;
const file = process.env.CLOCK_SHIFT_FILE;
const MachineDate = Date;
let shiftMs = 0;
const look = () => {
  shiftMs = Number(file ? readFileSync(file, 'utf8') : (process.env.CLOCK_SHIFT_MS ?? 0));
};
look();
if (file) setInterval(look, LOOK_AGAIN_MS).unref();
const now = () => MachineDate.now() + shiftMs;

globalThis.Date = new Proxy(MachineDate, {
  construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
