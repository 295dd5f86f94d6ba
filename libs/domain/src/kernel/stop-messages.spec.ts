import { describe, expect, it } from 'vitest';
import { ERROR_CATALOGUE } from './error-catalogue.js';

describe('the message that a stopped agent gets', () => {
  it.each(['agent_stopped', 'agent_suspended', 'org_stopped'] as const)(
    '%s says that a person may end the Stop, and does not say how',
    (code) => {
      const { message } = ERROR_CATALOGUE[code];
      expect(message).toContain('a person may');
      expect(message).not.toMatch(/\/v1\/|\b(?:GET|POST|PATCH|PUT|DELETE)\b|npm|ags\b|`/);
    },
  );
});
