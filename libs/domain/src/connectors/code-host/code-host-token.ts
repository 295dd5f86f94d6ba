import { DomainError } from '../../kernel/index.js';

/** A fine-grained personal access token, as it was issued. */
const FINE_GRAINED = /^github_pat_[A-Za-z0-9_]{36,244}$/;

/** What the other kinds of token are, and why they are none for an agent. */
const OTHERS: readonly (readonly [prefix: RegExp, why: string])[] = [
  [/^ghp_/, 'is a classic token, which opens every repository of its owner'],
  [/^ghs_/, 'is a token of an installed app, which ends within an hour'],
  [/^gh[our]_/, 'is a token of an app that acts for a person'],
];

const INSTEAD =
  'Create a fine-grained token (github_pat_) for the repositories of the config, with the permissions that your agents need.';

export const isFineGrainedToken = (text: string): boolean => FINE_GRAINED.test(text);

/** @throws {DomainError} validation_failed, param `secret.token`. It never holds what was refused. */
export const refuseOtherTokens = (text: string): void => {
  if (isFineGrainedToken(text)) return;
  const why = OTHERS.find(([prefix]) => prefix.test(text.trim()))?.[1];
  const message =
    why === undefined
      ? `secret.token must be a fine-grained token, as it was issued: github_pat_ and what follows. ${INSTEAD}`
      : `secret.token ${why}. ${INSTEAD}`;
  throw new DomainError('validation_failed', { param: 'secret.token', message });
};
