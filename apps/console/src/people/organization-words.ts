import type { Schemas } from '../kernel/client.ts';

export type Door = NonNullable<Schemas['ApprovalSettings']['mail']>;

/** Days that bodies are kept if the owners choose no other number: docs/retention.md. */
export const RETENTION_DEFAULT_DAYS = 90;

const days = (count: number): string => `${count} ${count === 1 ? 'day' : 'days'}`;

export const daysInWords = (retention: number | null): string =>
  retention === null ? `${days(RETENTION_DEFAULT_DAYS)} (default)` : days(retention);

/** How approvers are notified, in words. Undefined, before a choice was made, means the service's default. */
export const doorInWords = (door: Door | undefined): string => {
  switch (door) {
    case 'decide':
      return 'Notify approvers, decide by link';
    case 'review_only':
      return 'Notify approvers, decide in the Console';
    case 'off':
      return 'Off';
    case undefined:
      return 'Default of the service';
  }
};

export const UNITS = { minutes: 60, hours: 3_600, days: 86_400 } as const;

export type Unit = keyof typeof UNITS;

const isUnit = (unit: string): unit is Unit => Object.hasOwn(UNITS, unit);

/** A duration in the largest unit that gives a whole number: 5,400 s are 90 minutes. */
export const lifeOf = (seconds: number): { readonly count: number; readonly unit: Unit } => {
  const unit = Object.keys(UNITS)
    .reverse()
    .filter(isUnit)
    .find((name) => seconds % UNITS[name] === 0);
  return unit === undefined ? { count: seconds / 60, unit: 'minutes' } : { count: seconds / UNITS[unit], unit };
};

export const secondsOf = (count: number, unit: Unit): number => Math.round(count * UNITS[unit]);

/** A duration in words: `90 minutes`, `1 day`. */
export const lifeInWords = (seconds: number | undefined): string => {
  if (seconds === undefined) return 'default of the service';
  const { count, unit } = lifeOf(seconds);
  return `${count} ${count === 1 ? unit.slice(0, -1) : unit}`;
};
