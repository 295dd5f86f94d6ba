import type { JsonObject } from '#libs/crypto';

import { type CommandMetadata, derivedId, DomainError } from '../../kernel/index.js';
import { compilePolicyInTurns } from '../compile-policy.js';
import type { CompileResult } from '../compiled-policy.js';
import type { PolicyDiagnostic } from '../diagnostics.js';
import type { CheckedVersion } from '../policy.commands.js';
import type { ExistingPolicy, Policy } from '../policy.state.js';

/** @throws {DomainError} `policy_invalid` */
export const checkVersion = async (
  { source, notes, origin }: Pick<CheckedVersion, 'source' | 'notes' | 'origin'>,
  { commandId }: CommandMetadata,
): Promise<CheckedVersion> => {
  const { policy } = await compiledOrRefused(source);
  const { sourceHash, versionHash } = policy;
  return { versionId: derivedId('pv', commandId), source, sourceHash, versionHash, notes, origin };
};

/**
 * @param param the field that the source came in
 * @param as `stored`: a version that is in force by the rules of its day
 * @throws {DomainError} `policy_invalid` with diagnostics
 */
export const compiledOrRefused = async (
  source: string,
  param = 'source',
  as: 'new' | 'stored' = 'new',
): Promise<Extract<CompileResult, { ok: true }>> => {
  const result = await compilePolicyInTurns(source, as);
  if (!result.ok) throw policyInvalid(result.diagnostics, param);
  return result;
};

export const policyInvalid = (diagnostics: readonly PolicyDiagnostic[], param: string, message?: string): DomainError =>
  new DomainError('policy_invalid', {
    param,
    ...(message === undefined ? {} : { message }),
    extra: { diagnostics: diagnostics.map((diagnostic): JsonObject => ({ ...diagnostic })) },
  });

/** What the runner folded after it appended. */
export const existing = (policy: Policy): ExistingPolicy => {
  if (policy.status === 'none') throw new DomainError('not_found');
  return policy;
};
