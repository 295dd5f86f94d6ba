import type { CommandMetadata, Decider } from '../kernel/index.js';
import type { EvidenceExportEvent, ExportedEvidenceRange } from './evidence-export.events.js';

type EvidenceExport = { readonly status: 'none' } | { readonly status: 'recorded' };

type ExportEvidence = {
  readonly type: 'ExportEvidence';
  readonly data: ExportedEvidenceRange;
  readonly metadata: CommandMetadata;
};

/** Each request is a stream of its own, so the same range may be exported any number of times. */
export const evidenceExportDecider: Decider<EvidenceExport, ExportEvidence, EvidenceExportEvent> = {
  category: 'evidence',
  eventTypes: { EvidenceExported: true },
  initialState: () => ({ status: 'none' }),
  decide: ({ data, metadata }, state) =>
    state.status === 'recorded' ? [] : [{ type: 'EvidenceExported', data: { ...data, at: metadata.now } }],
  evolve: (_state, event) => {
    switch (event.type) {
      case 'EvidenceExported':
        return { status: 'recorded' };
    }
  },
  isOver: ({ status }) => status === 'recorded',
};
