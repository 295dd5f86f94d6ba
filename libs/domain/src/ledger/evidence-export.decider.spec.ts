import { describe, expect, it } from 'vitest';
import { ORG } from '../../../../test/support/gate-fixtures.js';
import { givenFor, NOW } from '../../../../test/support/given.js';
import type { EventEnvelope } from '../kernel/index.js';
import { adminActOf } from './admin-deed.js';
import { evidenceExportDecider } from './evidence-export.decider.js';
import type { EvidenceExportEvent } from './evidence-export.events.js';

const given = givenFor(evidenceExportDecider);
const range = { org: ORG, from: null, to: NOW, first_seq: 1, last_seq: 4, format: 'service.bundle/2' } as const;
const exported: EvidenceExportEvent = { type: 'EvidenceExported', data: { ...range, at: NOW } };

describe('an export of evidence', () => {
  it('is recorded once for each request, and a retried request changes nothing', () => {
    given().when({ type: 'ExportEvidence', data: range }).then(exported);
    given(exported).when({ type: 'ExportEvidence', data: range }).thenNothing();
  });

  it('has a deed, which says what left', () =>
    expect(adminActOf({ event: exported, metadata: {}, recorded: {} } as EventEnvelope)).toEqual({
      action: 'evidence.exported',
      target: { type: 'org', id: ORG },
      reason: null,
      data: { first_seq: 1, format: 'service.bundle/2', from: null, last_seq: 4, to: NOW },
    }));
});
