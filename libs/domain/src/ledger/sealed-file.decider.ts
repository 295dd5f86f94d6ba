import { DomainError, isOneLine, type CommandMetadata, type Decider, type OrgId } from '../kernel/index.js';
import type { FileDescription, FileEvent } from './sealed-file.events.js';

type SealedFile = { readonly status: 'none' } | { readonly status: 'sealed' };

type SealFileCommand = {
  readonly type: 'SealFile';
  readonly data: FileDescription & { readonly org: OrgId };
  readonly metadata: CommandMetadata;
};

const LABEL_MAX_CHARACTERS = 120;

const requireLabel = (label: string): void => {
  const { length } = [...label];
  if (length >= 1 && length <= LABEL_MAX_CHARACTERS && isOneLine(label)) return;
  throw new DomainError('validation_failed', {
    param: 'label',
    message: `The field label must be one line of 1 to ${LABEL_MAX_CHARACTERS} characters.`,
  });
};

/**
 * Each request is a stream of its own, so the same file may be sealed any number of times; a retried request is the
 * same stream.
 */
export const sealedFileDecider: Decider<SealedFile, SealFileCommand, FileEvent> = {
  category: 'file',
  eventTypes: { FileSealed: true },
  initialState: () => ({ status: 'none' }),
  decide: ({ data, metadata }, state) => {
    if (state.status === 'sealed') return [];
    requireLabel(data.label);
    const { org, sha256, bytes, media_type, label } = data;
    return [{ type: 'FileSealed', data: { org, sha256, bytes, media_type, label, at: metadata.now } }];
  },
  evolve: (_state, event) => {
    switch (event.type) {
      case 'FileSealed':
        return { status: 'sealed' };
    }
  },
  isOver: ({ status }) => status === 'sealed',
};
