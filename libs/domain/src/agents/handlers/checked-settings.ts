import {
  CURRENCY_PATTERN,
  parsePublicKeyText,
  PublicKeyError,
  type PublicKeyReason,
  type VerifiedPublicKey,
} from '#libs/crypto';
import { DomainError, isOneLine } from '../../kernel/index.js';
import type { AgentSettings } from '../agent.commands.js';
import { AGENT_SCOPES, INTENT_MODES, type AgentBudgets, type AgentScope, type Money } from '../agent.events.js';

const LABELS_MAX = 16;
const LABEL_NAME = /^[a-z][a-z0-9_-]{0,31}$/;
/** Characters are code points: what a person counts as one takes no more room for being outside the first plane. */
const LABEL_VALUE_MAX_CHARACTERS = 128;

const refused = (param: string, problem: string): DomainError =>
  new DomainError('validation_failed', { param, message: `The field ${param} ${problem}.` });

/**
 * What of an agent may be changed, as whoever asks has written it.
 * @throws {DomainError} validation_failed naming the field
 */
export const checkedSettings = ({ intentMode, labels, budgets }: AgentSettings): AgentSettings => ({
  ...(intentMode === undefined ? {} : { intentMode: checkedIntentMode(intentMode) }),
  ...(labels === undefined ? {} : { labels: checkedLabels(labels) }),
  ...(budgets === undefined ? {} : { budgets: checkedBudgets(budgets) }),
});

const checkedIntentMode = (mode: NonNullable<AgentSettings['intentMode']>): typeof mode => {
  if (INTENT_MODES.includes(mode)) return mode;
  throw refused('intent_mode', `must be one of ${INTENT_MODES.join(', ')}`);
};

/** @throws {DomainError} validation_failed */
export const checkedLabels = (labels: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> => {
  const entries = Object.entries(labels);
  if (entries.length > LABELS_MAX) throw refused('labels', `must have at most ${LABELS_MAX} members`);
  return Object.fromEntries(
    entries.map(([name, value]) => {
      if (!LABEL_NAME.test(name)) {
        throw refused(
          'labels',
          'must have names of 1 to 32 characters: a lower-case letter, then lower-case letters, digits, _ or -',
        );
      }
      if (typeof value === 'string' && isLabelValue(value)) return [name, value];
      throw refused(
        `labels.${name}`,
        `must be a text of at most ${LABEL_VALUE_MAX_CHARACTERS} characters, without control characters`,
      );
    }),
  );
};

const isLabelValue = (value: string): boolean => [...value].length <= LABEL_VALUE_MAX_CHARACTERS && isOneLine(value);

const isPositiveInteger = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

const checkedBudgets = ({ calls_per_day: calls, spend_per_day: spend }: Partial<AgentBudgets>) => {
  if (calls !== undefined && calls !== null && !isPositiveInteger(calls)) {
    throw refused('budgets.calls_per_day', 'must be an integer of at least 1, or null for no budget');
  }
  return {
    ...(calls === undefined ? {} : { calls_per_day: calls }),
    ...(spend === undefined ? {} : { spend_per_day: spend && checkedMoney(spend) }),
  };
};

const checkedMoney = ({ amount, currency, ...others }: Money): Money => {
  if (Object.keys(others).length > 0) {
    throw refused('budgets.spend_per_day', 'must have the members amount and currency, and no other');
  }
  if (!isPositiveInteger(amount)) {
    throw refused(
      'budgets.spend_per_day.amount',
      'must be an integer of at least 1, in the smallest unit of its currency',
    );
  }
  if (!CURRENCY_PATTERN.test(currency)) {
    throw refused('budgets.spend_per_day.currency', 'must be an ISO 4217 code in lower case, such as eur');
  }
  return { amount, currency };
};

/** @throws {DomainError} validation_failed */
export const checkedScopes = (scopes: readonly AgentScope[]): readonly AgentScope[] => {
  if (scopes.length > 0) return AGENT_SCOPES.filter((scope) => scopes.includes(scope));
  throw new DomainError('validation_failed', { param: 'scopes', message: 'A key must have at least one scope.' });
};

const FORM = 'must be ed25519: and 43 characters of base64url, the 32 bytes of a public key';

const WHY_REFUSED: Readonly<Record<PublicKeyReason, string>> = {
  text: FORM,
  length: FORM,
  not_canonical: 'must spell its point in the canonical form of RFC 8032. Export the key again with a current library',
  off_curve: 'must be a point of the curve Ed25519, which this is not. Copy the key again, whole',
  small_order: 'must not be a point of small order, under which anybody could sign. Generate another key',
  mixed_order: 'must be a point of the prime-order group, as every generated key is. Generate another key',
};

/**
 * An intent key that is safe to check signatures with (rule INTENT-4).
 * @param text whatever was sent as one
 * @throws {DomainError} validation_failed with status 422
 */
export const checkedPublicKey = (text: unknown): VerifiedPublicKey => {
  try {
    return parsePublicKeyText(typeof text === 'string' ? text : '');
  } catch (error) {
    if (!(error instanceof PublicKeyError)) throw error;
    const message = `The field public_key ${WHY_REFUSED[error.reason]}.`;
    throw new DomainError('validation_failed', { param: 'public_key', status: 422, message });
  }
};
