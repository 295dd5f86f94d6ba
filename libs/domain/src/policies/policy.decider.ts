import {
  DomainError,
  isOneLine,
  isPlainText,
  WITHOUT_CONTROL_CHARACTERS,
  type Decider,
  type PolicyVersionId,
} from '../kernel/index.js';
import type { CheckedVersion, PolicyCommand } from './policy.commands.js';
import type { PolicyEvent } from './policy.events.js';
import { type ExistingPolicy, findVersionBySource, latestVersion, type Policy } from './policy.state.js';

const POLICY_NAME_MAX_CHARACTERS = 120;
const POLICY_NOTES_MAX_CHARACTERS = 2_000;

const initialState = (): Policy => ({ status: 'none' });

const decide = (command: PolicyCommand, state: Policy): readonly PolicyEvent[] => {
  switch (command.type) {
    case 'CreatePolicy': {
      if (state.status !== 'none') throw new DomainError('conflict');
      const { org, policy, name } = command.data;
      requireName(name);
      requireNotes(command.data.notes);
      const at = command.metadata.now;
      return [{ type: 'PolicyCreated', data: { org, policy, name, at } }, versionAdded(command, { org, policy }, 1)];
    }
    case 'AddPolicyVersion': {
      if (state.status === 'none' || state.org !== command.data.org) throw new DomainError('not_found');
      requireNotes(command.data.notes);
      // A new version with identical content returns the existing one (rule POLICY-3). Content is the source's bytes: a
      // changed comment is a change the author wants kept.
      if (findVersionBySource(state, command.data.sourceHash) !== null) return [];
      requireLatest(state, command.data.expectedLatest);
      return [versionAdded(command, state, state.versions.length + 1)];
    }
  }
};

const versionAdded = (
  { data, metadata }: PolicyCommand,
  { org, policy }: Pick<ExistingPolicy, 'org' | 'policy'>,
  version: number,
): PolicyEvent => {
  const checked: CheckedVersion = data;
  return {
    type: 'PolicyVersionAdded',
    data: {
      org,
      policy,
      version_id: checked.versionId,
      version,
      source: checked.source,
      source_hash: checked.sourceHash,
      version_hash: checked.versionHash,
      notes: checked.notes,
      author: metadata.actor,
      origin: checked.origin,
      at: metadata.now,
    },
  };
};

/** Of two people who edit the same version one is told, so that no work is passed over unseen. */
const requireLatest = (policy: ExistingPolicy, expected: PolicyVersionId | undefined): void => {
  const { id, version } = latestVersion(policy);
  if (expected === undefined || expected === id) return;
  throw new DomainError('conflict', {
    param: 'expected_latest_version',
    message: `Version ${version} was saved since you read the policy. Read it, bring your change into it, and send that with its id.`,
  });
};

const requireName = (name: string): void => {
  const length = lengthInCharacters(name);
  if (length >= 1 && length <= POLICY_NAME_MAX_CHARACTERS && isOneLine(name) && name.trim() !== '') {
    return;
  }
  throw new DomainError('validation_failed', {
    param: 'name',
    message: `A policy's name must be one line of 1 to ${POLICY_NAME_MAX_CHARACTERS} characters.`,
  });
};

const requireNotes = (notes: string | null): void => {
  if (notes === null || (lengthInCharacters(notes) <= POLICY_NOTES_MAX_CHARACTERS && isPlainText(notes))) return;
  throw new DomainError('validation_failed', {
    param: 'notes',
    message: `Notes must have at most ${POLICY_NOTES_MAX_CHARACTERS} characters, ${WITHOUT_CONTROL_CHARACTERS}.`,
  });
};

const lengthInCharacters = (text: string): number => [...text].length;

const evolve = (state: Policy, event: PolicyEvent): Policy => {
  switch (event.type) {
    case 'PolicyCreated': {
      const { org, policy, name, at } = event.data;
      return { status: 'existing', org, policy, name, createdAt: at, versions: [] };
    }
    case 'PolicyVersionAdded': {
      if (state.status === 'none') return state;
      const { version_id: id, version, source, source_hash: sourceHash, version_hash: versionHash } = event.data;
      const { notes, author, origin, at: createdAt } = event.data;
      const added = { id, version, source, sourceHash, versionHash, notes, author, origin, createdAt };
      return { ...state, versions: [...state.versions, added] };
    }
  }
};

export const policyDecider: Decider<Policy, PolicyCommand, PolicyEvent> = {
  category: 'policy',
  eventTypes: { PolicyCreated: true, PolicyVersionAdded: true },
  initialState,
  decide,
  evolve,
};
