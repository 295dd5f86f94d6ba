import { closestName, FAILPOINTS, type Failpoint } from '#libs/domain/kernel';

export type FailpointAction =
  { readonly kind: 'kill' } | { readonly kind: 'error' } | { readonly kind: 'delay'; readonly durationMs: number };

/** What is to happen where. */
export interface FailpointOrder {
  readonly point: Failpoint;
  readonly action: FailpointAction;
  /** The one hit that it happens at, counted from 1 since the arming; null: at every hit. */
  readonly atHit: number | null;
}

/** The message says which part is wrong, and why. */
export class InvalidFailpoints extends Error {
  override readonly name = 'InvalidFailpoints';
}

/** What arms nothing, where an empty text would mean that nothing is set. */
const NONE = 'none';
const ORDER =
  /^(?<point>[a-z0-9._]+)=(?<action>kill|error|delay:(?<durationMs>[1-9]\d{0,5}))(@(?<atHit>[1-9]\d{0,5}))?$/;

/**
 * `exec.sent=kill@3,seal.ack=error,gate.t1.ack=delay:6000`: a point, what happens there, and with `@N` at which hit alone.
 * `none` is no order at all.
 * @throws {InvalidFailpoints}
 */
export const parseFailpoints = (text: string): readonly FailpointOrder[] => {
  const trimmed = text.trim();
  return trimmed === NONE ? [] : trimmed.split(',').map((part) => parseOrder(part.trim()));
};

const parseOrder = (part: string): FailpointOrder => {
  const { point: name = '', action = '', durationMs, atHit } = ORDER.exec(part)?.groups ?? {};
  if (name === '') {
    throw new InvalidFailpoints(
      `"${part}" is not <point>=kill, <point>=error or <point>=delay:<ms>, with or without @<hit>`,
    );
  }
  const point = FAILPOINTS.find((known) => known === name);
  if (point === undefined) {
    const meant = closestName(name, FAILPOINTS);
    throw new InvalidFailpoints(`"${name}" is not a failpoint${meant === null ? '' : `; did you mean ${meant}?`}`);
  }
  return { point, action: parseAction(action, durationMs), atHit: atHit === undefined ? null : Number(atHit) };
};

const parseAction = (action: string, durationMs: string | undefined): FailpointAction => {
  if (durationMs !== undefined) return { kind: 'delay', durationMs: Number(durationMs) };
  return { kind: action === 'kill' ? 'kill' : 'error' };
};
