import type { CommandMetadata, Decider } from '../kernel/index.js';
import type { ExportEvent, ExportedRange } from './export.events.js';

type Export = { readonly status: 'none' } | { readonly status: 'started' };

type StartExport = {
  readonly type: 'StartExport';
  readonly data: ExportedRange;
  readonly metadata: CommandMetadata;
};

/** Each request is a stream of its own, so the same range may be exported any number of times. */
export const exportDecider: Decider<Export, StartExport, ExportEvent> = {
  category: 'export',
  eventTypes: { ExportStarted: true },
  initialState: () => ({ status: 'none' }),
  decide: ({ data, metadata }, state) =>
    state.status === 'started' ? [] : [{ type: 'ExportStarted', data: { ...data, at: metadata.now } }],
  evolve: (_state, event) => {
    switch (event.type) {
      case 'ExportStarted':
        return { status: 'started' };
    }
  },
  isOver: ({ status }) => status === 'started',
};
