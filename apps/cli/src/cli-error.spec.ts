import { describe, expect, it } from 'vitest';
import { MissingEvent } from '#libs/domain/kernel';
import { explain } from './cli-error.js';

describe('what a command says of an event that is not there', () => {
  it('is where it is missing and what to do, and nothing of a database that does not run', () => {
    const { code, message } = explain(new MissingEvent('org-org_1', 4)) ?? { code: '', message: '' };
    expect(code).toBe('event_store_unusable');
    expect(message).toContain('org-org_1 holds no event at revision 4');
    expect(message).toContain('restore the log');
    expect(message).not.toContain('DATABASE_URL');
  });
});
