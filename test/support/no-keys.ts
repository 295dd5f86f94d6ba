import { FoldedStreams } from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { NamedKeys } from '../../apps/api/src/agents/named-keys.js';
import { HeldDirectory } from './held-directory.js';

/** Of nobody: only what is asked for by an id is known. */
export const noKeys = (): NamedKeys => new NamedKeys(new HeldDirectory(), new FoldedStreams(new MemoryEventStore()));
