import type { FixedTool } from '../fixed-tool.js';
import { FAKE_LIMITS } from './fake-config.js';

const NOTE = {
  note: {
    type: 'text',
    description: 'Any text. It comes back in the result.',
    maxCharacters: FAKE_LIMITS.noteCharacters,
  },
} as const;

export const FAKE_TOOLS: readonly FixedTool[] = [
  { name: 'read', title: 'read something made up', description: 'Reads nothing.', sideEffect: 'read', args: NOTE },
  { name: 'write', title: 'write something made up', description: 'Writes nothing.', sideEffect: 'write', args: NOTE },
  {
    name: 'destroy',
    title: 'destroy something made up',
    description: 'Destroys nothing.',
    sideEffect: 'destructive',
    args: NOTE,
  },
];
