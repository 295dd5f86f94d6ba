/** Preloaded into a program: its time of day is CLOCK_SHIFT_MS away from the machine's. Monotonic time stays as it is. */
const shiftMs = Number(process.env.CLOCK_SHIFT_MS ?? 0);
const MachineDate = Date;
const now = () => MachineDate.now() + shiftMs;

globalThis.Date = new Proxy(MachineDate, {
  construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
