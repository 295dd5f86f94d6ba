import type { CommandMetadata, Decider } from '../kernel/index.js';
import type { ExportEvent, ExportedRange } from './export.events.js';

type Export = { readonly status: 'none' } | { readonly status: 'started' };

type StartExport = {
  readonly type: 'StartExport';
  readonly data: ExportedRange;
  readonly metadata: CommandMetadata;
};

/** The same range may be exported as often as somebody asks: each request is a stream. */
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
