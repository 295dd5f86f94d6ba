import { describe, expect, it } from 'vitest';
import { ORG } from '../../../../test/support/gate-fixtures.js';
import { givenFor, NOW } from '../../../../test/support/given.js';
import type { EventEnvelope } from '../kernel/index.js';
import { adminActOf } from './admin-deed.js';
import { exportDecider } from './export.decider.js';
import type { ExportEvent } from './export.events.js';

const given = givenFor(exportDecider);
const range = { org: ORG, kind: 'deeds', from: null, to: NOW, first_seq: 1, last_seq: 4 } as const;
const started: ExportEvent = { type: 'ExportStarted', data: { ...range, at: NOW } };

describe('an export', () => {
  it('is recorded once for each request, and a retried request changes nothing', () => {
    given().when({ type: 'StartExport', data: range }).then(started);
    given(started).when({ type: 'StartExport', data: range }).thenNothing();
  });

  it('has no deed, because it changes nothing', () =>
    expect(adminActOf({ event: started, metadata: {}, recorded: {} } as EventEnvelope)).toBeNull());
});
