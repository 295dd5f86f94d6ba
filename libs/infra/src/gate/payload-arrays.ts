import type { Payload } from '#libs/domain/kernel';
import { textArray } from '#libs/infra/postgres';

/** Payloads as arrays for the parameters of `gate.put_payloads`: owners, kinds, digests, organizations, bodies, salts. */
export const payloadArrays = (payloads: readonly Payload[]): readonly Buffer[] => [
  textArray(payloads.map(({ owner }) => owner)),
  textArray(payloads.map(({ kind }) => kind)),
  textArray(payloads.map(({ digest }) => digest)),
  textArray(payloads.map(({ org }) => org)),
  textArray(payloads.map(({ body }) => body)),
  textArray(payloads.map(({ salt }) => salt ?? null)),
];
