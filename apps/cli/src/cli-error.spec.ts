import { describe, expect, it } from 'vitest';
import { DamagedEvent, MissingEvent, recordedAt, UnknownEventType } from '#libs/domain/kernel';
import { explain } from './cli-error.js';

const damaged = recordedAt({ id: '', type: 'AgentStopped', data: '{', metadata: '{}' }, 'org-org_1', 4, 9n);

describe('what a command says of an event', () => {
  it.each([
    [
      'that is not there',
      new MissingEvent('org-org_1', 4),
      'holds no event at revision 4, and must',
      'restore the log',
    ],
    ['that was damaged', new DamagedEvent(damaged), 'holds at revision 4 an event (AgentStopped)', 'Restore the log'],
    [
      'of a newer version',
      new UnknownEventType('org-org_1', 'AgentPaused'),
      'holds an event of type AgentPaused',
      'run the newer version',
    ],
  ])('%s is where it lies and what to do, and nothing of a database that does not run', (_, error, what, advice) => {
    const { code, message, exitCode } = explain(error) ?? { code: '', message: '' };
    expect({ code, exitCode }).toEqual({ code: 'event_store_unusable', exitCode: 2 });
    expect(message).toContain(`org-org_1 ${what}`);
    expect(message).toContain(advice);
    expect(message).not.toContain('DATABASE_URL');
  });
});
